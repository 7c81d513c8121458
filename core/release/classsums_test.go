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

// someSums has vectors (class, number, 1) of the rows of rowsOf, split by sign.
func someSums(multiplier float64) ClassSums {
	return ClassSums{Scope: dp.WholeScope, NoiseMultiplier: multiplier, Classes: 2, Features: 3, Norm: 2, Squares: true,
		Row: func(x, cells []float64) int {
			copy(x, []float64{cells[0], cells[1], 1})
			if cells[1] > 0 {
				return 1
			}
			return 0
		}}
}

func TestClassSumsOfRows(t *testing.T) {
	c := someSums(1)
	got := exactly[*Sums](t)(c.Public(publicRowsOf([2]float64{1, 0.5}, [2]float64{1, 0.5}, [2]float64{3, -1}, [2]float64{math.NaN(), 1})))
	// The third row has norm √11 and is scaled to 2.
	f := 2 / math.Sqrt(11)
	if got.Counts[0] != 1 || got.Counts[1] != 2 || got.Sums[1][0] != 2 || got.Sums[1][1] != 1 || got.Squares[1][1] != 0.5 {
		t.Errorf("got %+v", got)
	}
	if math.Abs(got.Sums[0][0]-3*f) > 1e-12 || math.Abs(got.Squares[0][0]-9*f*f) > 1e-12 {
		t.Errorf("the long row adds %v and %v, want %g and %g at the front", got.Sums[0], got.Squares[0], 3*f, 9*f*f)
	}
}

// Null: counts, sums and squares have independent normal noise of deviation k·√3·σ
// times 1, R and R². Convicts noise that is off, halved, reused, or forgets a part.
func TestClassSumsNoise(t *testing.T) {
	for _, s := range settings {
		c := someSums(1.2)
		c.Features = 20_000
		c.Row = func([]float64, []float64) int { return -1 }
		got, err := c.Release(background, permitWith(t, source("sums", int(s.apart)), s.rel, s.rows, c.Event()), rowsOf(s.rows, [2]float64{0, 0}))
		if err != nil {
			t.Fatal(err)
		}
		std := math.Sqrt(3) * 1.2 * s.apart
		for name, part := range map[string]struct {
			values []float64
			scale  float64
		}{"sums": {got.Sums[0], 2}, "squares": {got.Squares[1], 4}} {
			stattest.Accept(t, stattest.Variance(name+" under "+s.String(), part.values, stattest.Moments{Variance: math.Pow(std*part.scale, 2), Kurtosis: 3}))
			stattest.Accept(t, stattest.Correlation("neighbouring "+name, part.values[1:], part.values[:len(part.values)-1]))
		}
		stattest.Accept(t, stattest.Correlation("two classes", got.Sums[0], got.Sums[1]))
		stattest.Accept(t, stattest.Correlation("sums and squares", got.Sums[0], got.Squares[0]))
		for a, n := range got.Counts {
			stattest.Accept(t, stattest.Z("count", n, 0, std))
			if n == 0 {
				t.Errorf("the count of class %d has no noise", a)
			}
		}
	}
}

// In units of the noise, one row adds a vector of norm √3 at most (√2 without squares).
func TestClassSumsSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float64Range(-3, 3), rapid.Float64(), rapid.Just(math.Inf(1)), rapid.Just(math.NaN()), rapid.Just(math.MaxFloat64))
		x := rapid.SliceOfN(value, 3, 3).Draw(t, "row")
		c := someSums(1)
		c.Squares = rapid.Bool().Draw(t, "squares")
		c.Row = func(to, _ []float64) int { copy(to, x); return 1 }
		s := exactly[*Sums](t)(c.Public(publicRowsOf([2]float64{0, 0})))
		square := s.Counts[1] * s.Counts[1]
		for j := range x {
			square += math.Pow(s.Sums[1][j]/c.Norm, 2)
			if c.Squares {
				square += math.Pow(s.Squares[1][j]/c.Norm/c.Norm, 2)
			}
		}
		parts := 2.0
		if c.Squares {
			parts = 3
		}
		if !(math.Sqrt(square) <= math.Sqrt(parts)*(1+1e-12)) {
			t.Fatalf("a row of %v adds a vector of norm %g, more than √%g", x, math.Sqrt(square), parts)
		}
	})
}

func TestClassSumsNeedTheirCharge(t *testing.T) {
	c, rows := someSums(2), rowsOf(1, [2]float64{0, 0})
	if _, err := c.Release(background, nil, rows); err == nil {
		t.Error("released without a permit")
	}
	p := permitFor(t, dp.AddOrRemoveOne, 1, c.Event())
	if _, err := c.Release(background, p, rows); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Release(background, p, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("a second release on one charge: got %v", err)
	}
	if _, err := c.Public(rows); err == nil {
		t.Error("exact sums of a sensitive data set")
	}
	for name, bad := range map[string]func(*ClassSums){
		"one class":   func(c *ClassSums) { c.Classes = 1 },
		"no features": func(c *ClassSums) { c.Features = 0 },
		"no bound":    func(c *ClassSums) { c.Norm = math.Inf(1) },
		"no vectors":  func(c *ClassSums) { c.Row = nil },
		"no noise":    func(c *ClassSums) { c.NoiseMultiplier = math.Inf(1) },
	} {
		b := someSums(2)
		bad(&b)
		p := permitFor(t, dp.AddOrRemoveOne, 1, c.Event())
		if _, err := b.Release(background, p, rows); err == nil || p.Opened() {
			t.Errorf("%s: got %v, opened %v", name, err, p.Opened())
		}
	}
}
