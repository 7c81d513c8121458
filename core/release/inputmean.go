package release

import (
	"context"
	"errors"
	"fmt"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
)

// InputMean releases the mean of the dense inputs of a scope's rows, each scaled
// down to norm Norm where it is longer:
//
//	( Σ_i x_i·min(1, Norm/‖x_i‖) + N(0, (k·NoiseMultiplier·Norm)² I) ) / ExpectedRows
//
// A row adds a vector of norm Norm at most to the sum, so its L2 sensitivity under
// AddOrRemoveOne is Norm and the release is one Gaussian mechanism. Dividing by a
// public number is post-processing. The sum is taken in float64 in the order of the
// rows, and the noise drawn in float64; they leave on a public grid (see addGaussian), and
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

func (m InputMean) validate() error {
	if m.Row != nil && (m.Features < 1 || m.Features > mostCells) {
		return fmt.Errorf("release: a mean of %d features", m.Features)
	}
	return errors.Join(positive("norm", m.Norm), positive("expected rows", m.ExpectedRows))
}

// Release returns the noisy mean, one number for each number of an input.
func (m InputMean) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (mean []float64, err error) {
	defer sealed.Contain(&err)
	if err := m.validate(); err != nil {
		return nil, err
	}
	view, err := open(ctx, permit, rows, m.Scope, m.Event(), m.NoiseMultiplier)
	if err != nil {
		return nil, err
	}
	return m.noisy(view, m.NoiseMultiplier*m.Norm*stake(permit), view.Noise())
}

// SimulatePublic is Release on public rows without a permit: what a job on such rows
// would have released, for choosing on other data. It fails on every other data set.
func (m InputMean) SimulatePublic(rows *sealed.Rows, src *entropy.Source) (mean []float64, err error) {
	defer sealed.Contain(&err)
	if err := errors.Join(m.validate(), positive("noise multiplier", m.NoiseMultiplier)); err != nil {
		return nil, err
	}
	view, err := sealed.OpenPublic(rows, m.Scope)
	if err != nil {
		return nil, err
	}
	return m.noisy(view, m.NoiseMultiplier*m.Norm, src)
}

// noisy is the mean with noise of a scale on the sum.
func (m InputMean) noisy(view *sealed.View, scale float64, src *entropy.Source) ([]float64, error) {
	// Not a named result: a fault in the noise would hand it out as it is.
	sum := m.sum(view)
	if err := addGaussian(src, sum, scale); err != nil {
		return nil, err
	}
	for j := range sum {
		sum[j] /= m.ExpectedRows
	}
	return sum, nil
}

// Public returns the exact mean over a public data set, still of rows scaled to Norm
// and by the same divisor; it fails for every other.
func (m InputMean) Public(rows *sealed.Rows) (mean []float64, err error) {
	defer sealed.Contain(&err)
	if err := m.validate(); err != nil {
		return nil, err
	}
	view, err := sealed.OpenPublic(rows, m.Scope)
	if err != nil {
		return nil, err
	}
	mean = m.sum(view)
	for j := range mean {
		mean[j] /= m.ExpectedRows
	}
	return mean, nil
}

// sum adds what the rows contribute.
func (m InputMean) sum(view *sealed.View) []float64 {
	dim, at := vectors(view, m.Features, m.Row)
	sum, x := make([]float64, dim), make([]float64, dim)
	for i := range view.Len() {
		at(i, x)
		if !bound(x, m.Norm) {
			continue
		}
		for j, v := range x {
			sum[j] += v
		}
	}
	return sum
}
