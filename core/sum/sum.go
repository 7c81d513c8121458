// Package sum releases sums over rows: it opens a scope against a charged event, bounds what a row
// adds, adds up, and adds the event's noise on a public grid. A mechanism defines what a row adds
// and its bound; it sees neither the number of rows nor a sum without noise.
//
//   - Cells adds up integers: counts, tables, histograms, scores. Bound and sum are exact, and so is the discrete
//     noise.
//   - Moments adds up vectors of reals, their squares and their products, by group.
//
// The noise follows from the event that the ledger charged and from the bound that is enforced on
// every row, so neither is stated twice. If neighbours differ in up to k rows (Permit.RowsApart:
// rows per unit, twice that under ReplaceOne), the sensitivity is k times the bound on one row.
package sum

import (
	"context"
	"errors"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
)

// rounding is the factor by which deviations are enlarged: what rounding may take from a
// product of a few float64s.
const rounding = 1 + 1e-12

// MostCells bounds the number of cells of one sum: 2³⁴ bytes would be a mistake.
const MostCells = 1 << 26

// Cells is a sum of integer vectors, one from each row.
type Cells struct {
	Scope dp.Scope
	// Event is the cost of a release and determines the noise in every cell: DiscreteLaplace of scale
	// NoiseMultiplier·k·L1, or DiscreteGaussian of standard deviation NoiseMultiplier·k·√L2Squared.
	Event dp.Event
	// Size is the number of cells.
	Size int
	// L1 bounds the sum of the absolute values that a row adds, L2Squared the sum of their squares.
	// Only the bound that scales the event's noise is used. What exceeds it is not added.
	L1, L2Squared int64
	// Inputs requests the dense inputs of rows; otherwise Row gets nil.
	Inputs bool
	// Row adds the contribution of a row.
	Row func(cells []float64, input []float32, add *Tally)
}

// Tally collects what one row adds and enforces the bound.
type Tally struct {
	sums []int64
	left int64 // of the row's L1 or L2Squared
	next int   // the first cell that the row may still add to
	l2   bool
}

// largest is the largest number that a row may add to a cell: its square fits an int64.
const largest = 1 << 31

// Add adds n to a cell for the current row. The cells of a row must ascend, so that no two numbers
// fall into one cell, where the sum of their squares would be too small a bound. A number that is
// out of order, outside the cells or beyond the bound is left out.
func (t *Tally) Add(cell int, n int64) {
	cost := max(n, -n)
	if uint64(cost) > largest { // −2⁶³ has no absolute value
		return
	}
	if t.l2 {
		cost *= cost
	}
	if cell < t.next || cell >= len(t.sums) || cost > t.left {
		return
	}
	t.next, t.left = cell+1, t.left-cost
	t.sums[cell] += n
}

// law is the noise of the event: its scale for neighbours apart rows apart, its standard
// deviation, and how it is added.
func (c Cells) law(apart int) (scale, stdDev float64, add func(src *entropy.Source, sums []int64, scale float64) error, err error) {
	k := float64(apart) * rounding
	switch e := c.Event.(type) {
	case dp.DiscreteLaplace:
		scale = e.NoiseMultiplier * float64(c.L1) * k
		stdDev, add = scale*math.Sqrt2, noise.AddDiscreteLaplace
	case dp.DiscreteGaussian:
		scale = e.NoiseMultiplier * math.Sqrt(float64(c.L2Squared)) * k
		stdDev, add = scale, noise.AddDiscreteGaussian
	default:
		return 0, 0, nil, fmt.Errorf("sum: cells cannot carry the noise of %T", c.Event)
	}
	if !(scale > 0) || math.IsInf(scale, 0) {
		return 0, 0, nil, fmt.Errorf("noise multiplier must be a finite number > 0 and every row have a bound, got a noise of %g", scale)
	}
	return scale, stdDev, add, nil
}

// StdDev returns the standard deviation of the noise in a cell if neighbours differ in at most
// apart rows, for Laplace noise a value slightly above it. It is NaN if Event has no noise that
// Cells can draw.
func (c Cells) StdDev(apart int) float64 {
	_, stdDev, _, err := c.law(apart)
	if err != nil {
		return math.NaN()
	}
	return stdDev
}

// Release returns the noisy sums. permit must hold Event on Scope, unused. Cells may be negative; a
// value beyond the range of int64 is clamped.
//
// Errors: before any row is read, a missing permit and invalid parameters; afterwards, with the
// charge kept, ctx.Err() when interrupted and sealed.ErrFault if Row panics.
func (c Cells) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (sums []int64, err error) {
	defer sealed.Contain(&err)
	if permit == nil {
		return nil, sealed.ErrNotReserved
	}
	scale, _, add, err := c.law(permit.RowsApart())
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.check(), ctx.Err()); err != nil {
		return nil, err
	}
	view, err := sealed.OpenUnless(rows, permit, c.Scope, c.Event, func(null []float64) bool {
		t, bound, input := c.tally(rows.InputDim())
		t.left = bound
		c.Row(null, input, t)
		return t.left < bound
	})
	if err != nil {
		return nil, err
	}
	// Not the named result: a fault in the noise would hand it out as it is.
	noisy := c.add(view)
	if err := errors.Join(ctx.Err(), add(view.Noise(), noisy, scale)); err != nil {
		return nil, err
	}
	return noisy, nil
}

// Public returns the exact sums of a public data set, and an error for any other.
func (c Cells) Public(rows *sealed.Rows) (sums []int64, err error) {
	defer sealed.Contain(&err)
	if err := c.check(); err != nil {
		return nil, err
	}
	view, err := sealed.OpenPublic(rows, c.Scope)
	if err != nil {
		return nil, err
	}
	return c.add(view), nil
}

func (c Cells) check() error {
	if c.Size < 1 || c.Size > MostCells || c.Row == nil {
		return fmt.Errorf("sum: %d cells, or no rule what a row adds", c.Size)
	}
	return nil
}

func (c Cells) add(view *sealed.View) []int64 {
	tally, bound, input := c.tally(view.InputDim())
	row := view.Rows()
	for i := range view.Len() {
		if c.Inputs {
			view.Input(i, input)
		}
		tally.next, tally.left = 0, bound
		c.Row(row(i), input, tally)
	}
	return tally.sums
}

// tally is an empty one, with the bound on a row and the room for its input.
func (c Cells) tally(dim int) (t *Tally, bound int64, input []float32) {
	t, bound = &Tally{sums: make([]int64, c.Size)}, c.L1
	if _, t.l2 = c.Event.(dp.DiscreteGaussian); t.l2 {
		bound = c.L2Squared
	}
	if c.Inputs {
		input = make([]float32, dim)
	}
	return t, bound, input
}
