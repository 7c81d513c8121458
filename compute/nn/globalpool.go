package nn

import "pawl/compute/kernel"

var _ = register(Kind{
	Name: "global_avg_pool", Help: "the mean of each channel over all pixels", Also: []string{"globalavgpool", "globalaveragepooling2d", "adaptiveavgpool2d"},
	build: func(b *builder, _ Layer, info *LayerInfo) (op, error) {
		info.Output = Vector(b.shape.Channels)
		return &globalPool{positions: b.shape.Height * b.shape.Width, d: b.shape.Channels}, nil
	}, output: fresh, windows: true,
})

// globalPool maps x (n×H×W×C) to the mean of each channel, y (n×C). Unlike a flattened
// image, what comes out gives the dense layer behind it C inputs and not H·W·C: fewer
// weights to which noise is added, for any size of image (Lin et al., arXiv:1312.4400).
type globalPool struct{ positions, d int }

func (l *globalPool) forward(c *call, s *state, x []float32) []float32 {
	y := grow(&s.y, c.n*l.d)
	clear(y)
	for e := range c.n {
		to := y[e*l.d : (e+1)*l.d]
		for p := range l.positions {
			for k, v := range x[(e*l.positions+p)*l.d:][:l.d] {
				to[k] += v
			}
		}
	}
	kernel.Scale(y, 1/float32(l.positions))
	return y
}

func (l *globalPool) backward(c *call, s *state, dy []float32) []float32 {
	if !c.wantInput {
		return nil
	}
	dx := grow(&s.dx, c.n*l.positions*l.d)
	share := 1 / float32(l.positions)
	for e := range c.n {
		for p := range l.positions {
			to := dx[(e*l.positions+p)*l.d:][:l.d]
			for k, v := range dy[e*l.d : (e+1)*l.d] {
				to[k] = v * share
			}
		}
	}
	return dx
}

func (l *globalPool) memory(_, wantInput bool) int {
	return l.d + when(wantInput, l.positions*l.d)
}

func (l *globalPool) write(w *writer, v value) value {
	return w.made(w.Op("GlobalAveragePool", w.asPlanes(v)), planes)
}
