package formulas

import (
	"context"
	"fmt"
	"math/rand/v2"

	"pawl/evidence/theory"
)

// Noise says how the standard deviation of the noise on rows follows from them.
type Noise struct {
	// Fixed is used where Calibration is empty: noise that does not depend on rows.
	Fixed       float64
	Calibration Calibration
	Budget      Budget
}

func (n Noise) stdDev(norms Norms) (float64, error) {
	if n.Calibration == "" {
		if !(n.Fixed >= 0) {
			return 0, fmt.Errorf("%w: noise must not be negative", theory.ErrInput)
		}
		return n.Fixed, nil
	}
	return n.Calibration.StdDev(norms, n.Budget)
}

// BoundStudy puts the bound of Theorem 6 beside the error itself.
type BoundStudy struct {
	// Populations gives the population of a dimension; rng is the replicate's.
	Populations func(features int, rng *rand.Rand) (*Population, error)
	Features    []int // dimensions p
	Rows        int   // training rows of each class, at least 2
	Noise       []Noise
	Replicates  int // at least 2
	Confidence  float64
	Seed        uint64
}

// BoundPoint is one dimension and one noise, averaged over replicates. Arguments are
// what Φ is applied to.
type BoundPoint struct {
	Features      int
	Noise         Noise
	StdDev        float64         // mean standard deviation of the noise
	Gamma         float64         // mean Γ
	Bound         float64         // mean bound on the error
	BoundArgument float64         // mean argument of the bound
	NoisyQuery    theory.Interval // error on queries with the noise of the training rows
	CleanQuery    theory.Interval // error on queries without noise
	NoisyArgument float64         // mean Ψ, both classes, for noisy queries
	CleanArgument float64         // mean Ψ for clean queries
}

// Run computes every point, dimensions outermost. Replicates share population, rows
// and unit noise between noises, so that points of one dimension are paired. Memory
// is that of one replicate.
func (s BoundStudy) Run(ctx context.Context) ([]BoundPoint, error) {
	if s.Populations == nil || s.Replicates < 2 || s.Rows < 2 || len(s.Features) == 0 || len(s.Noise) == 0 {
		return nil, fmt.Errorf("%w: a study of the bound needs populations, dimensions, noises, 2 rows and 2 replicates", theory.ErrInput)
	}
	if err := theory.CheckConfidence(s.Confidence); err != nil {
		return nil, err
	}
	var points []BoundPoint
	for _, p := range s.Features {
		at := make([]BoundPoint, len(s.Noise))
		noisy, clean := make([][]float64, len(s.Noise)), make([][]float64, len(s.Noise))
		for r := range s.Replicates {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := s.replicate(p, r, at, noisy, clean); err != nil {
				return nil, err
			}
		}
		for i := range at {
			at[i].Features, at[i].Noise = p, s.Noise[i]
			at[i].NoisyQuery, _ = theory.MeanInterval(noisy[i], s.Confidence) // checked above
			at[i].CleanQuery, _ = theory.MeanInterval(clean[i], s.Confidence)
		}
		points = append(points, at...)
	}
	return points, nil
}

func (s BoundStudy) replicate(p, replicate int, at []BoundPoint, noisy, clean [][]float64) error {
	rng := rand.New(rand.NewPCG(s.Seed, uint64(p)<<32|uint64(replicate)))
	population, err := s.Populations(p, rng)
	if err != nil {
		return err
	}
	rows := population.Rows(s.Rows, rng)
	m, err := momentsOf(rows, unitNoise(rows, rng))
	if err != nil {
		return err
	}
	norms, all := MaxNorms(rows), Identity(population.Features())
	for i, n := range s.Noise {
		stdDev, err := n.stdDev(norms)
		if err != nil {
			return err
		}
		f, err := m.fisher(all, stdDev)
		if err != nil {
			return err
		}
		bound := MixtureBound{Features: population.Features(), Rows: 2 * s.Rows, Gamma: Gamma(population, stdDev)}
		share := 1 / float64(s.Replicates)
		at[i].StdDev += share * stdDev
		at[i].Gamma += share * bound.Gamma
		at[i].Bound += share * bound.Error()
		at[i].BoundArgument += share * bound.Argument()
		for class := range 2 {
			at[i].NoisyArgument += share / 2 * f.Psi(population, class, stdDev)
			at[i].CleanArgument += share / 2 * f.Psi(population, class, 0)
		}
		noisy[i] = append(noisy[i], f.Error(population, stdDev))
		clean[i] = append(clean[i], f.Error(population, 0))
	}
	return nil
}

// unitNoise draws a standard normal for every entry of rows.
func unitNoise(rows [2][][]float64, rng *rand.Rand) [2][][]float64 {
	return Each(rows, func(float64) float64 { return rng.NormFloat64() })
}
