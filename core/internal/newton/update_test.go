package newton

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"pawl/core/dp"
	"pawl/core/internal/design"
	"pawl/core/internal/logistic"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
	"pawl/internal/stattest"
)

// A Hessian that was brought up to date lies within the allowed share of that of all
// rows, in every direction tried; where most rows changed it is left alone.
func TestUpdateFollowsTheHessian(t *testing.T) {
	census, cells := stattest.Census(3000)
	enc, err := encode.New(census, "label", encode.Options{Linear: true})
	if err != nil {
		t.Fatal(err)
	}
	rows := sealed.New("census", census, cells, make([]uint64, 3000))
	view, err := sealed.OpenPublic(rows, dp.WholeScope)
	if err != nil {
		t.Fatal(err)
	}
	p := logistic.New(design.New(view, enc, func(cells []float64) float64 { return cells[len(cells)-1] }))
	p.Set(1, .1)
	s := New(p)
	s.exact = true
	p.Gradient(s.grad, s.curvature, s.Weights)
	s.refactor()
	step := func(size float64) {
		for j := range s.Weights {
			s.Weights[j] += size * math.Sin(float64(j*j))
		}
		p.Gradient(s.grad, s.curvature, s.Weights)
	}
	full := make([]float64, len(s.hessian))
	worst := func() float64 {
		p.Hessian(full, s.curvature, 1)
		d, off := len(s.Weights), 0.0
		u := make([]float64, d)
		for k := range d {
			for j := range u {
				u[j] = math.Sin(float64(1 + k*j + j))
			}
			exact, ours := 0.0, 0.0
			for i := range u {
				exact += u[i] * floats.Dot(full[i*d:][:d], u)
				ours += u[i] * floats.Dot(s.hessian[i*d:][:d], u)
			}
			off = max(off, math.Abs(ours-exact)/max(ours, exact))
		}
		return off
	}
	step(6) // most of the rows of most levels stay as they are
	if worst() <= unchanged {
		t.Fatal("the step changes too little to see an update")
	}
	s.refactor()
	if off := worst(); off > unchanged+1e-9 {
		t.Errorf("after an update the metric is off by %g, allowed %g", off, unchanged)
	}
	step(60)
	before := slices.Clone(s.hessian)
	if s.update() {
		t.Error("an update where most rows changed")
	}
	for i, v := range s.hessian {
		if v != before[i] {
			t.Fatal("a refused update changed the Hessian")
		}
	}
}
