package workflow

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat"

	"pawl/core/release"
	"pawl/model"
)

// exact accumulates the exact score of a model on public rows.
type exact struct {
	plan    *Plan
	model   *model.Model
	predict func(cells []float64) float64
	n       float64
	right   float64
	classes []float64
	losses  []float64 // of every row, in order
	truths  []float64 // of a regression
	scores  []scoredRow
	probs   []float64
	groups  *groupTally // nil unless asked for
}

type scoredRow struct {
	score    float64
	positive bool
}

func newExact(plan *Plan, m *model.Model) *exact {
	e := &exact{plan: plan, model: m, groups: plan.problem.groupTally()}
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
	truth := cells[e.plan.problem.targetColumn]
	if truth != truth {
		return
	}
	loss := e.tally(truth, e.predict(cells))
	if e.groups != nil {
		e.groups.add(cells, loss)
	}
	if len(e.classes) == 2 {
		e.model.Probabilities(e.probs, cells)
		e.scores = append(e.scores, scoredRow{e.probs[1], truth == 1})
	}
}

// tally counts one prediction and returns its loss: an absolute error, or 1 for a
// wrong class.
func (e *exact) tally(truth, p float64) (loss float64) {
	e.n++
	defer func() { e.losses = append(e.losses, loss) }()
	if e.model.Task == model.Regression {
		e.truths = append(e.truths, truth)
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
		return stat.Mean(e.losses, nil)
	}
	return e.right / e.n
}

// baseline is the share of the most frequent class, or the mean absolute error of
// the rows' own mean.
func (e *exact) baseline() float64 {
	if e.model.Task == model.Regression {
		mean, deviation := stat.Mean(e.truths, nil), 0.0
		for _, y := range e.truths {
			deviation += math.Abs(y - mean)
		}
		return deviation / e.n
	}
	top := 0.0
	for _, c := range e.classes {
		top = max(top, c)
	}
	return top / e.n
}

// baselineError is the sampling error of the baseline.
func (e *exact) baselineError() float64 {
	b := e.baseline()
	if e.model.Task == model.Regression {
		return stat.StdErr(stat.StdDev(e.truths, nil), e.n)
	}
	return math.Sqrt(b * (1 - b) / e.n)
}

// interval is a 95 % interval: Wilson's for a share, normal for an error.
func (e *exact) interval() [2]float64 {
	v := e.value()
	if e.model.Task == model.Regression {
		se := stat.StdErr(stat.StdDev(e.losses, nil), e.n)
		return [2]float64{max(v-z95*se, 0), v + z95*se}
	}
	return wilson(v, e.n)
}

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

const z95 = 1.959963984540054

func wilson(p, n float64) [2]float64 {
	if !(n > 0) {
		return [2]float64{0, 1}
	}
	z2 := z95 * z95
	centre := (p + z2/(2*n)) / (1 + z2/n)
	half := z95 / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	return [2]float64{max(centre-half, 0), min(centre+half, 1)}
}

func classPredictor(m *model.Model) func(cells []float64) int {
	predict := m.Predictor()
	return func(cells []float64) int { return int(predict(cells)) }
}

// unitPredictor predicts as a position in [0, 1] of the target's public range.
func (plan *Plan) unitPredictor(m *model.Model) func(cells []float64) float64 {
	predict := m.Predictor()
	scale := plan.problem.scale
	return func(cells []float64) float64 { return scale.Unit(predict(cells)) }
}

// absoluteError is the release of a regression's score at total multiplier x: a
// fifth of the budget buys the baseline's mean, the rest the errors.
func (plan *Plan) absoluteError(x float64) release.AbsoluteError {
	column, scale := plan.problem.targetColumn, plan.problem.scale
	return release.AbsoluteError{
		Scope: plan.scoreScope, MeanNoiseMultiplier: x / math.Sqrt(0.2), NoiseMultiplier: x / math.Sqrt(0.8),
		Truth: func(cells []float64) float64 { return scale.Unit(cells[column]) },
	}
}
