package nn

import "pawl/core/gradient"

// affine is a linear map with bias, used at t positions of each example by each
// of its groups: rows A_g ((n·t)×m) times W_g (m×n) plus b_g.
//
// Trained, group g's parameters are W_g (row-major) followed by b_g, one group
// after another, as gradient.Trace wants them. With a trained bias only, the
// frozen vector holds all W_g and the trained one all b_g; that bias is the map of
// a column of ones, and is traced as such.
type affine struct {
	t, m, n, groups int
	part            Trainable
	// block is the place of the parameters in the trained vector (all or bias).
	block int
	// frozen is the place of those that are not trained in the frozen vector.
	frozen int
}

func (f *affine) weights() int { return f.groups * f.m * f.n }
func (f *affine) biases() int  { return f.groups * f.n }

func (f *affine) trained() int {
	switch f.part {
	case TrainAll:
		return f.weights() + f.biases()
	case TrainBias:
		return f.biases()
	}
	return 0
}

// group returns W_g and b_g.
func (f *affine) group(params, frozen []float32, g int) (w, b []float32) {
	w, b = frozen, frozen
	at, each := f.frozen, f.m*f.n
	biasAt, eachBias := f.frozen+f.m*f.n, f.n
	switch f.part {
	case TrainAll:
		w, b = params, params
		at, each = f.block, f.m*f.n+f.n
		biasAt, eachBias = f.block+f.m*f.n, each
	case TrainBias:
		b, biasAt = params, f.block
	default:
		each += f.n
		eachBias = each
	}
	w = w[at+g*each:][: f.m*f.n : f.m*f.n]
	b = b[biasAt+g*eachBias:][:f.n:f.n]
	return w, b
}

// trace hands group g's rows to the recorder.
func (f *affine) trace(c *call, a, dy []float32, g int) {
	c.record(gradient.Trace{Offset: f.block + g*(f.m*f.n+f.n), T: f.t, M: f.m, N: f.n, Bias: true, A: a, G: dy})
}

// traceBias hands out the map of a trained bias, from dy ((n·t)×(groups·n)).
func (f *affine) traceBias(c *call, s *state, dy []float32) {
	if f.part != TrainBias {
		return
	}
	// Filled on every call: the reader of a trace may write to it.
	ones := grow(&s.part, c.n*f.t)
	for i := range ones {
		ones[i] = 1
	}
	c.record(gradient.Trace{Offset: f.block, T: f.t, M: 1, N: f.biases(), A: ones, G: dy})
}
