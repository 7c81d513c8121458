package nn

import "math"

// maxPool maps x (n×H×W×C) to the largest value of each window and channel, y
// (n×H'×W'×C). Windows without padding; the first of equal values gets the whole
// gradient. A NaN beside numbers may be passed over.
type maxPool struct{ window }

func (l *maxPool) forward(c *call, s *state, x []float32) []float32 {
	channels, line := l.in.Channels, l.in.Width*l.in.Channels
	// index has, for each output, how far its pixel is from the window's corner.
	y, index := grow(&s.y, c.n*l.out.Size()), grow(&s.index, c.n*l.out.Size())
	l.each(c.n, func(at, corner int) {
		best, from := y[at:at+channels], index[at:at+channels]
		if l.size == 2 {
			largestOfFour(best, from, x[corner:], channels, line)
			return
		}
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

// largestOfFour sets best to the largest of x at 0, right, down and down+right,
// channel by channel, and from to the place. Selecting bits instead of floats lets
// the compiler do without most branches, which on data like this are guessed wrong
// every other time.
func largestOfFour(best []float32, from []int32, x []float32, right, down int) {
	n := len(best)
	from = from[:n]
	a, b, c, d := x[:n], x[right:][:n], x[down:][:n], x[down+right:][:n]
	atB, atC, atD := int32(right), int32(down), int32(down+right)
	for i := range best {
		p, q, r, s := a[i], b[i], c[i], d[i]
		above, at := math.Float32bits(p), int32(0)
		if q > p {
			above, at = math.Float32bits(q), atB
		}
		below, then := math.Float32bits(r), atC
		if s > r {
			below, then = math.Float32bits(s), atD
		}
		if math.Float32frombits(below) > math.Float32frombits(above) {
			above, at = below, then
		}
		best[i], from[i] = math.Float32frombits(above), at
	}
}

func (l *maxPool) backward(c *call, s *state, dy []float32) []float32 {
	if !c.wantInput {
		return nil
	}
	dx := grow(&s.dx, c.n*l.in.Size())
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
