package public

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/design"
	"pawl/core/internal/logistic"
	"pawl/core/internal/newton"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
	"pawl/core/sum"
	"pawl/data/encode"
)

// Formula names a published calibration of objective perturbation.
type Formula string

const (
	// Diffprivlib2021 is the calibration of diffprivlib's logistic regression in releases before March
	// 2025: c = R/4, ε' = ε − 2·ln(1 + c/(a/2)), else Δ = c/(e^{ε/4}−1) − a/2. As a bound for rows of
	// norm R > 1 it lacks a factor R in c: with ten attributes at ε 1 and C = 1 the loss can exceed ε by
	// about 0.6.
	Diffprivlib2021 Formula = "diffprivlib-2021"
	// Diffprivlib2025 is the same with a instead of a/2, as in later releases.
	Diffprivlib2025 Formula = "diffprivlib-2025"
	// ReplaceOneFormula is the calibration of the literature with the constant that its proof needs, c
	// = R²/4, ε' = ε − 2·ln(1 + c/a).
	ReplaceOneFormula Formula = "replace-one"
)

var errNotCertified = errors.New("public: no minimiser was found; raise the regularization")

// publishedAim is the gradient norm, in scaled coordinates, that a published fit stops
// at. The libraries stop at 1e-4 in raw ones, which is about as much.
const publishedAim = 1e-5

// Published is one noisy fit of binary logistic regression with a published calibration, for
// replays on public data. It makes no privacy claim: rows need no permit, the data norm may come
// from the data, and no finishing noise covers the solver.
//
// In raw coordinates, where a row of encoding E is x/E.Scale, it minimises
// Σ ln(1+e^(−y·w·x)) + (a+Δ)/2·‖w‖² + b·w, a = 1/C, with ‖b‖ ~ Gamma(d, 2R/ε') and a uniform direction.
type Published struct {
	Formula Formula
	Epsilon float64
	// C is the inverse regularization; libraries default to 1.
	C float64
	// DataNorm is R, the norm of the longest row with its constant. 0 means
	// 1/E.Scale, the bound that the schema gives.
	DataNorm float64
	// Target maps a row's cells to 0 or 1; any other value leaves the row out.
	Target func(cells []float64) float64
	// Repeats is the number of fits that differ only in noise; 0 means 1.
	Repeats int
}

func (p Published) repeats() int { return max(1, p.Repeats) }

// calibrate returns a+Δ and the scale 2R/ε', both in raw coordinates.
func (p Published) calibrate(bound float64) (regularization, scale float64, err error) {
	r := p.DataNorm
	if r == 0 {
		r = bound
	}
	if err := errors.Join(sum.Positive("epsilon", p.Epsilon), sum.Positive("C", p.C), sum.Positive("data norm", r)); err != nil {
		return 0, 0, err
	}
	a, c, share := 1/p.C, r/4, 1.0
	switch p.Formula {
	case Diffprivlib2021:
		share = 0.5
	case Diffprivlib2025:
	case ReplaceOneFormula:
		c = r * r / 4
	default:
		return 0, 0, fmt.Errorf("public: unknown formula %q", p.Formula)
	}
	rest, extra := p.Epsilon-2*math.Log1p(c/(share*a)), 0.0
	if rest <= 0 {
		extra, rest = c/math.Expm1(p.Epsilon/4)-share*a, p.Epsilon/2
	}
	if a+extra <= 0 || math.IsInf(a+extra, 0) || math.IsInf(2*r/rest, 0) {
		return 0, 0, errors.New("public: epsilon and C are out of the range of a 64-bit float")
	}
	return a + extra, 2 * r / rest, nil
}

// FitPublished runs several published fits on one scope of a public data set, each with
// fresh noise, and returns weights (Dim) on the encoding's own scaled coordinates, one
// for every repeat of every fit. Sensitive rows are refused.
func FitPublished(ctx context.Context, rows *sealed.Rows, scope dp.Scope, enc *encode.Encoding, fits []Published, src *entropy.Source) (all [][]float64, err error) {
	defer sealed.Contain(&err)
	if len(fits) == 0 {
		return nil, nil
	}
	if src == nil {
		return nil, errors.New("public: a source of randomness is required")
	}
	type raw struct{ regularization, scale float64 }
	cals := make([]raw, len(fits))
	for i, p := range fits {
		if enc == nil || p.Target == nil {
			return nil, errors.New("public: encoding and target are required")
		}
		var err error
		if cals[i].regularization, cals[i].scale, err = p.calibrate(1 / enc.Scale); err != nil {
			return nil, err
		}
	}
	view, err := sealed.OpenPublic(rows, scope)
	if err != nil {
		return nil, err
	}
	problem := logistic.New(design.New(view, enc, fits[0].Target))
	s := newton.New(problem)
	left := 0
	for _, p := range fits {
		left += p.repeats()
	}
	var from *newton.Center
	for i, c := range cals {
		same := i == 0 || problem.Retarget(view, fits[i].Target) && c.regularization == cals[i-1].regularization
		// With w = v·Scale, w·x/Scale = v·x, ‖w‖² = Scale²‖v‖² and b·w = Scale·b·v.
		regularization := c.regularization * enc.Scale * enc.Scale
		for range fits[i].repeats() {
			if len(all) > 0 {
				if from, err = s.Start(ctx, from, same, left); err != nil {
					return nil, err
				}
			}
			clear(problem.Linear())
			noise.L2Laplace(src.Split("published", uint64(len(all))), problem.Linear(), enc.Scale*c.scale)
			if problem.Set(1, regularization) {
				s.Forget()
			}
			if err := s.Solve(ctx, from, publishedAim); err != nil {
				return nil, err
			}
			w := slices.Clone(s.Weights)
			if !(problem.GradientNorm(w) <= publishedAim*(1<<12)) {
				return nil, errNotCertified
			}
			all = append(all, w)
			left, same = left-1, true
		}
	}
	return all, nil
}
