package release

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/internal/stattest"
)

// someMoments has vectors (class, number, 1) of the rows of rowsOf.
func someMoments(multiplier float64) Covariance {
	return Covariance{Scope: dp.WholeScope, NoiseMultiplier: multiplier, Features: 3, Norm: 2,
		Row: func(x, cells []float64) { copy(x, []float64{cells[0], cells[1], 1}) }}
}

func exactMoments(t fataler, c Covariance, rows *sealed.Rows) []float64 {
	return exactly[*SecondMoments](t)(c.Public(background, rows)).Matrix
}

func frobenius(a, b []float64) float64 {
	norm := 0.0
	for i := range a {
		norm = math.Hypot(norm, a[i]-b[i])
	}
	return norm
}

// momentBatch is how many rows sum.Moments puts into one product.
const momentBatch = 128

// Many more rows than go into one product, some of them long or not finite, against the
// definition; from cells, from inputs, and about a centre.
func TestCovarianceMatchesDefinition(t *testing.T) {
	for _, tt := range []struct {
		name   string
		centre []float64
		rows   int
	}{{"no rows", nil, 0}, {"one row", nil, 1}, {"a full block", nil, momentBatch}, {"many", nil, 3*momentBatch + 7}, {"centred", []float64{0.5, -0.25, 1}, 300}} {
		t.Run(tt.name, func(t *testing.T) {
			var cells [][2]float64
			var inputs [][]float32
			want := make([]float64, 9)
			for i := range tt.rows {
				x := []float64{float64(i % 4), math.Sin(float64(i)), 1}
				if i%17 == 5 {
					x[1] = math.NaN()
				}
				x[1] = float64(float32(x[1]))
				cells = append(cells, [2]float64{x[0], x[1]})
				inputs = append(inputs, []float32{float32(x[0]), float32(x[1]), 1})
				if x[1] != x[1] {
					continue
				}
				norm := 0.0
				for j := range x {
					if tt.centre != nil {
						x[j] -= tt.centre[j]
					}
					norm = math.Hypot(norm, x[j])
				}
				f := min(1, 2/norm)
				for j := range x {
					for l := range x {
						want[j*3+l] += f * f * x[j] * x[l]
					}
				}
			}
			c := someMoments(1)
			c.Centre = tt.centre
			if got := exactMoments(t, c, publicRowsOf(cells...)); frobenius(got, want) > 1e-9 {
				t.Errorf("from cells %v, want %v", got, want)
			}
			c.Row = nil
			if got := exactMoments(t, c, publicInputs(3, inputs...)); frobenius(got, want) > 1e-9 {
				t.Errorf("from inputs %v, want %v", got, want)
			}
		})
	}
}

// Null: a unit's rows that come, or take the place of another's, move the moments by
// at most the noise over the multiplier, in the norm in which the noise is isotropic.
// Fails without clipping, and where Release forgets rows per unit or relation.
func TestCovarianceSensitivity(t *testing.T) {
	value := rapid.OneOf(rapid.Float64Range(-3, 3), rapid.SampledFrom([]float64{0, 1, 1e308, -1e200, math.Inf(1), math.NaN()}))
	rapid.Check(t, func(t *rapid.T) {
		rel := rapid.SampledFrom([]dp.Relation{dp.AddOrRemoveOne, dp.ZeroOut, dp.ReplaceOne}).Draw(t, "relation")
		k := rapid.IntRange(1, 3).Draw(t, "rows per unit")
		unit := func(name string) (rows [][2]float64) {
			for range rapid.IntRange(0, k).Draw(t, name) {
				rows = append(rows, [2]float64{value.Draw(t, "a"), value.Draw(t, "b")})
			}
			return rows
		}
		c := someMoments(1)
		c.Norm = rapid.SampledFrom([]float64{1e-3, 1, 5}).Draw(t, "norm")
		if rapid.Bool().Draw(t, "centred") {
			c.Centre = []float64{1, -1, 0.5}
		}
		common, before := [][2]float64{{1, 0.5}, {3, -1}}, [][2]float64(nil)
		if rel == dp.ReplaceOne {
			before = unit("before")
		}
		one := exactMoments(t, c, publicRowsOf(append(append([][2]float64(nil), common...), before...)...))
		two := exactMoments(t, c, publicRowsOf(append(append([][2]float64(nil), common...), unit("after")...)...))
		bound, err := c.StdDev(rel, k)
		if err != nil {
			t.Fatal(err)
		}
		if moved := frobenius(one, two); !(moved <= bound*(1+1e-12)+1e-14*c.Norm*c.Norm) {
			t.Fatalf("the moments move by %g, more than %g", moved, bound)
		}
	})
}

// The bounds are attained: k equal rows of norm R, and orthogonal ones in their place.
func TestCovarianceSensitivityIsTight(t *testing.T) {
	c := Covariance{Scope: dp.WholeScope, NoiseMultiplier: 1, Features: 2, Norm: 2, Row: func(x, cells []float64) { x[int(cells[0])] = 9 }}
	none, three, other := publicRowsOf(), publicRowsOf([2]float64{}, [2]float64{}, [2]float64{}), publicRowsOf([2]float64{1}, [2]float64{1}, [2]float64{1})
	for rel, pair := range map[dp.Relation][2]*sealed.Rows{dp.AddOrRemoveOne: {none, three}, dp.ReplaceOne: {three, other}} {
		bound, err := c.StdDev(rel, 3)
		if err != nil {
			t.Fatal(err)
		}
		if moved := frobenius(exactMoments(t, c, pair[0]), exactMoments(t, c, pair[1])); math.Abs(moved-bound) > 1e-9 {
			t.Errorf("%v: moved by %g, sensitivity %g", rel, moved, bound)
		}
	}
	if s, err := c.StdDev(0, 1); err == nil || !math.IsInf(s, 1) {
		t.Errorf("no relation: %g, %v", s, err)
	}
}

// Null: with no row to add, M_jj and √2·M_jl are independent N(0, s²). Variance and
// correlations at a false-alarm rate of 1e-6 each; convicts noise that is off, halved,
// reused, of full size or averaged off the diagonal, or that forgets k or the relation.
func TestCovarianceNoise(t *testing.T) {
	const n = 150
	for _, s := range settings {
		c := Covariance{Scope: dp.WholeScope, NoiseMultiplier: 1.3, Features: n, Norm: 2, Row: func(x, _ []float64) { x[0] = math.NaN() }}
		std := 1.3 * 4 * float64(s.rows)
		if s.rel == dp.ReplaceOne {
			std *= math.Sqrt2
		}
		var diagonal, off, next []float64
		for run := range 8 {
			got, err := c.Release(background, permitWith(t, source("covariance", run), s.rel, s.rows, c.Event()), rowsOf(s.rows, [2]float64{}))
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.StdDev-std) > 1e-9 || math.Abs(got.SpectralNoise()-std*math.Sqrt(2*n)) > 1e-6 {
				t.Fatalf("stated noise %g and %g, want %g", got.StdDev, got.SpectralNoise(), std)
			}
			for j := range n {
				diagonal = append(diagonal, got.Matrix[j*n+j])
				for l := j + 1; l < n; l++ {
					if got.Matrix[j*n+l] != got.Matrix[l*n+j] {
						t.Fatal("not symmetric")
					}
					off = append(off, math.Sqrt2*got.Matrix[j*n+l])
					next = append(next, math.Sqrt2*got.Matrix[j*n+(l+1)%n])
				}
			}
		}
		want := stattest.Moments{Variance: std * std, Kurtosis: 3}
		name := " under " + s.String()
		stattest.Accept(t, stattest.Variance("diagonal"+name, diagonal, want))
		stattest.Accept(t, stattest.Variance("off it"+name, off, want))
		stattest.Accept(t, stattest.Correlation("neighbours"+name, off, next))
		stattest.Accept(t, stattest.Correlation("diagonals"+name, diagonal[1:], diagonal[:len(diagonal)-1]))
		for fault, values := range map[string][]float64{"off": make([]float64, len(off)), "halved": times(off, 0.5), "averaged": times(off, math.Sqrt2/2), "of full size": times(off, math.Sqrt2)} {
			stattest.Convict(t, stattest.Variance(fault+name, values, want))
		}
		stattest.Convict(t, stattest.Correlation("reused"+name, off, off))
	}
}

func times(x []float64, f float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f * v
	}
	return out
}

// What leaves is the exact sum and its noise: with next to no noise, the moments.
func TestCovarianceAddsNoiseToTheSum(t *testing.T) {
	c := someMoments(1e-9)
	rows := publicRowsOf([2]float64{1, 0.5}, [2]float64{3, -1}, [2]float64{math.NaN(), 1})
	got, err := c.Release(background, permitWith(t, source("sum", 0), dp.AddOrRemoveOne, 1, c.Event()), rows)
	if err != nil || frobenius(got.Matrix, exactMoments(t, c, rows)) > 1e-6 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestCovarianceNeedsItsCharge(t *testing.T) {
	c, rows := someMoments(2), rowsOf(1, [2]float64{})
	if _, err := c.Release(background, nil, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("no permit: got %v", err)
	}
	p := permitFor(t, dp.AddOrRemoveOne, 1, dp.Gaussian{NoiseMultiplier: 3})
	if _, err := c.Release(background, p, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("less noise than booked: got %v", err)
	}
	p = permitFor(t, dp.AddOrRemoveOne, 1, c.Event())
	if _, err := c.Release(background, p, rows); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Release(background, p, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("a second release on one charge: got %v", err)
	}
	if _, err := c.Public(background, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("exact moments of a sensitive data set: %v", err)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	p = permitFor(t, dp.AddOrRemoveOne, 1, c.Event())
	if _, err := c.Release(ctx, p, rows); !errors.Is(err, context.Canceled) || p.Opened() {
		t.Errorf("cancelled: %v, opened %v", err, p.Opened())
	}
	for name, bad := range map[string]func(*Covariance){
		"no features":      func(c *Covariance) { c.Features = 0 },
		"too many":         func(c *Covariance) { c.Features = 1 << 20 },
		"no bound":         func(c *Covariance) { c.Norm = math.Inf(1) },
		"bound is nothing": func(c *Covariance) { c.Norm = math.NaN() },
		"bound too large":  func(c *Covariance) { c.Norm = 1e200 },
		"bound too small":  func(c *Covariance) { c.Norm = 1e-200 },
		"short centre":     func(c *Covariance) { c.Centre = []float64{1} },
		"centre is not":    func(c *Covariance) { c.Centre = []float64{1, math.NaN(), 0} },
		"no noise":         func(c *Covariance) { c.NoiseMultiplier = 0 },
		"noise is nothing": func(c *Covariance) { c.NoiseMultiplier = math.NaN() },
	} {
		b := someMoments(2)
		bad(&b)
		p := permitFor(t, dp.AddOrRemoveOne, 1, c.Event())
		if _, err := b.Release(background, p, rows); err == nil || p.Opened() {
			t.Errorf("%s: got %v, opened %v", name, err, p.Opened())
		}
	}
	c.Row = nil
	if _, err := c.Release(background, permitWith(t, source("charge", 5), dp.AddOrRemoveOne, 1, c.Event()), rows); err == nil {
		t.Error("vectors of rows without inputs")
	}
	c.Row = func(_, cells []float64) { panic(cells[0]) }
	if got, err := c.Release(background, permitWith(t, source("charge", 6), dp.AddOrRemoveOne, 1, c.Event()), rows); got != nil || err != sealed.ErrFault {
		t.Errorf("a panic on a row: %v, %v", got, err)
	}
}

// Noise whose scale left the range of a float64 is refused, not left out.
func TestMomentsWithoutNoiseByUnderflow(t *testing.T) {
	c := someMoments(1e-200)
	c.Norm = 1e-100
	if got, err := c.Release(background, permitWith(t, source("range", 1), dp.AddOrRemoveOne, 1, c.Event()), rowsOf(1, [2]float64{})); got != nil || err == nil {
		t.Errorf("no noise by underflow: %v, %v", got, err)
	}
}
