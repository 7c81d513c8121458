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
	predict := m.Net.Predictor(m.Parameters32)
	two := m.TwoClasses()
	return func(input []float32) float64 {
		if two {
			return m.label(odds(wide(predict(input))))
		}
		return m.decide(predict(input))
	}
}

// InputProber returns a function that fills p (one per class) with the network's probabilities of one input, as
// Probabilities does. It is not safe for concurrent use.
func (m *Model) InputProber() func(p []float64, input []float32) {
	predict := m.Net.Predictor(m.Parameters32)
	return func(p []float64, input []float32) {
		scores := predict(input)
		if len(scores) == 1 {
			m.calibrated(p, float64(scores[0]))
			return
		}
		copy(p, wide(scores))
		m.probable(p)
	}
}

// Answers are the network's probabilities of n inputs, one row of classes each: at fills input i.
func (m *Model) Answers(n int, at func(i int, input []float32)) []float64 {
	classes, prober := len(m.Classes()), m.InputProber()
	p, input := make([]float64, n*classes), make([]float32, m.Net.Inputs())
	for i := range n {
		at(i, input)
		prober(p[i*classes:(i+1)*classes], input)
	}
	return p
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
