package formulas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"pawl/evidence/theory"
)

// Honest procedures clip rows to a public norm, and their noise is the analytic Gaussian for what one replaced row can
// change, which is twice that norm at most. No choice looks at a row but through what is released.

// PublicNorm is the bound that rows over count features are clipped to: the root of
// the mean square norm that the declared law of the data gives. No row is looked at.
func (m Mixture) PublicNorm(count int) float64 {
	return math.Sqrt(float64(count) * (m.MeanVariance + m.NonzeroShare*2*m.LaplaceScale*m.LaplaceScale))
}

// noisyRows adds noise to every row over all features, as the published procedure
// does, and ranks and classifies by the noisy rows, which costs nothing more.
func (s *Sample) noisyRows(rng *rand.Rand) learner {
	return func(a Arm, count int, b Budget) (f *Fisher, kept []int, noise float64, err error) {
		norm := s.Norm(len(s.Rows[0][0]))
		if noise, err = Analytic.StdDev(Norms{L2: norm}, b); err != nil {
			return nil, nil, 0, err
		}
		rows := AddNoise(Clip(s.Rows, norm), noise, rng)
		order, err := RankFeatures(a.Ranking, rows)
		if err != nil {
			return nil, nil, 0, err
		}
		f, err = TrainFisher(Cut(rows, order[:count]))
		return f, order[:count], noise, err
	}
}

// classSums releases the sums of both classes: once over all features to rank
// them, once over those that are kept to classify, which together is exactly the target. The classifier takes the
// nearer mean.
func (s *Sample) classSums(rng *rand.Rand) learner {
	return func(a Arm, count int, b Budget) (*Fisher, []int, float64, error) {
		whole, err := b.AnalyticNoiseMultiplier()
		if err != nil {
			return nil, nil, 0, err
		}
		ranking, classes, err := multipliers(a.Ranking, whole)
		if err != nil {
			return nil, nil, 0, err
		}
		order := Identity(len(s.Rows[0][0]))
		if ranking > 0 {
			distances := make([]float64, len(order))
			for j, d := range s.nearest(order, ranking, rng).Difference {
				distances[j] = math.Abs(d)
			}
			order = Descending(distances)
		}
		return s.nearest(order[:count], classes, rng), order[:count], 0, nil
	}
}

// multipliers splits one release of class sums into those for the ranking, 0 where there is none, and
// for the classifier. Gaussian releases compose exactly: those
// of multipliers a and b are one of (a⁻² + b⁻²)^(−1/2).
func multipliers(r Ranking, whole float64) (ranking, classes float64, err error) {
	switch r {
	case InOrder:
		return 0, whole, nil
	case Distance:
		return math.Sqrt2 * whole, math.Sqrt2 * whole, nil
	}
	return 0, 0, fmt.Errorf("%w: class sums cannot rank by %s", theory.ErrInput, r)
}

// nearest is the classifier by the nearer of the noisy means of both classes over some features.
func (s *Sample) nearest(kept []int, multiplier float64, rng *rand.Rand) *Fisher {
	means, n := s.means(kept, multiplier, rng), len(kept)
	f := &Fisher{make([]float64, n), make([]float64, n), make([]float64, n)}
	for j, a := range means[0] {
		f.Center[j], f.Difference[j] = (a+means[1][j])/2, a-means[1][j]
	}
	copy(f.Weights, f.Difference)
	return f
}

// means are the noisy means of both classes over some features.
func (s *Sample) means(kept []int, multiplier float64, rng *rand.Rand) (means [2][]float64) {
	norm := s.Norm(len(kept))
	for k, class := range Clip(Cut(s.Rows, kept), norm) {
		means[k] = make([]float64, len(kept))
		for _, x := range class {
			for j, v := range x {
				means[k][j] += v
			}
		}
		for j := range kept {
			means[k][j] = (means[k][j] + 2*norm*multiplier*rng.NormFloat64()) / float64(len(class))
		}
	}
	return means
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
			if squares > norm*norm {
				x = slices.Clone(x)
				floats.Scale(norm/math.Sqrt(squares), x)
			}
			out[k] = append(out[k], x)
		}
	}
	return out
}

// Cut keeps the named features, in their order.
func Cut(rows [2][][]float64, kept []int) [2][][]float64 {
	var out [2][][]float64
	for k := range rows {
		for _, x := range rows[k] {
			y := make([]float64, len(kept))
			for i, j := range kept {
				y[i] = x[j]
			}
			out[k] = append(out[k], y)
		}
	}
	return out
}
