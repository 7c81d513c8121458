package model

import (
	"errors"
	"math"

	"pawl/evidence/quality"
)

// TwoClasses reports whether the model scores rows for two classes: then it may have a
// calibration and a threshold.
func (m *Model) TwoClasses() bool {
	return m.Task == Classification && m.Kind != Constant && len(m.Classes()) == 2
}

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

// RowScorer returns a function that gives the raw score of the second class of a row, of a model
// of two classes: the logarithm of the odds, before calibration. It is not safe for concurrent
// use.
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
	return func(input []float32) float64 {
		scores := m.Net.Predict(0, m.Parameters32, input)
		if len(scores) == 1 {
			return float64(scores[0])
		}
		return float64(scores[1]) - float64(scores[0])
	}
}

// odds is the score of the second class over the first.
func odds(scores []float64) float64 {
	if len(scores) == 1 {
		return scores[0]
	}
	return scores[1] - scores[0]
}

func (m *Model) validateOperation() error {
	c, t := m.Calibration, m.Threshold
	switch {
	case c == nil && t == 0:
		return nil
	case !m.TwoClasses():
		return errors.New("model: a calibration or threshold is for two classes")
	case c != nil && (!(c.Slope > 0) || math.IsInf(c.Slope, 0) || c.Intercept-c.Intercept != 0):
		return errors.New("model: the calibration is not one")
	case t != 0 && !(t > 0 && t < 1):
		return errors.New("model: the threshold is not a probability between 0 and 1")
	}
	return nil
}
