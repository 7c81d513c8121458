package nn

import "pawl/compute/kernel"

// denseLayer maps x (n×in) to y = x·W + b (n×units), W in×units; of a sequence, each
// time step.
type denseLayer struct{ affine }

// forward packs the weights for both products. That is 2 to 4 % of a microbatch of 250
// in a net of 784-1024-512-64-10, and less in all others of this work: too little
// for a packing that workers share.
func (d *denseLayer) forward(c *call, s *state, x []float32) []float32 {
	weights, bias := d.group(c.params, c.net.frozen, 0)
	w := kernel.Dense(weights, d.m, d.n)
	s.w.Set(w)
	if c.record != nil && c.wantInput {
		s.wT.Set(w.T())
	}
	s.x = x
	rows := len(x) / d.m
	y := grow(&s.y, rows*d.n)
	for i := 0; i < len(y); i += d.n {
		copy(y[i:i+d.n], bias)
	}
	kernel.MatMulPacked(kernel.Dense(y, rows, d.n), kernel.Dense(x, rows, d.m), &s.w, true)
	return y
}

func (d *denseLayer) backward(c *call, s *state, dy []float32) []float32 {
	var dx []float32
	if c.wantInput {
		rows := len(dy) / d.n
		dx = grow(&s.dx, rows*d.m)
		kernel.MatMulPacked(kernel.Dense(dx, rows, d.m), kernel.Dense(dy, rows, d.n), &s.wT, false)
	}
	// Recorded last: core may scale what it was given.
	if d.part == TrainAll {
		d.trace(c, s.x, dy, 0, nil)
	}
	d.traceBias(c, s, dy)
	return dx
}

func (d *denseLayer) memory(_, wantInput bool) int {
	return d.t * (d.n + when(wantInput, d.m) + when(d.part == TrainBias, 1))
}
