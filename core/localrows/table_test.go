package localrows

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/internal/stattest"
)

// someRows has vectors (number, class/4) and the classes of the rows of rowsOf.
func someRows(multiplier float64, rows int) Table {
	return Table{Scope: dp.WholeScope, NoiseMultiplier: multiplier, Rows: rows, Features: 2, Norm: 1, Classes: 4, LabelNoise: 0.4,
		Row: func(x, cells []float64) { x[0], x[1] = cells[1], cells[0]/4 },
		Label: func(cells []float64) int {
			if cells[0] != cells[0] {
				return -1
			}
			return int(cells[0])
		}}
}

func localPermit(t fataler, l Table) *sealed.Permit {
	return permitFor(t, dp.ReplaceOne, 1, l.Events()...)
}

// pairs are the vectors of a table, rounded and sorted, so that next to no noise and the
// order do not count.
func pairs(t *Noisy) (rows [][2]float64) {
	for i := range t.Rows {
		rows = append(rows, [2]float64{math.Round(t.X[2*i] * 1e6), math.Round(t.X[2*i+1] * 1e6)})
	}
	slices.SortFunc(rows, func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) })
	return rows
}

// With next to no noise the rows come out, scaled where they are long, zeros where they
// are not finite or missing.
func TestLocalRowsOfRows(t *testing.T) {
	rows := rowsOf(1, [2]float64{2, 0.25}, [2]float64{0, 7}, [2]float64{math.NaN(), 0.5}, [2]float64{1, math.Inf(1)})
	l := someRows(1e-9, 6)
	got, err := l.Release(background, permitWith(t, source("local", 0), dp.ReplaceOne, 1, l.Events()...), rows)
	if err != nil || got.Rows != 6 || len(got.X) != 12 || len(got.Labels) != 6 {
		t.Fatalf("%+v, %v", got, err)
	}
	if want := [][2]float64{{0, 0}, {0, 0}, {0, 0}, {0, 0}, {250000, 500000}, {1000000, 0}}; !slices.Equal(pairs(got), want) {
		t.Errorf("rows %v, want %v", pairs(got), want)
	}
	l.PublicLabels = true
	got, err = l.Release(background, permitWith(t, source("local", 1), dp.ReplaceOne, 1, l.Events()...), rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got.Labels {
		want := -1
		switch x := math.Round(got.X[2*i] * 4); x {
		case 1:
			want = 2
		case 4:
			want = 0
		}
		if c != want && !(want == -1 && c == 1) { // class 1 belongs to the row that is not finite
			t.Errorf("row %v has class %d, want %d", got.X[2*i:2*i+2], c, want)
		}
	}
	l.Label, l.PublicLabels = nil, false
	if got, err = l.Release(background, permitWith(t, source("local", 2), dp.ReplaceOne, 1, l.Events()...), rows); err != nil || got.Labels != nil {
		t.Errorf("classes %v that nobody asked for, %v", got.Labels, err)
	}
}

// The table's size is the declared one whatever the scope holds.
func TestLocalRowsDoNotShowTheirNumber(t *testing.T) {
	for n := range 6 {
		for _, rows := range []int{1, 3, 5} {
			l := someRows(1, rows)
			got, err := l.Release(background, permitWith(t, source("number", n), dp.ReplaceOne, 1, l.Events()...), rowsOf(1, make([][2]float64, n)...))
			if err != nil || got.Rows != rows || len(got.X) != 2*rows || len(got.Labels) != rows {
				t.Errorf("%d rows, %d declared: %+v, %v", n, rows, got, err)
			}
		}
	}
}

// Null: what neighbours release before noise differs in one row, by 2·Norm at most. From one
// stream the order is the same where the number of rows is, so the difference of the
// tables is seen directly; where a unit leaves the scope, the tables are compared as sets.
// Fails without clipping.
func TestLocalRowsSensitivity(t *testing.T) {
	value := rapid.OneOf(rapid.Float64Range(-3, 3), rapid.SampledFrom([]float64{0, 1, -1, 1e308, math.Inf(1), math.NaN()}))
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.Custom(func(t *rapid.T) [2]float64 {
			return [2]float64{value.Draw(t, "a"), value.Draw(t, "b")}
		})
		l := someRows(1, rapid.IntRange(1, 6).Draw(t, "declared"))
		l.Label = nil
		l.Norm = rapid.SampledFrom([]float64{1e-2, 1, 4}).Draw(t, "norm")
		all := rapid.SliceOfN(cell, 1, 6).Draw(t, "rows")
		other := slices.Clone(all)
		other[rapid.IntRange(0, len(all)-1).Draw(t, "which")] = cell.Draw(t, "in its place")
		seed := rapid.Uint64().Draw(t, "seed")
		exact := func(cells [][2]float64) *Noisy {
			v := view(t, rowsOf(1, cells...))
			got, err := l.fill(v, choose(entropy.Seeded(seed), v.Len(), l.Rows))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		one, two := exact(all), exact(other)
		if moved := frobenius(one.X, two.X); !(moved <= 2*l.Norm*(1+1e-9)) {
			t.Fatalf("a row in the place of another moves the table by %g, more than 2·%g", moved, l.Norm)
		}
		if l.Rows < len(all) {
			return
		}
		// A unit that leaves the scope leaves a row of zeros.
		less, padded := pairs(exact(all[1:])), pairs(exact(append([][2]float64{{0, 0}}, all[1:]...)))
		if !slices.Equal(less, padded) {
			t.Fatalf("without a row %v, with one of zeros %v", less, padded)
		}
	})
}

// Null: every coordinate has independent N(0, (2Rσ)²); convicts noise that is off, halved,
// shared by rows or reused, or that forgets that a row leaves and another comes.
func TestLocalRowsNoise(t *testing.T) {
	const n, d = 200, 200
	l := Table{Scope: dp.WholeScope, NoiseMultiplier: 1.3, Rows: n, Features: d, Norm: 3, Row: func(x, _ []float64) {}}
	got, err := l.Release(background, permitWith(t, source("local noise", 0), dp.ReplaceOne, 1, l.Events()...), rowsOf(1, make([][2]float64, 50)...))
	if err != nil {
		t.Fatal(err)
	}
	const std = 1.3 * 2 * 3
	if math.Abs(got.StdDev-std) > 1e-9 {
		t.Errorf("stated deviation %g, want %g", got.StdDev, std)
	}
	want := stattest.Moments{Variance: std * std, Kurtosis: 3}
	stattest.Accept(t, stattest.Variance("local rows", got.X, want))
	stattest.Accept(t, stattest.Variance("one row", got.X[:d], want))
	stattest.Accept(t, stattest.Correlation("neighbouring coordinates", got.X[1:], got.X[:n*d-1]))
	stattest.Accept(t, stattest.Correlation("neighbouring rows", got.X[d:], got.X[:(n-1)*d]))
	for fault, values := range map[string][]float64{"off": make([]float64, n*d), "halved": stattest.Scaled(got.X, 0.5)} {
		stattest.Convict(t, stattest.Variance(fault, values, want))
	}
	shared := slices.Repeat(got.X[:d], n)
	stattest.Convict(t, stattest.Correlation("shared by rows", shared[d:], shared[:(n-1)*d]))
}

// Null: a class is its own with probability 1−p+p/K and each other one with p/K, apart from
// its neighbours; unknown ones and those of missing rows are uniform.
func TestLocalRowsLabels(t *testing.T) {
	const n = 40_000
	cells := make([][2]float64, n/2)
	for i := range cells {
		cells[i] = [2]float64{2, 0}
	}
	for _, tt := range []struct {
		name  string
		cells [][2]float64
		rows  int
		want  []float64
	}{
		{"one class", cells, n / 2, []float64{0.1, 0.1, 0.7, 0.1}},
		{"half of the rows are missing", cells, n, []float64{0.175, 0.175, 0.475, 0.175}},
		{"unknown", slices.Repeat([][2]float64{{math.NaN(), 0}}, n/2), n / 2, []float64{0.25, 0.25, 0.25, 0.25}},
	} {
		l := someRows(1, tt.rows)
		got, err := l.Release(background, permitWith(t, source(tt.name, 0), dp.ReplaceOne, 1, l.Events()...), rowsOf(1, tt.cells...))
		if err != nil {
			t.Fatal(err)
		}
		observed, expected := make([]int, 4), make([]float64, 4)
		x := make([]float64, tt.rows)
		for i, c := range got.Labels {
			observed[c]++
			x[i] = float64(c)
		}
		for c := range expected {
			expected[c] = tt.want[c] * float64(tt.rows)
		}
		stattest.Accept(t, stattest.ChiSquare(tt.name, observed, expected))
		stattest.Accept(t, stattest.Correlation(tt.name+", neighbours", x[1:], x[:len(x)-1]))
		if tt.name == "one class" {
			half := []float64{0.05 * n / 2, 0.05 * n / 2, 0.85 * n / 2, 0.05 * n / 2}
			stattest.Convict(t, stattest.ChiSquare("halved", observed, half))
			stattest.Convict(t, stattest.ChiSquare("off", []int{0, 0, n / 2, 0}, expected))
		}
	}
}

// Null: every row is as likely in every place, be the scope smaller or larger than the
// table. Convicts the order of the file, and the first rows of it.
func TestLocalRowsOrder(t *testing.T) {
	for _, tt := range []struct{ n, size int }{{3, 3}, {2, 4}, {5, 2}} {
		const runs = 6000
		places := max(tt.n, tt.size)
		for slot := range tt.size {
			observed, expected := make([]int, places), make([]float64, places)
			for run := range runs {
				observed[choose(source("order", run), tt.n, tt.size)[slot]]++
			}
			for i := range expected {
				expected[i] = runs / float64(places)
			}
			stattest.Accept(t, stattest.ChiSquare("order", observed, expected))
		}
		seen := choose(source("order", 0), tt.n, tt.size)
		slices.Sort(seen)
		if len(slices.Compact(seen)) != tt.size {
			t.Errorf("a row is there twice: %v", seen)
		}
	}
}

func TestLocalRowsNeedTheirCharge(t *testing.T) {
	l, rows := someRows(2, 3), rowsOf(1, [2]float64{1, 0.5})
	if _, err := l.Release(background, nil, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("no permit: got %v", err)
	}
	for _, rel := range []dp.Relation{dp.AddOrRemoveOne, dp.ZeroOut} {
		p := permitFor(t, rel, 1, l.Events()...)
		if _, err := l.Release(background, p, rows); !errors.Is(err, ErrRelation) || p.Opened() {
			t.Errorf("under %v: got %v, opened %v", rel, err, p.Opened())
		}
	}
	p := permitFor(t, dp.ReplaceOne, 2, l.Events()...)
	if _, err := l.Release(background, p, rows); err == nil || p.Opened() {
		t.Errorf("two rows per unit: got %v, opened %v", err, p.Opened())
	}
	for name, events := range map[string][]dp.Event{
		"classes are not paid":  l.Events()[:1],
		"vectors are not paid":  l.Events()[1:],
		"less noise on vectors": {dp.Gaussian{NoiseMultiplier: 3}, l.Events()[1]},
		"less noise on classes": {l.Events()[0], dp.RandomizedResponse{NoiseProbability: 0.5, Categories: 4}},
		"other classes":         {l.Events()[0], dp.RandomizedResponse{NoiseProbability: 0.4, Categories: 5}},
	} {
		if got, err := l.Release(background, permitWith(t, source("charge", 3), dp.ReplaceOne, 1, events...), rows); got != nil || !errors.Is(err, sealed.ErrNotReserved) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	p = localPermit(t, l)
	if _, err := l.Release(background, p, rows); err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Events() {
		if _, err := sealed.Open(rows, p, dp.WholeScope, e); !errors.Is(err, sealed.ErrNotReserved) {
			t.Errorf("%v was charged and not taken", e)
		}
	}
	if _, err := l.Public(rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("exact rows of a sensitive data set: %v", err)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	p = localPermit(t, l)
	if _, err := l.Release(ctx, p, rows); !errors.Is(err, context.Canceled) || p.Opened() {
		t.Errorf("cancelled: %v, opened %v", err, p.Opened())
	}
	for name, bad := range map[string]func(*Table){
		"no rows":                    func(l *Table) { l.Rows = 0 },
		"no features":                func(l *Table) { l.Features = 0 },
		"too large":                  func(l *Table) { l.Rows, l.Features = 1<<20, 1<<20 },
		"no bound":                   func(l *Table) { l.Norm = 0 },
		"bound is nothing":           func(l *Table) { l.Norm = math.NaN() },
		"one class":                  func(l *Table) { l.Classes = 1 },
		"no noise on classes":        func(l *Table) { l.LabelNoise = 0 },
		"noise of classes too large": func(l *Table) { l.LabelNoise = 1.5 },
		"noise of classes is not":    func(l *Table) { l.LabelNoise = math.NaN() },
		"public classes without any": func(l *Table) { l.PublicLabels, l.Label = true, nil },
		"no noise":                   func(l *Table) { l.NoiseMultiplier = 0 },
	} {
		b := someRows(2, 3)
		bad(&b)
		p := localPermit(t, l)
		if _, err := b.Release(background, p, rows); err == nil || p.Opened() {
			t.Errorf("%s: got %v, opened %v", name, err, p.Opened())
		}
	}
	// Not even with a reservation for that scope.
	b := someRows(2, 3)
	b.PublicLabels, b.Scope = true, dp.Scope{Lower: 0, Upper: 0.5}
	p = permitFor(t, dp.ReplaceOne, 1, dp.Scoped{Scope: b.Scope, Event: b.Events()[0]})
	if _, err := b.Release(background, p, rows); err == nil || p.Opened() {
		t.Errorf("public classes of a scope: got %v, opened %v", err, p.Opened())
	}
	l.Label = func(cells []float64) int { panic(cells[0]) }
	if got, err := l.Release(background, permitWith(t, source("charge", 6), dp.ReplaceOne, 1, l.Events()...), rows); got != nil || err != sealed.ErrFault {
		t.Errorf("a panic on a row: %v, %v", got, err)
	}
}
