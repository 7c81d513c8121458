package release

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
)

// ClassSums releases, for each class, the number of rows, the sum of their vectors x
// and, with Squares, the sum of x∘x, from one noisy vector.
//
// A row is scaled down to norm Norm where it is longer. It then adds (x/Norm, 1) to
// its class, and with Squares (x∘x/Norm²) as well, whose norm is at most (‖x‖/Norm)²
// ≤ 1. So the L2 sensitivity under AddOrRemoveOne is √2, with Squares √3, and Gaussian
// noise of k·√2·NoiseMultiplier (√3) in these units makes it one Gaussian mechanism. The
// noise is drawn in float64 and leaves on a public grid (see addGaussian); what remains of
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
type Sums struct {
	// Counts[a] is the noisy number of rows of class a; it may be negative.
	Counts []float64
	// Sums[a][j] adds up coordinate j over class a, Squares[a][j] its squares (nil
	// where they were not asked for).
	Sums, Squares [][]float64
}

// Event is what Release costs.
func (c ClassSums) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: c.NoiseMultiplier} }

// parts is the squared sensitivity in units of the single parts.
func (c ClassSums) parts() float64 {
	if c.Squares {
		return 3
	}
	return 2
}

func (c ClassSums) validate() error {
	switch {
	case c.Classes < 2 || c.Features < 1 || c.Classes > mostCells/c.Features:
		return fmt.Errorf("release: sums of %d features in %d classes", c.Features, c.Classes)
	case !(c.Norm > 0) || math.IsInf(c.Norm, 0):
		return fmt.Errorf("release: norm must be a finite number > 0, got %g", c.Norm)
	case c.Row == nil:
		return fmt.Errorf("release: sums need the vectors of rows")
	}
	return nil
}

// Release returns the noisy sums.
func (c ClassSums) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (sums *Sums, err error) {
	defer sealed.Contain(&err)
	if err := c.validate(); err != nil {
		return nil, err
	}
	view, err := open(ctx, permit, rows, c.Scope, c.Event(), c.NoiseMultiplier)
	if err != nil {
		return nil, err
	}
	// Not the named result: a fault in the noise would hand it out as it is.
	noisy := c.add(view)
	std := math.Sqrt(c.parts()) * c.NoiseMultiplier * stake(permit)
	if err := addGaussian(view.Noise(), noisy.Counts, std); err != nil {
		return nil, err
	}
	for a := range noisy.Sums {
		if err := addGaussian(view.Noise(), noisy.Sums[a], std*c.Norm); err != nil {
			return nil, err
		}
	}
	for a := range noisy.Squares {
		if err := addGaussian(view.Noise(), noisy.Squares[a], std*c.Norm*c.Norm); err != nil {
			return nil, err
		}
	}
	return noisy, nil
}

// Public returns the exact sums of a public data set; it fails for every other.
func (c ClassSums) Public(rows *sealed.Rows) (sums *Sums, err error) {
	defer sealed.Contain(&err)
	if err := c.validate(); err != nil {
		return nil, err
	}
	view, err := sealed.OpenPublic(rows, c.Scope)
	if err != nil {
		return nil, err
	}
	return c.add(view), nil
}

func (c ClassSums) add(view *sealed.View) *Sums {
	s := &Sums{Counts: make([]float64, c.Classes), Sums: make([][]float64, c.Classes)}
	if c.Squares {
		s.Squares = make([][]float64, c.Classes)
	}
	for a := range c.Classes {
		s.Sums[a] = make([]float64, c.Features)
		if c.Squares {
			s.Squares[a] = make([]float64, c.Features)
		}
	}
	x := make([]float64, c.Features)
	for i := range view.Len() {
		clear(x)
		a := c.Row(x, view.Row(i))
		if a < 0 || a >= c.Classes || !bound(x, c.Norm) {
			continue
		}
		s.Counts[a]++
		for j, v := range x {
			s.Sums[a][j] += v
			if c.Squares {
				s.Squares[a][j] += v * v
			}
		}
	}
	return s
}
