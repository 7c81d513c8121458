package workflow

import (
	"context"
	"math"
	"slices"
	"strings"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/evidence/quality"
	"pawl/model"
)

// Metric is what models are chosen by. Every one is a sum over rows in which one row counts for one
// at most, so that its noisy value costs what its noise says. The area under the ROC curve is none: a row
// of a rare class is in many pairs, and how many is not public.
type Metric string

// The metrics; of a classification first, of a regression last.
const (
	ByAccuracy Metric = "accuracy"
	// ByBalancedAccuracy is the mean recall of the classes.
	ByBalancedAccuracy Metric = "balanced-accuracy"
	// ByLogLoss is the mean log-loss of the true class, clipped to lossBound; ByBrier half the squared distance of the
	// probabilities from the true class.
	ByLogLoss Metric = "log-loss"
	ByBrier   Metric = "brier"
	// ByAbsoluteError and BySquaredError are of targets and predictions within the target's bounds.
	ByAbsoluteError Metric = "mae"
	BySquaredError  Metric = "rmse"
)

// lossBound clips the log-loss of a row, at a probability of .0067: one row of probability 0 would outweigh all others.
const lossBound = 5

// Metrics are those that models of a target may be chosen by; the first is the rule's.
func Metrics(task model.Task) []Metric {
	if task == model.Regression {
		return []Metric{ByAbsoluteError, BySquaredError}
	}
	return []Metric{ByAccuracy, ByBalancedAccuracy, ByLogLoss, ByBrier}
}

// CheckMetric refuses a metric that models of a target may not be chosen by; "" stands for the rule's.
func CheckMetric(m Metric, task model.Task) error {
	possible := Metrics(task)
	if m == "" || slices.Contains(possible, m) {
		return nil
	}
	var names []string
	for _, p := range possible {
		names = append(names, string(p))
	}
	hint := "possible for this target: " + strings.Join(names, ", ")
	other := model.Regression
	if task == model.Regression {
		other = model.Classification
	}
	switch {
	case slices.Contains(Metrics(other), m):
		return usage(hint, "metric %s does not go with %s", m, task)
	case slices.Contains([]string{"auc", "auroc", "roc-auc", "average-precision", "f1", "precision", "recall", "r2"}, strings.ToLower(string(m))):
		return usage(hint, "cannot choose models by %s: there is no public bound on how much one row changes it", m)
	}
	return usage(hint, "unknown metric %q", string(m))
}

// measure is how a metric is counted: a row lies in one of the bins, or between two neighbouring ones
// (release.Bins), and so moves them by one row at most, in L1 and in L2.
type measure struct {
	bins    int
	counted bool
	bin     func(cells []float64, input []float32) (bin int, next float64)
	// value is the metric by numbers of rows, larger for better models; NaN where they say nothing.
	value func(rows []float64) float64
	worst float64
}

// meanOf is the measure of a loss within [0, bound]; root takes the square root of its mean.
func meanOf(bound float64, root bool, loss func(cells []float64, input []float32) float64) measure {
	return measure{bins: 2, worst: -bound,
		bin: func(cells []float64, input []float32) (int, float64) {
			l := loss(cells, input)
			if l != l {
				return -1, 0
			}
			return 0, min(max(l/bound, 0), 1)
		},
		value: func(rows []float64) float64 {
			n := rows[0] + rows[1]
			if !(n > 0) {
				return math.NaN()
			}
			mean := bound * min(max(rows[1]/n, 0), 1)
			if root {
				mean = math.Sqrt(mean)
			}
			return -mean
		}}
}

// measure is that of a model, which predicts from inputs where these are given and else from cells. It is not safe for concurrent use.
func (p *problem) measure(by Metric, m *model.Model, inputs bool) measure {
	if p.task == model.Regression {
		predict, scale := p.unitPredictor(m), p.scale
		return meanOf(1, by == BySquaredError, func(cells []float64, _ []float32) float64 {
			y, miss := scale.Unit(cells[p.targetColumn]), 1.0
			if y != y {
				return y
			}
			if x := predict(cells); x == x {
				miss = math.Abs(min(max(x, 0), 1) - y)
			}
			if by == BySquaredError {
				return miss * miss
			}
			return miss
		})
	}
	n := len(m.Classes())
	if by == ByLogLoss || by == ByBrier {
		probabilities := make([]float64, n)
		var fill func(cells []float64, input []float32)
		if inputs {
			prober := m.InputProber()
			fill = func(_ []float64, input []float32) { prober(probabilities, input) }
		} else {
			prober := m.Prober()
			fill = func(cells []float64, _ []float32) { prober(probabilities, cells) }
		}
		bound := float64(lossBound)
		if by == ByBrier {
			bound = 1
		}
		return meanOf(bound, false, func(cells []float64, input []float32) float64 {
			class := p.class(cells, n)
			if class < 0 {
				return math.NaN()
			}
			fill(cells, input)
			if by == ByLogLoss {
				if l := -math.Log(probabilities[class]); l == l {
					return l
				}
				return lossBound // no probability at all
			}
			square := 0.0
			for k, q := range probabilities {
				if k == class {
					q = 1 - q
				}
				square += q * q / 2
			}
			if square != square {
				return 1
			}
			return square
		})
	}
	var predict scorer
	if inputs {
		predict.input = m.InputPredictor()
	} else {
		predict.cells = m.Predictor()
	}
	return measure{bins: 2 * n, counted: true,
		bin: func(cells []float64, input []float32) (int, float64) {
			class := p.class(cells, n)
			if class < 0 {
				return -1, 0
			}
			if predict.of(cells, input) == float64(class) {
				return 2*class + 1, 0
			}
			return 2 * class, 0
		},
		value: func(rows []float64) float64 {
			right, all, recalls := 0.0, 0.0, 0.0
			for k := range n {
				of := rows[2*k] + rows[2*k+1]
				right, all = right+rows[2*k+1], all+of
				recall := 1 / float64(n) // of a class that has no rows but noise
				if of > 0 {
					recall = min(max(rows[2*k+1]/of, 0), 1)
				}
				recalls += recall / float64(n)
			}
			switch {
			case !(all > 0):
				return math.NaN()
			case by == ByAccuracy:
				return min(max(right/all, 0), 1)
			}
			return recalls
		}}
}

// metricEvents are what a value of a metric costs; without one it is that of a score, beside a baseline.
func (p *problem) metricEvents(by Metric, x float64) []dp.Event {
	if by == "" {
		return p.validationEvents(x)
	}
	return []dp.Event{release.Bins{NoiseMultiplier: x}.Event()}
}

// metricValue releases the metric of a model on a scope that chooses; it is larger for better models.
func (p *problem) metricValue(ctx context.Context, permit *ledger.Permit, rows *intake.Rows, by Metric, m *model.Model, inputs bool, scope dp.Scope, noise float64) (float64, error) {
	q := p.measure(by, m, inputs)
	noisy, _, err := release.Bins{Scope: scope, NoiseMultiplier: noise, Size: q.bins, Counted: q.counted, Inputs: inputs, Bin: q.bin}.Release(ctx, permit, rows)
	if err != nil {
		return 0, err
	}
	return known(q.value(noisy), q.worst), nil
}

// exactly counts a measure on public rows, one at a time.
func (q measure) exactly() (add func(cells []float64, input []float32), value func() (score, rows float64)) {
	rows, n := make([]float64, q.bins), 0.0
	add = func(cells []float64, input []float32) {
		if at, next := q.bin(cells, input); at >= 0 {
			n++
			rows[at] += 1 - next
			if next > 0 {
				rows[at+1] += next
			}
		}
	}
	return add, func() (float64, float64) { return q.value(rows), n }
}

// By is the score by a metric, larger for better models, as it was released or is exact on public rows; NaN where it is not known.
// Log-loss and Brier score of more than two classes are those of the predicted class.
func (s *Score) By(m Metric) float64 {
	value := func(e *quality.Estimate) float64 {
		if e == nil || !e.Known() {
			return math.NaN()
		}
		return *e.Value
	}
	switch {
	case m == ByBalancedAccuracy && s.Classes != nil:
		return value(&s.Classes.BalancedAccuracy)
	case m == ByLogLoss && s.Classes != nil:
		return -value(s.Classes.LogLoss)
	case m == ByBrier && s.Classes != nil:
		return -value(s.Classes.Brier)
	case m == BySquaredError && s.Numbers != nil:
		return -value(&s.Numbers.RMSE)
	}
	v := s.Value
	if s.Exact != nil {
		v = *s.Exact
	}
	if m == ByAbsoluteError {
		return -v
	}
	return v
}
