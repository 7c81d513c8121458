package workflow

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"pawl/core/dp"
	"pawl/core/release"
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
	scores  []scoredRow
	probs   []float64
	groups  *groupTally // nil unless asked for
}

type scoredRow struct {
	score    float64
	positive bool
}

func newExact(p *problem, m *model.Model) *exact {
	unit := p.Schema.Unit
	e := &exact{problem: p, model: m, groups: p.groupTally(), unit: -1, losses: byUnit{perUnit: float64(unit.MaxRows)}}
	if unit.Column != "" {
		e.unit = p.Schema.Column(unit.Column)
	}
	if m.OfTable() {
		e.predict = m.Predictor()
	}
	if m.Task == model.Classification {
		e.classes = make([]float64, len(m.Classes()))
		e.probs = make([]float64, len(m.Classes()))
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
	loss := e.tally(truth, e.predict(cells), unit)
	if e.groups != nil {
		e.groups.add(cells, loss, unit)
	}
	if len(e.classes) == 2 {
		e.model.Probabilities(e.probs, cells)
		e.scores = append(e.scores, scoredRow{e.probs[1], truth == 1})
	}
}

// tally counts one prediction and returns its loss: an absolute error, or 1 for a
// wrong class. unit tells whose row it is (byUnit).
func (e *exact) tally(truth, p, unit float64) (loss float64) {
	e.n++
	e.truths = append(e.truths, truth)
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

// auroc is the chance that a random positive row scores above a random negative
// one, ties counting half; ok is false without both kinds.
func (e *exact) auroc() (area float64, ok bool) {
	sort.Slice(e.scores, func(i, j int) bool { return e.scores[i].score < e.scores[j].score })
	var ranks, positives float64
	for i := 0; i < len(e.scores); {
		j := i
		for j < len(e.scores) && e.scores[j].score == e.scores[i].score {
			j++
		}
		mean := float64(i+j+1) / 2
		for _, s := range e.scores[i:j] {
			if s.positive {
				ranks += mean
				positives++
			}
		}
		i = j
	}
	negatives := float64(len(e.scores)) - positives
	if positives == 0 || negatives == 0 {
		return 0, false
	}
	return (ranks - positives*(positives+1)/2) / (positives * negatives), true
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
