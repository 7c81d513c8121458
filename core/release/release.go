// Package release holds the small ways out: counts, the majority class, a capped
// mean, scores, tables, histograms, sums, second moments and noisy rows. Counts and
// scores draw integer noise from an exact discrete sampler on an integer query,
// since rounding a float draw proves nothing. Sums of vectors, moments and rows carry
// Gaussian noise in float64, with the residual risk that core/README.md states.
//
// Every mechanism states its Event from public parameters, opens its scope
// against a permit that holds that Event, and returns noisy values only. Where
// neighbours differ in up to k rows (the permit's RowsApart: rows per unit, twice
// that under ReplaceOne) every sensitivity below is multiplied by k.
package release

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
)

// Count releases the number of rows in a scope.
//
// One row changes it by 1, so with discrete Laplace noise of scale
// k·NoiseMultiplier it is pure (1/NoiseMultiplier)-DP under AddOrRemoveOne.
type Count struct {
	Scope           dp.Scope
	NoiseMultiplier float64
}

// Event is what Release costs.
func (c Count) Event() dp.Event { return dp.DiscreteLaplace{NoiseMultiplier: c.NoiseMultiplier} }

// Release returns the noisy count, which may be negative.
func (c Count) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (count int64, err error) {
	defer sealed.Contain(&err)
	view, err := open(ctx, permit, rows, c.Scope, c.Event(), c.NoiseMultiplier)
	if err != nil {
		return 0, err
	}
	return laplace(view.Noise(), int64(view.Len()), c.NoiseMultiplier*stake(permit))
}

// Majority releases the most frequent level of a column.
//
// With two levels the signed difference of their counts has L1 sensitivity 1;
// with more, the vector of counts has, since a row touches one of them. Either
// way discrete Laplace noise of scale k·NoiseMultiplier makes the release pure
// (1/NoiseMultiplier)-DP under AddOrRemoveOne, and the arg max post-processing.
type Majority struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Column and Levels name the schema column and its number of levels.
	Column, Levels int
}

// Event is what Release costs.
func (m Majority) Event() dp.Event { return dp.DiscreteLaplace{NoiseMultiplier: m.NoiseMultiplier} }

// Release returns the index of the level with the largest noisy count; ties go to
// the lowest index.
func (m Majority) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (level int, err error) {
	defer sealed.Contain(&err)
	if m.Levels < 2 {
		return 0, fmt.Errorf("release: majority needs at least 2 levels, got %d", m.Levels)
	}
	view, err := open(ctx, permit, rows, m.Scope, m.Event(), m.NoiseMultiplier)
	if err != nil {
		return 0, err
	}
	counts := make([]int64, m.Levels)
	for i := range view.Len() {
		if v := view.Row(i)[m.Column]; v >= 0 && v < float64(m.Levels) {
			counts[int(v)]++
		}
	}
	scale := m.NoiseMultiplier * stake(permit)
	if m.Levels == 2 {
		d, err := laplace(view.Noise(), counts[1]-counts[0], scale)
		if err != nil || d <= 0 {
			return 0, err
		}
		return 1, nil
	}
	best := 0
	for k := range counts {
		if counts[k], err = laplace(view.Noise(), counts[k], scale); err != nil {
			return 0, err
		}
		if counts[k] > counts[best] {
			best = k
		}
	}
	return best, nil
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

// Event is what Release costs.
func (m Mean) Event() dp.Event { return dp.DiscreteLaplace{NoiseMultiplier: m.NoiseMultiplier} }

// Release returns the noisy mean, clamped to [−1, 1].
func (m Mean) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (mean float64, err error) {
	defer sealed.Contain(&err)
	if !(m.ExpectedRows > 0) || math.IsInf(m.ExpectedRows, 0) {
		return 0, fmt.Errorf("release: expected rows must be a finite number > 0, got %g", m.ExpectedRows)
	}
	view, err := open(ctx, permit, rows, m.Scope, m.Event(), m.NoiseMultiplier)
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	for i := range view.Len() {
		sum += quantise(m.Value(view.Row(i)))
	}
	noisy, err := laplace(view.Noise(), sum, m.NoiseMultiplier*stake(permit)*grid)
	if err != nil {
		return 0, err
	}
	return min(max(float64(noisy)/grid/m.ExpectedRows, -1), 1), nil
}

func open(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, scope dp.Scope, event dp.Event, multiplier float64) (*sealed.View, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !(multiplier > 0) || math.IsInf(multiplier, 0) {
		return nil, fmt.Errorf("release: noise multiplier must be a finite number > 0, got %g", multiplier)
	}
	return sealed.Open(rows, permit, scope, event)
}

// stake is k, enlarged by what rounding may take from a product of a few float64s.
func stake(permit *sealed.Permit) float64 { return float64(permit.RowsApart()) * (1 + 1e-12) }

func laplace(src *entropy.Source, value int64, scale float64) (int64, error) {
	z, err := noise.DiscreteLaplace(src, scale)
	if err != nil {
		return 0, err
	}
	return saturate(value, z), nil
}

// saturate adds without wrapping around: an overflow would move a value by 2^64.
func saturate(a, b int64) int64 {
	s := a + b
	if a > 0 && b > 0 && s < 0 {
		return math.MaxInt64
	}
	if a < 0 && b < 0 && s >= 0 {
		return math.MinInt64
	}
	return s
}
