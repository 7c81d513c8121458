package nn

import (
	"fmt"

	"pawl/compute/kernel"
)

var _ = register(Kind{
	Name: "max_pool", Help: "the largest number of each window and channel", Keys: []string{"size", "stride"}, Also: []string{"maxpool", "maxpool2d"},
	build: (*builder).pool, output: fresh, windows: true,
})

var _ = register(Kind{
	Name: "avg_pool", Help: "the mean of each window and channel", Keys: []string{"size", "stride"}, Also: []string{"avgpool", "avgpool2d", "averagepool"},
	build: (*builder).pool, output: fresh, windows: true,
})

var _ = register(Kind{
	Name: "pool2x2", Help: "the largest or the mean of four pixels", Keys: []string{"mode"}, build: (*builder).pool, output: fresh, windows: true,
	Front: &Front{Word: "pool", Choices: []string{"max", "mean"}, Searched: true, Layers: one(Layer{Kind: "pool2x2"})},
})

// maxPool maps x (n×H×W×C) to the largest value of each window and channel, y
// (n×H'×W'×C). Windows without padding; the first of equal values gets the whole
// gradient. A NaN beside numbers may be passed over.
type maxPool struct{ window }

// pool2 is the kernel's pool, for windows of 2×2.
func (l *maxPool) pool2() kernel.Pool2 {
	return kernel.Pool2{Height: l.in.Height, Width: l.in.Width, Channels: l.in.Channels, Stride: l.stride}
}

func (l *maxPool) forward(c *call, s *state, x []float32) []float32 {
	channels, line := l.in.Channels, l.in.Width*l.in.Channels
	// index has, for each output, how far its pixel is from the window's corner.
	y, index := grow(&s.y, c.n*l.out.Size()), grow(&s.index, c.n*l.out.Size())
	if l.size == 2 {
		l.pool2().Forward(y, index, x, c.n)
		return y
	}
	l.each(c.n, func(at, corner int) {
		best, from := y[at:at+channels], index[at:at+channels]
		copy(best, x[corner:])
		clear(from)
		for r := range l.size {
			for q := range l.size {
				offset := r*line + q*channels
				for k, v := range x[corner+offset : corner+offset+channels] {
					if v > best[k] {
						best[k], from[k] = v, int32(offset)
					}
				}
			}
		}
	})
	return y
}

func (l *maxPool) backward(c *call, s *state, dy []float32) []float32 {
	if !c.wantInput {
		return nil
	}
	dx := grow(&s.dx, c.n*l.in.Size())
	if l.size == 2 {
		l.pool2().Backward(dx, dy, s.index, c.n)
		return dx
	}
	clear(dx)
	l.each(c.n, func(at, corner int) {
		from, to := s.index[at:at+l.in.Channels], dx[corner:]
		for k, v := range dy[at : at+l.in.Channels] {
			to[int(from[k])+k] += v
		}
	})
	return dx
}

func (l *maxPool) memory(_, wantInput bool) int {
	return 2*l.out.Size() + when(wantInput, l.in.Size())
}

func isNaN(v float32) bool { return v != v }

// avgPool maps x (n×H×W×C) to the mean of each window and channel, y
// (n×H'×W'×C). Windows without padding.
type avgPool struct{ window }

func (l *avgPool) forward(c *call, s *state, x []float32) []float32 {
	y := grow(&s.y, c.n*l.out.Size())
	clear(y)
	l.each(c.n, func(at, corner int) {
		for r := range l.size {
			for q := range l.size {
				from := x[corner+(r*l.in.Width+q)*l.in.Channels:]
				for k, v := range from[:l.in.Channels] {
					y[at+k] += v
				}
			}
		}
	})
	kernel.Scale(y, 1/float32(l.size*l.size))
	return y
}

func (l *avgPool) backward(c *call, s *state, dy []float32) []float32 {
	if !c.wantInput {
		return nil
	}
	dx := grow(&s.dx, c.n*l.in.Size())
	clear(dx)
	share := 1 / float32(l.size*l.size)
	l.each(c.n, func(at, corner int) {
		for r := range l.size {
			for q := range l.size {
				to := dx[corner+(r*l.in.Width+q)*l.in.Channels:]
				for k, v := range dy[at : at+l.in.Channels] {
					to[k] += share * v
				}
			}
		}
	})
	return dx
}

func (l *avgPool) memory(_, wantInput bool) int {
	return l.out.Size() + when(wantInput, l.in.Size())
}

func (b *builder) pool(l Layer, info *LayerInfo) (op, error) {
	size, stride, mean := l.Size, l.Stride, l.Kind == "avg_pool"
	key := "size"
	if l.Kind == "pool2x2" {
		size, stride, mean, key = 2, 2, l.Mode == "mean", ""
		if l.Mode != "mean" && l.Mode != "max" {
			return nil, b.fault("mode", fmt.Sprintf("mode is %q", l.Mode), "write mean or max")
		}
	}
	if stride == 0 {
		stride = size
	}
	switch {
	case size < 1:
		return nil, b.fault("size", fmt.Sprintf("size must be at least 1, got %d", size), "2 is a common choice")
	case stride < 1 || stride > maxNumbers:
		return nil, b.fault("stride", fmt.Sprintf("stride must be at least 1 and no larger than an image, got %d", stride), "leave it out for the size of the window")
	}
	if err := b.fits(key, size, false); err != nil {
		return nil, err
	}
	w := newWindow(b.shape, size, stride, b.shape.Channels, false)
	info.Output = w.out
	if mean {
		return &avgPool{w}, nil
	}
	return &maxPool{w}, nil
}

func (l *maxPool) write(w *writer, v value) value { return l.writePool(w, "MaxPool", v) }
func (l *avgPool) write(w *writer, v value) value { return l.writePool(w, "AveragePool", v) }
