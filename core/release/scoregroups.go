package release

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
)

// GroupScores releases the mean loss of predictions in each of several groups of a scope. Every row
// lies in one group, by a public column, so all groups together cost one release.
//
// A row has a loss e in [0, 1]: whether the answer was wrong, or the absolute error as a fraction
// of the target's public range. It adds (e, 1−e) to the pair of sums of its group and nothing to
// any other. The vector of all pairs has integers, in units of a row if losses are 0 or 1 and of
// 1/grid rows otherwise, and q units of loss leave exactly unit − q for the other sum, so rounding
// cannot add anything.
//
// Sensitivity. One row moves the vector by e + (1−e) = 1 row in L1 and by √(e² + (1−e)²) <= 1 row
// in L2, with equality for a loss of 0 or 1; the pair (loss, count), which holds the same
// information, would move by √2. Let neighbours differ in one unit of at most k rows.
//
//   - AddOrRemoveOne and ZeroOut: the unit's rows are added or removed; a blanked row has no target and so is in no
//     group. The k rows may lie in one group or in several: the triangle inequality gives k in L1 and in L2, attained
//     by k equal rows. Rows are counted and not groups, since a unit may have rows in many groups, where parallel
//     composition over groups would not hold.
//   - ReplaceOne: k rows are replaced by k others, in any groups. Rows that move from one group to another change two
//     pairs: 2k in L1, and in L2 2k by the triangle inequality. (√2·k would suffice, since both parts are
//     non-negative; the general rule that one row's change times RowsApart bounds a sum is kept, and errs upward.)
//
// With k for RowsApart, discrete Gaussian noise of standard deviation k·NoiseMultiplier
// rows on every sum is zCDP with rho = 1/(2·NoiseMultiplier²), and discrete Laplace
// noise of scale k·NoiseMultiplier rows is (1/NoiseMultiplier)-DP. Sizes of groups are
// private and enter only as the noisy sums of pairs.
type GroupScores struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Pure requests pure epsilon, by Laplace noise.
	Pure bool
	// Groups is the number of groups. Group maps a row's cells to one of them; a row that it maps to
	// none is in one more group, the last, of rows whose group is unknown.
	Groups int
	Group  func(cells []float64) int
	// Loss maps a row's cells to [0, 1]; NaN leaves the row out, and values outside are clipped.
	Loss func(cells []float64) float64
	// Counted declares that losses are 0 or 1; others are rounded to these.
	Counted bool
}

// GroupScore is the released score of one group, post-processing of two noisy sums.
type GroupScore struct {
	// Loss is the mean loss within [0, 1], NaN if TooFew.
	Loss float64
	// Interval holds the mean loss of the population that the group's units come from in 95 % of
	// cases: it covers the sampling of units, whose rows may be all alike, and the noise. It is [0, 1]
	// if TooFew.
	Interval [2]float64
	// Rows is the noisy number of rows; it may be negative.
	Rows float64
	// TooFew reports that Rows is below Fewest, so there is no score. It follows from the noisy number
	// only.
	TooFew bool
}

// Event returns the cost of Release.
func (g GroupScores) Event() dp.Event {
	return discrete(g.Pure, g.NoiseMultiplier)
}

// StdDev returns the standard deviation, in rows, of the noise on each sum if neighbours differ in
// at most apart rows. For discrete Laplace noise it is slightly below √2 times the scale.
func (g GroupScores) StdDev(rows int) float64 {
	apart := float64(rows)
	if g.Pure {
		return math.Sqrt2 * g.NoiseMultiplier * apart
	}
	return g.NoiseMultiplier * apart
}

const (
	// FewestDeviations: a number of rows of this many standard deviations of its noise keeps the
	// noise's part of an interval within about 23 points to either side.
	FewestDeviations = 6
	// FewestRows is the number of rows at which sampling alone gives 20 points to either side at one
	// half, if every row is a unit.
	FewestRows = 20
)

// Fewest returns the noisy number of rows below which a group gets no score, if neighbours differ
// in at most apart rows.
func (g GroupScores) Fewest(apart int) float64 {
	return max(FewestRows, FewestDeviations*math.Sqrt2*g.StdDev(apart))
}

// Release returns the score of every group, that of rows of unknown group last.
func (g GroupScores) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) ([]GroupScore, error) {
	sums, err := g.sums(ctx, permit, rows)
	if err != nil {
		return nil, err
	}
	unit, std := float64(g.unit()), g.StdDev(permit.RowsApart())
	out := make([]GroupScore, len(sums)/2)
	for i := range out {
		loss, gain := sums[2*i]/unit, sums[2*i+1]/unit
		out[i] = groupScore(loss, gain, std, float64(permit.MaxRows()), g.Fewest(permit.RowsApart()))
	}
	return out, nil
}

// groupScore reads one pair of noisy sums. perUnit is the number of rows of one unit.
func groupScore(loss, gain, std, perUnit, fewest float64) GroupScore {
	n, v := loss+gain, std*std
	s := GroupScore{Loss: math.NaN(), Interval: [2]float64{0, 1}, Rows: n}
	if s.TooFew = !(n >= fewest); s.TooFew {
		return s
	}
	share := Share{Part: loss, Whole: n, PartVariance: v, Covariance: v, WholeVariance: 2 * v, PerUnit: perUnit}
	s.Loss, s.Interval = share.Value(), share.Interval(z95)
	return s
}

// unit is the number of integer units in a row.
func (g GroupScores) unit() int64 {
	if g.Counted {
		return 1
	}
	return grid
}

// sums returns the noisy pairs (loss, 1 − loss) in units, group after group.
func (g GroupScores) sums(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) ([]float64, error) {
	if g.Groups < 1 || g.Group == nil || g.Loss == nil {
		return nil, fmt.Errorf("release: scores by group need groups and a loss")
	}
	unit := g.unit()
	noisy, err := sum.Cells{Scope: g.Scope, Event: g.Event(), Size: 2 * (g.Groups + 1), L1: unit, L2Squared: unit * unit,
		Row: func(cells []float64, _ []float32, add *sum.Tally) {
			loss := g.Loss(cells)
			if loss != loss {
				return
			}
			at := g.Group(cells)
			if at < 0 || at >= g.Groups {
				at = g.Groups
			}
			q := int64(math.Round(min(max(loss, 0), 1) * float64(unit)))
			add.Add(2*at, q)
			add.Add(2*at+1, unit-q)
		}}.Release(ctx, permit, rows)
	return reals(noisy), err
}
