package convex

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/design"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
	"pawl/data/encode"
)

// NormalEquations is one least-squares fit on noisy second moments. Every field
// is required.
//
// It releases once, with noise of standard deviation s = NoiseMultiplier·Δ,
//
//	G = XᵀX + N,  h = Xᵀy + e,
//
// and returns (G + λI)⁻¹h. e is N(0, s²) in every coordinate; N is symmetric with
// standard deviation s on the diagonal and s/√2 off it. In the coordinates G_jj and
// √2·G_jl (j < l), whose Euclidean norm is the Frobenius norm of G, that is the same
// N(0, s²) everywhere: one Gaussian release of a vector of L2 sensitivity Δ.
//
// # Sensitivity
//
// Rows have ‖x‖ <= 1 by the encoding and targets are clamped to |y| <= 1. One row
// adds (xxᵀ, y·x), of squared norm ‖x‖⁴ + y²‖x‖² <= 2. A unit owns at most k rows (the
// permit's MaxRows), so by the triangle inequality
//
//	Δ = √2·k   under AddOrRemoveOne and ZeroOut.
//
// Under ReplaceOne the rows of the two units are paired, a missing one being zero. With
// t = |x·x'| <= 1 a pair differs by at most
//
//	‖xxᵀ−x'x'ᵀ‖² + ‖yx−y'x'‖² <= (‖x‖⁴ + ‖x'‖⁴ − 2t²) + (‖x‖² + ‖x'‖² + 2t) <= 4 + 2t − 2t² <= 9/2,
//
// so Δ = (3/√2)·k, attained at t = 1/2 and y = −y' = 1.
//
// The entry yᵀy of the joint moment matrix is not needed for the solution; leaving
// it out is what makes Δ smaller than ‖(x, y)‖² = 2.
//
// # After the release
//
// λ starts at s·√(2d), the spectral norm that N has in the limit of many coordinates,
// and doubles until G + λI is positive definite. It depends on public numbers and on
// the release only, and costs nothing. Starting at half of it is 2 % better where
// noise hardly matters and up to 20 % worse where it does (insurance charges, mean
// absolute error, 10 coordinates): a matrix that is positive definite by luck has
// huge solutions.
//
// Noisy moments are rounded to a public grid (noise.Grid) before anything is made of
// them.
type NormalEquations struct {
	Scope dp.Scope
	// NoiseMultiplier is the standard deviation of the noise over Δ.
	NoiseMultiplier float64
	Encoding        *encode.Encoding
	// Target maps a row's cells to its target on public bounds scaled to [−1, 1];
	// values outside are clamped, NaN takes the row out.
	Target func(cells []float64) float64
}

// Event is what a fit costs.
func (n NormalEquations) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: n.NoiseMultiplier} }

// Validate reports the first parameter without meaning.
func (n NormalEquations) Validate() error {
	return errors.Join(positive("noise multiplier", n.NoiseMultiplier), validate(n.Scope, n.Encoding, n.Target))
}

// momentsSensitivity is Δ.
func momentsSensitivity(relation dp.Relation, rowsPerUnit int) (float64, error) {
	k := float64(rowsPerUnit) * rounding
	switch relation {
	case dp.AddOrRemoveOne, dp.ZeroOut:
		return math.Sqrt2 * k, nil
	case dp.ReplaceOne:
		return 3 / math.Sqrt2 * k, nil
	}
	return math.Inf(1), fmt.Errorf("convex: the sensitivity of second moments is unknown under %v", relation)
}

// SolveNormalEquations fits n on the rows of its scope and returns the weights
// (Dim). permit must hold n.Event() on n.Scope, unused.
//
// Errors: invalid parameters or a missing permit before any row is read;
// ctx.Err() when interrupted before the release, with the charge kept.
func SolveNormalEquations(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, n NormalEquations) (w []float64, err error) {
	defer sealed.Contain(&err)
	if err := n.Validate(); err != nil {
		return nil, err
	}
	if err := complete(permit); err != nil {
		return nil, err
	}
	sensitivity, err := momentsSensitivity(permit.Relation(), permit.MaxRows())
	if err != nil {
		return nil, err
	}
	stdDev := n.NoiseMultiplier * sensitivity
	if math.IsInf(stdDev, 0) {
		return nil, errors.New("convex: noise multiplier is out of the range of a 64-bit float")
	}
	view, err := sealed.Open(rows, permit, n.Scope, n.Event())
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	gram, cross := secondMoments(design.New(view, n.Encoding, n.Target))
	perturbMoments(gram, cross, stdDev, view.Noise())
	return ridge(gram, cross, stdDev)
}

// secondMoments returns XᵀX and Xᵀy over the rows with a target.
func secondMoments(m *design.Matrix) (gram, cross []float64) {
	d := m.Dim()
	gram, cross = make([]float64, d*d), make([]float64, d)
	weight := make([]float64, m.Len())
	for i, y := range m.Target {
		if y == y {
			weight[i] = 1
		}
	}
	m.Weighted(new(design.Moments), gram, weight, 1)
	m.Pack().Sum(cross, make([]float64, d), func(first int, scores []float64) {
		for i := range scores {
			y := m.Target[first+i]
			if y != y {
				y = 0
			}
			scores[i] = min(max(y, -1), 1)
		}
	})
	return gram, cross
}

// perturbMoments adds the noise of one Gaussian release to both moments.
func perturbMoments(gram, cross []float64, stdDev float64, src *entropy.Source) {
	d := len(cross)
	noise.AddGaussian(src.Split("cross"), cross, stdDev)
	noise.OnGrid(cross, stdDev)
	perturbSymmetric(gram, d, stdDev, src.Split("gram"))
}

// perturbSymmetric adds noise to a symmetric d×d matrix: stdDev on the diagonal and
// stdDev/√2 off it, which is stdDev in every direction of the Frobenius norm. The noisy
// entries are rounded to the grid of the smaller.
func perturbSymmetric(gram []float64, d int, stdDev float64, src *entropy.Source) {
	draws := make([]float64, d*(d+1)/2)
	noise.AddGaussian(src, draws, stdDev)
	for j := range d {
		gram[j*d+j] += draws[0]
		draws = draws[1:]
		for l := j + 1; l < d; l++ {
			v := gram[j*d+l] + draws[0]/math.Sqrt2
			// One draw for both entries: two would average to half the variance.
			gram[j*d+l], gram[l*d+j] = v, v
			draws = draws[1:]
		}
	}
	noise.OnGrid(gram, stdDev/math.Sqrt2)
}

// ridge solves the released equations.
func ridge(gram, cross []float64, stdDev float64) ([]float64, error) {
	return solveRidge(gram, cross, stdDev*math.Sqrt(2*float64(len(cross))), stdDev)
}

// solveRidge solves (gram + λI)w = cross with λ the first of lambda, lambda or step
// doubled, … that makes the matrix positive definite.
func solveRidge(gram, cross []float64, lambda, step float64) ([]float64, error) {
	for ; lambda < math.MaxFloat64; lambda = max(2*lambda, step) {
		var factor blas64.Triangular
		var ok bool
		if factor, ok = cholesky(gram, lambda); !ok {
			continue
		}
		w := append([]float64(nil), cross...)
		solve(factor, w)
		if size := norm(w); !math.IsNaN(size) && !math.IsInf(size, 0) {
			return w, nil
		}
	}
	return nil, errors.New("convex: the noise is out of the range of a 64-bit float")
}
