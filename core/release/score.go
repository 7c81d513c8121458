package release

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
)

// Accuracy releases the share of right predictions on a scope that took no part in any choice, and
// the class counts from which the majority baseline follows.
//
// A row adds 1 to one of (right, wrong) and 1 to one class count, so the integer
// vector has L2 sensitivity √2 under AddOrRemoveOne; with discrete Gaussian noise
// of standard deviation k·√2·NoiseMultiplier on every coordinate it is
// zCDP with rho = 1/(2·NoiseMultiplier²). The size of the scope is private and
// enters only as the noisy right + wrong.
type Accuracy struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Pure requests pure epsilon: the vector has L1 sensitivity 2, and discrete Laplace noise of scale
	// 2k·NoiseMultiplier makes it (1/NoiseMultiplier)-DP.
	Pure bool
	// Column and Levels name the target and its number of classes.
	Column, Levels int
	// Predict maps a row's cells to a class index; PredictInput, if not nil, replaces it and maps the
	// row's dense input.
	Predict      func(cells []float64) int
	PredictInput func(input []float32) int
}

// AccuracyScore is a released score; every field is post-processing of one noisy
// vector.
type AccuracyScore struct {
	// Value is the share of right predictions within [0, 1]; NaN if the noisy number of rows is not
	// positive.
	Value float64
	// Interval holds, in 95 % of cases, the accuracy in the population that the scope's units come
	// from: it covers the sampling of units, whose rows may be all alike, and the noise. It is [0, 1]
	// if the release determines nothing.
	Interval [2]float64
	// StdErr is the standard error of Value by sampling and noise.
	StdErr float64
	// Baseline is the share of the most frequent class, and BaselineInterval its interval, like
	// Interval.
	Baseline         float64
	BaselineInterval [2]float64
	// Counts is the noisy vector itself: the numbers of right rows, wrong rows and rows of each class,
	// each with noise of standard deviation CountStd.
	Counts   []float64
	CountStd float64
}

// Event returns the cost of Release.
func (a Accuracy) Event() dp.Event {
	return discrete(a.Pure, a.NoiseMultiplier)
}

// Release returns the noisy score.
func (a Accuracy) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (AccuracyScore, error) {
	counts, std, err := a.counts(ctx, permit, rows)
	if err != nil {
		return AccuracyScore{}, err
	}
	return readAccuracy(counts, std, float64(permit.MaxRows())), nil
}

// readAccuracy makes a score of the noisy vector (right, wrong, class counts), whose
// coordinates carry independent noise of standard deviation std; perUnit is the number
// of rows k that one unit may have.
//
// Rows are right or wrong, and of some class, so right + wrong and the sum of classes
// are two noisy values of one number. Least squares takes their difference d off the two
// sides in equal parts, which leaves one total and noise of covariance
// std²·(I − vvᵀ/(2+L)), v = (1, 1, −1 … −1), with L classes.
func readAccuracy(counts []float64, std, perUnit float64) AccuracyScore {
	right, wrong, classes := counts[0], counts[1], counts[2:]
	sum, top := 0.0, math.Inf(-1)
	for _, c := range classes {
		sum, top = sum+c, max(top, c)
	}
	levels := float64(len(classes))
	d := (right + wrong - sum) / (2 + levels)
	v := std * std / (2 + levels)
	accuracy := Share{Part: right - d, Whole: right + wrong - 2*d,
		PartVariance: (1 + levels) * v, Covariance: levels * v, WholeVariance: 2 * levels * v, PerUnit: perUnit}
	baseline := accuracy
	baseline.Part, baseline.Covariance = top+d, 2*v
	return AccuracyScore{
		Value: accuracy.Value(), Interval: accuracy.Interval(z95), StdErr: accuracy.StdErr(),
		Baseline: baseline.Value(), BaselineInterval: baseline.ofTheLargest(contenders(classes, std, perUnit)),
		Counts: counts, CountStd: std,
	}
}

func (a Accuracy) counts(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) ([]float64, float64, error) {
	if a.Levels < 2 || a.Predict == nil && a.PredictInput == nil {
		return nil, 0, fmt.Errorf("release: accuracy needs a prediction and at least 2 classes")
	}
	c := sum.Cells{Scope: a.Scope, Event: a.Event(), Size: 2 + a.Levels, L1: 2, L2Squared: 2, Inputs: a.PredictInput != nil,
		Row: func(cells []float64, input []float32, add *sum.Tally) {
			truth := cells[a.Column]
			if !(truth >= 0 && truth < float64(a.Levels)) {
				return
			}
			var predicted int
			if a.PredictInput != nil {
				predicted = a.PredictInput(input)
			} else {
				predicted = a.Predict(cells)
			}
			if predicted == int(truth) {
				add.Add(0, 1)
			} else {
				add.Add(1, 1)
			}
			add.Add(2+int(truth), 1)
		}}
	noisy, err := c.Release(ctx, permit, rows)
	if err != nil {
		return nil, 0, err
	}
	return reals(noisy), c.StdDev(permit.RowsApart()), nil
}

func reals(sums []int64) []float64 {
	out := make([]float64, len(sums))
	for i, v := range sums {
		out[i] = float64(v)
	}
	return out
}

// AbsoluteError releases the mean absolute error of predictions on a scope, and
// that of a mean predictor, as fractions of a public range.
//
// It is two releases on the same scope. The first is (Σ y, count) for the
// baseline's mean, the second (Σ|ŷ−y|, Σ|ȳ−y|, count). With every term in [0, 1]
// their L2 sensitivities are √2 and √3 rows. Contributions are rounded to
// multiples of 1/grid, so both vectors are integers.
type AbsoluteError struct {
	Scope dp.Scope
	// MeanNoiseMultiplier and NoiseMultiplier are the multipliers of the two releases.
	MeanNoiseMultiplier, NoiseMultiplier float64
	// Truth and Predict map a row's cells to [0, 1] on the target's public range; a NaN truth leaves
	// the row out.
	Truth, Predict func(cells []float64) float64
}

// ErrorScore is a released score.
type ErrorScore struct {
	// Value and Baseline are mean absolute errors as fractions of the range, within [0, 1]; NaN if the
	// noisy count is not positive.
	Value, Baseline float64
	// Interval and BaselineInterval hold, in 95 % of cases, the errors of the predictions and of that
	// very mean in the population that the scope's units come from: they cover the sampling of units,
	// whose rows may be all alike, and the noise. It is [0, 1] if the release determines nothing. The
	// spread of errors is private and taken at its largest, so small errors have wide intervals.
	Interval, BaselineInterval [2]float64
}

// Events returns the cost of Release, in order.
func (a AbsoluteError) Events() []dp.Event {
	return []dp.Event{
		dp.DiscreteGaussian{NoiseMultiplier: a.MeanNoiseMultiplier},
		dp.DiscreteGaussian{NoiseMultiplier: a.NoiseMultiplier},
	}
}

// Release returns the noisy errors.
func (a AbsoluteError) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (ErrorScore, error) {
	if a.Truth == nil || a.Predict == nil {
		return ErrorScore{}, fmt.Errorf("release: absolute error needs a truth and a prediction")
	}
	events := a.Events()
	noisy, err := sum.Cells{Scope: a.Scope, Event: events[0], Size: 2, L2Squared: 2 * grid * grid,
		Row: func(cells []float64, _ []float32, add *sum.Tally) {
			if y := a.Truth(cells); y == y {
				add.Add(0, quantise(y))
				add.Add(1, grid)
			}
		}}.Release(ctx, permit, rows)
	if err != nil {
		return ErrorScore{}, err
	}
	mean := 0.5
	if noisy[1] > 0 {
		mean = min(max(float64(noisy[0])/float64(noisy[1]), 0), 1)
	}
	c := sum.Cells{Scope: a.Scope, Event: events[1], Size: 3, L2Squared: 3 * grid * grid,
		Row: func(cells []float64, _ []float32, add *sum.Tally) {
			if y := a.Truth(cells); y == y {
				add.Add(0, quantise(absoluteError(a.Predict(cells), y)))
				add.Add(1, quantise(math.Abs(mean-y)))
				add.Add(2, grid)
			}
		}}
	if noisy, err = c.Release(ctx, permit, rows); err != nil {
		return ErrorScore{}, err
	}
	n := reals(noisy)
	return readErrors(n[0]/grid, n[1]/grid, n[2]/grid, c.StdDev(permit.RowsApart())/grid, float64(permit.MaxRows())), nil
}

// readErrors makes a score of the noisy sums of errors of the model and of the mean, and
// the noisy number of rows, all with independent noise of standard deviation std.
func readErrors(model, mean, n, std, perUnit float64) ErrorScore {
	value := Share{Part: model, Whole: n, PartVariance: std * std, WholeVariance: std * std, PerUnit: perUnit}
	baseline := value
	baseline.Part = mean
	return ErrorScore{Value: value.Value(), Interval: value.Interval(z95), Baseline: baseline.Value(), BaselineInterval: baseline.Interval(z95)}
}

// absoluteError counts a prediction that is not a number as the largest error.
func absoluteError(predicted, truth float64) float64 {
	if predicted != predicted {
		return 1
	}
	return math.Abs(min(max(predicted, 0), 1) - truth)
}
