package feature_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/reader"
	"pawl/search/feature"
)

// table is a data set as levels.
type table struct {
	domain feature.Domain
	codes  [][]uint16
	label  []uint16
}

// load bins a built-in data set's training rows: all, or limit of them drawn at random
// where it is > 0 (files may be sorted by class).
func load(t testing.TB, name string, limit int) *table {
	t.Helper()
	b, ok := dataset.Lookup(name)
	if !ok {
		t.Fatalf("no data set %q", name)
	}
	l, err := feature.NewLayout(b.Schema(), b.Target, 0)
	if err != nil {
		t.Fatal(err)
	}
	m := len(l.Domain.Attributes)
	x := &table{domain: l.Domain, codes: make([][]uint16, m)}
	row := make([]uint16, m+1)
	err = b.Train("", reader.Options{}, func(cells []float64, _ schema.Record) error {
		l.Codes(row, cells)
		for j := range m {
			x.codes[j] = append(x.codes[j], row[j])
		}
		x.label = append(x.label, row[m])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if limit > 0 {
		order := rand.New(rand.NewPCG(7, 7)).Perm(len(x.label))[:limit]
		pick := func(from []uint16) []uint16 {
			out := make([]uint16, limit)
			for r, i := range order {
				out[r] = from[i]
			}
			return out
		}
		for j := range x.codes {
			x.codes[j] = pick(x.codes[j])
		}
		x.label = pick(x.label)
	}
	x.domain.Rows = float64(len(x.label))
	return x
}

func (x *table) tally(t testing.TB, need feature.Need) *feature.Statistics {
	t.Helper()
	s, err := feature.Tally(x.domain, x.codes, x.label, need)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// oneHot makes every attribute one-hot, with a column for unknown cells as published.
func (x *table) oneHot() *table {
	for i := range x.domain.Attributes {
		x.domain.Attributes[i].OneHot, x.domain.Attributes[i].Unknown = true, false
	}
	return x
}

// occupied drops the columns of levels that no row has: the 43 columns of the published
// runs on Breast Cancer are those that occur.
func occupied(t testing.TB, m *feature.Matrix) *feature.Matrix {
	t.Helper()
	var columns []feature.Column
	var keep []int
	for i, e := range m.Entropy {
		if e > 0 {
			keep = append(keep, i)
			columns = append(columns, m.Columns[i])
		}
	}
	label, pair := make([]float64, len(keep)), make([]float64, len(keep)*len(keep))
	for a, i := range keep {
		label[a] = m.Label[i]
		for b, j := range keep {
			pair[a*len(keep)+b] = m.Pair(i, j)
		}
	}
	out, err := feature.NewMatrix(columns, label, pair)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// noised adds normal noise to every cell: a simulation of a release, not one.
func noised(s *feature.Statistics, stdDev float64, seed uint64) *feature.Statistics {
	rng := rand.New(rand.NewPCG(seed, 1))
	add := func(tables []feature.Table) (out []feature.Table) {
		for _, t := range tables {
			counts := make([]float64, len(t.Counts))
			for i, c := range t.Counts {
				counts[i] = c + stdDev*rng.NormFloat64()
			}
			out = append(out, feature.Table{Rows: t.Rows, Cols: t.Cols, Counts: counts})
		}
		return out
	}
	return &feature.Statistics{Domain: s.Domain, NoiseStdDev: stdDev, LabelTables: add(s.LabelTables), PairTables: add(s.PairTables)}
}

// independent draws uniform levels: no attribute says anything about another.
func independent(levels []int, rows int) *table {
	rng := rand.New(rand.NewPCG(1, 1))
	draw := func(levels int) []uint16 {
		out := make([]uint16, rows)
		for r := range out {
			out[r] = uint16(rng.IntN(levels))
		}
		return out
	}
	x := &table{domain: feature.Domain{Classes: 2, Rows: float64(rows)}, label: draw(2)}
	for j, l := range levels {
		x.domain.Attributes = append(x.domain.Attributes, feature.Attribute{Name: fmt.Sprintf("x%d", j), Levels: l})
		x.codes = append(x.codes, draw(l))
	}
	return x
}
