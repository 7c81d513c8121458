package convex

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/design"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
	"pawl/data/encode"
)

// AdaSSP is least squares on noisy second moments with a ridge that adapts to how
// well conditioned the data are (Wang, "Revisiting differentially private linear
// regression", UAI 2018, Algorithm 2), with Gaussian releases priced as such in place
// of three (ε/3, δ/3) ones. Every field is required.
//
// It releases, each with noise of multiplier σ₁ = σ·√3 (σ = NoiseMultiplier),
//
//	λ̂ = λ_min(XᵀX) + N(0, σ₁²Δ_λ²),   G = XᵀX + N,   h = Xᵀy + e,
//
// and returns (G + λI)⁻¹h with, at failure probability ϱ = 0.05,
//
//	λ̃ = max(0, λ̂ − σ₁Δ_λ·√(2·ln(1/ϱ)))         below λ_min but for ϱ,
//	λ  = max(0, σ₁Δ_G·√(d·ln(2d²/ϱ)) − λ̃)       the spectral norm of N but for ϱ, less λ̃.
//
// # Sensitivity
//
// ‖x‖ <= 1 by the encoding, |y| <= 1 by clamping, at most k rows per unit.
//
//   - λ_min: the rows of a unit add a matrix between 0 and k·I, so by Weyl's inequality
//     λ_min moves by at most k; replacing one such matrix by another moves it by at most
//     k too. Δ_λ = k.
//   - XᵀX in the Frobenius norm: ‖xxᵀ‖ = ‖x‖² <= 1, and ‖xxᵀ−x'x'ᵀ‖² <= 2. Δ_G = k, and √2·k
//     under ReplaceOne.
//   - Xᵀy: Δ_h = k, and 2k under ReplaceOne.
//
// The cost is dp.Repeat of 3 Gaussians of multiplier σ₁, no more than one Gaussian of
// multiplier σ.
//
// NormalEquations spends all of σ on G and h together and takes its ridge from the
// noise alone: it has √(3/2) less noise on both, and was better on insurance at every ε
// tried (error over the mean predictor's 0.58 against 0.72 at ε 1, 0.50 against 0.57 at
// 3); at ε 100 they meet.
type AdaSSP struct {
	Scope dp.Scope
	// NoiseMultiplier is that of the three releases together.
	NoiseMultiplier float64
	Encoding        *encode.Encoding
	// Target maps a row's cells to its target on public bounds scaled to [−1, 1];
	// values outside are clamped, NaN takes the row out.
	Target func(cells []float64) float64
}

// adasspFailure is ϱ: a choice of quality, not of privacy.
const adasspFailure = 0.05

// Event is what a fit costs.
func (a AdaSSP) Event() dp.Event {
	return dp.Repeat{Count: 3, Event: dp.Gaussian{NoiseMultiplier: a.NoiseMultiplier * math.Sqrt(3)}}
}

// Validate reports the first parameter without meaning.
func (a AdaSSP) Validate() error {
	return errors.Join(positive("noise multiplier", a.NoiseMultiplier), validate(a.Scope, a.Encoding, a.Target))
}

// adasspNoise holds the standard deviations of the three releases.
type adasspNoise struct{ least, gram, cross float64 }

func (a AdaSSP) noise(relation dp.Relation, rowsPerUnit int) (adasspNoise, error) {
	s := a.NoiseMultiplier * math.Sqrt(3) * float64(rowsPerUnit) * rounding
	n := adasspNoise{least: s, gram: s, cross: s}
	switch relation {
	case dp.AddOrRemoveOne, dp.ZeroOut:
	case dp.ReplaceOne:
		n.gram, n.cross = math.Sqrt2*s, 2*s
	default:
		return n, fmt.Errorf("convex: the sensitivity of second moments is unknown under %v", relation)
	}
	if math.IsInf(n.cross, 0) {
		return n, errors.New("convex: noise multiplier is out of the range of a 64-bit float")
	}
	return n, nil
}

// SolveAdaSSP fits a on the rows of its scope and returns the weights (Dim). permit
// must hold a.Event() on a.Scope, unused.
//
// Errors: invalid parameters or a missing permit before any row is read; ctx.Err()
// when interrupted before the release, with the charge kept.
func SolveAdaSSP(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, a AdaSSP) (w []float64, err error) {
	defer sealed.Contain(&err)
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if err := complete(permit); err != nil {
		return nil, err
	}
	n, err := a.noise(permit.Relation(), permit.MaxRows())
	if err != nil {
		return nil, err
	}
	view, err := sealed.Open(rows, permit, a.Scope, a.Event())
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	gram, cross := secondMoments(design.New(view, a.Encoding, a.Target))
	least, err := leastEigenvalue(gram, len(cross))
	if err != nil {
		return nil, err
	}
	least = n.perturb(gram, cross, least, view.Noise())
	return solveRidge(gram, cross, n.ridge(least, len(cross)), n.gram)
}

// leastEigenvalue of a matrix of finite entries; rounding may leave it just below 0.
func leastEigenvalue(gram []float64, d int) (float64, error) {
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(d, append([]float64(nil), gram...)), false) {
		return 0, errors.New("convex: no eigenvalues")
	}
	return max(e.Values(nil)[0], 0), nil
}

// perturb adds the noise of all three releases and rounds each to its grid.
func (n adasspNoise) perturb(gram, cross []float64, least float64, src *entropy.Source) float64 {
	l := []float64{least}
	noise.AddGaussian(src.Split("least eigenvalue"), l, n.least)
	noise.OnGrid(l, n.least)
	perturbSymmetric(gram, len(cross), n.gram, src.Split("gram"))
	noise.AddGaussian(src.Split("cross"), cross, n.cross)
	noise.OnGrid(cross, n.cross)
	return l[0]
}

// ridge is λ, from released and public numbers.
func (n adasspNoise) ridge(least float64, dim int) float64 {
	d := float64(dim)
	least = max(0, least-n.least*math.Sqrt(2*math.Log(1/adasspFailure)))
	return max(0, n.gram*math.Sqrt(d*math.Log(2*d*d/adasspFailure))-least)
}
