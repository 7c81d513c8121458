package workflow

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"pawl/core/dp"
	"pawl/core/release"
	"pawl/evidence/quality"
	"pawl/model"
)

// exact accumulates the exact score of a model on public rows.
type exact struct {
	problem *problem
	model   *model.Model
	predict func(cells []float64) float64
	n       float64
	right   float64
	classes []float64
	unit    int    // column that tells units apart, or −1
	losses  byUnit // of every row, in order
	truths  []float64
	// predicted are numbers or classes; scores are raw scores of classes (model.RowScorer).
	predicted, scores []float64
	scorer            scorer
	groups            *groupTally // nil unless asked for
}

func newExact(p *problem, m *model.Model) *exact {
	unit := p.Schema.Unit
	e := &exact{problem: p, model: m, groups: p.groupTally(), unit: -1, losses: byUnit{perUnit: float64(unit.MaxRows)}}
	if unit.Column != "" {
		e.unit = p.Schema.Column(unit.Column)
	}
	if m.OfTable() {
		e.predict = m.Predictor()
		_, e.scorer = predictors(m)
	}
	if m.Task == model.Classification {
		e.classes = make([]float64, len(m.Classes()))
	}
	return e
}

func (e *exact) add(cells []float64) {
	truth := cells[e.problem.targetColumn]
	if truth != truth {
		return
	}
	unit := math.NaN()
	if e.unit >= 0 {
		unit = cells[e.unit]
	}
	if e.scorer.cells != nil {
		e.scores = append(e.scores, e.scorer.cells(cells))
	}
	loss := e.tally(truth, e.predict(cells), unit)
	if e.groups != nil {
		e.groups.add(cells, loss, unit, len(e.truths)-1)
	}
}

// tally counts one prediction and returns its loss: an absolute error, or 1 for a
// wrong class. unit tells whose row it is (byUnit).
func (e *exact) tally(truth, p, unit float64) (loss float64) {
	e.n++
	e.truths, e.predicted = append(e.truths, truth), append(e.predicted, p)
	defer func() { e.losses.add(loss, unit) }()
	if e.model.Task == model.Regression {
		return math.Abs(p - truth)
	}
	e.classes[int(truth)]++
	if p != truth {
		return 1
	}
	e.right++
	return 0
}

// value is the accuracy, or the mean absolute error.
func (e *exact) value() float64 {
	if e.model.Task == model.Regression {
		return stat.Mean(e.losses.values, nil)
	}
	return e.right / e.n
}

// baseline is the share of the most frequent class, or the mean absolute error of
// the rows' own mean, with a 95 % interval of what the population has of that class, or
// of errors of that very mean.
func (e *exact) baseline() (value float64, interval [2]float64) {
	if e.model.Task == model.Regression {
		mean := stat.Mean(e.truths, nil)
		errors := e.losses.of(func(i int) float64 { return math.Abs(e.truths[i] - mean) })
		return stat.Mean(errors.values, nil), errors.interval(e.span())
	}
	top := floats.MaxIdx(e.classes)
	isTop := e.losses.of(func(i int) float64 {
		if int(e.truths[i]) == top {
			return 1
		}
		return 0
	})
	return e.classes[top] / e.n, isTop.share()
}

// interval is a 95 % interval of the value in the population.
func (e *exact) interval() [2]float64 {
	if e.model.Task == model.Regression {
		return e.losses.interval(e.span())
	}
	return e.losses.of(func(i int) float64 { return 1 - e.losses.values[i] }).share()
}

// span is the width of the target's public range, the largest absolute error.
func (e *exact) span() float64 { return e.model.Scale.Upper - e.model.Scale.Lower }

// gain is how many more rows are right than the most frequent class has, or how much smaller
// the mean absolute error is than that of the rows' median, row by row.
func (e *exact) gain() quality.Estimate {
	constant := float64(0)
	if e.model.Task == model.Regression {
		constant = e.median()
	} else {
		constant = float64(floats.MaxIdx(e.classes))
	}
	return e.losses.of(func(i int) float64 {
		if e.model.Task == model.Regression {
			return math.Abs(e.truths[i]-constant) - e.losses.values[i]
		}
		if e.truths[i] == constant {
			return -e.losses.values[i]
		}
		return 1 - e.losses.values[i]
	}).mean()
}

func (e *exact) median() float64 {
	sorted := slices.Sorted(slices.Values(e.truths))
	return stat.Quantile(0.5, stat.LinInterp, sorted, nil)
}

// all are the numbers of all rows.
func (e *exact) all() []int {
	rows := make([]int, len(e.truths))
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// classification are the further scores of a classifier, on some of the rows.
func (e *exact) classification(of []int) *quality.Classification {
	classes := e.model.Classes()
	n := len(classes)
	if n != 2 {
		return e.answers(of)
	}
	var rows [2][2]float64
	for _, i := range of {
		rows[int(e.truths[i])][int(e.predicted[i])]++
	}
	c := &quality.Classification{}
	if len(e.scores) == len(e.truths) {
		positive, scores := make([]bool, len(of)), make([]float64, len(of))
		for k, i := range of {
			positive[k], scores[k] = e.truths[i] == 1, e.scores[i]
		}
		final, calibrated := e.calibration()
		c = quality.JudgeAt(quality.ExactTable(scores, positive, e.losses.perUnit), final, calibrated, e.model.Advised)
	}
	c.Positive = classes[1]
	labels := quality.Labels{Rows: rows, PerUnit: e.losses.perUnit}
	labels.Fill(c, classes)
	if gain, ok := labels.CostGain(e.problem.Decision); ok {
		c.CostGain = &gain
	}
	return c
}

// calibration is that of the model; calibrated is false for none.
func (e *exact) calibration() (c quality.Calibration, calibrated bool) {
	if e.model.Calibration == nil {
		return quality.None, false
	}
	return *e.model.Calibration, true
}

// answers are the further scores of more than two classes, on some of the rows.
func (e *exact) answers(of []int) *quality.Classification {
	classes := e.model.Classes()
	truths, predicted := make([]int, len(of)), make([]int, len(of))
	var scores []float64
	if len(e.scores) == len(e.truths) {
		scores = make([]float64, len(of))
	}
	for k, i := range of {
		truths[k], predicted[k] = int(e.truths[i]), int(e.predicted[i])
		if scores != nil {
			scores[k] = e.scores[i]
		}
	}
	a := quality.ExactAnswers(truths, predicted, scores, len(classes), e.losses.perUnit)
	final, calibrated := e.calibration()
	labels := a.Labels()
	totals := labels.Totals()
	c := quality.JudgeAnswers([]*quality.Answers{a}, a, []quality.Calibration{final}, final, calibrated, totals)
	labels.Fill(c, classes, totals)
	return c
}

// numbers are the further scores of a regression.
func (e *exact) numbers() *quality.Regression {
	centre, median := stat.Mean(e.truths, nil), e.median()
	square := e.losses.of(func(i int) float64 { return e.losses.values[i] * e.losses.values[i] })
	r := &quality.Regression{
		MeanBaseline:   e.losses.of(func(i int) float64 { return math.Abs(e.truths[i] - centre) }).mean(),
		MedianBaseline: e.losses.of(func(i int) float64 { return math.Abs(e.truths[i] - median) }).mean(),
	}
	mse := stat.Mean(square.values, nil)
	if low, high, ok := square.ends(); ok {
		root, ends := math.Sqrt(mse), [2]float64{math.Sqrt(max(low, 0)), math.Sqrt(high)}
		r.RMSE = quality.Estimate{Value: &root, Interval: &ends}
	}
	variance := stat.Mean(e.losses.of(func(i int) float64 { return (e.truths[i] - centre) * (e.truths[i] - centre) }).values, nil)
	if variance > 0 {
		explained := 1 - mse/variance
		// The ratio's error is that of r² − (1−R²)·d², row by row.
		off := e.losses.of(func(i int) float64 {
			return (square.values[i] - (1-explained)*(e.truths[i]-centre)*(e.truths[i]-centre)) / variance
		})
		if low, high, ok := off.ends(); ok {
			r.R2 = quality.Estimate{Value: &explained, Interval: &[2]float64{explained - high, explained - low}}
		}
	}
	sorted := slices.Sorted(slices.Values(e.losses.values))
	for _, level := range quality.IntervalLevels {
		r.Intervals = append(r.Intervals, quality.PredictionInterval{Level: level, HalfWidth: stat.Quantile(level, stat.Empirical, sorted, nil)})
	}
	return r
}

func classPredictor(m *model.Model) func(cells []float64) int {
	predict := m.Predictor()
	return func(cells []float64) int { return int(predict(cells)) }
}

// unitPredictor predicts as a position in [0, 1] of the target's public range.
func (p *problem) unitPredictor(m *model.Model) func(cells []float64) float64 {
	predict := m.Predictor()
	scale := p.scale
	return func(cells []float64) float64 { return scale.Unit(predict(cells)) }
}

// absoluteError is the release of a regression's score at total multiplier x: a
// fifth of the budget buys the baseline's mean, the rest the errors.
func (p *problem) absoluteError(scope dp.Scope, x float64) release.AbsoluteError {
	column, scale := p.targetColumn, p.scale
	return release.AbsoluteError{
		Scope: scope, MeanNoiseMultiplier: x / math.Sqrt(0.2), NoiseMultiplier: x / math.Sqrt(0.8),
		Truth: func(cells []float64) float64 { return scale.Unit(cells[column]) },
	}
}
