package model

import (
	"errors"
	"fmt"

	"pawl/compute/nn"
)

func (m *Model) validateNetwork() error {
	if m.Kind != Network {
		return fmt.Errorf("model: unknown kind %q", m.Kind)
	}
	if m.Net == nil || len(m.Parameters32) != m.Net.Parameters() {
		return errors.New("model: number of parameters does not match the network")
	}
	if m.Encoding != nil && m.Encoding.Inputs() != m.Net.Inputs() {
		return fmt.Errorf("model: rows become %d numbers for a network that takes %d", m.Encoding.Inputs(), m.Net.Inputs())
	}
	for _, w := range m.Parameters32 {
		if w-w != 0 {
			return errors.New("model: a parameter is not a finite number")
		}
	}
	return nil
}

// InputPredictor returns a function that predicts from dense inputs one after
// another: a class index, or a value in target units. It is not safe for
// concurrent use.
func (m *Model) InputPredictor() func(input []float32) float64 {
	two := m.TwoClasses()
	score := m.InputScorer()
	return func(input []float32) float64 {
		if two {
			return m.label(score(input))
		}
		return m.decide(m.Net.Predict(0, m.Parameters32, input))
	}
}

// InputProbabilities fills p (one per class) with the network's probabilities of one input, as
// Probabilities does.
func (m *Model) InputProbabilities(p []float64, input []float32) {
	scores := m.Net.Predict(0, m.Parameters32, input)
	if len(scores) == 1 {
		m.calibrated(p, float64(scores[0]))
		return
	}
	copy(p, wide(scores))
	m.probable(p)
}

func (m *Model) decide(scores []float32) float64 {
	if m.Task == Regression {
		return m.Scale.Unscale(float64(scores[0]))
	}
	return float64(first(wide(scores)))
}

// shape is the input of a network as model.json has it.
type shape struct {
	Height   int `json:"height"`
	Width    int `json:"width"`
	Channels int `json:"channels"`
}

func (s shape) nn() nn.Shape { return nn.Shape{Height: s.Height, Width: s.Width, Channels: s.Channels} }
