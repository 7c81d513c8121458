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

// Accuracy releases how often predictions are right on a scope that chose
// nothing, and the class counts from which the majority baseline follows.
//
// A row adds 1 to one of (right, wrong) and 1 to one class count, so the integer
// vector has L2 sensitivity √2 under AddOrRemoveOne; with discrete Gaussian noise
// of standard deviation k·√2·NoiseMultiplier on every coordinate it is
// zCDP with rho = 1/(2·NoiseMultiplier²). The size of the scope is private and
// enters only as the noisy right + wrong.
type Accuracy struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Pure asks for pure epsilon: the vector has L1 sensitivity 2, and discrete
	// Laplace noise of scale 2k·NoiseMultiplier makes it (1/NoiseMultiplier)-DP.
	Pure bool
	// Column and Levels name the target and its number of classes.
	Column, Levels int
	// Predict maps a row's cells to a class index; PredictInput, when not nil, is
	// used in its place and maps the row's dense input.
	Predict      func(cells []float64) int
	PredictInput func(input []float32) int
}

// AccuracyScore is a released score; every field is post-processing of one noisy
// vector.
type AccuracyScore struct {
	// Value is right/(right+wrong), clamped to [0, 1]; NaN when the noisy total is
	// not positive.
	Value float64
	// StdErr combines the sampling error of the scope and the added noise.
	StdErr float64
	// Baseline and BaselineStdErr are the share of the most frequent class.
	Baseline, BaselineStdErr float64
}

// Event is what Release costs.
func (a Accuracy) Event() dp.Event {
	if a.Pure {
		return dp.DiscreteLaplace{NoiseMultiplier: a.NoiseMultiplier}
	}
	return dp.DiscreteGaussian{NoiseMultiplier: a.NoiseMultiplier}
}

// Release returns the noisy score.
func (a Accuracy) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (score AccuracyScore, err error) {
	defer sealed.Contain(&err)
	counts, std, err := a.counts(ctx, permit, rows)
	if err != nil {
		return AccuracyScore{}, err
	}
	right, wrong := max(counts[0], 0), max(counts[1], 0)
	total := right + wrong
	if total <= 0 {
		nan := math.NaN()
		return AccuracyScore{Value: nan, StdErr: nan, Baseline: nan, BaselineStdErr: nan}, nil
	}
	classes, top, classTotal := counts[2:], 0.0, 0.0
	for _, c := range classes {
		c = max(c, 0)
		top, classTotal = max(top, c), classTotal+c
	}
	baseline := math.NaN()
	if classTotal > 0 {
		baseline = top / classTotal
	}
	return AccuracyScore{
		Value: right / total, StdErr: shareError(right/total, total, std, 2),
		Baseline: baseline, BaselineStdErr: shareError(baseline, classTotal, std, len(classes)),
	}, nil
}

func (a Accuracy) counts(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) ([]float64, float64, error) {
	if a.Levels < 2 || a.Predict == nil && a.PredictInput == nil {
		return nil, 0, fmt.Errorf("release: accuracy needs a prediction and at least 2 classes")
	}
	view, err := open(ctx, permit, rows, a.Scope, a.Event(), a.NoiseMultiplier)
	if err != nil {
		return nil, 0, err
	}
	predict := func(i int) int { return a.Predict(view.Row(i)) }
	if a.PredictInput != nil {
		input := make([]float32, view.InputDim())
		predict = func(i int) int {
			view.Input(i, input)
			return a.PredictInput(input)
		}
	}
	exact := make([]int64, 2+a.Levels)
	for i := range view.Len() {
		truth := view.Row(i)[a.Column]
		if !(truth >= 0 && truth < float64(a.Levels)) {
			continue
		}
		if predict(i) == int(truth) {
			exact[0]++
		} else {
			exact[1]++
		}
		exact[2+int(truth)]++
	}
	k := stake(permit)
	if a.Pure {
		scale := 2 * k * a.NoiseMultiplier
		noisy := make([]float64, len(exact))
		for i, c := range exact {
			z, err := laplace(view.Noise(), c, scale)
			if err != nil {
				return nil, 0, err
			}
			noisy[i] = float64(z)
		}
		return noisy, scale * math.Sqrt2, nil
	}
	std := a.NoiseMultiplier * math.Sqrt2 * k
	noisy, err := gaussian(view.Noise(), exact, std)
	return noisy, std, err
}

// shareError is the standard error of a share p of n rows when the counts of its
// parts carry independent noise of the given standard deviation.
func shareError(p, n, noiseStdDev float64, parts int) float64 {
	if !(n > 0) {
		return math.NaN()
	}
	// d(a/n) = ((1−p)·da − p·db)/n with a and the other parts noisy.
	v := (1-p)*(1-p) + p*p*float64(parts-1)
	return math.Sqrt(p*(1-p)/n + v*noiseStdDev*noiseStdDev/(n*n))
}

func gaussian(src *entropy.Source, exact []int64, std float64) ([]float64, error) {
	noisy := make([]float64, len(exact))
	for i, c := range exact {
		z, err := noise.DiscreteGaussian(src, std)
		if err != nil {
			return nil, err
		}
		noisy[i] = float64(saturate(c, z))
	}
	return noisy, nil
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
	// MeanNoiseMultiplier and NoiseMultiplier are those of the two releases.
	MeanNoiseMultiplier, NoiseMultiplier float64
	// Truth and Predict map a row's cells to [0, 1] on the target's public range;
	// a NaN truth takes the row out.
	Truth, Predict func(cells []float64) float64
}

// ErrorScore is a released score.
type ErrorScore struct {
	// Value and Baseline are mean absolute errors as fractions of the range, NaN
	// when the noisy count is not positive.
	Value, StdErr, Baseline, BaselineStdErr float64
}

// Events are what Release costs, in order.
func (a AbsoluteError) Events() []dp.Event {
	return []dp.Event{
		dp.DiscreteGaussian{NoiseMultiplier: a.MeanNoiseMultiplier},
		dp.DiscreteGaussian{NoiseMultiplier: a.NoiseMultiplier},
	}
}

// Release returns the noisy errors.
func (a AbsoluteError) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (score ErrorScore, err error) {
	defer sealed.Contain(&err)
	if a.Truth == nil || a.Predict == nil {
		return ErrorScore{}, fmt.Errorf("release: absolute error needs a truth and a prediction")
	}
	events := a.Events()
	view, err := open(ctx, permit, rows, a.Scope, events[0], a.MeanNoiseMultiplier)
	if err != nil {
		return ErrorScore{}, err
	}
	k := stake(permit)
	first := make([]int64, 2)
	for i := range view.Len() {
		if y := a.Truth(view.Row(i)); y == y {
			first[0] += quantise(y)
			first[1] += grid
		}
	}
	noisy, err := gaussian(view.Noise(), first, a.MeanNoiseMultiplier*math.Sqrt2*k*grid)
	if err != nil {
		return ErrorScore{}, err
	}
	mean := 0.5
	if noisy[1] > 0 {
		mean = min(max(noisy[0]/noisy[1], 0), 1)
	}
	view, err = open(ctx, permit, rows, a.Scope, events[1], a.NoiseMultiplier)
	if err != nil {
		return ErrorScore{}, err
	}
	second := make([]int64, 3)
	for i := range view.Len() {
		cells := view.Row(i)
		y := a.Truth(cells)
		if y != y {
			continue
		}
		second[0] += quantise(absoluteError(a.Predict(cells), y))
		second[1] += quantise(math.Abs(mean - y))
		second[2] += grid
	}
	std := a.NoiseMultiplier * math.Sqrt(3) * k
	noisy, err = gaussian(view.Noise(), second, std*grid)
	if err != nil {
		return ErrorScore{}, err
	}
	n := noisy[2] / grid
	if !(n > 0) {
		nan := math.NaN()
		return ErrorScore{nan, nan, nan, nan}, nil
	}
	value, baseline := max(noisy[0], 0)/noisy[2], max(noisy[1], 0)/noisy[2]
	return ErrorScore{
		Value: value, StdErr: meanError(value, n, std),
		Baseline: baseline, BaselineStdErr: meanError(baseline, n, std),
	}, nil
}

// absoluteError counts a prediction that is not a number as the largest error.
func absoluteError(predicted, truth float64) float64 {
	if predicted != predicted {
		return 1
	}
	return math.Abs(min(max(predicted, 0), 1) - truth)
}

// meanError is the standard error of a mean v in [0, 1] of n terms whose sum and
// count both carry noise. The spread of the terms is private: v(1−v) is the
// largest variance that terms in [0, 1] of mean v can have, so the interval errs
// on the wide side.
func meanError(v, n, noiseStdDev float64) float64 {
	v = min(v, 1)
	return math.Sqrt(v*(1-v)/n + (1+v*v)*noiseStdDev*noiseStdDev/(n*n))
}
