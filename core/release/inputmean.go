package release

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
)

// InputMean releases the mean of the dense inputs of a scope's rows, each scaled
// down to norm Norm where it is longer:
//
//	( Σ_i x_i·min(1, Norm/‖x_i‖) + N(0, (k·NoiseMultiplier·Norm)² I) ) / ExpectedRows
//
// A row adds a vector of norm Norm at most to the sum, so its L2 sensitivity under
// AddOrRemoveOne is Norm and the release is one Gaussian mechanism. Dividing by a
// public number is post-processing. The sum is taken in float64 in the order of the
// rows, and the noise drawn in float64: its rounding is the residual risk that
// gradients have too (core/README.md). A row with an input that is not finite counts
// as zero.
type InputMean struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Norm bounds the L2 norm of one input.
	Norm float64
	// ExpectedRows is the public divisor.
	ExpectedRows float64
}

// Event is what Release costs.
func (m InputMean) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: m.NoiseMultiplier} }

// Release returns the noisy mean, one number for each number of an input.
func (m InputMean) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, src *entropy.Source) (mean []float64, err error) {
	defer sealed.Contain(&err)
	switch {
	case !(m.Norm > 0) || math.IsInf(m.Norm, 0):
		return nil, fmt.Errorf("release: norm must be a finite number > 0, got %g", m.Norm)
	case !(m.ExpectedRows > 0) || math.IsInf(m.ExpectedRows, 0):
		return nil, fmt.Errorf("release: expected rows must be a finite number > 0, got %g", m.ExpectedRows)
	}
	view, err := open(ctx, permit, rows, m.Scope, m.Event(), m.NoiseMultiplier)
	if err != nil {
		return nil, err
	}
	mean = m.sum(view)
	noise.AddGaussian(src, mean, m.NoiseMultiplier*m.Norm*stake(permit))
	for j := range mean {
		mean[j] /= m.ExpectedRows
	}
	return mean, nil
}

// sum adds what the rows contribute. The square is taken in float64, which holds
// that of every float32, and the bound is met up to rounding of the last digit,
// which stake covers.
func (m InputMean) sum(view *sealed.View) []float64 {
	sum, input := make([]float64, view.InputDim()), make([]float32, view.InputDim())
	for i := range view.Len() {
		view.Input(i, input)
		square := 0.0
		for _, v := range input {
			square += float64(v) * float64(v)
		}
		if math.IsNaN(square) || math.IsInf(square, 0) {
			continue
		}
		scale := 1.0
		if norm := math.Sqrt(square); norm > m.Norm {
			scale = m.Norm / norm
		}
		for j, v := range input {
			sum[j] += scale * float64(v)
		}
	}
	return sum
}
