// Package published holds what the replays of feature selection have in common: the
// encoding that the papers use, splits, and noisy fits as a published library makes
// them. All of it looks at rows freely (one-hot levels that occur, ranges and norms
// of the data, exact entropies), so it is for public data and guarantees nothing.
package published

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/dataset"
	"pawl/schema"
)

// Encoding says what becomes of a table's columns. A column that is named nowhere is
// one-hot over the levels that occur, "?" among them.
type Encoding struct {
	// Numeric columns go to [0, 1] by the smallest and largest value that occur.
	Numeric []string
	// Binary columns of two levels become one indicator, of the level that sorts last.
	Binary []string
	// Drop leaves columns out.
	Drop []string
}

// Table is a public table of columns in [0, 1] with a label of 0 or 1.
type Table struct {
	Name  string
	Names []string
	// Indicator says that a column holds only 0 and 1.
	Indicator []bool
	X         [][]float64
	Label     []float64
}

// Open reads the training file of a built-in table. Rows keep the order of
// lab.Open, so that equal seeds split both alike. The label is 1 for class.
func Open(name, dataDir, class string, e Encoding) (*Table, error) {
	b, ok := dataset.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("no built-in table %q", name)
	}
	in, err := b.TrainCSV(dataDir)
	if err != nil {
		return nil, err
	}
	all, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return nil, err
	}
	header, rows := all[0], all[1:]
	target := slices.Index(header, b.Target)
	if target < 0 {
		return nil, fmt.Errorf("%s has no column %q", name, b.Target)
	}
	t := &Table{Name: name, X: make([][]float64, len(rows))}
	for _, row := range rows {
		t.Label = append(t.Label, indicator(row[target] == class))
	}
	for at, column := range header {
		if at == target || slices.Contains(e.Drop, column) {
			continue
		}
		cells := make([]string, len(rows))
		for i, row := range rows {
			cells[i] = row[at]
		}
		if slices.Contains(e.Numeric, column) {
			if err := t.numeric(column, cells); err != nil {
				return nil, err
			}
			continue
		}
		t.levels(column, cells, slices.Contains(e.Binary, column))
	}
	return t, nil
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (t *Table) numeric(column string, cells []string) error {
	values := make([]float64, len(cells))
	for i, cell := range cells {
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			return fmt.Errorf("%s: column %q is not numeric", t.Name, column)
		}
		values[i] = v
	}
	low, high := slices.Min(values), slices.Max(values)
	if low == high {
		return fmt.Errorf("%s: column %q is constant", t.Name, column)
	}
	t.Names, t.Indicator = append(t.Names, column), append(t.Indicator, false)
	for i, v := range values {
		t.X[i] = append(t.X[i], (v-low)/(high-low))
	}
	return nil
}

func (t *Table) levels(column string, cells []string, binary bool) {
	levels := slices.Compact(slices.Sorted(slices.Values(cells)))
	if binary {
		levels = levels[len(levels)-1:]
	}
	for _, level := range levels {
		t.Names, t.Indicator = append(t.Names, column+"="+level), append(t.Indicator, true)
		for i, cell := range cells {
			t.X[i] = append(t.X[i], indicator(cell == level))
		}
	}
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
	var key [32]byte
	if _, err := entropy.Seeded(seed).Split("scopes").Read(key[:]); err != nil {
		return nil, err
	}
	b := intake.NewBuilder(t.Name, s.schema, key)
	cells := make([]float64, len(t.Names)+1)
	for _, i := range s.Train {
		t.cells(cells, i)
		if err := b.Add(slices.Clone(cells), fmt.Sprint(i)); err != nil {
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
