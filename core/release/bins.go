package release

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
)

// Bins releases the distribution of a scope's rows over bins: the score of a classifier by class, a
// confusion table, the errors of a regression. Every row lies in one bin, or between two adjacent
// ones, so all bins together cost one release.
//
// A row adds 1−t to a bin and t to the next one, t in [0, 1]. If bins are counted, t is 0; if they
// are nodes on a line, t is the row's place between two of them, with which the mean of anything
// linear between nodes is exact. The vector has integers, in units of a row if t is 0 and of 1/grid
// rows otherwise; q units for the next bin leave exactly unit − q for the first, so rounding adds
// nothing.
//
// Sensitivity. One row moves the vector by (1−t) + t = 1 row in L1 and by √((1−t)² + t²) <= 1 row
// in L2, with equality for t of 0 or 1. Let neighbours differ in k rows (RowsApart), in any bins:
// by the triangle inequality the vector moves by at most k rows, in L1 and in L2, attained by k
// rows in one bin. With discrete Gaussian noise of standard deviation k·NoiseMultiplier rows in
// every bin the release is zCDP with rho = 1/(2·NoiseMultiplier²), with discrete Laplace noise of
// scale k·NoiseMultiplier rows it is (1/NoiseMultiplier)-DP.
//
// Releases on disjoint scopes compose in parallel, because all rows of a unit are in one of them.
type Bins struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Pure requests pure epsilon, by Laplace noise.
	Pure bool
	// Size is the number of bins.
	Size int
	// Bin maps a row's cells, and its dense input if Inputs is set, to its bin and to the part of it
	// in the next bin. A bin below 0 or beyond the last leaves the row out.
	Bin    func(cells []float64, input []float32) (bin int, next float64)
	Inputs bool
	// Counted declares that next is always 0.
	Counted bool
}

// Event returns the cost of Release.
func (b Bins) Event() dp.Event { return discrete(b.Pure, b.NoiseMultiplier) }

func (b Bins) unit() int64 {
	if b.Counted {
		return 1
	}
	return grid
}

func (b Bins) cells() sum.Cells {
	unit := b.unit()
	return sum.Cells{Scope: b.Scope, Event: b.Event(), Size: b.Size, L1: unit, L2Squared: unit * unit, Inputs: b.Inputs,
		Row: func(cells []float64, input []float32, add *sum.Tally) {
			bin, next := b.Bin(cells, input)
			if bin < 0 || bin >= b.Size || next != next {
				return
			}
			q := int64(math.Round(min(max(next, 0), 1) * float64(unit)))
			if bin == b.Size-1 {
				q = 0 // there is no next one
			}
			add.Add(bin, unit-q)
			if q > 0 {
				add.Add(bin+1, q)
			}
		}}
}

// StdDev returns the standard deviation of the noise in a bin, in rows, if neighbours differ in at
// most apart rows.
func (b Bins) StdDev(apart int) float64 { return b.cells().StdDev(apart) / float64(b.unit()) }

// Release returns the noisy number of rows in each bin, and the standard deviation of the noise.
func (b Bins) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (bins []float64, std float64, err error) {
	if b.Size < 1 || b.Bin == nil {
		return nil, 0, fmt.Errorf("release: bins need a size and a rule")
	}
	noisy, err := b.cells().Release(ctx, permit, rows)
	if err != nil {
		return nil, 0, err
	}
	unit := float64(b.unit())
	bins = reals(noisy)
	for i := range bins {
		bins[i] /= unit
	}
	return bins, b.StdDev(permit.RowsApart()), nil
}
