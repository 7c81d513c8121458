package nn

// maxPool maps x (n×H×W×C) to the largest value of each window and channel, y
// (n×H'×W'×C). Windows without padding; the first of equal values gets the whole
// gradient. NaN in a window makes its output NaN.
type maxPool struct{ window }

func (l *maxPool) forward(c *call, s *state, x []float32) []float32 {
	in, out, channels := l.in.Size(), l.out.Size(), l.in.Channels
	y, index := grow(&s.y, c.n*out), grow(&s.index, c.n*out)
	at := 0
	for e := range c.n {
		image := x[e*in : (e+1)*in]
		for i := range l.out.Height {
			for j := range l.out.Width {
				corner := (i*l.in.Width + j) * l.stride * channels
				best, from := y[at:at+channels], index[at:at+channels]
				at += channels
				copy(best, image[corner:corner+channels])
				for k := range from {
					from[k] = int32(corner + k)
				}
				for r := range l.size {
					for q := range l.size {
						start := corner + (r*l.in.Width+q)*channels
						for k, v := range image[start : start+channels] {
							// Written so that NaN wins: it must reach the loss.
							if !(v <= best[k]) && !isNaN(best[k]) {
								best[k], from[k] = v, int32(start+k)
							}
						}
					}
				}
			}
		}
	}
	return y
}

func (l *maxPool) backward(c *call, s *state, dy []float32) []float32 {
	if !c.wantInput {
		return nil
	}
	in, out := l.in.Size(), l.out.Size()
	dx := grow(&s.dx, c.n*in)
	clear(dx)
	for e := range c.n {
		image, from := dx[e*in:(e+1)*in], s.index[e*out:(e+1)*out]
		for i, v := range dy[e*out : (e+1)*out] {
			image[from[i]] += v
		}
	}
	return dx
}

func isNaN(v float32) bool { return v != v }

// avgPool maps x (n×H×W×C) to the mean of each window and channel, y
// (n×H'×W'×C). Windows without padding.
type avgPool struct{ window }

func (l *avgPool) forward(c *call, s *state, x []float32) []float32 {
	y := grow(&s.y, c.n*l.out.Size())
	clear(y)
	l.each(c.n, func(at, start int) {
		for k, v := range x[start : start+l.in.Channels] {
			y[at+k] += v
		}
	})
	share := 1 / float32(l.size*l.size)
	for i := range y {
		y[i] *= share
	}
	return y
}

func (l *avgPool) backward(c *call, s *state, dy []float32) []float32 {
	if !c.wantInput {
		return nil
	}
	dx := grow(&s.dx, c.n*l.in.Size())
	clear(dx)
	share := 1 / float32(l.size*l.size)
	l.each(c.n, func(at, start int) {
		for k, v := range dy[at : at+l.in.Channels] {
			dx[start+k] += share * v
		}
	})
	return dx
}

// each visits the pixels of all windows: at is the place of the window's first
// channel in the output, start that of the pixel's in the input.
func (l *avgPool) each(n int, visit func(at, start int)) {
	in, channels := l.in.Size(), l.in.Channels
	at := 0
	for e := range n {
		for i := range l.out.Height {
			for j := range l.out.Width {
				for r := range l.size {
					for q := range l.size {
						visit(at, e*in+((i*l.stride+r)*l.in.Width+j*l.stride+q)*channels)
					}
				}
				at += channels
			}
		}
	}
}
