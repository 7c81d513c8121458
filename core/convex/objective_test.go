package convex

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/design"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
	"pawl/data/schema"
)

func testSchema(maxRows int) *schema.Schema {
	return &schema.Schema{
		Unit: schema.Unit{Name: "person", MaxRows: maxRows},
		Columns: []schema.Column{
			{Name: "number", Type: schema.Numeric, Lower: -1, Upper: 1},
			{Name: "flag", Type: schema.Boolean},
			{Name: "class", Type: schema.Categorical, Categories: []string{"a", "b", "c"}},
			{Name: "label", Type: schema.Numeric, Lower: -9, Upper: 9},
		},
	}
}

func mustEncoding(t testing.TB, s *schema.Schema, o encode.Options) *encode.Encoding {
	t.Helper()
	enc, err := encode.New(s, "label", o)
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

// mustOpen gives the rows in the clear, as a mechanism sees them.
func mustOpen(t testing.TB, s *schema.Schema, cells []float64, enc *encode.Encoding) (*sealed.View, *design.Matrix) {
	t.Helper()
	permit, err := sealed.NewPermit("1", "d", dp.AddOrRemoveOne, s.Unit.MaxRows, dp.Pure{Epsilon: 1}, entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	rows := sealed.New("d", s, cells, make([]uint64, len(cells)/len(s.Columns)))
	view, err := sealed.Open(rows, permit, dp.WholeScope, dp.Pure{Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	return view, design.New(view, enc, lastCell)
}

// dense is the plain definition of b_D(w) = −Σ∇ℓ − a·w and of H_D(w).
func dense(view *sealed.View, enc *encode.Encoding, cap, a float64, w []float64) (b []float64, h *mat.SymDense) {
	d := enc.Dim
	b, h = make([]float64, d), mat.NewSymDense(d, nil)
	for j := range d {
		b[j] = -a * w[j]
		h.SetSym(j, j, a)
	}
	x := make([]float64, d)
	for i := range view.Len() {
		y := lastCell(view.Row(i))
		if y != 0 && y != 1 {
			continue
		}
		enc.Vector(x, view.Row(i))
		p := 1 / (1 + math.Exp(-dot(x, w)))
		r, second := p-y, p*(1-p)
		if math.Abs(r) > cap {
			r, second = math.Copysign(cap, r), 0
		}
		axpy(-r, x, b)
		h.SymRankOne(h, second, mat.NewVecDense(d, x))
	}
	return b, h
}

func drawRows(t *rapid.T, n int, label string) []float64 {
	var cells []float64
	for range n {
		row := []float64{
			rapid.Float64Range(-1, 1).Draw(t, label+" number"),
			float64(rapid.IntRange(0, 1).Draw(t, label+" flag")),
			float64(rapid.IntRange(0, 2).Draw(t, label+" class")),
			rapid.SampledFrom([]float64{0, 1, 0, 1, math.NaN(), 0.5}).Draw(t, label+" label"),
		}
		if c := rapid.IntRange(0, 5).Draw(t, label+" unknown"); c < 3 {
			row[c] = math.NaN()
		}
		cells = append(cells, row...)
	}
	return cells
}

// The theorem itself: at random data, units and weights, the log densities of two
// neighbours differ by at most ε_o, and each of the two terms by its own bound.
func TestDensityRatioOfNeighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 3).Draw(t, "rows per unit")
		relation := rapid.SampledFrom([]dp.Relation{dp.AddOrRemoveOne, dp.ZeroOut, dp.ReplaceOne}).Draw(t, "relation")
		o := Objective{
			Epsilon:        rapid.SampledFrom([]float64{0.01, 0.3, 1, 5, 50}).Draw(t, "epsilon"),
			Regularization: rapid.SampledFrom([]float64{1e-3, 0.1, 2, 100}).Draw(t, "regularization"),
			ResidualCap:    rapid.SampledFrom([]float64{1, 0.5, 0.25, 0.05}).Draw(t, "cap"),
		}
		cal, err := o.calibrate(relation, k)
		if err != nil {
			t.Fatal(err)
		}
		s := testSchema(k)
		enc, err := encode.New(s, "label", encode.Options{Bins: 4, Linear: rapid.Bool().Draw(t, "linear")})
		if err != nil {
			t.Fatal(err)
		}
		common := drawRows(t, rapid.IntRange(0, 6).Draw(t, "rows"), "common")
		var first []float64 // the unit's rows in one world; none under AddOrRemoveOne
		if relation == dp.ReplaceOne {
			first = drawRows(t, rapid.IntRange(0, k).Draw(t, "before"), "before")
		}
		second := drawRows(t, rapid.IntRange(1, k).Draw(t, "after"), "after")
		w := make([]float64, enc.Dim)
		for j := range w {
			w[j] = rapid.Float64Range(-20, 20).Draw(t, "weight")
		}
		world := func(unit []float64) (b []float64, logDet float64) {
			view, _ := mustOpenRapid(t, s, append(append([]float64(nil), common...), unit...), enc)
			b, h := dense(view, enc, o.ResidualCap, cal.regularization, w)
			var chol mat.Cholesky
			if !chol.Factorize(h) {
				t.Fatal("Hessian is not positive definite")
			}
			return b, chol.LogDet()
		}
		b1, det1 := world(first)
		b2, det2 := world(second)
		difference := append([]float64(nil), b1...)
		axpy(-1, b2, difference)
		budget := 0.99 * o.Epsilon
		distance, loss := norm(difference)/cal.scale, math.Abs(-norm(b1)/cal.scale+det1+norm(b2)/cal.scale-det2)
		if loss > budget+1e-9*(1+norm(b1)/cal.scale) {
			t.Fatalf("privacy loss %g of %g", loss, budget)
		}
		c := min(0.25, o.ResidualCap*(1-o.ResidualCap))
		if o.ResidualCap > 0.5 {
			c = 0.25
		}
		if bound := float64(k) * math.Log1p(c/cal.regularization); math.Abs(det1-det2) > bound+1e-9 {
			t.Fatalf("log determinant moved by %g, bound %g", math.Abs(det1-det2), bound)
		} else if distance+bound > budget*(1+1e-9) {
			t.Fatalf("gradients use %g and determinants may use %g, together more than %g", distance, bound, budget)
		}
	})
}

func mustOpenRapid(t *rapid.T, s *schema.Schema, cells []float64, enc *encode.Encoding) (*sealed.View, *design.Matrix) {
	permit, err := sealed.NewPermit("1", "d", dp.AddOrRemoveOne, s.Unit.MaxRows, dp.Pure{Epsilon: 1}, entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	view, err := sealed.Open(sealed.New("d", s, cells, make([]uint64, len(cells)/len(s.Columns))), permit, dp.WholeScope, dp.Pure{Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	return view, design.New(view, enc, lastCell)
}

func TestCalibration(t *testing.T) {
	for _, tc := range []struct {
		name      string
		o         Objective
		relation  dp.Relation
		k         int
		a, scale  float64
		finishing float64
	}{
		{
			// ε_o = 0.99, ln(1 + 0.25/2) = 0.117783.
			name: "one row", o: Objective{Epsilon: 1, Regularization: 2, ResidualCap: 1},
			relation: dp.AddOrRemoveOne, k: 1, a: 2, scale: 1 / (0.99 - math.Log(1.125)), finishing: 100,
		},
		{
			name: "three rows", o: Objective{Epsilon: 1, Regularization: 2, ResidualCap: 1},
			relation: dp.AddOrRemoveOne, k: 3, a: 2, scale: 3 / (0.99 - 3*math.Log(1.125)), finishing: 100,
		},
		{
			name: "zero out", o: Objective{Epsilon: 1, Regularization: 2, ResidualCap: 1},
			relation: dp.ZeroOut, k: 1, a: 2, scale: 1 / (0.99 - math.Log(1.125)), finishing: 100,
		},
		{
			name: "replace one doubles the gradient only", o: Objective{Epsilon: 1, Regularization: 2, ResidualCap: 1},
			relation: dp.ReplaceOne, k: 1, a: 2, scale: 2 / (0.99 - math.Log(1.125)), finishing: 100,
		},
		{
			name: "cap 1/4", o: Objective{Epsilon: 1, Regularization: 2, ResidualCap: 0.25},
			relation: dp.AddOrRemoveOne, k: 1, a: 2, scale: 0.25 / (0.99 - math.Log(1+0.1875/2)), finishing: 100,
		},
		{
			// ln(1 + 0.25/0.01) > 0.99: a rises until its logarithm is half of ε_o.
			name: "raised regularization", o: Objective{Epsilon: 1, Regularization: 0.01, ResidualCap: 1},
			relation: dp.AddOrRemoveOne, k: 1, a: 0.25 / math.Expm1(0.495), scale: 1 / 0.495,
			finishing: 200 / (0.25 / math.Expm1(0.495)),
		},
		{
			name: "raised regularization, three rows", o: Objective{Epsilon: 1, Regularization: 0.01, ResidualCap: 1},
			relation: dp.AddOrRemoveOne, k: 3, a: 0.25 / math.Expm1(0.165), scale: 3 / 0.495,
			finishing: 200 / (0.25 / math.Expm1(0.165)),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := tc.o.calibrate(tc.relation, tc.k)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []struct {
				name      string
				got, want float64
			}{{"a", got.regularization, tc.a}, {"scale", got.scale, tc.scale}, {"finishing", got.finishing, tc.finishing}} {
				if !(math.Abs(v.got-v.want) <= 1e-9*v.want) {
					t.Errorf("%s: got %.12g, want %.12g", v.name, v.got, v.want)
				}
			}
		})
	}
	if _, err := (Objective{Epsilon: 1, Regularization: 1, ResidualCap: 1}).calibrate(0, 1); err == nil {
		t.Error("the zero relation was accepted")
	}
}

// The fast solver against dense Newton steps on the same b, through both noises.
func TestPerturbObjectiveMatchesDenseMinimiser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := testSchema(1)
		enc, err := encode.New(s, "label", encode.Options{Bins: 4, Linear: rapid.Bool().Draw(t, "linear"), Crosses: rapid.Bool().Draw(t, "crosses")})
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(0, 40).Draw(t, "rows")
		cells := drawRows(t, n, "row")
		o := Objective{
			Scope: dp.WholeScope, Encoding: enc, Target: lastCell,
			Epsilon:        rapid.SampledFrom([]float64{0.1, 1, 30}).Draw(t, "epsilon"),
			Regularization: rapid.SampledFrom([]float64{0.05, 1, 20}).Draw(t, "regularization"),
			ResidualCap:    rapid.SampledFrom([]float64{1, 0.25}).Draw(t, "cap"),
		}
		seed := rapid.Uint64().Draw(t, "seed")
		permit, err := sealed.NewPermit("1", "d", dp.AddOrRemoveOne, 1, o.Event(), entropy.Seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		got, err := PerturbObjective(context.Background(), permit, sealed.New("d", s, cells, make([]uint64, n)), o)
		if err != nil {
			t.Fatal(err)
		}
		cal, err := o.calibrate(dp.AddOrRemoveOne, 1)
		if err != nil {
			t.Fatal(err)
		}
		view, _ := mustOpenRapid(t, s, cells, enc)
		want, finishing := replay(streamsOf(eventStreams(t, entropy.Seeded(seed), o.Event())[0]), cal, enc.Dim)
		// ∇J at output − finishing noise must be certified: b_D(w) is the b that was drawn.
		w := append([]float64(nil), got...)
		axpy(-1, finishing, w)
		b, _ := dense(view, enc, o.ResidualCap, cal.regularization, w)
		axpy(-1, want, b)
		if g := norm(b); !(g <= certificate*1.01) {
			t.Fatalf("‖∇J‖ = %g at the point before the finishing noise", g)
		}
	})
}

func TestFitsTogetherHaveTheirOwnNoiseAndEvent(t *testing.T) {
	s := testSchema(1)
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	cells := []float64{0.5, 1, 2, 1, -0.5, 0, 1, 0, 0.1, 1, 0, 1}
	rows := sealed.New("d", s, cells, make([]uint64, 3))
	o := Objective{Scope: dp.WholeScope, Epsilon: 1, Regularization: 2, ResidualCap: 1, Encoding: enc, Target: lastCell}
	other := o
	other.Epsilon = 2
	three := []Objective{o, other, o}
	permit, err := sealed.NewPermit("1", "d", dp.AddOrRemoveOne, 1, dp.Compose{Events: []dp.Event{o.Event(), other.Event(), o.Event()}}, entropy.Seeded(5))
	if err != nil {
		t.Fatal(err)
	}
	all, err := PerturbObjectives(context.Background(), permit, rows, three)
	if err != nil {
		t.Fatal(err)
	}
	view, _ := mustOpen(t, s, cells, enc)
	streams := eventStreams(t, entropy.Seeded(5), o.Event(), other.Event(), o.Event())
	for i, w := range all {
		cal, err := three[i].calibrate(dp.AddOrRemoveOne, 1)
		if err != nil {
			t.Fatal(err)
		}
		want, finishing := replay(streamsOf(streams[i]), cal, enc.Dim)
		axpy(-1, finishing, w)
		b, _ := dense(view, enc, 1, cal.regularization, w)
		axpy(-1, want, b)
		if g := norm(b); !(g <= certificate*1.01) {
			t.Errorf("fit %d: ‖∇J‖ = %g", i, g)
		}
	}
	permit, err = sealed.NewPermit("1", "d", dp.AddOrRemoveOne, 1, dp.Compose{Events: []dp.Event{o.Event(), o.Event()}}, entropy.Seeded(5))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := PerturbObjectives(context.Background(), permit, rows, []Objective{o, o, o}); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("three fits against two events: %v", err)
	}
}

func TestHardProblemsAreCertified(t *testing.T) {
	if testing.Short() {
		t.Skip("fits 20,000 rows")
	}
	rows, enc := censusRows(20000)
	small, _ := censusRows(150)
	constant := func(y float64) func([]float64) float64 { return func([]float64) float64 { return y } }
	for _, tc := range []struct {
		name    string
		rows    *sealed.Rows
		epsilon float64
		a, cap  float64
		target  func([]float64) float64
	}{
		{"no privacy to speak of", rows, 1e9, 1e-8, 1, lastCell},
		{"a thousand", rows, 1e3, 2e-3, 1, lastCell},
		{"tiny epsilon", rows, 1e-6, 2e6, 1, lastCell},
		{"one class", rows, 10, 0.2, 1, constant(1)},
		{"one class, hardly regularised", rows, 1e6, 1e-5, 1, constant(0)},
		{"separable", rows, 1e4, 1e-3, 1, func(c []float64) float64 { return math.Floor(1 + c[9]/2) }},
		{"nobody takes part", rows, 1, 2, 1, constant(math.NaN())},
		{"few rows", small, 1, 2, 1, lastCell},
		{"few rows, capped", small, 1, 2, 0.25, lastCell},
		{"few rows, capped, least regularization", small, 500, minCapped, 0.25, lastCell},
		{"capped", rows, 1, 7, 0.25, lastCell},
		{"cap 1/2", rows, 1, 3.6, 0.5, lastCell},
		{"capped hard, least regularization", rows, 500, minCapped, 0.1, lastCell},
		{"capped, separable", rows, 100, minCapped, 0.25, func(c []float64) float64 { return math.Floor(1 + c[9]/2) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := Objective{Scope: dp.WholeScope, Epsilon: tc.epsilon, Regularization: tc.a, ResidualCap: tc.cap, Encoding: enc, Target: tc.target}
			permit, err := sealed.NewPermit("1", "census", dp.AddOrRemoveOne, 1, o.Event(), entropy.Seeded(3))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := PerturbObjective(context.Background(), permit, tc.rows, o); err != nil {
				t.Fatal(err)
			}
			// The first γ of the schedule must do: a miss is outside of the guarantee.
			view, err := sealed.Open(tc.rows, mustPermit(t, "census", o.Event()), dp.WholeScope, o.Event())
			if err != nil {
				t.Fatal(err)
			}
			cal, err := o.calibrate(dp.AddOrRemoveOne, 1)
			if err != nil {
				t.Fatal(err)
			}
			solver := fitterOf(design.New(view, enc, tc.target))
			if _, err := cal.fit(context.Background(), solver, nil, tc.cap, streamsOf(eventStreams(t, entropy.Seeded(3), o.Event())[0])); err != nil {
				t.Fatal(err)
			}
			if g := solver.problem.GradientNorm(solver.solver.Weights); !(g <= certificate/2) {
				t.Errorf("‖∇J‖ = %g, want at most %g", g, certificate/2)
			}
		})
	}
}

func TestCertificateSchedule(t *testing.T) {
	for _, tc := range []struct {
		name       string
		norm, want float64
	}{
		{"exact", 0, 1e-6},
		{"just in", 5e-7, 1e-6},
		{"missed once", 5.1e-7, 2e-6},
		{"missed thrice", 3e-6, 8e-6},
		{"last", 2e-3, 4096e-6},
		{"beyond", 3e-3, math.Inf(1)},
		{"infinite", math.Inf(1), math.Inf(1)},
		{"not a number", math.NaN(), math.Inf(1)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := certifyFrom(certificate, tc.norm)
			if math.Abs(got-tc.want) > 1e-15 || errors.Is(err, ErrNotCertified) != math.IsInf(tc.want, 1) {
				t.Errorf("certifyFrom(certificate, %g) = %g, %v; want %g", tc.norm, got, err, tc.want)
			}
		})
	}
}

// mustPermit is a permit whose noise does not matter.
func mustPermit(t testing.TB, dataset string, event dp.Event) *sealed.Permit {
	t.Helper()
	return permitWith(t, entropy.Seeded(1), dataset, event)
}

func permitWith(t testing.TB, src *entropy.Source, dataset string, event dp.Event) *sealed.Permit {
	t.Helper()
	permit, err := sealed.NewPermit("1", dataset, dp.AddOrRemoveOne, 1, event, src)
	if err != nil {
		t.Fatal(err)
	}
	return permit
}

// eventStreams are the streams of the events of a permit under src, taken in order.
func eventStreams(t interface{ Fatal(...any) }, src *entropy.Source, events ...dp.Event) (all []*entropy.Source) {
	permit, err := sealed.NewPermit("1", "d", dp.AddOrRemoveOne, 1, dp.Compose{Events: events}, src)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		v, err := sealed.Open(sealed.New("d", testSchema(1), nil, nil), permit, dp.WholeScope, e)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v.Noise())
	}
	return all
}

func TestPerturbObjectiveRefuses(t *testing.T) {
	s := testSchema(1)
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	rows := sealed.New("d", s, []float64{0.5, 1, 2, 1}, make([]uint64, 1))
	read := false
	good := Objective{Scope: dp.WholeScope, Epsilon: 1, Regularization: 2, ResidualCap: 1, Encoding: enc, Target: func(c []float64) float64 {
		read = true
		return lastCell(c)
	}}
	with := func(change func(o *Objective)) Objective { o := good; change(&o); return o }
	for _, tc := range []struct {
		name string
		o    Objective
		want string
	}{
		{"epsilon zero", with(func(o *Objective) { o.Epsilon = 0 }), "epsilon"},
		{"epsilon not a number", with(func(o *Objective) { o.Epsilon = math.NaN() }), "epsilon"},
		{"epsilon infinite", with(func(o *Objective) { o.Epsilon = math.Inf(1) }), "epsilon"},
		{"no regularization", with(func(o *Objective) { o.Regularization = 0 }), "regularization"},
		{"noise out of range", with(func(o *Objective) { o.Epsilon = 1e-308; o.Regularization = 1e-300 }), "range"},
		{"no cap", with(func(o *Objective) { o.ResidualCap = 0 }), "cap"},
		{"cap above one", with(func(o *Objective) { o.ResidualCap = 1.1 }), "cap"},
		{"cap with little regularization", with(func(o *Objective) { o.ResidualCap = 0.5; o.Regularization = 1e-3 }), "cap"},
		{"no scope", with(func(o *Objective) { o.Scope = dp.Scope{} }), "scope"},
		{"no encoding", with(func(o *Objective) { o.Encoding = nil }), "encoding"},
		{"no target", with(func(o *Objective) { o.Target = nil }), "target"},
		{"another epsilon than booked", with(func(o *Objective) { o.Epsilon = 2 }), "reserved"},
		{"another scope than booked", with(func(o *Objective) { o.Scope = dp.Scope{Lower: 0, Upper: 0.5} }), "reserved"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w, err := PerturbObjective(context.Background(), permitWith(t, entropy.Seeded(1), "d", good.Event()), rows, tc.o)
			if err == nil || w != nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, %v; want an error about %q", w, err, tc.want)
			}
		})
	}
	if _, err := PerturbObjective(context.Background(), nil, rows, good); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("no permit: %v", err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := PerturbObjective(cancelled, permitWith(t, entropy.Seeded(1), "d", good.Event()), rows, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if read {
		t.Error("rows were read in a run that was refused")
	}
	permit := mustPermit(t, "d", good.Event())
	if _, err := PerturbObjective(context.Background(), permit, rows, good); err != nil || !read {
		t.Fatalf("first run: %v", err)
	}
	if _, err := PerturbObjective(context.Background(), permit, rows, good); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("second run on one event: %v", err)
	}
}

// Rows of other scopes have no influence at all.
func TestScopeBoundsTheRows(t *testing.T) {
	s := testSchema(1)
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	inside := []float64{0.5, 1, 2, 1}
	o := Objective{Scope: dp.Scope{Lower: 0, Upper: 0.5}, Epsilon: 1, Regularization: 2, ResidualCap: 1, Encoding: enc, Target: lastCell}
	fit := func(rows *sealed.Rows) []float64 {
		permit := mustPermit(t, "d", dp.Scoped{Scope: o.Scope, Event: o.Event()})
		w, err := PerturbObjective(context.Background(), permit, rows, o)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	one := fit(sealed.New("d", s, inside, []uint64{1}))
	two := fit(sealed.New("d", s, append(append([]float64(nil), inside...), -1, 0, 1, 0), []uint64{1, math.MaxUint64}))
	for j := range one {
		if one[j] != two[j] {
			t.Fatalf("a row outside the scope moved coordinate %d", j)
		}
	}
}

func dot(a, b []float64) float64     { return floats.Dot(a, b) }
func axpy(f float64, x, y []float64) { floats.AddScaled(y, f, x) }
func norm(x []float64) float64       { return floats.Norm(x, 2) }

// The arguments of all three take a null unit to be one without a target: where it has one, zero-out is refused.
func TestNullRowsHaveNoTarget(t *testing.T) {
	s := testSchema(1)
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	rows := sealed.New("d", s, []float64{0, 0, 0, 1}, make([]uint64, 1))
	always := func([]float64) float64 { return 1 }
	for i, target := range []func([]float64) float64{lastCell, always} {
		o := Objective{Scope: dp.WholeScope, Epsilon: 1, Regularization: 1, ResidualCap: 1, Encoding: enc, Target: target}
		out := Output{Scope: dp.WholeScope, NoiseMultiplier: 2, Regularization: 4, ResidualCap: .5, Encoding: enc, Target: target}
		a := AMP{Scope: dp.WholeScope, Epsilon: 1, Delta: 1e-5, ExpectedRows: 1, Share: .5, Encoding: enc, Target: target}
		for name, release := range map[string]struct {
			event dp.Event
			run   func(p *sealed.Permit) error
		}{
			"objective": {o.Event(), func(p *sealed.Permit) error {
				_, err := PerturbObjectives(context.Background(), p, rows, []Objective{o})
				return err
			}},
			"output":  {out.Event(), func(p *sealed.Permit) error { _, err := PerturbOutput(context.Background(), p, rows, out); return err }},
			"minimum": {a.Event(), func(p *sealed.Permit) error { _, err := PerturbMinimum(context.Background(), p, rows, a); return err }},
		} {
			for _, rel := range []dp.Relation{dp.AddOrRemoveOne, dp.ZeroOut} {
				p, err := sealed.NewPermit("1", "d", rel, 1, release.event, entropy.Seeded(1))
				if err != nil {
					t.Fatal(err)
				}
				refused := rel == dp.ZeroOut && i == 1
				if err := release.run(p); errors.Is(err, sealed.ErrNullCounts) != refused || !refused && err != nil || p.Opened() == refused {
					t.Errorf("%s under %v: %v", name, rel, err)
				}
			}
		}
	}
}
