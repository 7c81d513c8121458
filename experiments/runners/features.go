package runners

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"

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
func (c columnTable) split(r *experiments.Run, i int) *cut {
	t := once(c.Data+" "+c.Encoding+" "+r.DataDir, func() *aware.Table { return must(published.OpenAs(c.Data, r.DataDir, c.Encoding)) })
	studies.Lock()
	defer studies.Unlock()
	if l := studies.of[c.Data]; l == nil || l.of != c {
		studies.of[c.Data] = &study{c, map[int]*cut{}}
	}
	splits := studies.of[c.Data].splits
	if splits[i] == nil {
		splits[i] = &cut{Split: must(t.Split(c.Rows, c.Test, uint64(i)))}
	}
	return splits[i]
}

// bySplit is what one makes of the splits from 0, side by side.
func bySplit[T any](ctx context.Context, r *experiments.Run, c columnTable, splits int, one func(i int, s *cut) T) []T {
	return experiments.Each(ctx, splits, func(i int) T { return one(i, c.split(r, i)) })
}

// greedy are the first columns of the greedy search by merit on raw entropies of the training rows, which nobody pays
// for (docs/READING.md, H17), in their order; 0 for all columns.
func (c *cut) greedy(size int) []int {
	if size == 0 {
		return c.Table.All()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.order) < size {
		longest := size
		if len(c.order) > 0 {
			longest = len(c.Table.Names) // who asks again will ask for more
		}
		c.order = must(must(c.Matrix()).Greedy(longest)).Indices()
	}
	return c.order[:size]
}

// noisyFits are fits by objective perturbation on the best columns: the mean accuracy of each split, for each size.
type noisyFits struct {
	fits
	Sizes []int `json:"sizes"` // rising; 0 for all
	// Plain is the same fit without noise for all.
	Plain bool `json:"plain"`
}

func fitColumns(ctx context.Context, r *experiments.Run, f *noisyFits) []float64 {
	return slices.Concat(experiments.Across(bySplit(ctx, r, f.columnTable, f.Splits, func(i int, s *cut) []float64 {
		means := make([]float64, len(f.Sizes))
		for k, size := range slices.Backward(f.Sizes) { // the longest order first
			columns, src := slices.Sorted(slices.Values(s.greedy(size))), entropy.Seeded(1)
			if !f.Plain {
				src = entropy.Seeded(uint64(i)).Split(published.EpsilonName(f.Epsilon), uint64(len(columns)))
			}
			means[k] = stat.Mean(must(s.Accuracies(ctx, aware.Fits{Columns: columns, Epsilon: f.Epsilon, Repeats: f.Repeats}, src)), nil)
		}
		return means
	}))...)
}

// descents are runs of DP-SGD on the best columns at a printed ε.
type descents struct {
	fits
	Size int     `json:"size"`
	Rate float64 `json:"rate"`
}

func descend(ctx context.Context, r *experiments.Run, f *descents) []float64 {
	d := must(aware.CalibratedDescent(f.Rows, f.Epsilon))
	d.LearningRate = f.Rate
	return bySplit(ctx, r, f.columnTable, f.Splits, func(i int, s *cut) (sum float64) {
		own := d
		own.Columns = slices.Sorted(slices.Values(s.greedy(f.Size)))
		for run := range f.Repeats {
			sum += must(s.Descend(ctx, own, uint64(1000*i+run)))
		}
		return sum / float64(f.Repeats)
	})
}

// everyFit are all fits on all columns of one split: for each ε the noisy majority and so many accuracies.
type everyFit struct {
	fits
	Split    int       `json:"split"`
	Epsilons []float64 `json:"epsilons"`
}

func fitAll(ctx context.Context, r *experiments.Run, f *everyFit) (values []float64) {
	s := f.split(r, f.Split)
	for _, epsilon := range f.Epsilons {
		repeats := f.Repeats
		if epsilon == aware.NoPrivacy {
			repeats = 1
		}
		got := must(s.Accuracies(ctx, aware.Fits{Columns: s.Table.All(), Epsilon: epsilon, Repeats: repeats}, entropy.Seeded(uint64(f.Split)).Split(published.EpsilonName(epsilon))))
		for len(got) < f.Repeats { // without noise all fits are the same
			got = append(got, got[0])
		}
		values = append(append(values, s.PrivateMajority(epsilon)), got...)
	}
	return values
}

// choosing finds a set of columns for each split: by merit, where ε is 0, or by noisy fits (PAFS).
type choosing struct {
	fits
	Population  int `json:"population"`
	Generations int `json:"generations"`
}

func choose(ctx context.Context, r *experiments.Run, c *choosing) []float64 {
	return published.Flat(bySplit(ctx, r, c.columnTable, c.Splits, func(i int, s *cut) []int {
		if c.Epsilon == 0 {
			return must(published.Genetic(ctx, must(s.Matrix()), c.Population, uint64(i)))
		}
		return must(s.Aware(ctx, s.Perturbed(c.Epsilon), aware.Search{Population: c.Population, Generations: c.Generations, Seed: uint64(i), Workers: 1})).Columns
	}))
}

// chosenFits are noisy fits on a set of each split, nil for all columns; or on Draws random ones as large.
type chosenFits struct {
	fits
	Sets   [][]int `json:"sets"`
	How    string  `json:"how"` // all, sets, greedy or random
	Draws  int     `json:"draws"`
	Stream string  `json:"stream"`
}

func fitChosen(ctx context.Context, r *experiments.Run, f *chosenFits) []float64 {
	return bySplit(ctx, r, f.columnTable, f.Splits, func(i int, s *cut) (sum float64) {
		for d := range f.Draws {
			columns := s.Table.All()
			switch f.How {
			case "sets":
				columns = f.Sets[i]
			case "random":
				columns = s.Random(len(f.Sets[i]), uint64(100*i+d))
			case "greedy":
				columns = s.greedy(len(f.Sets[i]))
			}
			for _, a := range must(s.Accuracies(ctx, aware.Fits{Columns: columns, Epsilon: f.Epsilon, Repeats: f.Repeats}, entropy.Seeded(uint64(i)).Split(f.Stream, uint64(d)))) {
				sum += a
			}
		}
		return sum / float64(f.Draws*f.Repeats)
	})
}

// majorities are what the class with the larger noisy count gets right at an ε, and majorityRates what the most frequent
// class of the test rows does, by split.
func majorities(ctx context.Context, r *experiments.Run) func(data, encoding string, rows, test, splits int, epsilon float64) []float64 {
	return func(data, encoding string, rows, test, splits int, epsilon float64) []float64 {
		return bySplit(ctx, r, columnTable{data, encoding, rows, test}, splits, func(_ int, s *cut) float64 { return s.PrivateMajority(epsilon) })
	}
}

func majorityRates(ctx context.Context, r *experiments.Run) func(data, encoding string, rows, test, splits int) []float64 {
	return func(data, encoding string, rows, test, splits int) []float64 {
		return bySplit(ctx, r, columnTable{data, encoding, rows, test}, splits, func(_ int, s *cut) float64 { return s.Majority() })
	}
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
