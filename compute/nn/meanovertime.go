package nn

import (
	"pawl/compute/kernel"
	"pawl/compute/onnx"
)

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
	if hi > lo {
		kernel.Scale(mean, float32(len(mean))/float32(hi-lo))
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

func (l *meanOverTime) write(w *writer, v value) value { return w.made(w.meanOverTime(v.name), flat) }

// meanOverTime is the mean of the steps that there are, [N, length, d] to [N, d]; zeros
// where there are none.
func (w *writer) meanOverTime(x string) string {
	// Steps beyond the end may hold anything, but nothing that is not finite.
	sum := w.Add("ReduceSum", onnx.Attributes{"keepdims", int64(0)}, w.Op("Mul", x, w.mask), w.Ints(1))
	return w.Op("Div", sum, w.To(onnx.Floats, w.Op("Max", w.lengths, w.Whole(1))))
}
