// Package logistic holds the loss of logistic regression on opened rows, and what the guarantees
// of package convex need of it: that a row's gradient is bounded by Cap, and the norm of the
// gradient at the weights that leave, whoever found them.
package logistic

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"pawl/core/internal/design"
)

// Problem is J(w) = Σ ℓ_i(w) + (a/2)‖w‖² + b·w over the rows of one encoded matrix. ℓ is the
// logistic loss, and its convex continuation by straight lines from where the residual reaches a cap.
type Problem struct {
	m       *design.Matrix
	packed  *design.Packed
	moments design.Moments
	linear  []float64
	terms
	// The last gradient that was taken: its norm, where, and of which b.
	size   float64
	at, of []float64
	under  terms
}

type terms struct{ cap, regularization float64 }

// New returns the problem of a matrix with a target for each row, 0 or 1; a row with another is in no term.
func New(m *design.Matrix) *Problem {
	return &Problem{m: m, packed: m.Pack(), linear: make([]float64, m.Dim()), at: make([]float64, m.Dim()), of: make([]float64, m.Dim()), size: math.NaN()}
}

// Set sets the cap on residuals and a, and reports whether they are others than before.
func (p *Problem) Set(cap, regularization float64) (changed bool) {
	now := terms{cap, regularization}
	changed, p.terms = p.terms != now, now
	return changed
}

// Retarget sets the targets of the rows, and reports whether they stay as they were.
func (p *Problem) Retarget(view design.Rows, target func(cells []float64) float64) (same bool) {
	same = true
	cells := view.Rows()
	for row, old := range p.m.Target {
		y := target(cells(row))
		same = same && (y == old || y != y && old != old)
		p.m.Target[row] = y
	}
	if !same {
		p.size = math.NaN()
	}
	return same
}

// Len is the number of rows, Dim that of weights.
func (p *Problem) Len() int { return p.m.Len() }
func (p *Problem) Dim() int { return p.m.Dim() }

// Linear is b, to be filled, and Regularization a.
func (p *Problem) Linear() []float64       { return p.linear }
func (p *Problem) Regularization() float64 { return p.regularization }

// Gradient sets g to ∇J(w) and curvature to the rows' second derivatives, and
// returns ‖g‖₂.
func (p *Problem) Gradient(g, curvature, w []float64) float64 {
	for j := range g {
		g[j] = p.linear[j] + p.regularization*w[j]
	}
	limit := p.cap
	p.packed.Sum(g, w, func(first int, scores []float64) {
		target, curvature := p.m.Target[first:][:len(scores)], curvature[first:][:len(scores)]
		design.Sigmoids(scores)
		for i, p := range scores {
			y := target[i]
			// A product, because a branch on y itself would be a coin toss.
			if y*(1-y) != 0 { // true for NaN as well
				scores[i], curvature[i] = 0, 0
				continue
			}
			r := p - y
			second := p * (1 - p)
			if math.Abs(r) > limit {
				r, second = math.Copysign(limit, r), 0
			}
			scores[i], curvature[i] = r, second
		}
	})
	p.size, p.under = floats.Norm(g, 2), p.terms
	copy(p.at, w)
	copy(p.of, p.linear)
	return p.size
}

// Hessian adds up the rows' Hessians without a, of every row or of one in every.
func (p *Problem) Hessian(h, curvature []float64, every int) {
	p.m.Weighted(&p.moments, h, curvature, every)
}

// GradientNorm is ‖∇J(w)‖, of the problem as it stands: the certificate of whoever found w. It is
// taken anew unless the last gradient was that one.
func (p *Problem) GradientNorm(w []float64) float64 {
	if p.size == p.size && p.under == p.terms && slices.Equal(p.at, w) && slices.Equal(p.of, p.linear) {
		return p.size
	}
	return p.Gradient(make([]float64, len(w)), make([]float64, p.m.Len()), w)
}
