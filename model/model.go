// Package model holds what leaves a training run: a predictor made of released
// numbers and public facts. It can be saved, loaded and applied to new rows.
package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"pawl/compute/nn"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/data/text"
	"pawl/evidence/quality"
)

// Task says what a model predicts.
type Task string

const (
	Classification Task = "classification"
	Regression     Task = "regression"
)

// Kind names the form of a model.
type Kind string

const (
	// Linear scores a row by weights on its encoding.
	Linear Kind = "linear"
	// Constant predicts the same for every row: the majority class or the mean.
	Constant Kind = "constant"
	// Additive scores a row by one table per attribute, or pair of attributes: the
	// sum of shape functions of an explainable boosting machine.
	Additive Kind = "ebm"
	// Network scores the dense input of a row by a neural network.
	Network Kind = "network"
)

// TargetScale maps a numeric target to [−1, 1] by its public bounds.
type TargetScale struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
	// Log bends the scale to log(1+bt)/log(1+b) with t the position in [0, 1]: the lower
	// 1/b of the range keeps its proportions, the rest is logarithmic. Bend is b, 0 for 63.
	Log  bool    `json:"log,omitempty"`
	Bend float64 `json:"bend,omitempty"`
}

// Scale returns the position of y in [−1, 1]; NaN stays NaN.
func (s TargetScale) Scale(y float64) float64 {
	if y != y {
		return y
	}
	t := (y - s.Lower) / (s.Upper - s.Lower)
	if s.Log {
		b := s.Bent()
		t = math.Log1p(b*max(t, 0)) / math.Log1p(b)
	}
	return min(max(2*t-1, -1), 1)
}

// Unscale is the inverse of Scale, clamped to the bounds.
func (s TargetScale) Unscale(v float64) float64 {
	t := min(max((v+1)/2, 0), 1)
	if v != v {
		t = 0.5
	}
	if s.Log {
		b := s.Bent()
		t = math.Expm1(t*math.Log1p(b)) / b
	}
	return s.Lower + t*(s.Upper-s.Lower)
}

// Bent is the b of a logarithmic scale.
func (s TargetScale) Bent() float64 {
	if s.Bend > 0 {
		return s.Bend
	}
	return 63
}

// Unit returns y's position in [0, 1] on the plain scale of the bounds.
func (s TargetScale) Unit(y float64) float64 {
	if y != y {
		return y
	}
	return min(max((y-s.Lower)/(s.Upper-s.Lower), 0), 1)
}

// Model predicts one column of a schema.
type Model struct {
	Task   Task
	Kind   Kind
	Schema *schema.Schema
	Target string
	// Encoding, Outputs and Weights (Dim×Outputs, row-major) belong to Linear.
	// A classifier of two classes has one output: the score of the second class.
	// A Network with an Encoding takes rows of a table; without one, dense inputs.
	Encoding *encode.Encoding
	Outputs  int
	Weights  []float64
	// Terms, Intercept (Outputs) and Counts (a noisy number of rows for each cell)
	// belong to Additive; its Weights are cells×Outputs in the order of the terms.
	Terms     *Terms
	Intercept []float64
	Counts    []float64
	// Net, Layers and Parameters32 belong to Network: the compiled net, what it was
	// compiled from and its trained parameters. Frozen ones live in Net.
	Net          *nn.Net
	Layers       nn.Spec
	Parameters32 []float32
	// Vocabulary numbers the tokens of a Network that takes texts; nil where a hash does.
	Vocabulary *text.Vocabulary
	// Value is the prediction of Constant: a class index, or the position in
	// [−1, 1] on Scale.
	Value float64
	// Scale belongs to Regression.
	Scale TargetScale
	// NotPrivate marks a model that makes no claim: its noise came from a seed, or
	// a choice was not paid for.
	NotPrivate bool
	// Operation is how scores become probabilities and labels.
	Operation
}

// Operation is what the score of a run adds to a model, all of it released with the score.
// The zero Operation is none.
type Operation struct {
	// Calibration of a classifier, of the second of two classes or of the predicted one of
	// more; nil where none was bought or none would be better than none.
	Calibration *quality.Calibration `json:"calibration,omitempty"`
	// Threshold is the smallest probability of the second class at which it is predicted; 0 for
	// the class of the higher score, which is the more probable one without a calibration. Decision is what it follows from.
	Threshold float64           `json:"threshold,omitempty"`
	Decision  *quality.Decision `json:"decision,omitempty"`
	// Advised is the threshold that balances recall of both classes; 0 where none is known.
	Advised float64 `json:"advised_threshold,omitempty"`
	// Thresholds are the released curve, by which another threshold may be chosen at no cost.
	Thresholds []quality.Operating `json:"thresholds,omitempty"`
	// Intervals say how far the predictions of a regression are from the truth.
	Intervals []quality.PredictionInterval `json:"prediction_intervals,omitempty"`
}

// OfTable says that the model predicts rows of a table, not dense inputs.
func (m *Model) OfTable() bool { return m.Kind != Network || m.Encoding != nil }

// Classes returns the labels of a classifier in order.
func (m *Model) Classes() []string {
	return m.Schema.Columns[m.Schema.Column(m.Target)].Levels()
}

// Parameters is the number of trained numbers.
func (m *Model) Parameters() int {
	switch m.Kind {
	case Constant:
		return 1
	case Network:
		return len(m.Parameters32)
	}
	return len(m.Weights) + len(m.Intercept)
}

// Scores fills scores (Outputs) with the scores of a row, for a linear or additive
// model. scratch holds Dim numbers and may be nil.
func (m *Model) Scores(scores, cells, scratch []float64) {
	if m.Kind == Additive {
		m.additiveScores(scores, cells)
		return
	}
	if len(scratch) < m.Encoding.Dim {
		scratch = make([]float64, m.Encoding.Dim)
	}
	x := scratch[:m.Encoding.Dim]
	m.Encoding.Vector(x, cells)
	clear(scores)
	for j, v := range x {
		if v == 0 {
			continue
		}
		for k := range scores {
			scores[k] += v * m.Weights[j*m.Outputs+k]
		}
	}
}

// scorer is Scores for many rows. A coordinate of a row is one of few values, so what an attribute adds to the
// scores is looked up by its level. Goroutines may share it.
func (m *Model) scorer() func(scores, cells []float64) {
	if m.Kind == Additive {
		return m.additiveScores
	}
	k, blocks := m.Outputs, m.Encoding.Blocks
	tables := make([][]float64, len(blocks))
	for i := range blocks {
		b := &blocks[i]
		w := m.Weights[b.Offset*k:][:b.Dim*k]
		switch b.Kind {
		case encode.Sparse, encode.Vector:
			return func(scores, cells []float64) { m.Scores(scores, cells, nil) }
		case encode.Linear:
			tables[i] = slices.Clone(w)
		default:
			tables[i] = make([]float64, b.Levels*k)
			b.Forward(tables[i], w, k)
		}
		for j := range tables[i] {
			tables[i][j] *= m.Encoding.Scale
		}
	}
	return func(scores, cells []float64) {
		clear(scores)
		for i := range blocks {
			b, table, x := &blocks[i], tables[i], 1.0
			if b.Kind == encode.Linear {
				x = b.Value(cells)
			} else if l := b.Level(cells); l != encode.None {
				table = table[l*k:]
			} else {
				continue
			}
			for j := range scores {
				scores[j] += x * table[j]
			}
		}
	}
}

// Predictor returns a function that predicts rows one after another: a class
// index, or a value in target units. It is not safe for concurrent use.
func (m *Model) Predictor() func(cells []float64) float64 {
	if m.Kind == Network {
		x, scratch := make([]float32, m.Encoding.Inputs()), make([]float64, m.Encoding.Dim)
		predict := m.InputPredictor()
		return func(cells []float64) float64 {
			m.Encoding.Input(x, cells, scratch)
			return predict(x)
		}
	}
	if m.Kind == Constant {
		v := m.Value
		if m.Task == Regression {
			v = m.Scale.Unscale(v)
		}
		return func([]float64) float64 { return v }
	}
	scores, score, two := make([]float64, m.Outputs), m.scorer(), m.TwoClasses()
	return func(cells []float64) float64 {
		score(scores, cells)
		switch {
		case m.Task == Regression:
			return m.Scale.Unscale(scores[0])
		case two:
			return m.label(odds(scores))
		}
		return float64(first(scores))
	}
}

// Probabilities fills p (one per class) with the model's probabilities: calibrated where the
// model has a calibration, else its own, which noise and clipping leave too extreme or too even.
func (m *Model) Probabilities(p, cells []float64) {
	if m.Kind == Constant {
		clear(p)
		p[int(m.Value)] = 1
		return
	}
	m.Prober()(p, cells)
}

// Prober is Probabilities for many rows. It is not safe for concurrent use.
func (m *Model) Prober() func(p, cells []float64) {
	switch m.Kind {
	case Constant:
		return m.Probabilities
	case Network:
		x, scratch, probable := make([]float32, m.Encoding.Inputs()), make([]float64, m.Encoding.Dim), m.InputProber()
		return func(p, cells []float64) {
			m.Encoding.Input(x, cells, scratch)
			probable(p, x)
		}
	}
	score, one := m.scorer(), []float64{0}
	return func(p, cells []float64) {
		if m.Outputs == 1 {
			score(one, cells)
			m.calibrated(p, one[0])
			return
		}
		score(p, cells)
		m.probable(p)
	}
}

// probable turns scores, one for each class, into probabilities in place.
func (m *Model) probable(p []float64) {
	switch {
	case m.Calibration == nil:
		softmax(p)
	case len(p) == 2:
		m.calibrated(p, odds(p))
	default:
		spread(p, *m.Calibration)
	}
}

// calibrated fills p from the raw score of the second of two classes.
func (m *Model) calibrated(p []float64, score float64) {
	p[1] = m.calibration().Probability(score)
	p[0] = 1 - p[1]
}

// softmax turns scores into probabilities in place.
func softmax(p []float64) {
	top, total := math.Inf(-1), 0.0
	for _, s := range p {
		top = max(top, s)
	}
	for k, s := range p {
		p[k] = math.Exp(s - top)
		total += p[k]
	}
	for k := range p {
		p[k] /= total
	}
}

// Validate reports what keeps a model from predicting.
func (m *Model) Validate() error {
	if m.Schema == nil {
		return errors.New("model: schema is missing")
	}
	col := m.Schema.Column(m.Target)
	if col < 0 {
		return fmt.Errorf("model: target %q is not a column of its schema", m.Target)
	}
	if m.Task == Classification && len(m.Classes()) < 2 {
		return fmt.Errorf("model: target %q has fewer than 2 classes", m.Target)
	}
	if err := m.validateOperation(); err != nil {
		return err
	}
	if b := m.Scale.Bend; !(b >= 0) || math.IsInf(b, 1) {
		return errors.New("model: the bend of the target's scale is not a number from 0 on")
	}
	switch m.Kind {
	case Constant:
		if m.Task == Classification && !(m.Value >= 0 && int(m.Value) < len(m.Classes())) {
			return errors.New("model: constant is not a class")
		}
		return nil
	case Linear:
		if m.Encoding == nil || m.Outputs < 1 || len(m.Weights) != m.Encoding.Dim*m.Outputs {
			return errors.New("model: number of weights does not match the encoding")
		}
		for _, w := range m.Weights {
			if math.IsNaN(w) || math.IsInf(w, 0) {
				return errors.New("model: a weight is not a finite number")
			}
		}
		return nil
	}
	if m.Kind == Additive {
		return m.validateAdditive()
	}
	return m.validateNetwork()
}
