// Package release defines what a row adds to each small release, and computes results from the
// noisy sums: counts, the majority class, a capped mean, scores, tables, histograms, sums and
// second moments. It opens no row and draws no noise: core/sum does, and enforces the bounds that
// are stated here. Counts and scores are integers with noise from an exact discrete sampler, since
// rounding a float draw proves nothing; sums of vectors and moments carry Gaussian noise in
// float64, with the residual risk that core/README.md states.
//
// Every mechanism states its Event from public parameters, and returns noisy values only. If
// neighbours differ in up to k rows (the permit's RowsApart: rows per unit, twice that under
// ReplaceOne) every sensitivity below is multiplied by k.
package release

import (
	"context"
	"fmt"
	"math"
	"slices"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
)

// Count releases the number of rows in a scope.
//
// One row changes it by 1, so with discrete Laplace noise of scale
// k·NoiseMultiplier it is pure (1/NoiseMultiplier)-DP under AddOrRemoveOne.
type Count struct {
	Scope           dp.Scope
	NoiseMultiplier float64
}

// Event returns the cost of Release.
func (c Count) Event() dp.Event { return dp.DiscreteLaplace{NoiseMultiplier: c.NoiseMultiplier} }

// Release returns the noisy count, which may be negative.
func (c Count) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (int64, error) {
	return one(ctx, permit, rows, sum.Cells{Scope: c.Scope, Event: c.Event(), Size: 1, L1: 1,
		Row: func(_ []float64, _ []float32, add *sum.Tally) { add.Add(0, 1) }})
}

// one is the only cell of a sum.
func one(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, c sum.Cells) (int64, error) {
	noisy, err := c.Release(ctx, permit, rows)
	if err != nil {
		return 0, err
	}
	return noisy[0], nil
}

// Majority releases the most frequent level of a column.
//
// With two levels the signed difference of their counts has L1 sensitivity 1; with more levels the
// vector of counts has, since a row changes one of them. In both cases discrete Laplace noise of
// scale k·NoiseMultiplier makes the release pure (1/NoiseMultiplier)-DP under AddOrRemoveOne, and
// the arg max is post-processing.
type Majority struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Column and Levels name the schema column and its number of levels.
	Column, Levels int
}

// Event returns the cost of Release.
func (m Majority) Event() dp.Event { return dp.DiscreteLaplace{NoiseMultiplier: m.NoiseMultiplier} }

// Release returns the index of the level with the largest noisy count; ties go to
// the lowest index.
func (m Majority) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (int, error) {
	if m.Levels < 2 {
		return 0, fmt.Errorf("release: majority needs at least 2 levels, got %d", m.Levels)
	}
	level := func(cells []float64) int {
		if v := cells[m.Column]; v >= 0 && v < float64(m.Levels) {
			return int(v)
		}
		return -1
	}
	counts := sum.Cells{Scope: m.Scope, Event: m.Event(), Size: m.Levels, L1: 1,
		Row: func(cells []float64, _ []float32, add *sum.Tally) { add.Add(level(cells), 1) }}
	if m.Levels == 2 {
		counts.Size, counts.Row = 1, func(cells []float64, _ []float32, add *sum.Tally) {
			if l := level(cells); l >= 0 {
				add.Add(0, int64(2*l-1))
			}
		}
	}
	noisy, err := counts.Release(ctx, permit, rows)
	switch {
	case err != nil:
		return 0, err
	case m.Levels > 2:
		return slices.Index(noisy, slices.Max(noisy)), nil
	case noisy[0] > 0:
		return 1, nil
	}
	return 0, nil
}

// grid is the resolution of released sums: a contribution in [−1, 1] is rounded
// to a multiple of 1/grid before it is added, which makes the sum an integer.
const grid = 1 << 20

func quantise(x float64) int64 {
	if x != x {
		return 0
	}
	return int64(math.Round(min(max(x, -1), 1) * grid))
}

// Mean releases a capped mean: the sum of (Value clamped to [−1, 1]) over the
// rows of a scope, divided by the public number of rows.
//
// The sum of rounded contributions has L1 sensitivity grid; discrete Laplace
// noise of scale k·grid·NoiseMultiplier makes it pure (1/NoiseMultiplier)-DP.
type Mean struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Value maps a row's cells to [−1, 1]; NaN counts as 0.
	Value func(cells []float64) float64
	// ExpectedRows is the public divisor.
	ExpectedRows float64
}

// Event returns the cost of Release.
func (m Mean) Event() dp.Event { return dp.DiscreteLaplace{NoiseMultiplier: m.NoiseMultiplier} }

// Release returns the noisy mean, clamped to [−1, 1].
func (m Mean) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (float64, error) {
	if err := sum.Positive("expected rows", m.ExpectedRows); err != nil {
		return 0, err
	}
	noisy, err := one(ctx, permit, rows, sum.Cells{Scope: m.Scope, Event: m.Event(), Size: 1, L1: grid,
		Row: func(cells []float64, _ []float32, add *sum.Tally) { add.Add(0, quantise(m.Value(cells))) }})
	if err != nil {
		return 0, err
	}
	return min(max(float64(noisy)/grid/m.ExpectedRows, -1), 1), nil
}

// discrete is the event of integers with noise, pure or not.
func discrete(pure bool, multiplier float64) dp.Event {
	if pure {
		return dp.DiscreteLaplace{NoiseMultiplier: multiplier}
	}
	return dp.DiscreteGaussian{NoiseMultiplier: multiplier}
}
