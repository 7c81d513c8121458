package nn

var _ = register(Kind{
	Name: "mean_over_time", Help: "the mean of the steps of a sequence", Also: []string{"globalaveragepooling1d"},
	build: (*builder).meanOverTime, overTime: true, sequence: never, output: fresh,
})

func (b *builder) meanOverTime(_ Layer, info *LayerInfo) (op, error) {
	if err := b.wantsSequence(); err != nil {
		return nil, err
	}
	info.Output = Vector(b.shape.Channels)
	return &meanOverTime{b.shape.Height, b.shape.Channels}, nil
}

// meanOverTime maps a sequence x (rows×d) to the mean of the steps of each example, y
// (n×d); zeros for a sequence without steps.
type meanOverTime struct{ length, d int }

func (l *meanOverTime) forward(c *call, s *state, x []float32) []float32 {
	y := grow(&s.y, c.n*l.d)
	clear(y)
	for e := range c.n {
		addMean(y[e*l.d:(e+1)*l.d], x, c.steps, e)
	}
	return y
}

// addMean adds the mean of example e's steps to zeros.
func addMean(mean, x []float32, p *steps, e int) {
	lo, hi := p.span(e, len(mean))
	for i := lo; i < hi; i += len(mean) {
		for j, v := range x[i : i+len(mean)] {
			mean[j] += v
		}
	}
	share := float32(len(mean)) / float32(hi-lo)
	for j := range mean {
		if hi > lo {
			mean[j] *= share
		}
	}
}

func (l *meanOverTime) backward(c *call, s *state, dy []float32) []float32 {
	if !c.wantInput {
		return nil
	}
	dx := grow(&s.dx, c.steps.rows()*l.d)
	for e := range c.n {
		lo, hi := c.steps.span(e, l.d)
		share := float32(l.d) / float32(hi-lo)
		for i := lo; i < hi; i += l.d {
			for j, v := range dy[e*l.d : (e+1)*l.d] {
				dx[i+j] = v * share
			}
		}
	}
	return dx
}

func (l *meanOverTime) memory(_, wantInput bool) int { return l.d + when(wantInput, l.length*l.d) }
