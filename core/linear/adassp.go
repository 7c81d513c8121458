package linear

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
	"pawl/data/encode"
)

// AdaSSP is least squares on noisy second moments with a ridge that adapts to how well conditioned
// the data are (Wang, "Revisiting differentially private linear regression", UAI 2018, Algorithm
// 2), with releases priced as Gaussian instead of as three (ε/3, δ/3)-DP ones. Every field is
// required.
//
// From the three numbers that sum.Regression releases, λ̂, G and h, each with noise of multiplier σ₁, it
// returns (G + λI)⁻¹h with, at failure probability ϱ = 0.05,
//
//	λ̃ = max(0, λ̂ − σ₁Δ_λ·√(2·ln(1/ϱ)))         below λ_min but for ϱ,
//	λ  = max(0, σ₁Δ_G·√(d·ln(2d²/ϱ)) − λ̃)       the spectral norm of N but for ϱ, less λ̃.
//
// Least squares from one release of G and h, with a ridge as large as the noise, had less noise on
// both by √(3/2) and was better on insurance at every ε tried (error over the mean predictor's 0.58
// against 0.72 at ε 1, 0.50 against 0.57 at 3; they met at ε 100); noisy descent has 0.27 at ε 1.
type AdaSSP struct {
	Scope dp.Scope
	// NoiseMultiplier is the multiplier of the three releases together.
	NoiseMultiplier float64
	Encoding        *encode.Encoding
	// Target maps a row's cells to its target on public bounds scaled to [−1, 1]; values outside are
	// clamped, NaN leaves the row out.
	Target func(cells []float64) float64
}

// adasspFailure is ϱ: a choice of quality, not of privacy.
const adasspFailure = 0.05

func (a AdaSSP) regression() sum.Regression { return sum.Regression(a) }

// Event returns the cost of a fit.
func (a AdaSSP) Event() dp.Event { return a.regression().Event() }

// Validate returns an error for the first invalid parameter.
func (a AdaSSP) Validate() error {
	if err := sum.Positive("noise multiplier", a.NoiseMultiplier); err != nil {
		return err
	}
	switch {
	case !a.Scope.Valid():
		return fmt.Errorf("linear: scope %v is not valid", a.Scope)
	case a.Encoding == nil || a.Target == nil:
		return errors.New("linear: encoding and target are required")
	}
	return a.Encoding.ForSolver()
}

// SolveAdaSSP fits a on the rows of its scope and returns the weights (Dim). permit
// must hold a.Event() on a.Scope, unused.
//
// Errors: before any row is read, invalid parameters and a missing permit; afterwards, with the
// charge kept, ctx.Err() when interrupted before the release.
func SolveAdaSSP(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, a AdaSSP) ([]float64, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	e, err := a.regression().Release(ctx, permit, rows)
	if err != nil {
		return nil, err
	}
	return solveRidge(e.Gram, e.Cross, ridge(e), e.Noise.Gram)
}

// ridge is λ, from released and public numbers.
func ridge(e *sum.Equations) float64 {
	d := float64(len(e.Cross))
	least := max(0, e.Least-e.Noise.Least*math.Sqrt(2*math.Log(1/adasspFailure)))
	return max(0, e.Noise.Gram*math.Sqrt(d*math.Log(2*d*d/adasspFailure))-least)
}

// solveRidge solves (gram + λI)w = cross with λ the first of lambda, lambda or step
// doubled, … that makes the matrix positive definite.
func solveRidge(gram, cross []float64, lambda, step float64) ([]float64, error) {
	d := len(cross)
	for ; lambda < math.MaxFloat64; lambda = max(2*lambda, step) {
		h := mat.NewSymDense(d, slices.Clone(gram))
		for j := range d {
			h.SetSym(j, j, h.At(j, j)+lambda)
		}
		var factor mat.Cholesky
		if !factor.Factorize(h) {
			continue
		}
		w := mat.NewVecDense(d, nil)
		// An error says that the matrix is ill conditioned, as it is where noise is little.
		var ill mat.Condition
		if err := factor.SolveVecTo(w, mat.NewVecDense(d, cross)); err != nil && !errors.As(err, &ill) {
			return nil, err
		}
		if size := floats.Norm(w.RawVector().Data, 2); !math.IsNaN(size) && !math.IsInf(size, 0) {
			return w.RawVector().Data, nil
		}
	}
	return nil, errors.New("linear: the noise is out of the range of a 64-bit float")
}
