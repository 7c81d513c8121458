package release

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
)

// Tables releases contingency tables of pairs of columns, all with one event.
//
// A row adds 1 to one cell of each of the P tables, or to none, so the vector of all cells has L2
// sensitivity √P under AddOrRemoveOne; with discrete Gaussian noise of standard deviation
// k·√P·NoiseMultiplier on every cell it is zCDP with rho = 1/(2·NoiseMultiplier²) (Canonne, Kamath
// and Steinke, arXiv:2004.00010, Theorem 14: the divergence of a vector is the sum over its
// coordinates). Everything computed from the noisy tables is free.
type Tables struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Levels has the number of levels of each column.
	Levels []int
	// Codes fills codes, one for each column, with the levels of a row; a code that is not below its
	// column's number of levels leaves the row out of that column's tables; before the call all codes
	// are such.
	Codes func(codes []uint16, cells []float64)
	// Pairs are the tables: {i, j} has Levels[i] rows and Levels[j] columns.
	Pairs [][2]int
}

// Event returns the cost of Release.
func (t Tables) Event() dp.Event { return dp.DiscreteGaussian{NoiseMultiplier: t.NoiseMultiplier} }

// StdDev returns the standard deviation of the noise in one cell if neighbours differ in at most
// apart rows.
func (t Tables) StdDev(apart int) float64 {
	return math.Sqrt(float64(len(t.Pairs))) * t.NoiseMultiplier * float64(apart)
}

func (t Tables) validate() error {
	if len(t.Pairs) == 0 || t.Codes == nil {
		return fmt.Errorf("release: tables need pairs of columns and their codes")
	}
	cells := 0
	for _, p := range t.Pairs {
		for _, c := range p {
			if c < 0 || c >= len(t.Levels) || t.Levels[c] < 1 || t.Levels[c] > math.MaxUint16 {
				return fmt.Errorf("release: a table names column %d of %d, or one without levels", c, len(t.Levels))
			}
		}
		if cells += t.Levels[p[0]] * t.Levels[p[1]]; cells > sum.MostCells {
			return fmt.Errorf("release: tables of more than %d cells", sum.MostCells)
		}
	}
	return nil
}

// cells is the sum: tables one behind the other, in one row's of which the cells ascend.
func (t Tables) cells() (sum.Cells, error) {
	if err := t.validate(); err != nil {
		return sum.Cells{}, err
	}
	first, size := make([]int, len(t.Pairs)), 0
	for k, p := range t.Pairs {
		first[k] = size
		size += t.Levels[p[0]] * t.Levels[p[1]]
	}
	codes := make([]uint16, len(t.Levels))
	return sum.Cells{Scope: t.Scope, Event: t.Event(), Size: size, L2Squared: int64(len(t.Pairs)),
		Row: func(cells []float64, _ []float32, add *sum.Tally) {
			// A code that the function does not set must not be that of the row before: one
			// row would then move the counts of another.
			for c := range codes {
				codes[c] = math.MaxUint16
			}
			t.Codes(codes, cells)
			for k, p := range t.Pairs {
				a, b := int(codes[p[0]]), int(codes[p[1]])
				if a < t.Levels[p[0]] && b < t.Levels[p[1]] {
					add.Add(first[k]+a*t.Levels[p[1]]+b, 1)
				}
			}
		}}, nil
}

// Release returns the noisy tables in the order of Pairs, row-major. Cells may be
// negative.
func (t Tables) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) ([][]int64, error) {
	c, err := t.cells()
	if err != nil {
		return nil, err
	}
	return t.split(c.Release(ctx, permit, rows))
}

// Public returns the exact tables of a public data set, and an error for any other.
func (t Tables) Public(rows *sealed.Rows) ([][]int64, error) {
	c, err := t.cells()
	if err != nil {
		return nil, err
	}
	return t.split(c.Public(rows))
}

// split takes the tables apart.
func (t Tables) split(all []int64, err error) ([][]int64, error) {
	if err != nil {
		return nil, err
	}
	tables := make([][]int64, len(t.Pairs))
	for k, p := range t.Pairs {
		size := t.Levels[p[0]] * t.Levels[p[1]]
		tables[k], all = all[:size:size], all[size:]
	}
	return tables, nil
}
