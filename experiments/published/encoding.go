// Package published holds what the replays of feature selection have in common: the
// encoding that the papers use and curves of noisy fits (package aware). All of it looks at rows freely (one-hot levels that occur, ranges and norms
// of the data, exact entropies), so it is for public data and guarantees nothing.
package published

import (
	"encoding/csv"
	"fmt"
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
		cells := make([]string, len(rows))
		for i, row := range rows {
			cells[i] = row[at]
		}
		if slices.Contains(e.Numeric, column) {
			if err := numeric(t, column, cells); err != nil {
				return nil, err
			}
			continue
		}
		if slices.Contains(e.Codes, column) {
			codes(t, column, cells)
			continue
		}
		levels(t, column, cells, slices.Contains(e.Binary, column))
	}
	return t, nil
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func numeric(t *aware.Table, column string, cells []string) error {
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

func levels(t *aware.Table, column string, cells []string, binary bool) {
	all := slices.Compact(slices.Sorted(slices.Values(cells)))
	if binary {
		all = all[len(all)-1:]
	}
	for _, level := range all {
		t.Names, t.Indicator = append(t.Names, column+"="+level), append(t.Indicator, true)
		for i, cell := range cells {
			t.X[i] = append(t.X[i], indicator(cell == level))
		}
	}
}

func codes(t *aware.Table, column string, cells []string) {
	all := slices.Compact(slices.Sorted(slices.Values(cells)))
	t.Names, t.Indicator = append(t.Names, column), append(t.Indicator, false)
	for i, cell := range cells {
		t.X[i] = append(t.X[i], float64(slices.Index(all, cell))/float64(max(len(all)-1, 1)))
	}
}
