package release

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/internal/stattest"
)

func someQuantiles(multiplier float64, pure bool) Quantiles {
	return Quantiles{Scope: dp.WholeScope, NoiseMultiplier: multiplier, Pure: pure, Columns: []QuantileColumn{
		{Column: 1, Edges: []float64{-1, -0.5, 0, 0.25, 1}}, {Column: 0, Edges: []float64{0, 2, 4}}}}
}

// Values on edges, beyond them, infinite and unknown.
func TestQuantilesCount(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	got := exactly[[]Distribution](t)(someQuantiles(1, true).Public(publicRowsOf([2]float64{0, -1}, [2]float64{2, -0.5}, [2]float64{4, 0}, [2]float64{-7, 1}, [2]float64{nan, 9}, [2]float64{1.5, -inf}, [2]float64{inf, nan}, [2]float64{nan, 0.2499})))
	if want := []int64{2, 1, 2, 2}; !slices.Equal(got[0].Counts, want) {
		t.Errorf("bins %v, want %v", got[0].Counts, want)
	}
	if want := []int64{3, 3}; !slices.Equal(got[1].Counts, want) {
		t.Errorf("bins %v, want %v", got[1].Counts, want)
	}
}

// Null: bins carry discrete Laplace noise of scale 2k·σ (P = 2 columns), or discrete
// Gaussian of deviation √2·k·σ, independent of the next. Convicts noise that is off,
// halved, reused, or forgets the columns, the rows per unit or the relation.
func TestQuantilesNoise(t *testing.T) {
	const bins = 4000
	edges := make([]float64, bins+1)
	for j := range edges {
		edges[j] = float64(j)
	}
	for _, s := range settings {
		for _, pure := range []bool{true, false} {
			q := Quantiles{Scope: dp.WholeScope, NoiseMultiplier: 1.3, Pure: pure, Columns: []QuantileColumn{{Column: 0, Edges: edges}, {Column: 1, Edges: edges}}}
			got, err := q.Release(background, permitWith(t, source("quantiles", int(s.apart)), s.rel, s.rows, q.Event()), rowsOf(s.rows, [2]float64{math.NaN(), math.NaN()}))
			if err != nil {
				t.Fatal(err)
			}
			z := [2][]float64{}
			for c := range z {
				for _, v := range got[c].Counts {
					z[c] = append(z[c], float64(v))
				}
			}
			law, std := discreteLaplace(2*1.3*s.apart), 2*math.Sqrt2*1.3*s.apart
			if !pure {
				std = math.Sqrt2 * 1.3 * s.apart
				law = discreteGaussian(std)
			}
			acceptLaw(t, "bins under "+s.String(), law, append(slices.Clone(z[0]), z[1]...))
			stattest.Accept(t, stattest.Correlation("neighbouring bins", z[0][1:], z[0][:bins-1]))
			stattest.Accept(t, stattest.Correlation("columns", z[0], z[1]))
			stattest.Convict(t, stattest.Correlation("reused", z[0], z[0]))
			if math.Abs(got[0].StdDev-std) > 1e-9 {
				t.Errorf("stated deviation %g, want %g", got[0].StdDev, std)
			}
		}
	}
}

// One row more adds 1 to one bin of each column at most: L1 at most P, L2 at most √P.
func TestQuantilesSensitivity(t *testing.T) {
	value := rapid.OneOf(rapid.Float64Range(-2, 5), rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}))
	rapid.Check(t, func(t *rapid.T) {
		var cells [][2]float64
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			cells = append(cells, [2]float64{value.Draw(t, "a"), value.Draw(t, "b")})
		}
		q := someQuantiles(1, true)
		all, less := exactly[[]Distribution](t)(q.Public(publicRowsOf(cells...))), exactly[[]Distribution](t)(q.Public(publicRowsOf(cells[1:]...)))
		for c := range all {
			moved := int64(0)
			for j := range all[c].Counts {
				moved += max(all[c].Counts[j]-less[c].Counts[j], less[c].Counts[j]-all[c].Counts[j])
			}
			if moved > 1 {
				t.Fatalf("one row moves column %d by %d", c, moved)
			}
		}
	})
}

func TestQuantilesNeedTheirCharge(t *testing.T) {
	rows := rowsOf(1, [2]float64{0, 0})
	for _, pure := range []bool{true, false} {
		q := someQuantiles(2, pure)
		if _, err := q.Release(background, nil, rows); !errors.Is(err, sealed.ErrNotReserved) {
			t.Errorf("no permit: got %v", err)
		}
		for _, e := range []dp.Event{someQuantiles(3, pure).Event(), someQuantiles(2, !pure).Event()} {
			p := permitFor(t, dp.AddOrRemoveOne, 1, e)
			if _, err := q.Release(background, p, rows); !errors.Is(err, sealed.ErrNotReserved) {
				t.Errorf("on %v: got %v", e, err)
			}
		}
		p := permitFor(t, dp.AddOrRemoveOne, 1, q.Event())
		if _, err := q.Release(background, p, rows); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Release(background, p, rows); !errors.Is(err, sealed.ErrNotReserved) {
			t.Errorf("a second release on one charge: got %v", err)
		}
		if _, err := q.Public(rows); !errors.Is(err, sealed.ErrNotReserved) {
			t.Errorf("exact histograms of a sensitive data set: %v", err)
		}
	}
	for name, bad := range map[string]func(*Quantiles){
		"no column":       func(q *Quantiles) { q.Columns = nil },
		"unknown column":  func(q *Quantiles) { q.Columns[0].Column = 2 },
		"one edge":        func(q *Quantiles) { q.Columns[0].Edges = []float64{1} },
		"descending":      func(q *Quantiles) { q.Columns[0].Edges = []float64{1, 0} },
		"equal edges":     func(q *Quantiles) { q.Columns[0].Edges = []float64{1, 1} },
		"edge is nothing": func(q *Quantiles) { q.Columns[1].Edges = []float64{0, math.NaN(), 1} },
		"infinite edge":   func(q *Quantiles) { q.Columns[1].Edges = []float64{0, math.Inf(1)} },
		"no noise":        func(q *Quantiles) { q.NoiseMultiplier = 0 },
	} {
		q := someQuantiles(2, true)
		bad(&q)
		p := permitFor(t, dp.AddOrRemoveOne, 1, someQuantiles(2, true).Event())
		if _, err := q.Release(background, p, rows); err == nil || p.Opened() {
			t.Errorf("%s: got %v, opened %v", name, err, p.Opened())
		}
	}
}

func TestDoublingEdges(t *testing.T) {
	for _, tt := range []struct {
		name                   string
		lower, upper, smallest float64
		per                    int
		want                   []float64
	}{
		{"from zero", 0, 10, 1, 1, []float64{0, 1, 2, 4, 8, 10}},
		{"both signs", -4, 3, 1, 1, []float64{-4, -2, -1, 0, 1, 2, 3}},
		{"away from zero", 5, 20, 1, 1, []float64{5, 8, 16, 20}},
		{"below zero", -20, -5, 4, 1, []float64{-20, -16, -8, -5}},
		{"halves of doublings", 0, 3, 1, 2, []float64{0, 1, math.Sqrt2, 2, 2 * math.Sqrt2, 3}},
		{"nothing between", 1, 1.5, 9, 1, []float64{1, 1.5}},
		{"least number", 0, 4 * math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64, 2, []float64{0, math.SmallestNonzeroFloat64, 2 * math.SmallestNonzeroFloat64, 3 * math.SmallestNonzeroFloat64, 4 * math.SmallestNonzeroFloat64}},
	} {
		got, err := DoublingEdges(tt.lower, tt.upper, tt.smallest, tt.per)
		if err != nil || len(got) != len(tt.want) {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, err, tt.want)
			continue
		}
		for i := range got {
			if math.Abs(got[i]-tt.want[i]) > 1e-12 {
				t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
			}
		}
	}
	for _, bad := range [][4]float64{{1, 1, 1, 1}, {0, math.Inf(1), 1, 1}, {math.NaN(), 1, 1, 1}, {0, 1, 0, 1}, {0, 1, math.NaN(), 1}, {0, 1, 1, 0}, {0, 1, 1, 65}} {
		if _, err := DoublingEdges(bad[0], bad[1], bad[2], int(bad[3])); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

func TestBoundsOfADistribution(t *testing.T) {
	edges := []float64{0, 1, 2, 4, 8, 16}
	for _, tt := range []struct {
		name         string
		counts       []int64
		std          float64
		low, high    float64
		lower, upper float64
		err          bool
	}{
		{"exact extremes", []int64{0, 3, 5, 2, 0}, 0, 0, 1, 1, 8, false},
		{"exact, all in one bin", []int64{0, 0, 9, 0, 0}, 0, 0, 1, 2, 4, false},
		{"tails are cut", []int64{1, 30, 40, 28, 1}, 0, 0.02, 0.98, 1, 8, false},
		{"whole bins are cut", []int64{10, 10, 10, 10, 10}, 0, 0.2, 0.8, 1, 8, false},
		{"parts of bins are not", []int64{10, 10, 10, 10, 10}, 0, 0.1, 0.9, 0, 16, false},
		{"noise in empty bins", []int64{4, -5, 1000, 3, -2}, 4, 0.05, 0.95, 2, 4, false},
		{"descending sums", []int64{20, -20, 1000, -20, 20}, 4, 0.05, 0.95, 2, 4, false},
		{"a bump of noise before the values", []int64{0, 0, 60, -60, 1000}, 10, 0.05, 0.95, 8, 16, false},
		{"too noisy", []int64{4, -5, 1000, 3, -2}, 40, 0.05, 0.95, 0, 0, true},
		{"extremes under noise", []int64{0, 0, 1000, 0, 0}, 1, 0, 0.9, 0, 0, true},
		{"nothing there", []int64{0, 0, 0, 0, 0}, 0, 0.1, 0.9, 0, 0, true},
		{"less than nothing", []int64{0, -9, 0, 0, 0}, 1, 0.1, 0.9, 0, 0, true},
		{"ranks turned", []int64{0, 1, 0, 0, 0}, 0, 0.9, 0.1, 0, 0, true},
		{"rank is nothing", []int64{0, 1, 0, 0, 0}, 0, math.NaN(), 0.9, 0, 0, true},
	} {
		lower, upper, err := Distribution{edges, tt.counts, tt.std}.Bounds(tt.low, tt.high)
		if (err != nil) != tt.err || !tt.err && (lower != tt.lower || upper != tt.upper) {
			t.Errorf("%s: [%g, %g], %v; want [%g, %g]", tt.name, lower, upper, err, tt.lower, tt.upper)
		}
		if err != nil && !(lower != lower && upper != upper) {
			t.Errorf("%s: numbers %g and %g beside an error", tt.name, lower, upper)
		}
	}
}

// Pools are the closest ascending sequence: no ascending sequence is closer, tried on
// random ones, and a sequence that ascends stays.
func TestAscendIsTheClosest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-10, 10), 1, 12).Draw(t, "x")
		fit := slices.Clone(x)
		ascend(fit)
		for j := 1; j < len(fit); j++ {
			if fit[j] < fit[j-1]-1e-12 {
				t.Fatalf("%v descends", fit)
			}
		}
		other := slices.Clone(x)
		for j := range other {
			other[j] = fit[j] + rapid.Float64Range(-1, 1).Draw(t, "step")
		}
		slices.Sort(other)
		if frobenius(x, fit) > frobenius(x, other)+1e-9 {
			t.Fatalf("%v is closer to %v than %v", other, x, fit)
		}
		again := slices.Clone(fit)
		ascend(again)
		if frobenius(again, fit) > 1e-9 {
			t.Fatalf("%v became %v", fit, again)
		}
	})
}

// Bounds from the rows of a wide grid: ε = 1 and 2,000 values in [20, 90] give edges that
// hold 98 % of them and lie within a doubling.
func TestBoundsAreUseful(t *testing.T) {
	edges, err := DoublingEdges(-1e9, 1e9, 1e-3, 1)
	if err != nil {
		t.Fatal(err)
	}
	var cells [][2]float64
	for i := range 2000 {
		cells = append(cells, [2]float64{0, 20 + 70*float64(i)/1999})
	}
	q := Quantiles{Scope: dp.WholeScope, NoiseMultiplier: 1, Pure: true, Columns: []QuantileColumn{{Column: 1, Edges: edges}}}
	for run := range 50 {
		got, err := q.Release(background, permitWith(t, source("useful", run), dp.AddOrRemoveOne, 1, q.Event()), rowsOf(1, cells...))
		if err != nil {
			t.Fatal(err)
		}
		lower, upper, err := got[0].Bounds(0.02, 0.98)
		if err != nil || lower < 16 || lower > 33 || upper < 65 || upper > 132 {
			t.Errorf("run %d: [%g, %g], %v", run, lower, upper, err)
		}
	}
}
