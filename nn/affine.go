package nn

import (
	"pawl/core/gradient"
	"pawl/kernel"
)

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

// pack prepares the weights for the products of one call.
func (f *affine) pack(c *call, s *state) {
	if s.w == nil {
		s.w, s.wT = make([]kernel.Packed, f.groups), make([]kernel.Packed, f.groups)
	}
	for g := range f.groups {
		w, _ := f.group(c.params, c.net.frozen, g)
		s.w[g].Set(kernel.Dense(w, f.m, f.n))
		if c.record != nil && c.wantInput {
			s.wT[g].Set(kernel.Dense(w, f.m, f.n).T())
		}
	}
}

// apply sets y (rows×n) to a (rows×m) times W_g plus b_g.
func (f *affine) apply(c *call, s *state, y, a []float32, g int) {
	_, b := f.group(c.params, c.net.frozen, g)
	for i := 0; i < len(y); i += f.n {
		copy(y[i:i+f.n], b)
	}
	rows := len(y) / f.n
	kernel.MatMulPacked(kernel.Dense(y, rows, f.n), kernel.Dense(a, rows, f.m), &s.w[g], true)
}

// applyTransposed sets da (rows×m) to dy (rows×n) times W_gᵀ, packed before.
func (f *affine) applyTransposed(s *state, da, dy []float32, g int) {
	rows := len(dy) / f.n
	kernel.MatMulPacked(kernel.Dense(da, rows, f.m), kernel.Dense(dy, rows, f.n), &s.wT[g], false)
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
