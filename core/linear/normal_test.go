package linear_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/entropy"
	"pawl/core/internal/design"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
	"pawl/data/encode"
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

// secondMoments are XᵀX and Xᵀy of the rows with a target.
func secondMoments(m *design.Matrix) (gram, cross []float64) {
	e, err := sum.EquationsOf(m)
	if err != nil {
		panic(err)
	}
	return e.Gram, e.Cross
}

// perturbMoments adds noise of one deviation to both.
func perturbMoments(gram, cross []float64, stdDev float64, src *entropy.Source) {
	if _, err := (sum.RegressionNoise{Least: stdDev, Gram: stdDev, Cross: stdDev}).Perturb(&sum.Equations{Gram: gram, Cross: cross}, src); err != nil {
		panic(err)
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
