// Package selectionstudy measures whether choosing features privately pays: at one total budget, choosing included,
// against all columns, for several learners and tables.
package selectionstudy

import (
	"context"
	"fmt"
	"slices"

	"pawl/evidence/lab"
	"pawl/experiments"
)

// Learners, by the names that a plan knows, but for plain.
const (
	linear = "linear"
	// plain is objective perturbation on numbers as they are, one coordinate each, with
	// the whole residual: every column more is noise more.
	plain = "plain objective perturbation"
)

// Study is one way of choosing on one table at one ε. All fields are public facts or wishes of the operator; no row is
// looked at for them.
type Study struct {
	// Data is a built-in table, with Noise columns of noise more; or Make is the kind of a generated one: sparse flags of
	// which Relevant matter by Effect, products, or dense numbers.
	Data     string  `json:"data"`
	Noise    int     `json:"noise"`
	Make     string  `json:"make"`
	Columns  int     `json:"columns"`
	Relevant int     `json:"relevant"`
	Effect   float64 `json:"effect"`
	// Train and Test are numbers of rows.
	Train int `json:"train"`
	Test  int `json:"test"`
	// Subset is what documentation names, or in generated tables what matters.
	Subset []string `json:"subset"`
	// Count is the number of columns that an operator would ask a ranking for, Bins those of numeric columns in tables.
	Count    int      `json:"count"`
	Bins     int      `json:"bins"`
	Learners []string `json:"learners"`
	Splits   int      `json:"splits"`
	Epsilon  float64  `json:"epsilon"`
	Method   string   `json:"method"`
}

// Check says what is wrong before anything is measured.
func (p *Study) Check() error {
	if p.Data == "" && !slices.Contains([]string{"sparse", "products", "dense"}, p.Make) {
		return fmt.Errorf("make %q: want sparse, products or dense, or data", p.Make)
	}
	if p.Method != "" && !slices.Contains([]string{everything, documented, oracle, information, correlation, distance, careful, searching}, p.Method) {
		return fmt.Errorf("no way of choosing is called %q", p.Method)
	}
	return nil
}

// Run returns the scores of every learner, split by split. open reads the built-in table.
func (p *Study) Run(ctx context.Context, open func() *lab.Table) []float64 {
	b := newBudget(p.Epsilon, p.Train)
	return slices.Concat(experiments.Across(experiments.Each(ctx, p.Splits, func(i int) []float64 {
		return p.measure(ctx, p.split(open, i), p.Method, b)
	}))...)
}

// Constant returns the scores of the best constant on the test rows, split by split.
func (p *Study) Constant(open func() *lab.Table) (constant []float64) {
	for i := range p.Splits {
		constant = append(constant, constantScore(p.split(open, i).Table))
	}
	return constant
}

func (p *Study) draw(open func() *lab.Table, seed uint64) (t *lab.Table) {
	rows := p.Train + p.Test
	switch p.Make {
	case "sparse":
		t = sparse(p.Columns, p.Relevant, p.Effect, rows, seed)
	case "products":
		t = products(12, 12, rows, seed)
	case "dense":
		t = dense(p.Columns, rows, seed)
	default:
		t = open()
	}
	t = t.Split(p.Train, seed)
	if p.Noise == 0 {
		return t
	}
	test := padded(&lab.Table{Name: t.Name, Target: t.Target, Schema: t.Schema, Rows: t.Test}, p.Noise, 1000+seed)
	t = padded(t, p.Noise, seed)
	t.Test = test.Rows
	return t
}

func (p *Study) split(open func() *lab.Table, i int) *split {
	t := p.draw(open, uint64(i))
	t.Test = t.Test[:min(p.Test, len(t.Test))]
	return newSplit(t, uint64(i))
}
