package runners

import (
	"context"
	"fmt"
	"slices"

	"pawl/data/encode"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/published"
	"pawl/experiments/selectionstudy"
	"pawl/workflow"
)

// rows name splits of a public table: so many rows to train, the others to test, at most Test of them (0: all).
type rows struct {
	Data string `json:"data"`
	Rows int    `json:"rows"`
	Test int    `json:"test"`
	// Buckets are those that texts are hashed into; Ordered are columns whose categories become numbers.
	Buckets int      `json:"buckets"`
	Ordered []string `json:"ordered"`
	// Seeds are splits 1 to Seeds, one after the other; Splits are those from 0, side by side; or Seed is one.
	Seeds  int    `json:"seeds"`
	Splits int    `json:"splits"`
	Seed   uint64 `json:"seed"`
	// Over divides scores; 0 makes them percent.
	Over float64 `json:"over"`
}

func (s rows) open(r *experiments.Run) (*lab.Table, error) {
	return once(fmt.Sprint(s.Data, r.DataDir, s.Buckets, s.Ordered), func() (*lab.Table, error) {
		t, err := Table(s.Data, r.DataDir)
		if err != nil {
			return nil, err
		}
		if s.Buckets > 0 {
			t.Schema.SetBuckets(s.Buckets)
		}
		own := *t.Schema
		own.Columns = slices.Clone(own.Columns)
		for _, c := range s.Ordered {
			own.Columns[own.Column(c)].Ordered = true
		}
		t.Schema = &own
		return t, nil
	})
}

// each scores all splits.
func (s rows) each(ctx context.Context, r *experiments.Run, one func(ctx context.Context, split *lab.Table, seed uint64) (*workflow.Outcome, error)) ([]float64, error) {
	all, err := s.open(r)
	if err != nil {
		return nil, err
	}
	score := func(ctx context.Context, seed uint64) (float64, error) {
		split := all.Split(s.Rows, seed)
		if s.Test > 0 {
			split.Test = split.Test[:min(s.Test, len(split.Test))]
		}
		o, err := one(ctx, split, seed)
		switch {
		case err != nil:
			return 0, err
		case s.Over > 0:
			return *o.Score.Exact / s.Over, nil
		}
		return 100 * *o.Score.Exact, nil
	}
	if s.Splits > 0 {
		out := make([]float64, s.Splits)
		return out, published.Each(ctx, s.Splits, func(ctx context.Context, i int) (err error) {
			out[i], err = score(ctx, uint64(i))
			return err
		})
	}
	var out []float64
	for _, seed := range seeds(s.Seed, s.Seeds) {
		v, err := score(ctx, seed)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// fitting is the library's own workflow at a total (ε, δ).
type fitting struct {
	rows
	Epsilon string `json:"epsilon"`
	Delta   string `json:"delta"`
	Model   string `json:"model"`
	// Features are the columns, nil for all.
	Features []string `json:"features"`
	// Random takes up to so many attributes of the columns that a split of Breast Cancer draws, which looks at no row.
	Random int `json:"random"`
}

func fit(ctx context.Context, r *experiments.Run, f *fitting) ([]float64, error) {
	return f.each(ctx, r, func(ctx context.Context, split *lab.Table, seed uint64) (*workflow.Outcome, error) {
		features := f.Features
		if f.Random > 0 {
			s, err := columnTable{Data: f.Data, Rows: f.Rows, Test: 1}.split(r, int(seed))
			if err != nil {
				return nil, err
			}
			for _, j := range s.Random(f.Random, seed) {
				features = append(features, split.Schema.Columns[1+j%(len(split.Schema.Columns)-1)].Name)
			}
			slices.Sort(features)
			features = slices.Compact(features)
		}
		return split.Fit(ctx, f.Epsilon, f.Delta, seed, func(in *workflow.Input) { in.Model, in.Features = f.Model, features })
	})
}

// rowTraining trains a network on the rows of a table.
type rowTraining struct {
	rows
	spec
	// Linear encodes as a linear model does.
	Linear bool     `json:"linear"`
	By     training `json:"by"`
}

func trainRows(ctx context.Context, r *experiments.Run, t *rowTraining) ([]float64, error) {
	n, err := t.spec.make()
	if err != nil {
		return nil, err
	}
	return t.each(ctx, r, func(ctx context.Context, split *lab.Table, seed uint64) (*workflow.Outcome, error) {
		return split.Train(ctx, n, encode.Options{Linear: t.Linear}, seed, t.By.set)
	})
}

// chooseAndLearn is what a study of private choices of features measures.
func chooseAndLearn(ctx context.Context, r *experiments.Run, s *selectionstudy.Study) ([]float64, error) {
	return s.Run(ctx, func() (*lab.Table, error) { return rows{Data: s.Data}.open(r) })
}

func bestConstant(ctx context.Context, r *experiments.Run, s *selectionstudy.Study) ([]float64, error) {
	return s.Constant(ctx, func() (*lab.Table, error) { return rows{Data: s.Data}.open(r) })
}

// signal is r = n/σ₁(ε, δ) at the default δ.
func signal(rows, epsilon float64) (float64, error) {
	r, _, err := workflow.SignalRatio(rows, epsilon, "")
	return r, err
}
