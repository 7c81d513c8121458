package release

import (
	"context"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
)

// InputMean releases the mean of the dense inputs of a scope's rows, each scaled down to norm Norm
// if it is longer:
//
//	( Σ_i x_i·min(1, Norm/‖x_i‖) + N(0, (k·NoiseMultiplier·Norm)² I) ) / ExpectedRows
//
// A row adds a vector of norm at most Norm to the sum, so its L2 sensitivity under AddOrRemoveOne
// is Norm and the release is one Gaussian mechanism. Dividing by a public number is
// post-processing. The sum is computed in float64 in the order of the rows, the noise is drawn in
// float64, and the result is rounded to a public grid (noise.Perturb); core/README.md states the
// remaining risk, which gradients share. A row with an input that is not finite counts as zero.
type InputMean struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Norm bounds the L2 norm of one input.
	Norm float64
	// ExpectedRows is the public divisor.
	ExpectedRows float64
	// Row, if not nil, replaces the dense inputs: it fills x, Features zeros, with a vector computed
	// from a row's cells.
	Row      func(x, cells []float64)
	Features int
}

// Event returns the cost of Release.
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

// Release returns the noisy mean, one number per entry of an input.
func (m InputMean) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) ([]float64, error) {
	s, err := m.moments(rows)
	if err != nil {
		return nil, err
	}
	return m.divided(s.Release(ctx, permit, rows))
}

// SimulatePublic is Release on public rows without a permit: what a job on such rows would release,
// used to choose on other data. It returns an error for any data set that is not public.
func (m InputMean) SimulatePublic(rows *sealed.Rows, src *entropy.Source) ([]float64, error) {
	s, err := m.moments(rows)
	if err != nil {
		return nil, err
	}
	return m.divided(s.SimulatePublic(rows, src))
}

// Public returns the exact mean over a public data set, with rows scaled to Norm and the same
// divisor, and an error for any other.
func (m InputMean) Public(rows *sealed.Rows) ([]float64, error) {
	s, err := m.moments(rows)
	if err != nil {
		return nil, err
	}
	return m.divided(s.Public(context.Background(), rows))
}
