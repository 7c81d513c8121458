package formulas

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pawl/evidence/theory"
)

// Order says whether features are chosen before noise is added to rows, or after.
type Order string

const (
	// CutThenNoise is [D] Algorithm 1: features are ranked on the raw rows and cut,
	// noise is calibrated to what is left. The ranking is not paid for.
	CutThenNoise Order = "cut-then-noise"
	// NoiseThenCut adds noise to all features first and ranks the noisy rows, which
	// costs nothing more. The noise answers to the norm over all features.
	NoiseThenCut Order = "noise-then-cut"
)

// SelectionStudy is the synthetic study of [D] Sec. 4.1: the error of the Fisher
// classifier on noisy rows against the number of selected features and ε. It
// simulates; nothing in it is private (see Calibration and Order).
type SelectionStudy struct {
	Data        Mixture
	Rows        int       // training rows of each class; 30 in [D]
	Counts      []int     // numbers of features kept; Data.Features keeps all
	Epsilons    []float64 // +Inf: no noise
	Delta       float64   // 1e-4 in [D]
	Rankings    []Ranking
	Calibration Calibration
	Order       Order
	// NoisyQueries adds the noise to the classified points too, as [D] Sec. 4.1 has it
	// (“all data except labels”). Its Definition 5 classifies clean points.
	NoisyQueries bool
	Replicates   int // independent populations with their rows, at least 2
	Seed         uint64
}

// PublishedSelectionStudy has the settings of [D] Sec. 4.1, with 100 replicates.
func PublishedSelectionStudy() SelectionStudy {
	return SelectionStudy{
		Data:        SparseMixture(),
		Rows:        30,
		Counts:      []int{20},
		Epsilons:    []float64{1, 2, 3, 4, 5, 6, 8, 10},
		Delta:       1e-4,
		Rankings:    []Ranking{Distance, TStatistic},
		Calibration: Published,
		Order:       CutThenNoise,
		Replicates:  100,
		Seed:        1,
	}
}

func (s SelectionStudy) check() error {
	if err := s.Data.check(); err != nil {
		return err
	}
	switch {
	case s.Replicates < 2 || s.Rows < 2:
		return fmt.Errorf("%w: a study needs 2 rows in each class and 2 replicates", theory.ErrInput)
	case len(s.Counts) == 0 || len(s.Epsilons) == 0 || len(s.Rankings) == 0:
		return fmt.Errorf("%w: a study needs counts of features, epsilons and rankings", theory.ErrInput)
	case s.Order != CutThenNoise && s.Order != NoiseThenCut:
		return fmt.Errorf("%w: unknown order %q", theory.ErrInput, string(s.Order))
	}
	for _, count := range s.Counts {
		if count < 1 || count > s.Data.Features {
			return fmt.Errorf("%w: %d of %d features", theory.ErrInput, count, s.Data.Features)
		}
	}
	for _, epsilon := range s.Epsilons {
		if err := (Budget{epsilon, s.Delta}).check(); err != nil {
			return err
		}
	}
	return nil
}

// Arm is one way of classifying in a study.
type Arm struct {
	Ranking Ranking
	Count   int
	Epsilon float64
}

// Outcome is one arm over all replicates, in their order. Errors are exact given the
// training rows (Fisher.Error): no test rows are drawn.
type Outcome struct {
	Arm
	StdDev float64 // mean standard deviation of the noise
	Errors []float64
}

// Outcomes are a study's results.
type Outcomes struct {
	Study SelectionStudy
	All   []Outcome
}

// Run simulates. Every arm of a replicate sees the same population, the same rows
// and, feature by feature, the same standard normals, so differences between arms
// are paired. The result depends on Seed alone.
func (s SelectionStudy) Run(ctx context.Context) (*Outcomes, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	out := &Outcomes{Study: s}
	for _, epsilon := range s.Epsilons {
		for _, ranking := range s.Rankings {
			for _, count := range s.Counts {
				out.All = append(out.All, Outcome{Arm: Arm{ranking, count, epsilon}})
			}
		}
	}
	for r := range s.Replicates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rng := rand.New(rand.NewPCG(s.Seed, uint64(r)))
		population, err := s.Data.Draw(rng)
		if err != nil {
			return nil, err
		}
		rows := population.Rows(s.Rows, rng)
		noise := unitNoise(rows, rng)
		if err := s.replicate(out, population, rows, noise); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s SelectionStudy) replicate(out *Outcomes, population *Population, rows, noise [2][][]float64) error {
	m, err := momentsOf(rows, noise)
	if err != nil {
		return err
	}
	whole := MaxNorms(rows)
	cut := map[Ranking][]int{}
	norms := map[Ranking][]Norms{}
	for _, ranking := range s.Rankings {
		if cut[ranking], err = m.order(ranking, 0); err != nil {
			return err
		}
		norms[ranking] = normsByCount(rows, cut[ranking][:slices.Max(s.Counts)])
	}
	for i := range out.All {
		o := &out.All[i]
		order, bound := cut[o.Ranking], norms[o.Ranking][o.Count-1]
		if s.Order == NoiseThenCut {
			bound = whole
		}
		stdDev, err := s.Calibration.StdDev(bound, Budget{o.Epsilon, s.Delta})
		if err != nil {
			return err
		}
		if s.Order == NoiseThenCut {
			if order, err = m.order(o.Ranking, stdDev); err != nil {
				return err
			}
		}
		kept := order[:o.Count]
		f, err := m.fisher(kept, stdDev)
		if err != nil {
			return err
		}
		query := 0.0
		if s.NoisyQueries {
			query = stdDev
		}
		o.StdDev += stdDev / float64(s.Replicates)
		o.Errors = append(o.Errors, f.errorOn(population, kept, query))
	}
	return nil
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
