package nn

// denseLayer maps x (n×in) to y = x·W + b (n×units), W in×units.
type denseLayer struct{ affine }

func (d *denseLayer) forward(c *call, s *state, x []float32) []float32 {
	s.x = x
	y := grow(&s.y, c.n*d.n)
	d.pack(c, s)
	d.apply(c, s, y, x, 0)
	return y
}

func (d *denseLayer) backward(c *call, s *state, dy []float32) []float32 {
	var dx []float32
	if c.wantInput {
		dx = grow(&s.dx, c.n*d.m)
		d.applyTransposed(s, dx, dy, 0)
	}
	// Recorded last: core may scale what it was given.
	if d.part == TrainAll {
		d.trace(c, s.x, dy, 0)
	}
	d.traceBias(c, s, dy)
	return dx
}

func (d *denseLayer) memory(_, wantInput bool) int {
	return d.n + when(wantInput, d.m) + when(d.part == TrainBias, 1)
}
