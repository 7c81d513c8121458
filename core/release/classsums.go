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
// A row is scaled down to norm Norm where it is longer. It then adds (x/Norm, 1) to
// its class, and with Squares (x∘x/Norm²) as well, whose norm is at most (‖x‖/Norm)²
// ≤ 1. So the L2 sensitivity under AddOrRemoveOne is √2, with Squares √3, and Gaussian
// noise of k·√2·NoiseMultiplier (√3) in these units makes it one Gaussian mechanism. The
// noise is drawn in float64 and leaves on a public grid (noise.Perturb); what remains of
// the risk that gradients have too is in core/README.md.
type ClassSums struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	Classes         int
	// Features is the length of a row's vector, Norm the bound on its length.
	Features int
	Norm     float64
	Squares  bool
	// Row fills x, Features zeros, with a row's vector and returns its class; a class
	// outside [0, Classes) and a vector that is not finite leave the row out.
	Row func(x, cells []float64) int
}

// Sums is what ClassSums releases.
type Sums = sum.Sums

// Event is what Release costs.
func (c ClassSums) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: c.NoiseMultiplier} }

func (c ClassSums) moments() (sum.Moments, error) {
	if c.Classes < 2 || c.Row == nil {
		return sum.Moments{}, fmt.Errorf("release: sums in %d classes, or without the vectors of rows", c.Classes)
	}
	return sum.Moments{Scope: c.Scope, Event: dp.Gaussian{NoiseMultiplier: c.NoiseMultiplier}, Groups: c.Classes, Features: c.Features, Norm: c.Norm,
		Counts: true, Sums: true, Squares: c.Squares, Row: c.Row}, nil
}

// StdDev is the standard deviation of the noise on a count, which is public; a sum has Norm
// times that, a sum of squares Norm² times. It is +Inf with an error for a relation without a
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

// Public returns the exact sums of a public data set; it fails for every other.
func (c ClassSums) Public(rows *sealed.Rows) (*Sums, error) {
	m, err := c.moments()
	if err != nil {
		return nil, err
	}
	return m.Public(context.Background(), rows)
}
