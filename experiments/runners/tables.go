package runners

import (
	"context"
	"fmt"
	"slices"

	"pawl/data/encode"
	"pawl/evidence/lab"
	"pawl/experiments"
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

func (s rows) open(r *experiments.Run) *lab.Table {
	return once(fmt.Sprint(s.Data, r.DataDir, s.Buckets, s.Ordered), func() *lab.Table {
		t := must(Table(s.Data, r.DataDir))
		if s.Buckets > 0 {
			t.Schema.SetBuckets(s.Buckets)
		}
		own := *t.Schema
		own.Columns = slices.Clone(own.Columns)
		for _, c := range s.Ordered {
			own.Columns[own.Column(c)].Ordered = true
		}
		t.Schema = &own
		return t
	})
}

// each scores all splits.
func (s rows) each(ctx context.Context, r *experiments.Run, one func(split *lab.Table, seed uint64) *workflow.Outcome) (out []float64) {
	all := s.open(r)
	score := func(seed uint64) float64 {
		split := all.Split(s.Rows, seed)
		if s.Test > 0 {
			split.Test = split.Test[:min(s.Test, len(split.Test))]
		}
		o := one(split, seed)
		if s.Over > 0 {
			return *o.Score.Exact / s.Over
		}
		return percent(o)
	}
	if s.Splits > 0 {
		return experiments.Each(ctx, s.Splits, func(i int) float64 { return score(uint64(i)) })
	}
	for _, seed := range seeds(s.Seed, s.Seeds) {
		out = append(out, score(seed))
	}
	return out
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

func fit(ctx context.Context, r *experiments.Run, f *fitting) []float64 {
	return f.each(ctx, r, func(split *lab.Table, seed uint64) *workflow.Outcome {
		features := slices.Clone(f.Features)
		if f.Random > 0 {
			columns := split.Schema.Columns[1:]
			for _, j := range (columnTable{Data: f.Data, Rows: f.Rows, Test: 1}).split(r, int(seed)).Random(f.Random, seed) {
				features = append(features, columns[j%len(columns)].Name)
			}
			slices.Sort(features)
			features = slices.Compact(features)
		}
		return must(split.Fit(ctx, f.Epsilon, f.Delta, seed, func(in *workflow.Input) { in.Model, in.Features = f.Model, features }))
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

func trainRows(ctx context.Context, r *experiments.Run, t *rowTraining) []float64 {
	net := must(t.spec.make())
	return t.each(ctx, r, func(split *lab.Table, seed uint64) *workflow.Outcome {
		return must(split.Train(ctx, net, encode.Options{Linear: t.Linear}, seed, t.By.set))
	})
}

// chooseAndLearn is what a study of private choices of features measures.
func chooseAndLearn(ctx context.Context, r *experiments.Run, s *selectionstudy.Study) []float64 {
	return s.Run(ctx, func() *lab.Table { return rows{Data: s.Data}.open(r) })
}

func bestConstant(_ context.Context, r *experiments.Run, s *selectionstudy.Study) []float64 {
	return s.Constant(func() *lab.Table { return rows{Data: s.Data}.open(r) })
}

// signal is r = n/σ₁(ε, δ) at the default δ.
func signal(rows, epsilon float64) (float64, error) {
	r, _, err := workflow.SignalRatio(rows, epsilon, "")
	return r, err
}
