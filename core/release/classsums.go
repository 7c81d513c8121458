package release

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
)

// ClassSums releases, for each class, the number of rows, the sum of their vectors x
// and, with Squares, the sum of x∘x, from one noisy vector.
//
// A row is scaled down to norm Norm if it is longer. It then adds (x/Norm, 1) to its class, and
// with Squares also x∘x/Norm², whose norm is at most (‖x‖/Norm)² ≤ 1. So the L2 sensitivity under
// AddOrRemoveOne is √2, with Squares √3, and Gaussian noise of k·√2·NoiseMultiplier (√3) in these
// units makes it one Gaussian mechanism. The noise is drawn in float64 and the sums are rounded to
// a public grid (noise.Perturb); core/README.md states the remaining risk, which gradients share.
type ClassSums struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	Classes         int
	// Features is the length of a row's vector, Norm the bound on its L2 norm.
	Features int
	Norm     float64
	Squares  bool
	// Row fills x, Features zeros, with a row's vector and returns its class; a row is left out if its
	// class is outside [0, Classes) or its vector is not finite.
	Row func(x, cells []float64) int
}

// Sums is the release of ClassSums.
type Sums = sum.Sums

// Event returns the cost of Release.
func (c ClassSums) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: c.NoiseMultiplier} }

func (c ClassSums) moments() (sum.Moments, error) {
	if c.Classes < 2 || c.Row == nil {
		return sum.Moments{}, fmt.Errorf("release: sums in %d classes, or without the vectors of rows", c.Classes)
	}
	return sum.Moments{Scope: c.Scope, Event: dp.Gaussian{NoiseMultiplier: c.NoiseMultiplier}, Groups: c.Classes, Features: c.Features, Norm: c.Norm,
		Counts: true, Sums: true, Squares: c.Squares, Row: c.Row}, nil
}

// StdDev returns the standard deviation of the noise on a count, which is public; a sum has Norm
// times that, a sum of squares Norm² times. It is +Inf, with an error, for a relation without a
// bound.
func (c ClassSums) StdDev(relation dp.Relation, rowsPerUnit int) (float64, error) {
	m, err := c.moments()
	if err != nil {
		return math.Inf(1), err
	}
	return m.StdDev(relation, rowsPerUnit)
}

// Release returns the noisy sums.
func (c ClassSums) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (*Sums, error) {
	m, err := c.moments()
	if err != nil {
		return nil, err
	}
	return m.Release(ctx, permit, rows)
}

// Public returns the exact sums of a public data set, and an error for any other.
func (c ClassSums) Public(rows *sealed.Rows) (*Sums, error) {
	m, err := c.moments()
	if err != nil {
		return nil, err
	}
	return m.Public(context.Background(), rows)
}
