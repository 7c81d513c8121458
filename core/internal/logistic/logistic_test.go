package logistic

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"pawl/core/dp"
	"pawl/core/internal/design"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
	"pawl/internal/stattest"
)

// The certificate is of the problem as it stands, at the weights that are asked about, and never
// one that was taken before: of other weights, another linear term, cap, regularization or targets.
func TestGradientNormIsOfTheProblemAsItStands(t *testing.T) {
	s, cells := stattest.Census(200)
	enc, err := encode.New(s, "label", encode.Options{Linear: true})
	if err != nil {
		t.Fatal(err)
	}
	view, err := sealed.OpenPublic(sealed.New("census", s, cells, make([]uint64, 200)), dp.WholeScope)
	if err != nil {
		t.Fatal(err)
	}
	label := func(cells []float64) float64 { return cells[len(cells)-1] }
	p := New(design.New(view, enc, label))
	p.Set(1, 0.5)
	w := make([]float64, enc.Dim)
	g, curvature, x := make([]float64, enc.Dim), make([]float64, p.Len()), make([]float64, enc.Dim)
	// plain is ‖∇J(w)‖ by the definition.
	plain := func(w []float64, cap, regularization float64, target func([]float64) float64) float64 {
		g := append([]float64(nil), p.Linear()...)
		floats.AddScaled(g, regularization, w)
		for i := range view.Len() {
			enc.Vector(x, view.Row(i))
			r := 1/(1+math.Exp(-floats.Dot(x, w))) - target(view.Row(i))
			floats.AddScaled(g, min(max(r, -cap), cap), x)
		}
		return floats.Norm(g, 2)
	}
	check := func(what string, w []float64, cap, regularization float64, target func([]float64) float64) {
		t.Helper()
		if got, want := p.GradientNorm(w), plain(w, cap, regularization, target); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: ‖∇J‖ = %g, want %g", what, got, want)
		}
	}
	p.Gradient(g, curvature, w)
	check("as it was taken", w, 1, 0.5, label)
	moved := append([]float64(nil), w...)
	moved[0] += 0.1
	check("other weights", moved, 1, 0.5, label)
	p.Gradient(g, curvature, w)
	p.Linear()[1] = 3
	check("another linear term", w, 1, 0.5, label)
	p.Set(0.25, 0.5)
	check("another cap", w, 0.25, 0.5, label)
	p.Gradient(g, curvature, moved)
	p.Set(0.25, 2)
	check("another regularization", moved, 0.25, 2, label)
	p.Gradient(g, curvature, w)
	flipped := func(cells []float64) float64 { return 1 - label(cells) }
	if p.Retarget(view, flipped) {
		t.Error("flipped targets are the same")
	}
	check("other targets", w, 0.25, 2, flipped)
}
