package published

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"pawl/core/entropy"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/search/feature/aware"
)

// Curves measures accuracy against the number of columns, at several epsilons: columns are
// added in the order of the greedy search by merit, on raw entropies of the training
// rows (docs/READING.md, H17).
type Curves struct {
	Data, Class     string
	Encoding        Encoding
	Train, Test     int
	Sizes           []int // rising; the last has to be all columns
	Epsilons        []float64
	Splits, Repeats int
	// Honest is the number of splits that the library's own workflow is run on.
	Honest int
}

// Points are what was measured, one value a split.
type Points struct {
	Curves
	accuracy [][][]float64 // by epsilon and size
	majority [][]float64   // by epsilon
	honest   [][]float64   // by epsilon, on all attributes
}

// Measure measures one cell for each epsilon.
func (c Curves) Measure(ctx context.Context, r *experiments.Run) (*Points, error) {
	t, err := Open(c.Data, r.DataDir, c.Class, c.Encoding)
	if err != nil {
		return nil, err
	}
	if last := c.Sizes[len(c.Sizes)-1]; last != len(t.Names) {
		return nil, fmt.Errorf("%s has %d columns, the largest size is %d", c.Data, len(t.Names), last)
	}
	splits := make([]*aware.Split, c.Splits)
	orders := make([][]int, c.Splits)
	err = Each(ctx, c.Splits, func(_ context.Context, i int) (err error) {
		if splits[i], err = t.Split(c.Train, c.Test, uint64(i)); err != nil {
			return err
		}
		m, err := splits[i].Matrix()
		if err != nil {
			return err
		}
		greedy, err := m.Greedy(len(t.Names))
		if err != nil {
			return err
		}
		orders[i] = greedy.Indices()
		return nil
	})
	if err != nil {
		return nil, err
	}
	p := &Points{Curves: c}
	for _, epsilon := range c.Epsilons {
		repeats := c.Repeats
		if epsilon == aware.NoPrivacy {
			repeats = 1 // all fits are the same
		}
		cell := fmt.Sprintf("%s, %d rows, %s, %d splits of %d fits, sizes %v", c.Data, c.Train, EpsilonName(epsilon), c.Splits, repeats, c.Sizes)
		values, err := r.Cell(ctx, cell, func() ([]float64, error) {
			values := make([]float64, len(c.Sizes)*c.Splits)
			return values, Each(ctx, c.Splits, func(ctx context.Context, i int) error {
				for k, size := range c.Sizes {
					src := entropy.Seeded(uint64(i)).Split(EpsilonName(epsilon), uint64(size))
					got, err := splits[i].Accuracies(ctx, aware.Fits{Columns: slices.Sorted(slices.Values(orders[i][:size])), Epsilon: epsilon, Repeats: repeats}, src)
					if err != nil {
						return err
					}
					values[k*c.Splits+i] = experiments.Of(got).Mean
				}
				return nil
			})
		})
		if err != nil {
			return nil, err
		}
		var bySize [][]float64
		for k := range c.Sizes {
			bySize = append(bySize, values[k*c.Splits:][:c.Splits])
		}
		p.accuracy = append(p.accuracy, bySize)
		var majority []float64
		for _, s := range splits {
			majority = append(majority, s.PrivateMajority(epsilon))
		}
		p.majority = append(p.majority, majority)
	}
	return p, p.workflow(ctx, r)
}

// workflow runs the library's own workflow at every epsilon but aware.NoPrivacy.
func (p *Points) workflow(ctx context.Context, r *experiments.Run) error {
	data, err := lab.Open(p.Data, r.DataDir)
	if err != nil {
		return err
	}
	for _, epsilon := range p.Epsilons {
		if epsilon == aware.NoPrivacy {
			p.honest = append(p.honest, nil)
			continue
		}
		cell := fmt.Sprintf("workflow, %s, %d rows, %s, %d splits", p.Data, p.Train, EpsilonName(epsilon), p.Honest)
		values, err := r.Cell(ctx, cell, func() ([]float64, error) {
			values := make([]float64, p.Honest)
			return values, Each(ctx, p.Honest, func(ctx context.Context, i int) error {
				split := data.Split(p.Train, uint64(i))
				split.Test = split.Test[:p.Test]
				out, err := split.Fit(ctx, strconv.FormatFloat(epsilon, 'g', -1, 64), "", uint64(i), nil)
				if err != nil {
					return err
				}
				values[i] = 100 * *out.Score.Exact
				return nil
			})
		})
		if err != nil {
			return err
		}
		p.honest = append(p.honest, values)
	}
	return nil
}

// EpsilonName is "ε = 0.1", or words for aware.NoPrivacy.
func EpsilonName(epsilon float64) string {
	if epsilon == aware.NoPrivacy {
		return "no privacy (ε = 1e9)"
	}
	return fmt.Sprintf("ε = %g", epsilon)
}
