package convex

import (
	"context"
	"math"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/design"
	"pawl/core/internal/sealed"
)

// A Hessian that was brought up to date lies within the allowed share of that of all
// rows, in every direction tried; where most rows changed it is left alone.
func TestUpdateFollowsTheHessian(t *testing.T) {
	rows, enc := censusRows(3000)
	view, err := sealed.OpenPublic(rows, dp.WholeScope)
	if err != nil {
		t.Fatal(err)
	}
	s := newSolver(design.New(view, enc, lastCell))
	s.cap, s.regularization, s.exact = 1, .1, true
	s.gradient(s.grad, s.curvature, s.weights)
	s.refactor()
	step := func(size float64) {
		for j := range s.weights {
			s.weights[j] += size * math.Sin(float64(j*j))
		}
		s.gradient(s.grad, s.curvature, s.weights)
	}
	full := make([]float64, len(s.hessian))
	worst := func() float64 {
		s.m.Weighted(&s.moments, full, s.curvature, 1)
		d, off := len(s.weights), 0.0
		u := make([]float64, d)
		for k := range d {
			for j := range u {
				u[j] = math.Sin(float64(1 + k*j + j))
			}
			exact, ours := 0.0, 0.0
			for i := range u {
				exact += u[i] * dot(full[i*d:][:d], u)
				ours += u[i] * dot(s.hessian[i*d:][:d], u)
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
	before := clone(s.hessian)
	if s.update() {
		t.Error("an update where most rows changed")
	}
	for i, v := range s.hessian {
		if v != before[i] {
			t.Fatal("a refused update changed the Hessian")
		}
	}
}

// Repeats are fits with noise of their own, the same as if they were listed.
func TestPublishedRepeats(t *testing.T) {
	rows, enc := censusRows(200)
	p := Published{Formula: Diffprivlib2021, Epsilon: 5, C: 1, Target: lastCell}
	listed, err := FitPublished(context.Background(), rows, dp.WholeScope, enc, []Published{p, p, p}, entropy.Seeded(3))
	if err != nil {
		t.Fatal(err)
	}
	p.Repeats = 3
	repeated, err := FitPublished(context.Background(), rows, dp.WholeScope, enc, []Published{p}, entropy.Seeded(3))
	if err != nil || len(repeated) != 3 {
		t.Fatalf("%d fits (%v)", len(repeated), err)
	}
	for i := range listed {
		for j := range listed[i] {
			if listed[i][j] != repeated[i][j] {
				t.Fatalf("fit %d differs", i)
			}
		}
	}
	if repeated[0][0] == repeated[1][0] {
		t.Error("repeats share their noise")
	}
}
