package nn

import (
	"math/rand/v2"

	"pawl/core/gradient"
)

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
