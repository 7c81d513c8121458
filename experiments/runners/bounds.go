package runners

import (
	"context"
	"math"
	"math/rand/v2"

	"pawl/experiments"
	"pawl/experiments/formulas"
)

const (
	boundRows  = 30   // of each class
	boundDelta = 1e-4 // that of Sec. 4
	// boundSlack is how far beyond the mean and the root of p the public norm lies: a standard normal row is longer than
	// √p + 6 with probability below e^(−18).
	boundSlack = 6
)

// bounding is a sequence of populations of unit variance with a gap between the means of some features: a fixed number,
// or one in so many.
type bounding struct {
	Gap       float64 `json:"gap"`
	Differing int     `json:"differing"`
	Of        int     `json:"of"`
	Features  []int   `json:"features"`
	// Epsilons are those of the noise of Eq. (4); none stands for fixed noise of deviation 1.
	Epsilons   []float64 `json:"epsilons"`
	Replicates int       `json:"replicates"`
	Seed       uint64    `json:"seed"`
}

func (b *bounding) differing(p int) int {
	if b.Of > 0 {
		return p / b.Of
	}
	return b.Differing
}

func (b *bounding) population(p int, _ *rand.Rand) (*formulas.Population, error) {
	q := &formulas.Population{}
	for k := range 2 {
		q.Mean[k], q.Variance[k] = make([]float64, p), make([]float64, p)
		for j := range p {
			q.Variance[k][j] = 1
		}
	}
	for j := range b.differing(p) {
		q.Mean[1][j] = b.Gap
	}
	return q, nil
}

// norm is a public bound on the L2 norm of a row: it follows from the declared means and variances. To clip rows to it
// changes practically none.
func (b *bounding) norm(p int) float64 {
	return b.Gap*math.Sqrt(float64(b.differing(p))) + math.Sqrt(float64(p)) + boundSlack
}

// boundErrors returns seven numbers for each dimension and noise: three errors, three arguments of Φ, and the honest
// error, 0 where noise is fixed.
func boundErrors(ctx context.Context, _ *experiments.Run, b *bounding) (values []float64) {
	for _, p := range b.Features {
		noises := []formulas.Noise{{Fixed: 1}}
		for i, e := range append(b.Epsilons, b.Epsilons...) { // as published, then honest
			budget := formulas.Budget{Epsilon: e, Delta: boundDelta}
			n := formulas.Noise{Fixed: 2 * b.norm(p) * must(budget.AnalyticNoiseMultiplier())}
			if i < len(b.Epsilons) {
				n = formulas.Noise{Calibration: formulas.Published, Budget: budget}
			}
			noises = append(noises, n)
		}
		if len(b.Epsilons) > 0 {
			noises = noises[1:]
		}
		study := formulas.BoundStudy{Populations: b.population, Features: []int{p}, Rows: boundRows, Noise: noises, Replicates: b.Replicates, Confidence: .95, Seed: b.Seed}
		out := must(study.Run(ctx))
		for i, o := range out[:max(1, len(b.Epsilons))] {
			honest := 0.0
			if len(b.Epsilons) > 0 {
				honest = out[len(b.Epsilons)+i].CleanQuery.Estimate
			}
			values = append(values, o.Bound, o.NoisyQuery.Estimate, o.CleanQuery.Estimate, o.BoundArgument, o.NoisyArgument, o.CleanArgument, honest)
		}
	}
	return values
}

// slope is the exponent of y in x, by least squares on logarithms.
func slope(xs, ys []float64) (float64, error) {
	s, _, err := formulas.Slope(xs, ys)
	return s, err
}
