package release

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/internal/stattest"
)

// classAndSign codes the rows of rowsOf: column 0 is the class, 1 the sign, and 2 a
// column that is never known.
func classAndSign(codes []uint16, cells []float64) {
	codes[0], codes[1], codes[2] = math.MaxUint16, 0, math.MaxUint16
	if cells[0] == cells[0] {
		codes[0] = uint16(cells[0])
	}
	if cells[1] > 0 {
		codes[1] = 1
	}
}

func someTables(multiplier float64) Tables {
	return Tables{Scope: dp.WholeScope, NoiseMultiplier: multiplier, Levels: []int{4, 2, 3}, Codes: classAndSign, Pairs: [][2]int{{0, 1}, {1, 0}, {1, 2}}}
}

func TestTablesCount(t *testing.T) {
	rows := publicRowsOf([2]float64{0, 0.5}, [2]float64{0, 0.5}, [2]float64{3, -1}, [2]float64{math.NaN(), 1})
	tables := someTables(1)
	got := exactly[[][]int64](t)(tables.Public(rows))
	want := [][]int64{{0, 2, 0, 0, 0, 0, 1, 0}, {0, 0, 0, 1, 2, 0, 0, 0}, {0, 0, 0, 0, 0, 0}}
	for k := range want {
		for i := range want[k] {
			if got[k][i] != want[k][i] {
				t.Fatalf("table %d is %v, want %v", k, got[k], want[k])
			}
		}
	}
}

// A function that leaves a code unset leaves the row out; it does not inherit the code
// of the row before.
func TestTablesForgetTheRowBefore(t *testing.T) {
	tables := someTables(1)
	tables.Codes = func(codes []uint16, cells []float64) {
		if cells[0] == cells[0] {
			codes[0], codes[1] = uint16(cells[0]), 0
		}
	}
	got := exactly[[][]int64](t)(tables.Public(publicRowsOf([2]float64{2, 0}, [2]float64{math.NaN(), 0}, [2]float64{math.NaN(), 0})))
	if got[0][2*2] != 1 {
		t.Errorf("one known row counts %d times", got[0][2*2])
	}
}

// Null: every cell has discrete Gaussian noise of deviation k·√P·σ, independent of the
// next. Convicts noise that is off, halved, reused, or forgets the number of tables,
// the rows per unit or the relation.
func TestTablesNoise(t *testing.T) {
	for _, s := range settings {
		tables := someTables(1.4)
		rows := rowsOf(s.rows, [2]float64{math.NaN(), math.NaN()})
		var z, other []float64
		for i := range 400 {
			got, err := tables.Release(background, permitWith(t, source("tables", i), s.rel, s.rows, tables.Event()), rows)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range got[0] {
				z = append(z, float64(v))
			}
			for _, v := range got[1] {
				other = append(other, float64(v))
			}
		}
		std := math.Sqrt(3) * 1.4 * s.apart
		acceptLaw(t, "cells under "+s.String(), discreteGaussian(std), z)
		stattest.Accept(t, stattest.Correlation("neighbouring cells", z[1:], z[:len(z)-1]))
		stattest.Accept(t, stattest.Correlation("two tables", z, other))
		if got := tables.StdDev(int(s.apart)); math.Abs(got-std) > 1e-12 {
			t.Errorf("stated deviation %g, want %g", got, std)
		}
	}
}

// One row more changes at most one cell of each table by 1.
func TestTablesSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.Custom(func(t *rapid.T) [2]float64 {
			return [2]float64{float64(rapid.IntRange(0, 3).Draw(t, "class")), rapid.Float64Range(-1, 1).Draw(t, "number")}
		})
		rows := rapid.SliceOfN(cell, 1, 8).Draw(t, "rows")
		tables := someTables(1)
		all, less := exactly[[][]int64](t)(tables.Public(publicRowsOf(rows...))), exactly[[][]int64](t)(tables.Public(publicRowsOf(rows[:len(rows)-1]...)))
		square := 0.0
		for k := range all {
			for i := range all[k] {
				d := float64(all[k][i] - less[k][i])
				square += d * d
			}
		}
		if square > float64(len(tables.Pairs)) {
			t.Fatalf("one row moves the tables by √%g, more than √%d", square, len(tables.Pairs))
		}
	})
}

func TestTablesNeedTheirCharge(t *testing.T) {
	tables, rows := someTables(2), rowsOf(1, [2]float64{0, 0})
	if _, err := tables.Release(background, nil, rows); err == nil {
		t.Error("released without a permit")
	}
	p := permitFor(t, dp.AddOrRemoveOne, 1, dp.DiscreteGaussian{NoiseMultiplier: 3})
	if _, err := tables.Release(background, p, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("less noise than booked: got %v", err)
	}
	p = permitFor(t, dp.AddOrRemoveOne, 1, tables.Event())
	if _, err := tables.Release(background, p, rows); err != nil {
		t.Fatal(err)
	}
	if _, err := tables.Release(background, p, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("a second release on one charge: got %v", err)
	}
	if _, err := tables.Public(rows); err == nil {
		t.Error("exact tables of a sensitive data set")
	}
	for name, bad := range map[string]func(*Tables){
		"no tables":        func(t *Tables) { t.Pairs = nil },
		"unknown column":   func(t *Tables) { t.Pairs = [][2]int{{0, 3}} },
		"no levels":        func(t *Tables) { t.Levels = []int{4, 0, 3} },
		"too many cells":   func(t *Tables) { t.Levels = []int{60000, 60000, 3} },
		"no noise":         func(t *Tables) { t.NoiseMultiplier = 0 },
		"noise is nothing": func(t *Tables) { t.NoiseMultiplier = math.NaN() },
	} {
		b := someTables(2)
		bad(&b)
		p := permitFor(t, dp.AddOrRemoveOne, 1, tables.Event())
		if _, err := b.Release(background, p, rows); err == nil || p.Opened() {
			t.Errorf("%s: got %v, opened %v", name, err, p.Opened())
		}
	}
}
