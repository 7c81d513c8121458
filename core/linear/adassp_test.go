package linear_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/linear"
	"pawl/core/sum"
	"pawl/data/encode"
)

// Neighbours have least eigenvalues, matrices and vectors within what the noise is
// scaled by, for each of the three by itself.
func TestAdaSSPSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 3).Draw(t, "rows per unit")
		relation := rapid.SampledFrom([]dp.Relation{dp.AddOrRemoveOne, dp.ZeroOut, dp.ReplaceOne}).Draw(t, "relation")
		s := testSchema(k)
		enc, err := encode.New(s, "label", encode.Options{Bins: 4, Linear: rapid.Bool().Draw(t, "linear")})
		if err != nil {
			t.Fatal(err)
		}
		common := drawTargets(t, drawRows(t, rapid.IntRange(0, 9).Draw(t, "rows"), "common"))
		var first []float64
		if relation == dp.ReplaceOne {
			first = drawTargets(t, drawRows(t, rapid.IntRange(0, k).Draw(t, "before"), "before"))
		}
		second := drawTargets(t, drawRows(t, rapid.IntRange(1, k).Draw(t, "after"), "after"))
		released := func(unit []float64) (gram, cross []float64, least float64) {
			_, m := mustOpenRapid(t, s, append(append([]float64(nil), common...), unit...), enc)
			e, err := sum.EquationsOf(m)
			if err != nil {
				t.Fatal(err)
			}
			return e.Gram, e.Cross, e.Least
		}
		g1, c1, l1 := released(first)
		g2, c2, l2 := released(second)
		axpy(-1, g2, g1)
		axpy(-1, c2, c1)
		bound, err := sum.Regression{NoiseMultiplier: 1 / math.Sqrt(3)}.Noise(relation, k)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []struct {
			name       string
			got, bound float64
		}{{"least eigenvalue", math.Abs(l1 - l2), bound.Least}, {"matrix", norm(g1), bound.Gram}, {"vector", norm(c1), bound.Cross}} {
			if v.got > v.bound+1e-12 {
				t.Fatalf("%s moved by %g, bound %g", v.name, v.got, v.bound)
			}
		}
	})
}

// Equal rows of norm 1 attain all three bounds of a unit that joins.
func TestAdaSSPSensitivityIsTight(t *testing.T) {
	s := testSchema(3)
	enc := mustEncoding(t, s, encode.Options{InterceptOnly: true})
	_, m := mustOpen(t, s, []float64{0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5}, enc)
	e, err := sum.EquationsOf(m)
	if err != nil {
		t.Fatal(err)
	}
	least, gram, cross := e.Least, e.Gram, e.Cross
	if math.Abs(least-3) > 1e-12 || math.Abs(norm(gram)-3) > 1e-12 || math.Abs(norm(cross)-3) > 1e-12 {
		t.Errorf("least %g, matrix %g, vector %g; want 3 each", least, norm(gram), norm(cross))
	}
	if _, err := (sum.Regression{NoiseMultiplier: 1}).Noise(0, 1); err == nil {
		t.Error("the zero relation was accepted")
	}
	n, err := (sum.Regression{NoiseMultiplier: 1}).Noise(dp.ReplaceOne, 2)
	if s := math.Sqrt(3) * 2; err != nil || math.Abs(n.Least-s) > 1e-9 || math.Abs(n.Gram-s*math.Sqrt2) > 1e-9 || math.Abs(n.Cross-2*s) > 1e-9 {
		t.Errorf("replace one: %+v (%v)", n, err)
	}
}

// Null: each of the three carries its own N(0, s²), the matrix s/√2 off the diagonal.
// 3,000 releases of dimension 4; sums of squares within 4.8916 standard deviations, a
// false alarm of 1e-6 each of 6. Convicts noise off, halved and shared.
func TestAdaSSPNoise(t *testing.T) {
	const d, runs = 4, 3000
	n := sum.RegressionNoise{Least: 2, Gram: 3, Cross: 5}
	for _, tc := range []struct {
		name   string
		mutant func(gram, cross []float64, least *float64)
		sound  bool
	}{
		{"sound", func(_, _ []float64, _ *float64) {}, true},
		{"eigenvalue off", func(_, _ []float64, l *float64) { *l = 0 }, false},
		{"eigenvalue halved", func(_, _ []float64, l *float64) { *l /= 2 }, false},
		{"cross halved", func(_, c []float64, _ *float64) {
			for i := range c {
				c[i] /= 2
			}
		}, false},
		{"gram off", func(g, _ []float64, _ *float64) { clear(g) }, false},
		{"shared", func(_, c []float64, l *float64) { *l = c[0] * 2 / 5 }, false},
		{"shared with the matrix", func(g, c []float64, _ *float64) { c[0] = g[0] * 5 / 3 }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src := entropy.Seeded(41)
			var least, diagonal, off, cross, shared, both float64
			for run := range runs {
				g, c := make([]float64, d*d), make([]float64, d)
				e, err := n.Perturb(&sum.Equations{Gram: g, Cross: c}, src.Split("run", uint64(run)))
				if err != nil {
					t.Fatal(err)
				}
				l := e.Least
				tc.mutant(g, c, &l)
				least += l * l / 4
				shared += l * c[0] / 10
				both += g[0] * c[0] / 15
				for j := range d {
					cross += c[j] * c[j] / 25
					diagonal += g[j*d+j] * g[j*d+j] / 9
					for m := j + 1; m < d; m++ {
						off += 2 * g[j*d+m] * g[j*d+m] / 9
					}
				}
			}
			convicted := false
			for _, v := range []struct{ sum, n, mean, spread float64 }{
				{least, runs, 1, math.Sqrt2}, {diagonal, runs * d, 1, math.Sqrt2}, {off, runs * d * (d - 1) / 2, 1, math.Sqrt2},
				{cross, runs * d, 1, math.Sqrt2}, {shared, runs, 0, 1}, {both, runs, 0, 1},
			} {
				convicted = convicted || math.Abs(v.sum/v.n-v.mean) > 4.8916*v.spread/math.Sqrt(v.n)
			}
			if convicted == tc.sound {
				t.Errorf("%g %g %g %g %g", least, diagonal, off, cross, shared)
			}
		})
	}
}

// Through the front door: the returned weights solve the equations with noise of
// multiplier σ·√3, recomputed from the same stream by dense matrices. Convicts a
// forgotten factor, charge, clamp or noise.
func TestSolveAdaSSPMatchesDenseSolution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 3).Draw(t, "rows per unit")
		s := testSchema(k)
		enc, err := encode.New(s, "label", encode.Options{Bins: 4, Linear: rapid.Bool().Draw(t, "linear")})
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(0, 40).Draw(t, "rows")
		cells := drawTargets(t, drawRows(t, n, "row"))
		fit := linear.AdaSSP{Scope: dp.WholeScope, Encoding: enc, Target: lastCell, NoiseMultiplier: rapid.SampledFrom([]float64{1e-4, 0.01, 0.3, 5}).Draw(t, "multiplier")}
		seed := rapid.Uint64().Draw(t, "seed")
		permit, err := sealed.NewPermit("1", "d", dp.AddOrRemoveOne, k, dp.Gaussian{NoiseMultiplier: fit.NoiseMultiplier * (1 - 1e-12)}, entropy.Seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		got, err := linear.SolveAdaSSP(context.Background(), permit, sealed.New("d", s, cells, make([]uint64, n)), fit)
		if err != nil {
			t.Fatal(err)
		}
		view, _ := mustOpenRapid(t, s, cells, enc)
		gram, cross := denseMoments(view, enc)
		d := len(cross)
		var e mat.EigenSym
		if !e.Factorize(mat.NewSymDense(d, append([]float64(nil), gram...)), false) {
			t.Fatal("eigenvalues")
		}
		sd := fit.NoiseMultiplier * math.Sqrt(3) * float64(k)
		noisy, err := sum.RegressionNoise{Least: sd, Gram: sd, Cross: sd}.Perturb(&sum.Equations{Least: max(e.Values(nil)[0], 0), Gram: gram, Cross: cross}, eventStreams(t, entropy.Seeded(seed), fit.Event())[0])
		if err != nil {
			t.Fatal(err)
		}
		least := noisy.Least
		f := float64(d)
		lambda := max(0, sd*math.Sqrt(f*math.Log(2*f*f/0.05))-max(0, least-sd*math.Sqrt(2*math.Log(20))))
		h := mat.NewSymDense(d, gram)
		for j := range d {
			h.SetSym(j, j, h.At(j, j)+lambda)
		}
		if !e.Factorize(h, false) || e.Values(nil)[0] < 1e-3*sd {
			t.Skip("the ridge was doubled")
		}
		var product mat.VecDense
		product.MulVec(h, mat.NewVecDense(d, got))
		axpy(-1, cross, product.RawVector().Data)
		if miss := norm(product.RawVector().Data); !(miss <= 1e-9*(norm(got)*mat.Norm(h, 2)+norm(cross))) {
			t.Fatalf("residual %g at ridge %g", miss, lambda)
		}
	})
}

func TestSolveAdaSSPRefuses(t *testing.T) {
	s := testSchema(1)
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	rows := sealed.New("d", s, []float64{0.5, 1, 2, 1}, make([]uint64, 1))
	good := linear.AdaSSP{Scope: dp.WholeScope, NoiseMultiplier: 1, Encoding: enc, Target: lastCell}
	with := func(change func(a *linear.AdaSSP)) linear.AdaSSP { a := good; change(&a); return a }
	for _, tc := range []struct {
		name string
		a    linear.AdaSSP
		want string
	}{
		{"no noise", with(func(a *linear.AdaSSP) { a.NoiseMultiplier = 0 }), "noise multiplier"},
		{"noise not a number", with(func(a *linear.AdaSSP) { a.NoiseMultiplier = math.NaN() }), "noise multiplier"},
		{"noise out of range", with(func(a *linear.AdaSSP) { a.NoiseMultiplier = math.MaxFloat64 }), "range"},
		{"no scope", with(func(a *linear.AdaSSP) { a.Scope = dp.Scope{} }), "scope"},
		{"no target", with(func(a *linear.AdaSSP) { a.Target = nil }), "target"},
		{"less noise than booked", with(func(a *linear.AdaSSP) { a.NoiseMultiplier = 0.5 }), "reserved"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			permit := mustPermit(t, "d", good.Event())
			w, err := linear.SolveAdaSSP(context.Background(), permit, rows, tc.a)
			if err == nil || w != nil || permit.Opened() || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, %v; want an error about %q", w, err, tc.want)
			}
		})
	}
	if _, err := linear.SolveAdaSSP(context.Background(), nil, rows, good); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("no permit: %v", err)
	}
	permit := mustPermit(t, "d", good.Event())
	if _, err := linear.SolveAdaSSP(context.Background(), permit, rows, good); err != nil {
		t.Fatal(err)
	}
	if _, err := linear.SolveAdaSSP(context.Background(), permit, rows, good); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("second run on one event: %v", err)
	}
}
