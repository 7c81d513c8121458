package linear

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/entropy"
	"pawl/core/internal/design"
	"pawl/core/sum"
	"pawl/data/encode"
	"pawl/internal/stattest"
)

// tolerance is the relative excess that float64 may cause; Descend enlarges its
// noise by as much.
const tolerance = 1e-12

var scores = []float64{0, 1, -1, 40, -40, 800, -800, 1e308, -1e308, math.MaxFloat64, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()}

// Whatever the scores, targets and unknown cells of a row are, x·rᵀ has norm at
// most C: convicts clipping off, clipping the residual instead of the gradient,
// and a NaN that passes through.
func TestContributionNormIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc := drawEncoding(t)
		cells := drawCells(t, 1)
		kind := rapid.SampledFrom(losses).Draw(t, "loss")
		c := rapid.SampledFrom([]float64{1e-300, 1e-9, 0.01, 0.3, 1, 7, 1e300}).Draw(t, "clip")
		y := rapid.SampledFrom(append([]float64{0.5, 2, 3, 1e300}, scores...)).Draw(t, "target")
		m := matrixOf(t, enc, cells, func([]float64) float64 { return y })
		d := descent(enc, kind.loss, kind.outputs)
		d.ClippingNorm = c
		d.ClassWeights = drawClassWeights(t, kind.loss)
		s := make([]float64, kind.outputs)
		for k := range s {
			s[k] = rapid.OneOf(rapid.SampledFrom(scores), rapid.Float64()).Draw(t, "score")
		}
		d.contribution(m)(0, s)
		x := make([]float64, enc.Dim)
		enc.Vector(x, cells)
		if got := stattest.Norm(s) * stattest.Norm(x); !(got <= c*(1+tolerance)) {
			t.Fatalf("%s: contribution %v of a row of norm %g has norm %g, want at most %g", kind.loss, s, stattest.Norm(x), got, c)
		}
	})
}

// contribution is what a row adds, without its x.
func (d *Descent) contribution(m *design.Matrix) func(i int, scores []float64) {
	c := d.linear().Contribution()
	return func(i int, scores []float64) { c(m.Target[i:i+1], m.Norm[i:i+1], scores) }
}

// naive is the definition: the gradient of one row at a time, dense, clipped.
func naive(d *Descent, x []float64, y float64, w []float64) []float64 {
	k := d.Outputs
	r := make([]float64, k)
	for j, v := range x {
		for o := range r {
			r[o] += v * w[j*k+o]
		}
	}
	g := make([]float64, len(w))
	if y != y {
		return g
	}
	switch d.Loss {
	case Logistic:
		r[0] = 1/(1+math.Exp(-r[0])) - y
	case Residual:
		r[0] = min(max(r[0]-y, -d.ClippingNorm), d.ClippingNorm)
	case Bounded:
		r[0] -= y
	case Softmax:
		top, total := math.Inf(-1), 0.0
		for _, v := range r {
			top = max(top, v)
		}
		for o := range r {
			r[o] = math.Exp(r[o] - top)
			total += r[o]
		}
		for o := range r {
			r[o] /= total
		}
		r[int(y)]--
	}
	if d.ClassWeights != nil {
		w := 0.0 // of a target that is no class
		if y >= 0 && y < float64(len(d.ClassWeights)) {
			w = d.ClassWeights[int(y)]
		}
		for o := range r {
			r[o] *= w
		}
	}
	for j, v := range x {
		for o := range r {
			g[j*k+o] = v * r[o]
		}
	}
	if n := stattest.Norm(g); n > d.ClippingNorm {
		for j := range g {
			g[j] *= d.ClippingNorm / n
		}
	}
	return g
}

func drawWeights(t *rapid.T, n int) []float64 {
	w := make([]float64, n)
	for j := range w {
		w[j] = rapid.Float64Range(-4, 4).Draw(t, "weight")
	}
	return w
}

// The clipped sum through the tables of levels equals the loop over dense rows,
// for lots of no, one and many rows.
func TestClippedSumMatchesOneRowAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc := drawEncoding(t)
		n := rapid.SampledFrom([]int{0, 1, 2, 9}).Draw(t, "rows")
		cells := drawCells(t, n)
		kind := rapid.SampledFrom(losses).Draw(t, "loss")
		d := descent(enc, kind.loss, kind.outputs)
		d.ClippingNorm = rapid.SampledFrom([]float64{0.02, 0.3, 10}).Draw(t, "clip")
		w := drawWeights(t, enc.Dim*kind.outputs)
		var include []bool
		if rapid.Bool().Draw(t, "lot") {
			include = make([]bool, n)
			for i := range include {
				include[i] = rapid.Bool().Draw(t, "joins")
			}
		}
		got, want := make([]float64, len(w)), make([]float64, len(w))
		m := matrixOf(t, enc, cells, target)
		m.Sum(new(design.Pass), got, w, kind.outputs, include, d.contribution(m))
		x := make([]float64, enc.Dim)
		for i := range n {
			if include != nil && !include[i] {
				continue
			}
			row := cells[i*columns : (i+1)*columns]
			enc.Vector(x, row)
			for j, v := range naive(&d, x, target(row), w) {
				want[j] += v
			}
		}
		for j := range want {
			if !(math.Abs(got[j]-want[j]) <= 1e-10*(1+math.Abs(want[j]))) {
				t.Fatalf("%s, coordinate %d: got %g, want %g", kind.loss, j, got[j], want[j])
			}
		}
	})
}

// A step on a lot adds the clipped gradients of the rows that were drawn, and of no other: through the tables of levels,
// as one row at a time.
func TestClippedSumOfALot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc := drawEncoding(t)
		n := rapid.SampledFrom([]int{0, 1, 2, 9, 30}).Draw(t, "rows")
		cells := drawCells(t, n)
		kind := rapid.SampledFrom(losses).Draw(t, "loss")
		d := descent(enc, kind.loss, kind.outputs)
		d.ClippingNorm, d.SamplingRate, d.Steps = rapid.SampledFrom([]float64{0.02, 0.3, 10}).Draw(t, "clip"), rapid.SampledFrom([]float64{0.1, 0.4, 0.9}).Draw(t, "rate"), 2
		d.ClassWeights = drawClassWeights(t, kind.loss)
		w := drawWeights(t, enc.Dim*kind.outputs)
		src := entropy.Seeded(rapid.Uint64().Draw(t, "seed"))
		v := mustOpen(t, rowsOf(1, true, cells, make([]uint64, n)))
		run, lots := d.linear().On(v, 0, src), sum.NewLots(v, d.SamplingRate, src.Split("lots"))
		x := make([]float64, enc.Dim)
		for range d.Steps {
			got, want := make([]float64, len(w)), make([]float64, len(w))
			if err := run.Next(got, w); err != nil {
				t.Fatal(err)
			}
			for i, in := range lots.Draw() {
				if !in {
					continue
				}
				row := cells[i*columns : (i+1)*columns]
				enc.Vector(x, row)
				for j, v := range naive(&d, x, target(row), w) {
					want[j] += v
				}
			}
			for j := range want {
				if !(math.Abs(got[j]-want[j]) <= 1e-6*(1+math.Abs(want[j]))) { // norms and targets of lots are float32s
					t.Fatalf("%s, coordinate %d: got %g, want %g", kind.loss, j, got[j], want[j])
				}
			}
		}
	})
}

// A unit of k rows moves the sum by at most k·C: the sensitivity that the noise is
// scaled to, measured at adversarial weights, unclipped and clipped.
func TestNeighboursDifferByTheSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc := drawEncoding(t)
		kind := rapid.SampledFrom(losses).Draw(t, "loss")
		k := rapid.IntRange(1, 3).Draw(t, "rows of the unit")
		common := drawCells(t, rapid.IntRange(0, 5).Draw(t, "others"))
		both := append(append([]float64(nil), common...), drawCells(t, k)...)
		d := descent(enc, kind.loss, kind.outputs)
		d.ClippingNorm = rapid.SampledFrom([]float64{0.02, 0.3, 2}).Draw(t, "clip")
		w := drawWeights(t, enc.Dim*kind.outputs)
		scale := rapid.SampledFrom([]float64{0, 1, 1e3, 1e150}).Draw(t, "size of the weights")
		for j := range w {
			w[j] *= scale
		}
		sum := func(cells []float64) []float64 {
			g := make([]float64, len(w))
			m := matrixOf(t, enc, cells, target)
			m.Sum(new(design.Pass), g, w, kind.outputs, nil, d.contribution(m))
			return g
		}
		a, b := sum(common), sum(both)
		for j := range a {
			a[j] -= b[j]
		}
		// The sums of eight rows carry rounding of their own.
		if got, most := stattest.Norm(a), d.ClippingNorm*float64(k); !(got <= most*(1+1e-9)) {
			t.Fatalf("%s: neighbours differ by %g, want at most %g", kind.loss, got, most)
		}
	})
}

// The bound is attained, so a sensitivity that is too small would be seen.
func TestSensitivityIsTight(t *testing.T) {
	enc := mustEncode(t, encode.Options{})
	row := []float64{0.3, 10, 1, 2, 1, 1}
	for _, kind := range losses {
		d := descent(enc, kind.loss, kind.outputs)
		d.ClippingNorm = 0.05
		m := matrixOf(t, enc, row, target)
		g := make([]float64, enc.Dim*kind.outputs)
		m.Sum(new(design.Pass), g, make([]float64, len(g)), kind.outputs, nil, d.contribution(m))
		if got := stattest.Norm(g); math.Abs(got-d.ClippingNorm) > 1e-12 {
			t.Errorf("%s: one row contributes %g, want %g", kind.loss, got, d.ClippingNorm)
		}
	}
}

// Cells outside of the schema, which intake refuses, must not reach another
// block's table: a row would then be longer than the norm it is clipped by.
func TestForeignCellsStayBounded(t *testing.T) {
	enc := mustEncode(t, encode.Options{Crosses: true})
	for _, kind := range losses {
		for _, foreign := range []float64{-1, -3, 4, 5, 9, 60, 1e300, math.Inf(1), math.Inf(-1)} {
			row := []float64{0.3, 10, foreign, foreign, foreign, 1}
			d := descent(enc, kind.loss, kind.outputs)
			d.ClippingNorm = 0.05
			m := matrixOf(t, enc, row, target)
			g := make([]float64, enc.Dim*kind.outputs)
			m.Sum(new(design.Pass), g, make([]float64, len(g)), kind.outputs, nil, d.contribution(m))
			if got := stattest.Norm(g); !(got <= d.ClippingNorm*(1+tolerance)) {
				t.Errorf("%s: level %g gives a contribution of norm %g, want at most %g", kind.loss, foreign, got, d.ClippingNorm)
			}
		}
	}
}
