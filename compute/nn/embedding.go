package nn

import (
	"fmt"
	"math/rand/v2"

	"pawl/compute/onnx"
	"pawl/core/gradient"
)

var _ = register(Kind{
	Name: "embedding", Help: "a vector for each token of a text", Keys: []string{"vocabulary", "units", "trainable"}, Also: []string{"embed"},
	Role: Weights, Reach: 1, gain: 1, build: (*builder).embedding, sequence: always, output: fresh,
	positions: func(LayerInfo) int { return 0 },
})

// embedding maps sequences of tokens x (n×(1+length), see Tokens) to their vectors,
// y (rows×d): the rows of W (tokens×d) that the tokens name. A length that is no
// number counts as 0, one beyond the end as all; a token that is none as token 0.
//
// Its trace has one-hot rows. Tokens that a text repeats share a row of W, so that
// the gradient's norm is not that of dy; core adds their rows before it is taken.
type embedding struct {
	length, tokens, d int
	part              Trainable
	// block is W's place in the trained vector, or in the frozen one.
	block int
}

func (l *embedding) weights(params, frozen []float32) []float32 {
	if l.part == TrainNone {
		params = frozen
	}
	return params[l.block:][:l.tokens*l.d]
}

func (l *embedding) forward(c *call, s *state, x []float32) []float32 {
	w := l.weights(c.params, c.net.frozen)
	lengths := grow(&s.lengths, c.n)
	for e := range lengths {
		lengths[e] = 0
		if v := x[e*(1+l.length)]; v > 0 { // not for NaN
			lengths[e] = int32(min(v, float32(l.length)))
		}
	}
	c.steps.set(lengths, l.length)
	y, index := grow(&s.y, c.steps.rows()*l.d), grow(&s.index, c.steps.rows())
	at := 0
	for e, n := range lengths {
		for _, v := range x[e*(1+l.length)+1:][:n] {
			token := 0
			if v > 0 && v < float32(l.tokens) {
				token = int(v)
			}
			index[at] = int32(token)
			copy(y[at*l.d:(at+1)*l.d], w[token*l.d:])
			at++
		}
	}
	return y
}

func (l *embedding) backward(c *call, s *state, dy []float32) []float32 {
	if l.part == TrainAll {
		c.record(gradient.Trace{Offset: l.block, T: l.length, M: l.tokens, N: l.d, Index: s.index, G: dy, Starts: c.steps.starts})
	}
	return nil
}

func (l *embedding) memory(_, _ bool) int { return l.length*(l.d+1) + 3 }

// draw fills W with normal numbers of variance 1.
func (l *embedding) draw(n *Net, _ float64, params []float32, rng *rand.Rand) {
	w := l.weights(params, n.frozen)
	for i := range w {
		w[i] = float32(rng.NormFloat64())
	}
}

func (b *builder) embedding(l Layer, info *LayerInfo) (op, error) {
	in := b.shape
	length := in.Size() - 1
	switch {
	case l.Trainable == TrainBias:
		return nil, b.fault("trainable", "its bias cannot be trained alone", "write true or false")
	case len(b.net.ops) > 0:
		return nil, b.fault("", "it is not the first layer", "it reads tokens from the inputs, so it must be the first layer")
	case !(in.Height == 1 && in.Width == 1 && length >= 1 && length <= maxLength):
		return nil, b.fault("", fmt.Sprintf("%s is not a sequence of tokens", in), "give the input as 1 + the largest number of tokens")
	case l.Vocabulary < 1 || l.Vocabulary > 1<<24:
		return nil, b.fault("vocabulary", fmt.Sprintf("vocabulary must lie in 1 to %d, got %d", 1<<24, l.Vocabulary), "give the number of different tokens")
	case l.Units < 1:
		return nil, b.fault("units", fmt.Sprintf("units must be at least 1, got %d", l.Units), "50 is a common choice")
	case tooMany(l.Vocabulary, l.Units) || tooMany(length, l.Units):
		return nil, b.fault("units", fmt.Sprintf("the layer has more than %d numbers", maxNumbers), "make it smaller")
	}
	info.Output = Shape{length, 1, l.Units}
	info.Parameters = l.Vocabulary * l.Units
	e := &embedding{length: length, tokens: l.Vocabulary, d: l.Units, part: l.Trainable, block: b.net.trainable}
	if l.Trainable == TrainAll {
		info.Trainable = info.Parameters
	} else {
		e.block = b.frozen
	}
	return e, nil
}

// tokens declares the inputs of a net on texts: tokens [N, length], and how many of
// them there are.
func (w *writer) tokens(l *embedding, meaning string) value {
	length := l.length
	tokens := w.Input(onnx.NewPort("tokens", onnx.Int64s, meaning+"; an unknown token counts as token 0", 0, length))
	lengths := w.Input(onnx.NewPort("lengths", onnx.Int64s, "how many tokens each text has; those beyond are not read", 0))
	w.Scope, w.length = "input", length
	w.lengths = w.Reshape(w.Op("Max", w.Op("Min", lengths, w.Whole(int64(length))), w.Whole(0)), -1, 1)
	steps := make([]int64, length)
	for i := range steps {
		steps[i] = int64(i)
	}
	there := w.Op("Less", w.Tensor("steps", steps, 1, length), w.lengths)
	w.mask = w.Reshape(w.To(onnx.Floats, there), -1, int64(length), 1)
	return value{name: tokens}
}

func (l *embedding) write(w *writer, v value) value {
	known := w.Op("And", w.Op("GreaterOrEqual", v.name, w.Whole(0)), w.Op("Less", v.name, w.Whole(int64(l.tokens))))
	token := w.Op("Where", known, v.name, w.Whole(0))
	return w.made(w.Op("Gather", w.Tensor("vectors", l.weights(w.params, w.frozen), l.tokens, l.d), token), inSteps)
}

func (l *embedding) tensors(params, frozen []float32) []Tensor {
	return []Tensor{{"weight", []int{l.tokens, l.d}, l.weights(params, frozen)}}
}
