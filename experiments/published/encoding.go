// Package published holds what the replays of feature selection have in common: the
// encoding that the papers use and curves of noisy fits (package aware). All of it looks at rows freely (one-hot levels that occur, ranges and norms
// of the data, exact entropies), so it is for public data and guarantees nothing.
package published

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"pawl/data/dataset"
	"pawl/search/feature/aware"
)

// Encoding says what becomes of a table's columns. A column that is named nowhere is
// one-hot over the levels that occur, "?" among them.
type Encoding struct {
	// Numeric columns go to [0, 1] by the smallest and largest value that occur.
	Numeric []string
	// Binary columns of two levels become one indicator, of the level that sorts last.
	Binary []string
	// Codes columns become one number in [0, 1], the place of the level in sorted order.
	Codes []string
	// Drop leaves columns out.
	Drop []string
}

// Open reads the training file of a built-in table. Rows keep the order of
// lab.Open, so that equal seeds split both alike. The label is 1 for class.
func Open(name, dataDir, class string, e Encoding) (*aware.Table, error) {
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
	t := &aware.Table{Name: name, X: make([][]float64, len(rows))}
	for _, row := range rows {
		t.Label = append(t.Label, indicator(row[target] == class))
	}
	for at, column := range header {
		if at == target || slices.Contains(e.Drop, column) {
			continue
		}
		add := func(name string, indicator bool, value func(cell string) float64) {
			t.Names, t.Indicator = append(t.Names, name), append(t.Indicator, indicator)
			for i, row := range rows {
				t.X[i] = append(t.X[i], value(row[at]))
			}
		}
		var levels []string
		for _, row := range rows {
			levels = append(levels, row[at])
		}
		slices.Sort(levels)
		levels = slices.Compact(levels)
		switch {
		case slices.Contains(e.Numeric, column):
			low, high, err := limits(levels)
			if err != nil {
				return nil, fmt.Errorf("%s: column %q is %w", name, column, err)
			}
			add(column, false, func(cell string) float64 {
				v, _ := strconv.ParseFloat(cell, 64) // limits read it
				return (v - low) / (high - low)
			})
		case slices.Contains(e.Codes, column):
			add(column, false, func(cell string) float64 {
				return float64(slices.Index(levels, cell)) / float64(max(len(levels)-1, 1))
			})
		default:
			if slices.Contains(e.Binary, column) {
				levels = levels[len(levels)-1:]
			}
			for _, level := range levels {
				add(column+"="+level, true, func(cell string) float64 { return indicator(cell == level) })
			}
		}
	}
	return t, nil
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// limits are the smallest and the largest of numbers.
func limits(cells []string) (low, high float64, err error) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, cell := range cells {
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			return 0, 0, errors.New("not numeric")
		}
		low, high = min(low, v), max(high, v)
	}
	if low == high {
		err = errors.New("constant")
	}
	return low, high, err
}
