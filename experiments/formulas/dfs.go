package formulas

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/evidence/theory"
)

// Procedure says what is released of rows, and whether features are chosen before noise is added, or after.
type Procedure string

const (
	// CutThenNoise is [D] Algorithm 1: features are ranked on the raw rows and cut,
	// noise is calibrated to what is left. The ranking is not paid for.
	CutThenNoise Procedure = "cut-then-noise"
	// NoiseThenCut adds noise to all features first and ranks the noisy rows, which
	// costs nothing more. The noise answers to the norm over all features.
	NoiseThenCut Procedure = "noise-then-cut"
	// ClassSums and NoisyRows are (ε, δ)-DP when one row is replaced by another of its class: labels and the size of the
	// classes are public, as the study has them. See honest.go.
	ClassSums Procedure = "class sums"
	NoisyRows Procedure = "noisy rows"
)

// SelectionStudy is the study of [D] Sec. 4: the error of the Fisher classifier
// against the number of selected features and ε. It simulates: what it returns is private by no procedure.
type SelectionStudy struct {
	Data       Source
	Procedure  Procedure
	Arms       []Arm
	Delta      float64 // 1e-4 in [D]
	Replicates int     // independent samples, at least 2
	Seed       uint64
}

// Arm is one way of choosing features and of classifying by them.
type Arm struct {
	Ranking Ranking
	Count   int     // of features; 0 keeps all
	Epsilon float64 // +Inf: no noise
	// Noise is that of published procedures.
	Noise Calibration
	// NoisyQueries adds the noise to the classified points too, as [D] Sec. 4.1 has it
	// (“all data except labels”). Its Definition 5 classifies clean points.
	NoisyQueries bool
}

// Source draws the rows of replicates.
type Source interface {
	Sample(rng *rand.Rand) (*Sample, error)
}

// Sample is what a replicate is made of.
type Sample struct {
	Rows [2][][]float64 // of two classes, to train on
	// Norm is a public bound on the norm of rows cut to so many features, to which honest procedures clip them.
	Norm func(count int) float64
	// Error is that of a classifier by the features that it keeps, on points with noise of this deviation.
	Error func(f *Fisher, kept []int, noise float64) float64
}

// Synthetic draws populations of a law, and so many rows of each class.
type Synthetic struct {
	Mixture
	Rows int
}

// Sample has the error itself, given the training rows (Fisher.Error): no test rows are drawn.
func (s Synthetic) Sample(rng *rand.Rand) (*Sample, error) {
	p, err := s.Draw(rng)
	if err != nil {
		return nil, err
	}
	return &Sample{p.Rows(s.Rows, rng), s.PublicNorm, func(f *Fisher, kept []int, noise float64) float64 { return f.errorOn(p, kept, noise) }}, nil
}

// PublishedSelectionStudy has the settings of [D] Sec. 4.1, with 100 replicates, but for the arms.
func PublishedSelectionStudy() SelectionStudy {
	return SelectionStudy{Data: Synthetic{SparseMixture(), 30}, Procedure: CutThenNoise, Delta: 1e-4, Replicates: 100, Seed: 1}
}

// learner trains an arm by so many features: which, and the deviation of the noise on rows.
type learner func(a Arm, count int, b Budget) (f *Fisher, kept []int, noise float64, err error)

// learner is that of the procedure in one replicate.
func (s SelectionStudy) learner(sample *Sample, rng *rand.Rand) (learner, error) {
	switch s.Procedure {
	case CutThenNoise, NoiseThenCut:
		return sample.published(s.Procedure == NoiseThenCut, rng)
	case ClassSums:
		return sample.classSums(rng), nil
	case NoisyRows:
		return sample.noisyRows(rng), nil
	}
	return nil, fmt.Errorf("%w: unknown procedure %q", theory.ErrInput, string(s.Procedure))
}

// Run returns the errors, arm by arm those of all replicates. Every arm of a replicate sees the same rows and, as
// published, feature by feature the same standard normals, so differences between arms are paired. The result depends
// on Seed alone.
func (s SelectionStudy) Run(ctx context.Context) ([]float64, error) {
	if s.Data == nil || len(s.Arms) == 0 || s.Replicates < 2 {
		return nil, fmt.Errorf("%w: a study needs data, arms and 2 replicates", theory.ErrInput)
	}
	errors := make([]float64, len(s.Arms)*s.Replicates)
	for r := range s.Replicates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rng := rand.New(rand.NewPCG(s.Seed, uint64(r)))
		sample, err := s.Data.Sample(rng)
		if err != nil {
			return nil, err
		}
		learn, err := s.learner(sample, rng)
		if err != nil {
			return nil, err
		}
		for i, a := range s.Arms {
			count, all := a.Count, len(sample.Rows[0][0])
			if count == 0 {
				count = all
			}
			if count < 1 || count > all {
				return nil, fmt.Errorf("%w: %d of %d features", theory.ErrInput, count, all)
			}
			f, kept, noise, err := learn(a, count, Budget{a.Epsilon, s.Delta})
			if err != nil {
				return nil, err
			}
			if !a.NoisyQueries {
				noise = 0
			}
			errors[i*s.Replicates+r] = sample.Error(f, kept, noise)
		}
	}
	return errors, nil
}

// published learns as [D] does.
func (s *Sample) published(noiseFirst bool, rng *rand.Rand) (learner, error) {
	m, err := momentsOf(s.Rows, unitNoise(s.Rows, rng))
	if err != nil {
		return nil, err
	}
	orders, norms := map[Ranking][]int{}, map[Ranking][]Norms{}
	return func(a Arm, count int, b Budget) (f *Fisher, kept []int, noise float64, err error) {
		if norms[a.Ranking] == nil {
			if orders[a.Ranking], err = m.order(a.Ranking, 0); err != nil {
				return nil, nil, 0, err
			}
			norms[a.Ranking] = normsByCount(s.Rows, orders[a.Ranking])
		}
		order, bound := orders[a.Ranking], norms[a.Ranking][count-1]
		if noiseFirst {
			bound = norms[a.Ranking][len(order)-1]
		}
		if noise, err = a.Noise.StdDev(bound, b); err != nil {
			return nil, nil, 0, err
		}
		if noiseFirst {
			if order, err = m.order(a.Ranking, noise); err != nil {
				return nil, nil, 0, err
			}
		}
		f, err = m.fisher(order[:count], noise)
		return f, order[:count], noise, err
	}, nil
}

// normsByCount returns, at i, the largest norms of rows cut to the first i+1
// features of the order.
func normsByCount(rows [2][][]float64, order []int) []Norms {
	norms := make([]Norms, len(order))
	for k := range rows {
		for _, x := range rows[k] {
			sum, squares := 0.0, 0.0
			for i, j := range order {
				sum += math.Abs(x[j])
				squares += x[j] * x[j]
				norms[i].L1 = max(norms[i].L1, sum)
				norms[i].L2 = max(norms[i].L2, squares) // a square until all rows are in
			}
		}
	}
	for i := range norms {
		norms[i].L2 = math.Sqrt(norms[i].L2)
	}
	return norms
}
