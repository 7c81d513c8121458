package runners

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"pawl/core/entropy"
	"pawl/experiments"
	"pawl/experiments/published"
	"pawl/search/feature/aware"
)

// columnTable is a public table with the columns that a paper makes of it, cut into rows to train and to test.
type columnTable struct {
	Data string `json:"data"`
	// Encoding is of Adult: “one-hot”, “numeric” or “codes”. Breast Cancer has none.
	Encoding string `json:"encoding"`
	Rows     int    `json:"rows"`
	Test     int    `json:"test"`
}

// fits are those of so many splits, from 0, at an ε.
type fits struct {
	columnTable
	Splits  int     `json:"splits"`
	Epsilon float64 `json:"epsilon"`
	Repeats int     `json:"repeats"`
}

// study has splits of one table, which share what is found on the way.
type study struct {
	of     columnTable
	splits map[int]*cut
}

// studies are the last ones, for each data set: splits of Adult are large, and one study uses the same ones again and
// again, also in turns with those of another data set.
var studies = struct {
	sync.Mutex
	of map[string]*study
}{of: map[string]*study{}}

// cut is one split, with the order of the greedy search by merit.
type cut struct {
	*aware.Split
	mu    sync.Mutex
	order []int
}

// split is the i-th.
func (c columnTable) split(r *experiments.Run, i int) (*cut, error) {
	t, err := once(c.Data+" "+c.Encoding+" "+r.DataDir, func() (*aware.Table, error) { return published.OpenAs(c.Data, r.DataDir, c.Encoding) })
	if err != nil {
		return nil, err
	}
	studies.Lock()
	defer studies.Unlock()
	if l := studies.of[c.Data]; l == nil || l.of != c {
		studies.of[c.Data] = &study{c, map[int]*cut{}}
	}
	splits := studies.of[c.Data].splits
	if splits[i] == nil {
		s, err := t.Split(c.Rows, c.Test, uint64(i))
		if err != nil {
			return nil, err
		}
		splits[i] = &cut{Split: s}
	}
	return splits[i], nil
}

// each does so for the splits from 0, side by side.
func (c columnTable) each(ctx context.Context, r *experiments.Run, splits int, one func(ctx context.Context, i int, s *cut) error) error {
	return published.Each(ctx, splits, func(ctx context.Context, i int) error {
		s, err := c.split(r, i)
		if err != nil {
			return err
		}
		return one(ctx, i, s)
	})
}

// greedy are the first columns of the greedy search by merit on raw entropies of the training rows, which nobody pays
// for (docs/READING.md, H17); 0 for all columns.
func (c *cut) greedy(size int) ([]int, error) {
	if size == 0 {
		return c.Table.All(), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := size
	if len(c.order) < size {
		m, err := c.Matrix()
		if err != nil {
			return nil, err
		}
		if len(c.order) > 0 {
			size = len(c.Table.Names) // who asks again will ask for more
		}
		found, err := m.Greedy(size)
		if err != nil {
			return nil, err
		}
		c.order = found.Indices()
	}
	return slices.Sorted(slices.Values(c.order[:asked])), nil
}

// noisyFits are fits by objective perturbation on the best columns: the mean accuracy of each split, for each size.
type noisyFits struct {
	fits
	Sizes []int `json:"sizes"` // rising; 0 for all
	// Plain is the same fit without noise for all.
	Plain bool `json:"plain"`
}

func fitColumns(ctx context.Context, r *experiments.Run, f *noisyFits) ([]float64, error) {
	values := make([]float64, len(f.Sizes)*f.Splits)
	return values, f.each(ctx, r, f.Splits, func(ctx context.Context, i int, s *cut) error {
		for k, size := range slices.Backward(f.Sizes) { // the longest order first
			columns, err := s.greedy(size)
			if err != nil {
				return err
			}
			src := entropy.Seeded(1)
			if !f.Plain {
				src = entropy.Seeded(uint64(i)).Split(published.EpsilonName(f.Epsilon), uint64(len(columns)))
			}
			got, err := s.Accuracies(ctx, aware.Fits{Columns: columns, Epsilon: f.Epsilon, Repeats: f.Repeats}, src)
			if err != nil {
				return err
			}
			values[k*f.Splits+i] = experiments.Of(got).Mean
		}
		return nil
	})
}

// descents are runs of DP-SGD on the best columns at a printed ε.
type descents struct {
	fits
	Size int     `json:"size"`
	Rate float64 `json:"rate"`
}

func descend(ctx context.Context, r *experiments.Run, f *descents) ([]float64, error) {
	d, err := aware.CalibratedDescent(f.Rows, f.Epsilon)
	if err != nil {
		return nil, err
	}
	v := make([]float64, f.Splits)
	return v, f.each(ctx, r, f.Splits, func(ctx context.Context, i int, s *cut) (err error) {
		d := d
		d.LearningRate = f.Rate
		if d.Columns, err = s.greedy(f.Size); err != nil {
			return err
		}
		sum := 0.0
		for run := range f.Repeats {
			a, err := s.Descend(ctx, d, uint64(1000*i+run))
			if err != nil {
				return err
			}
			sum += a
		}
		v[i] = sum / float64(f.Repeats)
		return nil
	})
}

// everyFit are all fits on all columns of one split: for each ε the noisy majority and so many accuracies.
type everyFit struct {
	fits
	Split    int       `json:"split"`
	Epsilons []float64 `json:"epsilons"`
}

func fitAll(ctx context.Context, r *experiments.Run, f *everyFit) (values []float64, err error) {
	s, err := f.split(r, f.Split)
	if err != nil {
		return nil, err
	}
	for _, epsilon := range f.Epsilons {
		values = append(values, s.PrivateMajority(epsilon))
		repeats := f.Repeats
		if epsilon == aware.NoPrivacy {
			repeats = 1
		}
		got, err := s.Accuracies(ctx, aware.Fits{Columns: s.Table.All(), Epsilon: epsilon, Repeats: repeats}, entropy.Seeded(uint64(f.Split)).Split(published.EpsilonName(epsilon)))
		if err != nil {
			return nil, err
		}
		for len(got) < f.Repeats { // without noise all fits are the same
			got = append(got, got[0])
		}
		values = append(values, got...)
	}
	return values, nil
}

// choosing finds a set of columns for each split: by merit, where ε is 0, or by noisy fits (PAFS).
type choosing struct {
	fits
	Population  int `json:"population"`
	Generations int `json:"generations"`
}

func choose(ctx context.Context, r *experiments.Run, c *choosing) ([]float64, error) {
	return published.Flat(ctx, c.Splits, func(ctx context.Context, i int) ([]int, error) {
		s, err := c.split(r, i)
		if err != nil {
			return nil, err
		}
		if c.Epsilon == 0 {
			m, err := s.Matrix()
			if err != nil {
				return nil, err
			}
			return published.Genetic(ctx, m, c.Population, uint64(i))
		}
		found, err := s.Aware(ctx, s.Perturbed(c.Epsilon), aware.Search{Population: c.Population, Generations: c.Generations, Seed: uint64(i), Workers: 1})
		if err != nil {
			return nil, err
		}
		return found.Columns, nil
	})
}

// chosenFits are noisy fits on a set of each split, nil for all columns; or on Draws random ones as large.
type chosenFits struct {
	fits
	Sets   [][]int `json:"sets"`
	How    string  `json:"how"` // all, sets, greedy or random
	Draws  int     `json:"draws"`
	Stream string  `json:"stream"`
}

func fitChosen(ctx context.Context, r *experiments.Run, f *chosenFits) ([]float64, error) {
	v := make([]float64, f.Splits)
	return v, f.each(ctx, r, f.Splits, func(ctx context.Context, i int, s *cut) error {
		sum := 0.0
		for d := range f.Draws {
			var columns []int
			switch f.How {
			case "all":
				columns = s.Table.All()
			case "sets":
				columns = f.Sets[i]
			case "random":
				columns = s.Random(len(f.Sets[i]), uint64(100*i+d))
			case "greedy":
				if _, err := s.greedy(len(f.Sets[i])); err != nil {
					return err
				}
				columns = s.order[:len(f.Sets[i])]
			}
			got, err := s.Accuracies(ctx, aware.Fits{Columns: columns, Epsilon: f.Epsilon, Repeats: f.Repeats}, entropy.Seeded(uint64(i)).Split(f.Stream, uint64(d)))
			if err != nil {
				return err
			}
			for _, a := range got {
				sum += a
			}
		}
		v[i] = sum / float64(f.Draws*f.Repeats)
		return nil
	})
}

// majorities are what the class with the larger noisy count gets right at an ε, and majorityRates what the most frequent
// class of the test rows does, by split.
func majorities(ctx context.Context, r *experiments.Run) func(data, encoding string, rows, test, splits int, epsilon float64) ([]float64, error) {
	return func(data, encoding string, rows, test, splits int, epsilon float64) ([]float64, error) {
		return bySplit(ctx, r, columnTable{data, encoding, rows, test}, splits, func(s *cut) float64 { return s.PrivateMajority(epsilon) })
	}
}

func majorityRates(ctx context.Context, r *experiments.Run) func(data, encoding string, rows, test, splits int) ([]float64, error) {
	return func(data, encoding string, rows, test, splits int) ([]float64, error) {
		return bySplit(ctx, r, columnTable{data, encoding, rows, test}, splits, func(s *cut) float64 { return s.Majority() })
	}
}

func bySplit(ctx context.Context, r *experiments.Run, c columnTable, splits int, of func(*cut) float64) ([]float64, error) {
	out := make([]float64, splits)
	return out, c.each(ctx, r, splits, func(_ context.Context, i int, s *cut) error {
		out[i] = of(s)
		return nil
	})
}

// counted names a number of columns.
func counted(size, all int) string {
	switch size {
	case all:
		return fmt.Sprintf("all %d features", size)
	case 1:
		return "1 feature"
	}
	return fmt.Sprintf("%d features", size)
}
