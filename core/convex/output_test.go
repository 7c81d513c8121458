package convex

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/linear"
	"pawl/data/encode"
)

// Minimisers of neighbours, found by the solver itself, are within the sensitivity.
func TestOutputSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 3).Draw(t, "rows per unit")
		relation := rapid.SampledFrom([]dp.Relation{dp.AddOrRemoveOne, dp.ZeroOut, dp.ReplaceOne}).Draw(t, "relation")
		o := Output{
			Regularization: rapid.SampledFrom([]float64{0.05, 1, 30}).Draw(t, "regularization"),
			ResidualCap:    rapid.SampledFrom([]float64{1, 0.5, 0.1}).Draw(t, "cap"),
		}
		s := testSchema(k)
		enc, err := encode.New(s, "label", encode.Options{Bins: 4, Linear: rapid.Bool().Draw(t, "linear")})
		if err != nil {
			t.Fatal(err)
		}
		common := drawRows(t, rapid.IntRange(0, 6).Draw(t, "rows"), "common")
		var first []float64
		if relation == dp.ReplaceOne {
			first = drawRows(t, rapid.IntRange(0, k).Draw(t, "before"), "before")
		}
		second := drawRows(t, rapid.IntRange(1, k).Draw(t, "after"), "after")
		minimiser := func(unit []float64) []float64 {
			_, m := mustOpenRapid(t, s, append(slices.Clone(common), unit...), enc)
			solver := fitterOf(m)
			solver.problem.Set(o.ResidualCap, o.Regularization)
			if err := solver.solver.Minimize(context.Background(), certificate/2); err != nil || solver.problem.GradientNorm(solver.solver.Weights) > certificate {
				t.Fatal(err)
			}
			return solver.solver.Weights
		}
		w1, w2 := minimiser(first), minimiser(second)
		axpy(-1, w2, w1)
		permit, err := sealed.NewPermit("1", "d", relation, k, dp.NoOp{}, entropy.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		if bound := o.sensitivity(permit.RowsApart(), certificate); norm(w1) > bound {
			t.Fatalf("minimisers are %g apart, bound %g", norm(w1), bound)
		}
	})
}

// With a strong regularization a row moves the minimiser by r/a: nothing smaller would
// do. Convicts a cap that does not act.
func TestOutputSensitivityIsTight(t *testing.T) {
	s := testSchema(3)
	enc := mustEncoding(t, s, encode.Options{InterceptOnly: true})
	for _, r := range []float64{0.5, 0.25} {
		o := Output{Regularization: 1e6, ResidualCap: r}
		_, m := mustOpen(t, s, []float64{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, enc)
		solver := fitterOf(m)
		solver.problem.Set(r, o.Regularization)
		if err := solver.solver.Minimize(context.Background(), certificate/2); err != nil {
			t.Fatal(err)
		}
		if got, bound := solver.solver.Weights[0], o.sensitivity(3, 0); math.Abs(got-bound) > 1e-5*bound {
			t.Errorf("cap %g: three rows move the minimiser by %g, sensitivity %g", r, got, bound)
		}
	}
}

// Both solver errors count: 2γ/a beside k·r/a.
func TestOutputSensitivityCoversTheSolver(t *testing.T) {
	o := Output{Regularization: 4, ResidualCap: 0.5}
	if got, want := o.sensitivity(3, 0.25), (3*0.5+2*0.25)/4.; math.Abs(got/want-1) > 1e-9 || got < want {
		t.Errorf("sensitivity %g, want %g", got, want)
	}
}

// Null: on rows of which none takes part the minimiser is 0 and the output is
// N(0, (σΔ)²) in every coordinate. 6,000 draws of 6 coordinates; the sum of squares is
// within 4.8916·√(2/n) and neighbours' products within 4.8916/√n: false alarm 1e-6
// each. Convicts noise off, halved, reused, and a forgotten k or relation.
func TestOutputNoise(t *testing.T) {
	const runs, d = 6000, 6
	s := testSchema(3)
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	rows := sealed.New("d", s, []float64{0, 0, 0, math.NaN()}, make([]uint64, 1))
	for _, tc := range []struct {
		name     string
		relation dp.Relation
		claim    float64 // Δ·a/r
		reuse    bool
		sound    bool
	}{
		{"three rows", dp.AddOrRemoveOne, 3, false, true}, {"zero out", dp.ZeroOut, 3, false, true},
		{"replace one", dp.ReplaceOne, 6, false, true}, {"one row claimed", dp.AddOrRemoveOne, 1, false, false},
		{"noise halved", dp.AddOrRemoveOne, 6, false, false}, {"reused", dp.AddOrRemoveOne, 3, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := Output{Scope: dp.WholeScope, NoiseMultiplier: 2, Regularization: 4, ResidualCap: 0.5, Encoding: enc, Target: lastCell}
			sd := 2 * tc.claim * 0.5 / 4
			src := entropy.Seeded(51)
			squares, products := 0.0, 0.0
			for run := range runs {
				permit, err := sealed.NewPermit("1", "d", tc.relation, 3, o.Event(), src.Split("run", uint64(run)))
				if err != nil {
					t.Fatal(err)
				}
				w, err := PerturbOutput(context.Background(), permit, rows, o)
				if err != nil {
					t.Fatal(err)
				}
				for j := range w {
					next := w[(j+1)%d]
					if tc.reuse {
						next = w[j]
					}
					squares += w[j] * w[j] / (sd * sd)
					products += w[j] * next / (sd * sd)
				}
			}
			const n = runs * d
			convicted := math.Abs(squares/n-1) > 4.8916*math.Sqrt(2./n) || math.Abs(products/n) > 4.8916/math.Sqrt(n)
			if convicted == tc.sound {
				t.Errorf("mean square %g, mean product %g", squares/n, products/n)
			}
		})
	}
}

func TestPerturbOutputRefuses(t *testing.T) {
	s := testSchema(1)
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	rows := sealed.New("d", s, []float64{0.5, 1, 2, 1}, make([]uint64, 1))
	good := Output{Scope: dp.WholeScope, NoiseMultiplier: 1, Regularization: 2, ResidualCap: 1, Encoding: enc, Target: lastCell}
	with := func(change func(o *Output)) Output { o := good; change(&o); return o }
	for _, tc := range []struct {
		name string
		o    Output
		want string
	}{
		{"no noise", with(func(o *Output) { o.NoiseMultiplier = 0 }), "noise multiplier"},
		{"noise not a number", with(func(o *Output) { o.NoiseMultiplier = math.NaN() }), "noise multiplier"},
		{"noise out of range", with(func(o *Output) { o.NoiseMultiplier = math.MaxFloat64; o.Regularization = 0.1 }), "range"},
		{"no regularization", with(func(o *Output) { o.Regularization = 0 }), "regularization"},
		{"cap above one", with(func(o *Output) { o.ResidualCap = 2 }), "cap"},
		{"no target", with(func(o *Output) { o.Target = nil }), "target"},
		{"less noise than booked", with(func(o *Output) { o.NoiseMultiplier = 0.9 }), "reserved"},
		{"another scope", with(func(o *Output) { o.Scope = dp.Scope{Lower: 0, Upper: 0.5} }), "reserved"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			permit := mustPermit(t, "d", good.Event())
			w, err := PerturbOutput(context.Background(), permit, rows, tc.o)
			if err == nil || w != nil || permit.Opened() || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, %v; want an error about %q", w, err, tc.want)
			}
		})
	}
	permit := mustPermit(t, "d", good.Event())
	if _, err := PerturbOutput(context.Background(), permit, rows, good); err != nil {
		t.Fatal(err)
	}
	if _, err := PerturbOutput(context.Background(), permit, rows, good); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("second run on one event: %v", err)
	}
	if _, err := PerturbOutput(context.Background(), nil, rows, good); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("no permit: %v", err)
	}
}

// The three inequalities that AMP's proof uses, at random data and weights: the shift
// of b is at most j, determinants stay within ε_obj − ε_p, and s meets the Gaussian bound.
func TestAMPDensityRatio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		relation := rapid.SampledFrom([]dp.Relation{dp.AddOrRemoveOne, dp.ZeroOut, dp.ReplaceOne}).Draw(t, "relation")
		a := AMP{
			Epsilon: rapid.SampledFrom([]float64{0.01, 0.5, 1, 5}).Draw(t, "epsilon"), Delta: rapid.SampledFrom([]float64{1e-9, 1e-5, 0.01}).Draw(t, "delta"),
			ExpectedRows: 100, Share: rapid.SampledFrom([]float64{0.5, 0.9, 0.99}).Draw(t, "share"),
		}
		permit, err := sealed.NewPermit("1", "d", relation, 1, a.Event(), entropy.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		c, err := a.calibrate(permit)
		if err != nil {
			t.Fatal(err)
		}
		j, l := float64(permit.RowsApart()), 0.99*a.Epsilon
		if bound := j*j/(2*c.objective*c.objective) + j/c.objective*math.Sqrt(2*math.Log(1/(0.99*a.Delta))); bound > a.Share*l {
			t.Fatalf("b costs %g, has %g", bound, a.Share*l)
		}
		s := testSchema(1)
		enc, err := encode.New(s, "label", encode.Options{Bins: 4, Linear: rapid.Bool().Draw(t, "linear")})
		if err != nil {
			t.Fatal(err)
		}
		common := drawRows(t, rapid.IntRange(0, 6).Draw(t, "rows"), "common")
		var first []float64
		if relation == dp.ReplaceOne {
			first = drawRows(t, 1, "before")
		}
		second := drawRows(t, 1, "after")
		w := make([]float64, enc.Dim)
		for j := range w {
			w[j] = rapid.Float64Range(-20, 20).Draw(t, "weight")
		}
		world := func(unit []float64) (b []float64, logDet float64) {
			view, _ := mustOpenRapid(t, s, append(slices.Clone(common), unit...), enc)
			b, h := dense(view, enc, 1, c.regularization, w)
			var chol mat.Cholesky
			if !chol.Factorize(h) {
				t.Fatal("Hessian is not positive definite")
			}
			return b, chol.LogDet()
		}
		b1, det1 := world(first)
		b2, det2 := world(second)
		axpy(-1, b2, b1)
		if norm(b1) > j*(1+1e-9) {
			t.Fatalf("b moved by %g, bound %g", norm(b1), j)
		}
		if got, bound := math.Abs(det1-det2), (1-a.Share)*l; got > bound+1e-9 {
			t.Fatalf("log determinant moved by %g, bound %g", got, bound)
		}
	})
}

// The numbers of the published calibration under ReplaceOne, in the form that n has
// cancelled from, with twice the finishing noise.
func TestAMPCalibration(t *testing.T) {
	a := AMP{Epsilon: 1, Delta: 1e-5, ExpectedRows: 20000, Share: 0.9}
	permit, err := sealed.NewPermit("1", "d", dp.ReplaceOne, 1, a.Event(), entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.calibrate(permit)
	if err != nil {
		t.Fatal(err)
	}
	lambda := 2 * 0.25 / (0.99 * 0.1)
	for _, v := range []struct {
		name      string
		got, want float64
	}{
		{"regularization", c.regularization, lambda},
		{"objective", c.objective, 2 * (1 + math.Sqrt(2*math.Log(1/0.99e-5))) / (0.99 * 0.9)},
		{"finishing", c.finishing, 2 / lambda * (1 + math.Sqrt(2*math.Log(1/1e-7))) / 0.01},
		{"gamma", c.gamma, 1. / 20000},
	} {
		if math.Abs(v.got/v.want-1) > 1e-9 {
			t.Errorf("%s: got %.12g, want %.12g", v.name, v.got, v.want)
		}
	}
	for rows, want := range map[float64]float64{1e9: certificate, 10: 1e-3} {
		many := a
		many.ExpectedRows = rows
		if c, err := many.calibrate(permit); err != nil || c.gamma != want {
			t.Errorf("%g rows: γ = %g, want %g (%v)", rows, c.gamma, want, err)
		}
	}
	one, err := sealed.NewPermit("1", "d", dp.AddOrRemoveOne, 1, a.Event(), entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	half, err := a.calibrate(one)
	if err != nil || math.Abs(half.objective/c.objective-0.5) > 1e-9 || math.Abs(half.regularization/c.regularization-0.5) > 1e-9 {
		t.Errorf("add or remove: %+v (%v)", half, err)
	}
	three, err := sealed.NewPermit("1", "d", dp.AddOrRemoveOne, 3, a.Event(), entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.calibrate(three); err == nil {
		t.Error("units of three rows were accepted")
	}
	for epsilon, want := range map[float64]float64{1: 0.88671 + 0.0186607, 100: 0.991, 1e-9: 0.99} {
		if got := linear.AMPShare(epsilon); math.Abs(got-want) > 1e-9 {
			t.Errorf("share at ε %g is %g, want %g", epsilon, got, want)
		}
	}
}

// Null: on identical rows x = 1, y = 1 the output has P(w <= t) = Φ(−b_D(t)/s), the
// finishing noise being far narrower. 5,000 draws; the distance of distribution
// functions exceeds 0.0381 with probability at most 1e-6 (see the test of Objective).
// Convicts noise off, halved and doubled.
func TestAMPHasTheLawOfTheTheorem(t *testing.T) {
	const n = 5000
	limit := math.Sqrt(math.Log(2/1e-6) / (2 * n))
	for _, tc := range []struct {
		name   string
		rows   int
		factor float64
		sound  bool
	}{{"empty data", 0, 1, true}, {"three rows", 3, 1, true}, {"off", 3, 1e-9, false}, {"halved", 3, 0.5, false}, {"doubled", 3, 2, false}} {
		t.Run(tc.name, func(t *testing.T) {
			a := AMP{Epsilon: 2, Delta: 1e-3, ExpectedRows: 1e6, Share: 0.8}
			claimed, err := a.calibrate(mustPermit(t, "d", a.Event()))
			if err != nil {
				t.Fatal(err)
			}
			used := claimed
			used.objective *= tc.factor
			v := newWorld(t, tc.rows)
			from := streamsOf(entropy.Seeded(19))
			draws := make([]float64, n)
			for i := range draws {
				w, err := used.fit(context.Background(), v.solver, from)
				if err != nil {
					t.Fatal(err)
				}
				draws[i] = w[0]
			}
			sort.Float64s(draws)
			distance := 0.0
			for i, x := range draws {
				u := float64(tc.rows)*(1-1/(1+math.Exp(-x))) - claimed.regularization*x
				p := 0.5 * math.Erfc(u/claimed.objective/math.Sqrt2)
				distance = max(distance, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
			}
			if convicted := distance > limit; convicted == tc.sound {
				t.Errorf("distance %.4f, limit %.4f", distance, limit)
			}
		})
	}
}

// Null: what leaves minus the certified point is N(0, t²) at the first γ of the
// schedule. 4,000 draws of 6 coordinates; the sum of squares is within 4.8916·√(2/n).
// Convicts a finishing noise that is missing, halved, or for another γ.
func TestAMPFinishingNoise(t *testing.T) {
	const runs, d = 4000, 6
	s := testSchema(1)
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	_, m := mustOpen(t, s, []float64{0.5, 1, 2, 1, -0.5, 0, 1, 0, 0.1, 1, 0, 1}, enc)
	a := AMP{Epsilon: 1, Delta: 1e-5, ExpectedRows: 5e4, Share: 0.9}
	claimed, err := a.calibrate(mustPermit(t, "d", a.Event()))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		factor float64
		sound  bool
	}{{"sound", 1, true}, {"missing", 1e-9, false}, {"halved", 0.5, false}, {"γ doubled", 2, false}} {
		t.Run(tc.name, func(t *testing.T) {
			used := claimed
			used.finishing *= tc.factor
			solver, src, squares := fitterOf(m), entropy.Seeded(17), 0.0
			for i := range runs {
				w, err := used.fit(context.Background(), solver, streamsOf(src.Split("run", uint64(i))))
				if err != nil {
					t.Fatal(err)
				}
				if g := solver.problem.GradientNorm(solver.solver.Weights); g > claimed.gamma/2 {
					t.Fatalf("‖∇J‖ = %g was certified", g)
				}
				axpy(-1, solver.solver.Weights, w)
				squares += dot(w, w)
			}
			sd := claimed.finishing * claimed.gamma
			const n = runs * d
			if convicted := math.Abs(squares/n/(sd*sd)-1) > 4.8916*math.Sqrt(2./n); convicted == tc.sound {
				t.Errorf("mean square %g of %g", squares/n, sd*sd)
			}
		})
	}
}

func TestPerturbMinimumRefuses(t *testing.T) {
	s := testSchema(1)
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	rows := sealed.New("d", s, []float64{0.5, 1, 2, 1}, make([]uint64, 1))
	good := AMP{Scope: dp.WholeScope, Epsilon: 1, Delta: 1e-5, ExpectedRows: 10, Share: 0.9, Encoding: enc, Target: lastCell}
	with := func(change func(a *AMP)) AMP { a := good; change(&a); return a }
	for _, tc := range []struct {
		name string
		a    AMP
		want string
	}{
		{"no epsilon", with(func(a *AMP) { a.Epsilon = 0 }), "epsilon"},
		{"epsilon not a number", with(func(a *AMP) { a.Epsilon = math.NaN() }), "epsilon"},
		{"epsilon beyond the bound", with(func(a *AMP) { a.Epsilon = 50 }), "too large"},
		{"no delta", with(func(a *AMP) { a.Delta = 0 }), "delta"},
		{"delta one", with(func(a *AMP) { a.Delta = 1 }), "delta"},
		{"no share", with(func(a *AMP) { a.Share = 0 }), "share"},
		{"all for b", with(func(a *AMP) { a.Share = 1 }), "share"},
		{"no rows", with(func(a *AMP) { a.ExpectedRows = 0 }), "rows"},
		{"no encoding", with(func(a *AMP) { a.Encoding = nil }), "encoding"},
		{"another delta than booked", with(func(a *AMP) { a.Delta = 1e-4 }), "reserved"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			permit := mustPermit(t, "d", good.Event())
			w, err := PerturbMinimum(context.Background(), permit, rows, tc.a)
			if err == nil || w != nil || permit.Opened() || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, %v; want an error about %q", w, err, tc.want)
			}
		})
	}
	permit := mustPermit(t, "d", good.Event())
	if _, err := PerturbMinimum(context.Background(), permit, rows, good); err != nil {
		t.Fatal(err)
	}
	if _, err := PerturbMinimum(context.Background(), permit, rows, good); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("second run on one event: %v", err)
	}
	if _, err := PerturbMinimum(context.Background(), nil, rows, good); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("no permit: %v", err)
	}
}
