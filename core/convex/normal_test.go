package convex

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
	"pawl/data/encode"
	"pawl/data/schema"
)

// drawTargets puts numbers, some of them out of range or unknown, in the last cells.
func drawTargets(t *rapid.T, cells []float64) []float64 {
	for i := 3; i < len(cells); i += 4 {
		cells[i] = rapid.SampledFrom([]float64{-9, -1, -0.3, 0, 0.5, 1, 4, math.NaN(), math.Inf(1)}).Draw(t, "target")
	}
	return cells
}

// denseMoments is the plain definition of XᵀX and Xᵀy.
func denseMoments(view *sealed.View, enc *encode.Encoding) (gram, cross []float64) {
	d := enc.Dim
	gram, cross = make([]float64, d*d), make([]float64, d)
	x := make([]float64, d)
	for i := range view.Len() {
		y := lastCell(view.Row(i))
		if y != y {
			continue
		}
		enc.Vector(x, view.Row(i))
		axpy(min(max(y, -1), 1), x, cross)
		for j := range d {
			axpy(x[j], x, gram[j*d:(j+1)*d])
		}
	}
	return gram, cross
}

func TestSecondMomentsMatchDenseRows(t *testing.T) {
	s := testSchema(1)
	rapid.Check(t, func(t *rapid.T) {
		enc, err := encode.New(s, "label", encode.Options{Bins: 4, Linear: rapid.Bool().Draw(t, "linear"), Crosses: rapid.Bool().Draw(t, "crosses")})
		if err != nil {
			t.Fatal(err)
		}
		cells := drawTargets(t, drawRows(t, rapid.IntRange(0, 20).Draw(t, "rows"), "row"))
		view, m := mustOpenRapid(t, s, cells, enc)
		gram, cross := secondMoments(m)
		wantGram, wantCross := denseMoments(view, enc)
		axpy(-1, wantGram, gram)
		axpy(-1, wantCross, cross)
		if norm(gram) > 1e-12 || norm(cross) > 1e-12 {
			t.Fatalf("differences %g and %g", norm(gram), norm(cross))
		}
	})
}

// Two data sets that differ by one unit have moments within the sensitivity, in the
// norm in which the noise is isotropic (Frobenius norm and Euclidean norm).
func TestMomentsSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 3).Draw(t, "rows per unit")
		relation := rapid.SampledFrom([]dp.Relation{dp.AddOrRemoveOne, dp.ZeroOut, dp.ReplaceOne}).Draw(t, "relation")
		s := testSchema(k)
		enc, err := encode.New(s, "label", encode.Options{Bins: 4, Linear: rapid.Bool().Draw(t, "linear")})
		if err != nil {
			t.Fatal(err)
		}
		common := drawTargets(t, drawRows(t, rapid.IntRange(0, 5).Draw(t, "rows"), "common"))
		var first []float64
		if relation == dp.ReplaceOne {
			first = drawTargets(t, drawRows(t, rapid.IntRange(0, k).Draw(t, "before"), "before"))
		}
		second := drawTargets(t, drawRows(t, rapid.IntRange(1, k).Draw(t, "after"), "after"))
		moments := func(unit []float64) (gram, cross []float64) {
			_, m := mustOpenRapid(t, s, append(append([]float64(nil), common...), unit...), enc)
			return secondMoments(m)
		}
		gram1, cross1 := moments(first)
		gram2, cross2 := moments(second)
		axpy(-1, gram2, gram1)
		axpy(-1, cross2, cross1)
		bound, err := momentsSensitivity(relation, k)
		if err != nil {
			t.Fatal(err)
		}
		if got := math.Hypot(norm(gram1), norm(cross1)); got > bound+1e-12 {
			t.Fatalf("moments moved by %g, bound %g", got, bound)
		}
	})
}

// The bound is attained, so nothing smaller would do: k equal rows of norm 1 with
// |y| = 1, and under ReplaceOne rows with x·x' = 1/2 and opposite targets.
func TestMomentsSensitivityIsTight(t *testing.T) {
	for _, k := range []int{1, 3} {
		s := testSchema(k)
		enc := mustEncoding(t, s, encode.Options{InterceptOnly: true})
		var cells []float64
		for range k {
			cells = append(cells, 0, 0, 0, -5)
		}
		_, m := mustOpen(t, s, cells, enc)
		gram, cross := secondMoments(m)
		bound, err := momentsSensitivity(dp.AddOrRemoveOne, k)
		if err != nil {
			t.Fatal(err)
		}
		if got := math.Hypot(norm(gram), norm(cross)); math.Abs(got-bound) > 1e-9 {
			t.Errorf("%d rows move the moments by %g, sensitivity %g", k, got, bound)
		}
	}
	// Four blocks of one coordinate, of which one changes sign: x·x' = (3−1)/4.
	s := &schema.Schema{Unit: schema.Unit{Name: "row", MaxRows: 1}}
	for _, name := range []string{"a", "b", "c"} {
		s.Columns = append(s.Columns, schema.Column{Name: name, Type: schema.Boolean})
	}
	s.Columns = append(s.Columns, schema.Column{Name: "label", Type: schema.Numeric, Lower: -1, Upper: 1})
	enc := mustEncoding(t, s, encode.Options{})
	_, one := mustOpen(t, s, []float64{1, 1, 1, 1}, enc)
	_, two := mustOpen(t, s, []float64{1, 1, 0, -1}, enc)
	gram1, cross1 := secondMoments(one)
	gram2, cross2 := secondMoments(two)
	axpy(-1, gram2, gram1)
	axpy(-1, cross2, cross1)
	bound, err := momentsSensitivity(dp.ReplaceOne, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := math.Hypot(norm(gram1), norm(cross1)); math.Abs(got-bound) > 1e-9 {
		t.Errorf("a replaced row moves the moments by %g, sensitivity %g", got, bound)
	}
	if _, err := momentsSensitivity(0, 1); err == nil {
		t.Error("the zero relation was accepted")
	}
}

// Null: after division by s, diagonal and cross entries are N(0, 1) and √2 times an
// entry off the diagonal too, all independent. 400 releases of dimension 20, 80,000
// entries off and 8,000 on the diagonal; sums of squares within 4.8916 standard
// deviations √(2/n), correlation of neighbouring entries within 4.8916/√n: false
// alarm 1e-6 each of 5. Convicts noise off or halved, off-diagonal noise of full size
// or averaged from two draws, and noise reused between entries.
func TestMomentsNoise(t *testing.T) {
	const d, runs, stdDev = 20, 400, 3
	for _, tc := range []struct {
		name   string
		mutant func(gram, cross []float64)
		sound  bool
	}{
		{"sound", func(gram, cross []float64) {}, true},
		{"cross off", func(gram, cross []float64) { clear(cross) }, false},
		{"gram halved", func(gram, cross []float64) {
			for i := range gram {
				gram[i] /= 2
			}
		}, false},
		{"off the diagonal averaged", func(gram, cross []float64) {
			for i := range gram {
				if i%(d+1) != 0 {
					gram[i] /= math.Sqrt2
				}
			}
		}, false},
		{"reused", func(gram, cross []float64) {
			for j := range d {
				cross[j] = gram[j*d+j]
			}
		}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src := entropy.Seeded(23)
			var diagonal, off, cross, shared, neighbours float64
			for run := range runs {
				g, h := make([]float64, d*d), make([]float64, d)
				perturbMoments(g, h, stdDev, src.Split("run", uint64(run)))
				tc.mutant(g, h)
				for j := range d {
					diagonal += g[j*d+j] * g[j*d+j]
					cross += h[j] * h[j]
					shared += g[j*d+j] * h[j]
					for l := j + 1; l < d; l++ {
						if g[j*d+l] != g[l*d+j] {
							t.Fatal("not symmetric")
						}
						off += 2 * g[j*d+l] * g[j*d+l]
						if l > j+1 {
							neighbours += 2 * g[j*d+l] * g[j*d+l-1]
						}
					}
				}
			}
			const variance = stdDev * stdDev
			convicted := false
			for _, v := range []struct{ sum, n, mean, spread float64 }{
				{diagonal, runs * d, 1, math.Sqrt2},
				{cross, runs * d, 1, math.Sqrt2},
				{off, runs * d * (d - 1) / 2, 1, math.Sqrt2},
				{shared, runs * d, 0, 1},
				{neighbours, runs * (d - 1) * (d - 2) / 2, 0, 1},
			} {
				if math.Abs(v.sum/variance/v.n-v.mean) > 4.8916*v.spread/math.Sqrt(v.n) {
					convicted = true
				}
			}
			if convicted == tc.sound {
				t.Errorf("sums of squares %g %g %g, of products %g %g", diagonal, cross, off, shared, neighbours)
			}
		})
	}
}

// Through the front door: what SolveNormalEquations returns is the ridge solution of
// the moments with noise of multiplier·√2·k, recomputed here from the same stream by
// dense matrices. Convicts a forgotten charge, factor or noise.
func TestSolveNormalEquationsMatchesDenseSolution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 3).Draw(t, "rows per unit")
		s := testSchema(k)
		enc, err := encode.New(s, "label", encode.Options{Bins: 4, Linear: rapid.Bool().Draw(t, "linear")})
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(0, 30).Draw(t, "rows")
		cells := drawTargets(t, drawRows(t, n, "row"))
		fit := NormalEquations{
			Scope: dp.WholeScope, Encoding: enc, Target: lastCell,
			NoiseMultiplier: rapid.SampledFrom([]float64{1e-6, 0.01, 0.3, 5}).Draw(t, "multiplier"),
		}
		seed := rapid.Uint64().Draw(t, "seed")
		permit, err := sealed.NewPermit("1", "d", dp.AddOrRemoveOne, k, fit.Event(), entropy.Seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		got, err := SolveNormalEquations(context.Background(), permit, sealed.New("d", s, cells, make([]uint64, n)), fit)
		if err != nil {
			t.Fatal(err)
		}
		view, _ := mustOpenRapid(t, s, cells, enc)
		gram, cross := denseMoments(view, enc)
		stdDev := fit.NoiseMultiplier * math.Sqrt2 * float64(k)
		perturbMoments(gram, cross, stdDev, eventStreams(t, entropy.Seeded(seed), fit.Event())[0])
		d := enc.Dim
		// The returned weights solve the equations with the first ridge of the public
		// sequence that makes them positive definite.
		lambda := stdDev * math.Sqrt(2*float64(d))
		for {
			h := mat.NewSymDense(d, append([]float64(nil), gram...))
			for j := range d {
				h.SetSym(j, j, h.At(j, j)+lambda)
			}
			var eigen mat.EigenSym
			if !eigen.Factorize(h, false) {
				t.Fatal("eigenvalues")
			}
			least := eigen.Values(nil)[0]
			if math.Abs(least) < 1e-6*lambda {
				t.Skip("too close to call")
			}
			if least > 0 {
				var product mat.VecDense
				product.MulVec(h, mat.NewVecDense(d, got))
				axpy(-1, cross, product.RawVector().Data)
				size := norm(got) * mat.Norm(h, 2)
				if miss := norm(product.RawVector().Data); !(miss <= 1e-9*(size+norm(cross))) {
					t.Fatalf("residual %g at ridge %g", miss, lambda)
				}
				return
			}
			lambda *= 2
		}
	})
}

func TestSolveNormalEquationsRefuses(t *testing.T) {
	s := testSchema(1)
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	rows := sealed.New("d", s, []float64{0.5, 1, 2, 1}, make([]uint64, 1))
	read := false
	good := NormalEquations{Scope: dp.WholeScope, NoiseMultiplier: 1, Encoding: enc, Target: func(c []float64) float64 {
		read = true
		return lastCell(c)
	}}
	with := func(change func(n *NormalEquations)) NormalEquations { n := good; change(&n); return n }
	for _, tc := range []struct {
		name string
		n    NormalEquations
		want string
	}{
		{"no noise", with(func(n *NormalEquations) { n.NoiseMultiplier = 0 }), "noise multiplier"},
		{"noise not a number", with(func(n *NormalEquations) { n.NoiseMultiplier = math.NaN() }), "noise multiplier"},
		{"noise infinite", with(func(n *NormalEquations) { n.NoiseMultiplier = math.Inf(1) }), "noise multiplier"},
		{"noise out of range", with(func(n *NormalEquations) { n.NoiseMultiplier = math.MaxFloat64 }), "range"},
		{"no scope", with(func(n *NormalEquations) { n.Scope = dp.Scope{Lower: 1, Upper: 0} }), "scope"},
		{"no encoding", with(func(n *NormalEquations) { n.Encoding = nil }), "encoding"},
		{"no target", with(func(n *NormalEquations) { n.Target = nil }), "target"},
		{"less noise than booked", with(func(n *NormalEquations) { n.NoiseMultiplier = 0.5 }), "reserved"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w, err := SolveNormalEquations(context.Background(), permitWith(t, entropy.Seeded(1), "d", good.Event()), rows, tc.n)
			if err == nil || w != nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, %v; want an error about %q", w, err, tc.want)
			}
		})
	}
	if _, err := SolveNormalEquations(context.Background(), nil, rows, good); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("no permit: %v", err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := SolveNormalEquations(cancelled, permitWith(t, entropy.Seeded(1), "d", good.Event()), rows, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if read {
		t.Error("rows were read in a run that was refused")
	}
	permit := mustPermit(t, "d", good.Event())
	if _, err := SolveNormalEquations(context.Background(), permit, rows, good); err != nil || !read {
		t.Fatalf("first run: %v", err)
	}
	if _, err := SolveNormalEquations(context.Background(), permit, rows, good); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("second run on one event: %v", err)
	}
}
