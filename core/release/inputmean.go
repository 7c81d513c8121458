package release

import (
	"context"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
)

// InputMean releases the mean of the dense inputs of a scope's rows, each scaled
// down to norm Norm where it is longer:
//
//	( Σ_i x_i·min(1, Norm/‖x_i‖) + N(0, (k·NoiseMultiplier·Norm)² I) ) / ExpectedRows
//
// A row adds a vector of norm Norm at most to the sum, so its L2 sensitivity under
// AddOrRemoveOne is Norm and the release is one Gaussian mechanism. Dividing by a
// public number is post-processing. The sum is taken in float64 in the order of the
// rows, and the noise drawn in float64; they leave on a public grid (noise.Perturb), and
// what remains of the risk that gradients have too is in core/README.md. A row with an
// input that is not finite counts as zero.
type InputMean struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Norm bounds the L2 norm of one input.
	Norm float64
	// ExpectedRows is the public divisor.
	ExpectedRows float64
	// Row, when not nil, is used in place of the dense inputs: it fills x, Features
	// zeros, with a vector made of a row's cells.
	Row      func(x, cells []float64)
	Features int
}

// Event is what Release costs.
func (m InputMean) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: m.NoiseMultiplier} }

// moments is the sum that leaves. The divisor is checked here, as nothing in it is.
func (m InputMean) moments(rows *sealed.Rows) (sum.Moments, error) {
	s := sum.Moments{Scope: m.Scope, Event: dp.Gaussian{NoiseMultiplier: m.NoiseMultiplier}, Groups: 1, Features: rows.InputDim(), Norm: m.Norm, Sums: true}
	if m.Row != nil {
		s.Features, s.Row = m.Features, sum.OneGroup(m.Row)
	}
	return s, sum.Positive("expected rows", m.ExpectedRows)
}

// divided is the mean of what left.
func (m InputMean) divided(sums *sum.Sums, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	mean := sums.Sums[0]
	for j := range mean {
		mean[j] /= m.ExpectedRows
	}
	return mean, nil
}

// Release returns the noisy mean, one number for each number of an input.
func (m InputMean) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) ([]float64, error) {
	s, err := m.moments(rows)
	if err != nil {
		return nil, err
	}
	return m.divided(s.Release(ctx, permit, rows))
}

// SimulatePublic is Release on public rows without a permit: what a job on such rows
// would have released, for choosing on other data. It fails on every other data set.
func (m InputMean) SimulatePublic(rows *sealed.Rows, src *entropy.Source) ([]float64, error) {
	s, err := m.moments(rows)
	if err != nil {
		return nil, err
	}
	return m.divided(s.SimulatePublic(rows, src))
}

// Public returns the exact mean over a public data set, still of rows scaled to Norm
// and by the same divisor; it fails for every other.
func (m InputMean) Public(rows *sealed.Rows) ([]float64, error) {
	s, err := m.moments(rows)
	if err != nil {
		return nil, err
	}
	return m.divided(s.Public(context.Background(), rows))
}
