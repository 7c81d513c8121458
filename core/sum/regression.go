package sum

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

// Regression releases what least squares needs from encoded rows and their targets, by three
// Gaussian releases of multiplier σ₁ = σ·√3 each (σ = NoiseMultiplier):
//
//	λ_min(XᵀX) + N(0, σ₁²Δ_λ²),   G = XᵀX + N,   h = Xᵀy + e.
//
// e is N(0, σ₁²Δ_h²) in every coordinate, N symmetric of σ₁Δ_G on the diagonal and of σ₁Δ_G/√2 off it.
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
type Regression struct {
	Scope dp.Scope
	// NoiseMultiplier is the multiplier of the three releases together.
	NoiseMultiplier float64
	Encoding        *encode.Encoding
	// Target maps a row's cells to its target on public bounds scaled to [−1, 1]; values outside are
	// clamped, NaN leaves the row out.
	Target func(cells []float64) float64
}

// Event returns the cost of a release: at most that of one Gaussian of NoiseMultiplier.
func (r Regression) Event() dp.Event {
	return dp.Repeat{Count: 3, Event: dp.Gaussian{NoiseMultiplier: r.NoiseMultiplier * math.Sqrt(3)}}
}

// RegressionNoise holds the standard deviations of the three releases.
type RegressionNoise struct{ Least, Gram, Cross float64 }

// Equations are the release of a Regression. Gram is Dim×Dim, row-major.
type Equations struct {
	Least       float64
	Gram, Cross []float64
	Noise       RegressionNoise
}

// Noise returns the noise of a release.
func (r Regression) Noise(relation dp.Relation, rowsPerUnit int) (RegressionNoise, error) {
	s := r.NoiseMultiplier * math.Sqrt(3) * float64(rowsPerUnit) * rounding
	n := RegressionNoise{Least: s, Gram: s, Cross: s}
	switch relation {
	case dp.AddOrRemoveOne, dp.ZeroOut:
	case dp.ReplaceOne:
		n.Gram, n.Cross = math.Sqrt2*s, 2*s
	default:
		return n, fmt.Errorf("sum: the sensitivity of second moments is unknown under %v", relation)
	}
	return n, noise.InRange(n.Least, n.Gram, n.Cross)
}

// Release returns the noisy equations. permit must hold Event on Scope, unused.
//
// Errors: before any row is read, a missing permit and invalid noise; afterwards, with the charge
// kept, ctx.Err() when interrupted before the release.
func (r Regression) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (e *Equations, err error) {
	defer sealed.Contain(&err)
	if permit == nil {
		return nil, sealed.ErrNotReserved
	}
	n, err := r.Noise(permit.Relation(), permit.MaxRows())
	if err := errors.Join(Positive("noise multiplier", r.NoiseMultiplier), err); err != nil {
		return nil, err
	}
	view, err := sealed.OpenUnless(rows, permit, r.Scope, r.Event(), sealed.HasTarget(r.Target))
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	exact, err := EquationsOf(design.New(view, r.Encoding, r.Target))
	if err != nil {
		return nil, err
	}
	return n.Perturb(exact, view.Noise())
}

// EquationsOf returns the exact equations over the rows with a target.
func EquationsOf(m *design.Matrix) (*Equations, error) {
	d := m.Dim()
	e := &Equations{Gram: make([]float64, d*d), Cross: make([]float64, d)}
	weight := make([]float64, m.Len())
	for i, y := range m.Target {
		if y == y {
			weight[i] = 1
		}
	}
	m.Weighted(new(design.Moments), e.Gram, weight, 1)
	m.Pack().Sum(e.Cross, make([]float64, d), func(first int, scores []float64) {
		for i := range scores {
			y := m.Target[first+i]
			if y != y {
				y = 0
			}
			scores[i] = min(max(y, -1), 1)
		}
	})
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(d, append([]float64(nil), e.Gram...)), false) {
		return nil, errors.New("sum: no eigenvalues")
	}
	e.Least = max(eigen.Values(nil)[0], 0) // rounding may leave it just below 0
	return e, nil
}

// Perturb adds the noise of all three releases.
func (n RegressionNoise) Perturb(e *Equations, src *entropy.Source) (*Equations, error) {
	least := []float64{e.Least}
	if err := errors.Join(noise.Perturb(src.Split("least eigenvalue"), least, n.Least),
		noise.PerturbSymmetric(src.Split("gram"), e.Gram, len(e.Cross), n.Gram),
		noise.Perturb(src.Split("cross"), e.Cross, n.Cross)); err != nil {
		return nil, err
	}
	return &Equations{Least: least[0], Gram: e.Gram, Cross: e.Cross, Noise: n}, nil
}
