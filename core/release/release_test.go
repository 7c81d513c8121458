package release

import (
	"context"
	"errors"
	"math"
	"reflect"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/internal/stattest"
)

const draws = 8000

// Null: a count's noise is discrete Laplace of scale k·σ. Chi-square at a
// false-alarm rate of 1e-6; convicts noise that is off, halved, or forgets the rows
// per unit or the relation.
func TestCountNoise(t *testing.T) {
	for _, s := range settings {
		if s.rel == dp.ZeroOut { // the number of rows is public, and a null row has a part in it
			if _, err := (Count{dp.WholeScope, 1.7}).Release(background, permitFor(t, s.rel, s.rows, Count{dp.WholeScope, 1.7}.Event()), rowsOf(s.rows)); !errors.Is(err, sealed.ErrNullCounts) {
				t.Errorf("a count under zero-out: %v", err)
			}
			continue
		}
		c := Count{Scope: dp.WholeScope, NoiseMultiplier: 1.7}
		rows := rowsOf(s.rows, [2]float64{0, 0}, [2]float64{1, 0}, [2]float64{math.NaN(), math.NaN()})
		z := make([]float64, draws)
		for i := range z {
			n, err := c.Release(background, permitWith(t, source("count", i), s.rel, s.rows, c.Event()), rows)
			if err != nil {
				t.Fatal(err)
			}
			z[i] = float64(n - 3)
		}
		acceptLaw(t, "count under "+s.String(), discreteLaplace(1.7*s.apart), z)
		stattest.Accept(t, stattest.Correlation("successive counts", z[1:], z[:draws-1]))
	}
}

// argMaxLaw is the law of the index of the largest of independent noisy counts,
// ties to the lowest.
func argMaxLaw(l law, counts []int) []float64 {
	p := make([]float64, len(counts))
	for v := -l.reach - 50; v <= l.reach+50; v++ {
		for j, c := range counts {
			term := l.at(v - c)
			for i, other := range counts {
				switch {
				case term == 0:
				case i < j:
					term *= l.atMost(v - 1 - other)
				case i > j:
					term *= l.atMost(v - other)
				}
			}
			p[j] += term
		}
	}
	return p
}

// Null: the released class is the arg max of independently noised counts (of the
// noised difference, where there are two levels), ties going to the lowest index. A
// chi-square over the classes convicts noise that is off, halved, shared by the
// counts, or that breaks ties otherwise.
func TestMajorityLaw(t *testing.T) {
	for _, tt := range []struct {
		name   string
		counts []int
		levels int
	}{
		{"two levels, tie", []int{2, 2}, 2},
		{"two levels", []int{1, 4}, 2},
		{"four levels, tie", []int{2, 2, 2, 2}, 4},
		{"four levels", []int{3, 0, 2, 1}, 4},
	} {
		var cells [][2]float64
		for level, n := range tt.counts {
			for range n {
				cells = append(cells, [2]float64{float64(level), 0})
			}
		}
		// Rows without a level of the target touch nothing.
		cells = append(cells, [2]float64{math.NaN(), 0}, [2]float64{-1, 0}, [2]float64{float64(tt.levels), 0}, [2]float64{1e300, 0}, [2]float64{math.Inf(1), 0})
		for _, s := range []setting{settings[0], settings[1], settings[3]} {
			m := Majority{Scope: dp.WholeScope, NoiseMultiplier: 1.25, Column: 0, Levels: tt.levels}
			rows := rowsOf(s.rows, cells...)
			observed := make([]int, tt.levels)
			draws := draws * int(s.apart) // more noise moves less of the law
			for i := range draws {
				k, err := m.Release(background, permitWith(t, source("majority", i), s.rel, s.rows, m.Event()), rows)
				if err != nil {
					t.Fatal(err)
				}
				observed[k]++
			}
			expect := func(scale float64) []float64 {
				var p []float64
				if tt.levels == 2 {
					zero := discreteLaplace(scale).atMost(tt.counts[0] - tt.counts[1])
					p = []float64{zero, 1 - zero}
				} else {
					p = argMaxLaw(discreteLaplace(scale), tt.counts)
				}
				for j := range p {
					p[j] *= float64(draws)
				}
				return p
			}
			name := tt.name + " under " + s.String()
			stattest.Accept(t, stattest.ChiSquare(name, observed, expect(1.25*s.apart)))
			stattest.Convict(t, stattest.ChiSquare(name+" halved", observed, expect(2*1.25*s.apart)))
		}
	}
}

// Null: the sum behind a mean carries Laplace noise of scale k·σ, in units of one
// row (its grid of 2^-20 is far below what a sample can see). Kolmogorov-Smirnov
// at a false-alarm rate of 1e-6.
func TestMeanNoise(t *testing.T) {
	cells := [][2]float64{{0, 0.5}, {0, -0.25}, {0, math.NaN()}, {0, 7}}
	const sum = 0.5 - 0.25 + 1
	for _, s := range settings {
		m := Mean{Scope: dp.WholeScope, NoiseMultiplier: 1.5, ExpectedRows: 1e6, Value: func(cells []float64) float64 { return cells[1] }}
		z := make([]float64, draws)
		for i := range z {
			v, err := m.Release(background, permitWith(t, source("mean", i), s.rel, s.rows, m.Event()), rowsOf(s.rows, cells...))
			if err != nil {
				t.Fatal(err)
			}
			z[i] = v*1e6 - sum
		}
		scale := 1.5 * s.apart
		cdf := func(b float64) func(float64) float64 {
			return func(x float64) float64 {
				if x < 0 {
					return 0.5 * math.Exp(x/b)
				}
				return 1 - 0.5*math.Exp(-x/b)
			}
		}
		stattest.Accept(t, stattest.Correlation("successive means", z[1:], z[:draws-1]))
		sort.Float64s(z)
		stattest.Accept(t, stattest.KS("mean under "+s.String(), z, cdf(scale)))
		stattest.Convict(t, stattest.KS("halved", z, cdf(2*scale)))
	}
}

// Draws do not depend on the rows, so releases from one stream on neighbouring
// tables differ by what the neighbours differ: at most one per row.
func TestOneRowMovesCountAndMeanByOne(t *testing.T) {
	value := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{1, -1, 0, math.NaN(), math.Inf(1), math.Inf(-1), 1e308}))
	rapid.Check(t, func(t *rapid.T) {
		var cells [][2]float64
		for range rapid.IntRange(1, 6).Draw(t, "rows") {
			cells = append(cells, [2]float64{0, value.Draw(t, "value")})
		}
		fewer := cells[1:]
		const huge = 1e12 // a divisor that keeps every mean off its caps
		m := Mean{Scope: dp.WholeScope, NoiseMultiplier: 1, ExpectedRows: huge, Value: func(c []float64) float64 { return c[1] }}
		c := Count{Scope: dp.WholeScope, NoiseMultiplier: 1}
		seed := rapid.Uint64().Draw(t, "seed")
		both := func(cells [][2]float64) (float64, int64) {
			v, err := m.Release(background, permitWith(t, entropy.Seeded(seed), dp.AddOrRemoveOne, 1, m.Event()), rowsOf(1, cells...))
			if err != nil {
				t.Fatal(err)
			}
			n, err := c.Release(background, permitWith(t, entropy.Seeded(seed), dp.AddOrRemoveOne, 1, c.Event()), rowsOf(1, cells...))
			if err != nil {
				t.Fatal(err)
			}
			return v * huge, n
		}
		v1, n1 := both(cells)
		v2, n2 := both(fewer)
		if d := math.Abs(v1 - v2); !(d <= 1+1e-9) {
			t.Fatalf("one row moves the sum by %g, want at most 1", d)
		}
		if n1-n2 != 1 {
			t.Fatalf("one row moves the count by %d, want 1", n1-n2)
		}
	})
}

func TestScopesBoundReleases(t *testing.T) {
	// Rows lie at 0/256, 1/256, 2/256 and 3/256 of the hash line.
	rows := rowsOf(1, [2]float64{}, [2]float64{}, [2]float64{}, [2]float64{})
	for _, tt := range []struct {
		scope dp.Scope
		want  int64
	}{{dp.WholeScope, 4}, {dp.Scope{Lower: 0, Upper: 2.0 / 256}, 2}, {dp.Scope{Lower: 2.0 / 256, Upper: 1}, 2}, {dp.Scope{Lower: 0.5, Upper: 1}, 0}} {
		c := Count{Scope: tt.scope, NoiseMultiplier: 0.01} // noise is 0 but for e^-100
		got, err := c.Release(background, permitWith(t, source("scope", 0), dp.AddOrRemoveOne, 1, dp.Scoped{Scope: tt.scope, Event: c.Event()}), rows)
		if err != nil || got != tt.want {
			t.Errorf("scope %v: %d rows (%v), want %d", tt.scope, got, err, tt.want)
		}
	}
}

// Every mechanism takes the event it states, once, and opens nothing for less.
func TestReleasesTakeTheirEvents(t *testing.T) {
	rows := rowsOf(1, [2]float64{1, 0.5})
	truth := func(c []float64) float64 { return c[1] }
	class := func([]float64) int { return 1 }
	type run func(ctx context.Context, p *sealed.Permit, multiplier float64) error
	tests := []struct {
		name  string
		event func(multiplier float64) []dp.Event
		run   run
	}{
		{"count", func(x float64) []dp.Event { return []dp.Event{dp.DiscreteLaplace{NoiseMultiplier: x}} },
			func(ctx context.Context, p *sealed.Permit, x float64) error {
				_, err := Count{Scope: dp.WholeScope, NoiseMultiplier: x}.Release(ctx, p, rows)
				return err
			}},
		{"majority", func(x float64) []dp.Event { return []dp.Event{dp.DiscreteLaplace{NoiseMultiplier: x}} },
			func(ctx context.Context, p *sealed.Permit, x float64) error {
				_, err := Majority{Scope: dp.WholeScope, NoiseMultiplier: x, Levels: 4}.Release(ctx, p, rows)
				return err
			}},
		{"mean", func(x float64) []dp.Event { return []dp.Event{dp.DiscreteLaplace{NoiseMultiplier: x}} },
			func(ctx context.Context, p *sealed.Permit, x float64) error {
				_, err := Mean{Scope: dp.WholeScope, NoiseMultiplier: x, Value: truth, ExpectedRows: 1}.Release(ctx, p, rows)
				return err
			}},
		{"accuracy", func(x float64) []dp.Event { return []dp.Event{dp.DiscreteGaussian{NoiseMultiplier: x}} },
			func(ctx context.Context, p *sealed.Permit, x float64) error {
				_, err := Accuracy{Scope: dp.WholeScope, NoiseMultiplier: x, Levels: 4, Predict: class}.Release(ctx, p, rows)
				return err
			}},
		{"pure accuracy", func(x float64) []dp.Event { return []dp.Event{dp.DiscreteLaplace{NoiseMultiplier: x}} },
			func(ctx context.Context, p *sealed.Permit, x float64) error {
				_, err := Accuracy{Scope: dp.WholeScope, NoiseMultiplier: x, Pure: true, Levels: 4, Predict: class}.Release(ctx, p, rows)
				return err
			}},
		{"absolute error", func(x float64) []dp.Event {
			return []dp.Event{dp.DiscreteGaussian{NoiseMultiplier: 2 * x}, dp.DiscreteGaussian{NoiseMultiplier: x}}
		},
			func(ctx context.Context, p *sealed.Permit, x float64) error {
				_, err := AbsoluteError{Scope: dp.WholeScope, MeanNoiseMultiplier: 2 * x, NoiseMultiplier: x, Truth: truth, Predict: truth}.Release(ctx, p, rows)
				return err
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := permitFor(t, dp.AddOrRemoveOne, 1, tt.event(2)...)
			if err := tt.run(background, p, 2); err != nil || !p.Opened() {
				t.Fatalf("its own event: %v, opened %v", err, p.Opened())
			}
			if err := tt.run(background, p, 2); !errors.Is(err, sealed.ErrNotReserved) {
				t.Fatalf("one reservation paid twice (%v)", err)
			}
			for _, e := range tt.event(2) {
				if _, err := sealed.Open(rows, p, dp.WholeScope, e); !errors.Is(err, sealed.ErrNotReserved) {
					t.Fatalf("%v was charged and not taken (%v)", e, err)
				}
			}
			for _, x := range []float64{1.999, 0, -1, math.NaN(), math.Inf(1)} {
				p := permitFor(t, dp.AddOrRemoveOne, 1, tt.event(2)...)
				if err := tt.run(background, p, x); err == nil || p.Opened() {
					t.Fatalf("multiplier %g on a reservation of 2: error %v, opened %v", x, err, p.Opened())
				}
			}
			ctx, cancel := context.WithCancel(background)
			cancel()
			p = permitFor(t, dp.AddOrRemoveOne, 1, tt.event(2)...)
			if err := tt.run(ctx, p, 2); !errors.Is(err, context.Canceled) || p.Opened() {
				t.Fatalf("cancelled before it began: %v, opened %v", err, p.Opened())
			}
		})
	}
}

func TestQuantise(t *testing.T) {
	for _, tt := range []struct {
		x    float64
		want int64
	}{{0, 0}, {1, grid}, {-1, -grid}, {0.5, grid / 2}, {2, grid}, {-1e308, -grid}, {math.Inf(1), grid}, {math.Inf(-1), -grid}, {math.NaN(), 0}, {0.4 / grid, 0}, {0.6 / grid, 1}} {
		if got := quantise(tt.x); got != tt.want {
			t.Errorf("quantise(%g) = %d, want %d", tt.x, got, tt.want)
		}
	}
}

// A callback that panics on a row gives an error that does not show the row.
func TestPanicShowsNoRow(t *testing.T) {
	rows := rowsOf(1, [2]float64{1, 0.5})
	number := func(cells []float64) float64 { panic(cells[1]) }
	class := func(cells []float64) int { panic(cells[1]) }
	m := Mean{Scope: dp.WholeScope, NoiseMultiplier: 1, ExpectedRows: 1, Value: number}
	if v, err := m.Release(background, permitWith(t, source("panic", 0), dp.AddOrRemoveOne, 1, m.Event()), rows); v != 0 || err != sealed.ErrFault {
		t.Errorf("mean: %v, %v", v, err)
	}
	a := Accuracy{Scope: dp.WholeScope, NoiseMultiplier: 1, Levels: 4, Predict: class}
	if v, err := a.Release(background, permitWith(t, source("panic", 0), dp.AddOrRemoveOne, 1, a.Event()), rows); !reflect.DeepEqual(v, AccuracyScore{}) || err != sealed.ErrFault {
		t.Errorf("accuracy: %v, %v", v, err)
	}
	e := absolute(1, 1)
	e.Predict = number
	if v, err := e.Release(background, permitWith(t, source("panic", 0), dp.AddOrRemoveOne, 1, e.Events()...), rows); v != (ErrorScore{}) || err != sealed.ErrFault {
		t.Errorf("absolute error: %v, %v", v, err)
	}
}
