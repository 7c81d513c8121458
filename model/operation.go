package model

import (
	"errors"
	"math"
	"slices"

	"pawl/evidence/quality"
)

// TwoClasses reports whether the model scores rows for two classes: then it may have a
// threshold.
func (m *Model) TwoClasses() bool { return m.Scored() && len(m.Classes()) == 2 }

// Scored reports whether the model scores rows for classes: then it may have a calibration.
func (m *Model) Scored() bool { return m.Task == Classification && m.Kind != Constant }

// Raw is the model without what its score added: probabilities as training left them, and the
// more probable class.
func (m *Model) Raw() *Model {
	raw := *m
	raw.Operation = Operation{}
	return &raw
}

// calibration is that of the model, or none.
func (m *Model) calibration() quality.Calibration {
	if m.Calibration == nil {
		return quality.None
	}
	return *m.Calibration
}

// Cut is the calibrated score, log(p/(1−p)), from which on a row is of the second class; inclusive
// is false where that score itself is not.
func (m *Model) Cut() (cut float64, inclusive bool) {
	if m.Threshold > 0 {
		return math.Log(m.Threshold / (1 - m.Threshold)), true
	}
	return 0, false
}

// label is the class of a raw score of the second class.
func (m *Model) label(score float64) float64 {
	c := m.calibration()
	z := c.Intercept + c.Slope*score
	if cut, inclusive := m.Cut(); z > cut || inclusive && z == cut {
		return 1
	}
	return 0
}

// RowScorer returns a function that gives the raw score of a row, before calibration: the log odds of
// the second of two classes, or those of the predicted one of more. It is not safe for concurrent use.
func (m *Model) RowScorer() func(cells []float64) float64 {
	if m.Kind == Network {
		x, scratch := make([]float32, m.Encoding.Inputs()), make([]float64, m.Encoding.Dim)
		score := m.InputScorer()
		return func(cells []float64) float64 {
			m.Encoding.Input(x, cells, scratch)
			return score(x)
		}
	}
	scores, score := make([]float64, m.Outputs), m.scorer()
	return func(cells []float64) float64 {
		score(scores, cells)
		return odds(scores)
	}
}

// InputScorer is RowScorer for the dense inputs of a network.
func (m *Model) InputScorer() func(input []float32) float64 {
	predict := m.Net.Predictor(m.Parameters32)
	return func(input []float32) float64 { return odds(wide(predict(input))) }
}

func wide(scores []float32) []float64 {
	out := make([]float64, len(scores))
	for k, s := range scores {
		out[k] = float64(s)
	}
	return out
}

// odds are the log odds of the second of two classes, or of that of the highest score of more.
func odds(scores []float64) float64 {
	switch len(scores) {
	case 1:
		return scores[0]
	case 2:
		return scores[1] - scores[0]
	}
	best, next, rest := first(scores), math.Inf(-1), 0.0
	for k, s := range scores {
		if k != best {
			next = max(next, s)
		}
	}
	for k, s := range scores {
		if k != best {
			rest += math.Exp(s - next)
		}
	}
	return scores[best] - next - math.Log(rest)
}

// first is the first class of the highest score.
func first(scores []float64) int {
	best := 0
	for k, s := range scores {
		if s > scores[best] {
			best = k
		}
	}
	return best
}

// below keeps another class from having the very probability of the predicted one.
const below = 1 - 1e-6

// spread turns the scores of more than two classes into probabilities. That of the class of
// the highest score is what c makes of its log odds. The others share the rest as softmax has
// it, drawn towards equal parts as far as is needed for none to be above the first.
func spread(scores []float64, c quality.Calibration) {
	n, best := len(scores), first(scores)
	p := c.Confidence(odds(scores), n)
	scores[best] = math.Inf(-1)
	softmax(scores)
	most, even := slices.Max(scores), 1/float64(n-1)
	draw := 0.0
	if p < 1 {
		if over := most - below*p/(1-p); over > 0 && most > even {
			draw = min(over/(most-even), 1)
		}
	}
	for k, s := range scores {
		scores[k] = (1 - p) * (s + draw*(even-s))
	}
	scores[best] = p
}

func (m *Model) validateOperation() error {
	c, t := m.Calibration, m.Threshold
	switch {
	case c == nil && t == 0:
		return nil
	case !m.Scored():
		return errors.New("model: a calibration or threshold is for classes")
	case t != 0 && !m.TwoClasses():
		return errors.New("model: a threshold is for two classes")
	case c != nil && (!(c.Slope > 0) || math.IsInf(c.Slope, 0) || c.Intercept-c.Intercept != 0):
		return errors.New("model: the calibration is not one")
	case t != 0 && !(t > 0 && t < 1):
		return errors.New("model: the threshold is not a probability between 0 and 1")
	}
	return nil
}
