// Package dfs simulates feature selection by distance: what the paper publishes on rows that are drawn or real, and a
// procedure beside it that pays for everything.
package dfs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/experiments/formulas"
)

// Procedure is a way of choosing features and classifying that is (ε, δ)-DP, when
// one row is replaced by another of its class: labels and the size of the classes are
// public, as the study has them. Rows are clipped to a public norm (PublicNorm), and
// the noise is the analytic Gaussian for what a replacement can change.
type Procedure string

const (
	// ClassSums releases the sums of both classes: once over all features to rank
	// them, once over those that are kept to classify, each with √2 times the noise of
	// one release, which together is exactly the target. Without ranking the second
	// release has the whole budget. The classifier takes the nearer mean.
	ClassSums Procedure = "class sums"
	// NoisyRows adds noise to every row over all features, as the published procedure
	// does, and ranks and classifies by the noisy rows, which costs nothing more.
	NoisyRows Procedure = "noisy rows"
)

// Honest simulates a procedure.
type Honest struct {
	Procedure  Procedure
	Data       formulas.Mixture
	Rows       int // of each class
	Arms       []formulas.Arm
	Delta      float64
	Replicates int
	Seed       uint64
}

// PublicNorm is the bound that rows over count features are clipped to: the root of
// the mean square norm that the declared law of the data gives. No row is looked at.
func PublicNorm(m formulas.Mixture, count int) float64 {
	return math.Sqrt(float64(count) * (m.MeanVariance + m.NonzeroShare*2*m.LaplaceScale*m.LaplaceScale))
}

// Run returns the errors on clean points, arm by arm those of all replicates. A replicate has the population and the rows of
// the replicate of that number in formulas.SelectionStudy.
func (h Honest) Run(ctx context.Context) ([]float64, error) {
	errors := make([]float64, len(h.Arms)*h.Replicates)
	for r := range h.Replicates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rng := rand.New(rand.NewPCG(h.Seed, uint64(r)))
		population, err := h.Data.Draw(rng)
		if err != nil {
			return nil, err
		}
		rows := population.Rows(h.Rows, rng)
		for i, arm := range h.Arms {
			if arm.Count < 1 || arm.Count > h.Data.Features {
				return nil, fmt.Errorf("%d of %d features", arm.Count, h.Data.Features)
			}
			budget := formulas.Budget{Epsilon: arm.Epsilon, Delta: h.Delta}
			multiplier, err := budget.AnalyticNoiseMultiplier()
			if err != nil {
				return nil, err
			}
			if errors[i*h.Replicates+r], err = h.once(population, rows, arm, multiplier, rng); err != nil {
				return nil, err
			}
		}
	}
	return errors, nil
}

func (h Honest) once(p *formulas.Population, rows [2][][]float64, arm formulas.Arm, multiplier float64, rng *rand.Rand) (float64, error) {
	every := h.Data.Features
	forRanking, forClasses, err := h.Procedure.multipliers(arm.Ranking, multiplier)
	if err != nil {
		return 0, err
	}
	ranked := rows
	switch {
	case h.Procedure == NoisyRows:
		norm := PublicNorm(h.Data, every)
		ranked = formulas.AddNoise(Clip(rows, norm), 2*norm*forRanking, rng)
	case arm.Ranking != formulas.InOrder:
		ranked = h.sums(rows, every, forRanking, rng)
	}
	order, err := formulas.RankFeatures(arm.Ranking, ranked)
	if err != nil {
		return 0, err
	}
	kept := order[:arm.Count]
	var f *formulas.Fisher
	if h.Procedure == NoisyRows {
		f, err = formulas.TrainFisher(Cut(ranked, kept))
	} else {
		f = nearest(h.sums(Cut(rows, kept), arm.Count, forClasses, rng))
	}
	if err != nil {
		return 0, err
	}
	q := formulas.Population{}
	for k := range 2 {
		q.Mean[k], q.Variance[k] = pick(p.Mean[k], kept), pick(p.Variance[k], kept)
	}
	return f.Error(&q, 0), nil
}

// multipliers splits one release of the given multiplier into those for the ranking and
// for the classifier; 0 stands for no release. Gaussian releases compose exactly: those
// of multipliers a and b are one of (a⁻² + b⁻²)^(−1/2).
func (p Procedure) multipliers(r formulas.Ranking, whole float64) (ranking, classes float64, err error) {
	switch {
	case p == NoisyRows:
		return whole, 0, nil // the classifier takes the same noisy rows
	case p == ClassSums && r == formulas.InOrder:
		return 0, whole, nil
	case p == ClassSums && r == formulas.Distance:
		return math.Sqrt2 * whole, math.Sqrt2 * whole, nil
	}
	return 0, 0, fmt.Errorf("%s cannot rank by %s", p, r)
}

// sums returns the noisy mean of each class as two equal rows, so that what ranks and
// trains on rows can take it.
func (h Honest) sums(rows [2][][]float64, count int, multiplier float64, rng *rand.Rand) [2][][]float64 {
	norm := PublicNorm(h.Data, count)
	var out [2][][]float64
	for k, class := range Clip(rows, norm) {
		mean := make([]float64, count)
		for _, x := range class {
			for j, v := range x {
				mean[j] += v
			}
		}
		for j := range mean {
			mean[j] = (mean[j] + 2*norm*multiplier*rng.NormFloat64()) / float64(len(class))
		}
		out[k] = [][]float64{mean, mean}
	}
	return out
}

// nearest is the classifier by the nearer of two means.
func nearest(means [2][][]float64) *formulas.Fisher {
	a, b := means[0][0], means[1][0]
	f := &formulas.Fisher{}
	for j := range a {
		f.Center = append(f.Center, (a[j]+b[j])/2)
		f.Weights = append(f.Weights, a[j]-b[j])
	}
	f.Difference = f.Weights
	return f
}

// Clip scales rows that are longer than the norm down to it.
func Clip(rows [2][][]float64, norm float64) [2][][]float64 {
	var out [2][][]float64
	for k := range rows {
		for _, x := range rows[k] {
			squares := 0.0
			for _, v := range x {
				squares += v * v
			}
			factor := min(1, norm/math.Sqrt(squares))
			if squares == 0 {
				factor = 1
			}
			y := make([]float64, len(x))
			for j, v := range x {
				y[j] = factor * v
			}
			out[k] = append(out[k], y)
		}
	}
	return out
}

// Cut keeps the named features, in their order.
func Cut(rows [2][][]float64, kept []int) [2][][]float64 {
	var out [2][][]float64
	for k := range rows {
		for _, x := range rows[k] {
			out[k] = append(out[k], pick(x, kept))
		}
	}
	return out
}

func pick(x []float64, kept []int) []float64 {
	y := make([]float64, len(kept))
	for i, j := range kept {
		y[i] = x[j]
	}
	return y
}
