package release

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
)

// Bins releases how the rows of a scope spread over bins: the score of a classifier by class, a
// confusion table, the errors of a regression. Every row lies in one bin, or between two
// neighbouring ones, so that all bins together cost one release.
//
// A row gives 1−t to a bin and t to the next one, t in [0, 1]: t is 0 where bins are counted,
// and where they are nodes on a line it is the row's place between two of them, with which the
// mean of anything linear between nodes is exact. The vector is of integers, in units of a row
// where t is 0 and of 1/grid rows otherwise; q units of the next bin leave exactly unit − q of
// the first, so that rounding adds nothing.
//
// Sensitivity. One row moves the vector by (1−t) + t = 1 row in L1 and by √((1−t)² + t²) <= 1
// row in L2, with equality for t of 0 or 1. Let neighbours differ in k rows (RowsApart), in any
// bins: by the triangle inequality the vector moves by k rows at most, in L1 and in L2, reached
// by k rows in one bin. With discrete Gaussian noise of standard deviation k·NoiseMultiplier
// rows in every bin the release is zCDP with rho = 1/(2·NoiseMultiplier²), with discrete Laplace
// noise of scale k·NoiseMultiplier rows it is (1/NoiseMultiplier)-DP.
//
// Releases on disjoint scopes compose in parallel: a unit has all of its rows in one of them.
type Bins struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Pure asks for pure epsilon, by Laplace noise.
	Pure bool
	// Size is the number of bins.
	Size int
	// Bin maps a row's cells, and its dense input where Inputs asks for it, to its bin and to the
	// part of it in the next one. A bin below 0, or beyond the last, leaves the row out.
	Bin    func(cells []float64, input []float32) (bin int, next float64)
	Inputs bool
	// Counted says that next is always 0.
	Counted bool
}

// Event is what Release costs.
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

// StdDev is the standard deviation of the noise in a bin, in rows, where neighbours differ in at
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
