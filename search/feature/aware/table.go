// Package aware is privacy-aware feature selection as published: a genetic search over
// sets of columns whose fitness is the accuracy of models that are trained with noise on
// those columns. Rows are looked at freely (ranges and norms of the data, a score of every
// model), so it is for public data and guarantees nothing.
package aware

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/core/intake"
	"pawl/data/schema"
)

// Table is a public table of columns in [0, 1] with a label of 0 or 1.
type Table struct {
	Name  string
	Names []string
	// Indicator says that a column holds only 0 and 1.
	Indicator []bool
	X         [][]float64
	Label     []float64
}

// All are the indices of all columns.
func (t *Table) All() []int {
	all := make([]int, len(t.Names))
	for j := range all {
		all[j] = j
	}
	return all
}

// Split is a table cut into rows to train and rows to test.
type Split struct {
	Table       *Table
	Train, Test []int

	schema *schema.Schema
	rows   *intake.Rows
}

// label is the name of the label's column; no column of a table is called so.
const label = "label"

// Split shuffles the rows as lab.Table.Split does and keeps train of them to train,
// and the next test of them to test.
func (t *Table) Split(train, test int, seed uint64) (*Split, error) {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(t.X))
	if train < 1 || test < 1 || train+test > len(order) {
		return nil, fmt.Errorf("%s: %d rows cannot be split into %d and %d", t.Name, len(order), train, test)
	}
	s := &Split{Table: t, Train: order[:train], Test: order[train : train+test]}
	// Bounds of ±1 make the library's own affine map the identity: the columns
	// reach the fit as they are. An indicator is a category that a row has or has not,
	// so that a fit looks it up instead of multiplying.
	s.schema = &schema.Schema{Version: schema.Version, Dataset: t.Name, Unit: schema.Unit{Name: "row", MaxRows: 1}, Public: true}
	for j := range t.Names {
		c := schema.Column{Name: name(j), Type: schema.Numeric, Lower: -1, Upper: 1}
		if t.Indicator[j] {
			c = schema.Column{Name: name(j), Type: schema.Categorical, Categories: []string{"1"}}
		}
		s.schema.Columns = append(s.schema.Columns, c)
	}
	s.schema.Columns = append(s.schema.Columns, schema.Column{Name: label, Type: schema.Numeric, Lower: 0, Upper: 1})
	b := intake.NewBuilder(intake.SimulationKey(t.Name, seed), s.schema)
	cells := make([]float64, len(t.Names)+1)
	for _, i := range s.Train {
		t.cells(cells, i)
		if err := b.Add(cells, schema.Record{Raw: []byte(fmt.Sprint(i))}); err != nil {
			return nil, err
		}
	}
	s.rows = b.Seal()
	return s, nil
}

// cells fills the cells of a row as the split's schema has them: an indicator is its only
// level or unknown.
func (t *Table) cells(cells []float64, i int) {
	copy(cells, t.X[i])
	for j, is := range t.Indicator {
		if !is {
			continue
		}
		if cells[j] = 0; t.X[i][j] == 0 {
			cells[j] = math.NaN()
		}
	}
	cells[len(t.Names)] = t.Label[i]
}

func name(column int) string { return fmt.Sprintf("x%d", column) }

// Norm is that of the longest training row over the columns and a constant 1: what the
// published library takes for a bound where none is given.
func (s *Split) Norm(columns []int) float64 {
	longest := 0.0
	for _, i := range s.Train {
		sum := 1.0
		for _, j := range columns {
			sum += s.Table.X[i][j] * s.Table.X[i][j]
		}
		longest = max(longest, sum)
	}
	return math.Sqrt(longest)
}

// Majority is the accuracy in percent of the class that most test rows have.
func (s *Split) Majority() float64 {
	p := s.share(s.Test)
	return 100 * max(p, 1-p)
}

// PrivateMajority is the exact expected accuracy in percent of the class with the larger
// noisy count among the training rows, with Laplace noise of scale 1/epsilon on each
// of the two counts (pure epsilon for adding or removing one row). The difference of
// two such noises falls short of a gap g with chance ½·e^(−gε)·(1+gε/2).
func (s *Split) PrivateMajority(epsilon float64) float64 {
	train, test := s.share(s.Train), s.share(s.Test)
	gap := epsilon * math.Abs(2*train-1) * float64(len(s.Train))
	wrong := 0.5 * math.Exp(-gap) * (1 + gap/2)
	right := test
	if train < 0.5 {
		right = 1 - test
	}
	return 100 * ((1-wrong)*right + wrong*(1-right))
}

func (s *Split) share(rows []int) float64 {
	ones := 0.0
	for _, i := range rows {
		ones += s.Table.Label[i]
	}
	return ones / float64(len(rows))
}
