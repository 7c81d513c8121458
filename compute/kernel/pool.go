package kernel

import (
	"fmt"
	"math"
)

// Pool2 takes the largest value of each 2×2 window and channel of images (height ×
// width × channels, row-major, one after another), where windows lie Stride
// apart. Pixels that no whole window covers are passed over. Height, Width and
// Stride are at least 1; an image smaller than a window gives no output.
type Pool2 struct{ Height, Width, Channels, Stride int }

// OutHeight returns the height of one output image.
func (p Pool2) OutHeight() int { return p.outs(p.Height) }

// OutWidth returns the width of one output image.
func (p Pool2) OutWidth() int { return p.outs(p.Width) }

func (p Pool2) outs(size int) int {
	if size < 2 {
		return 0
	}
	return (size-2)/p.Stride + 1
}

// InputSize returns the values of one input image.
func (p Pool2) InputSize() int { return p.Height * p.Width * p.Channels }

// OutputSize returns the values of one output image.
func (p Pool2) OutputSize() int { return p.OutHeight() * p.OutWidth() * p.Channels }

// Forward sets y (batch × output) to the largest values of x (batch × input), and
// from to how far each lies from the corner of its window in x. The first of equal
// values counts, in the order of rows; a NaN beside numbers may be passed over. It
// panics when sizes do not fit.
func (p Pool2) Forward(y []float32, from []int32, x []float32, batch int) {
	active.poolForward(p, y, from, x, batch)
}

// Backward sets dx (batch × input) to dy (batch × output), each value at the place
// that Forward took it from; where windows overlap they are added in the order of
// the outputs. It panics when sizes do not fit.
func (p Pool2) Backward(dx, dy []float32, from []int32, batch int) {
	active.poolBackward(p, dx, dy, from, batch)
}

func (p Pool2) check(x, y []float32, from []int32, batch int) {
	if p.Height < 1 || p.Width < 1 || p.Channels < 0 || p.Stride < 1 || batch < 0 {
		panic(fmt.Sprintf("kernel: pool %+v over a batch of %d", p, batch))
	}
	if len(x) != batch*p.InputSize() || len(y) != batch*p.OutputSize() || len(from) != len(y) {
		panic(fmt.Sprintf("kernel: pool of %d images from %d to %d values, %d places, want %d and %d",
			batch, len(x), len(y), len(from), batch*p.InputSize(), batch*p.OutputSize()))
	}
}

// poolRow is a row of windows: count of them, run values each; where they overlap
// in a row, all channels of all windows are one run, since neighbours are adjacent
// both in the input and in the output.
type poolRow struct{ count, run, step, right, down int }

func (p Pool2) row() poolRow {
	r := poolRow{count: p.OutWidth(), run: p.Channels, step: p.Stride * p.Channels, right: p.Channels, down: p.Width * p.Channels}
	if p.Stride == 1 {
		r.count, r.run, r.step = 1, r.count*r.run, 0
	}
	return r
}

// rows calls do with the place of each row of windows in the output and the input.
func (p Pool2) rows(batch int, do func(out, in int)) {
	if p.OutputSize() == 0 {
		return
	}
	line := p.Width * p.Channels
	for b := range batch {
		for i := range p.OutHeight() {
			do((b*p.OutHeight()+i)*p.OutWidth()*p.Channels, (b*p.Height+i*p.Stride)*line)
		}
	}
}

func (x *machine) poolForward(p Pool2, y []float32, from []int32, in []float32, batch int) {
	p.check(in, y, from, batch)
	r := p.row()
	p.rows(batch, func(out, at int) {
		vectors := 0
		if x.maxPool2 != nil {
			vectors = r.run / vectorValues
		}
		if vectors > 0 {
			x.maxPool2(&y[out], &from[out], r.run*4, &in[at], r.step*4, r.right, r.down, r.count, vectors)
		}
		if rest := vectors * vectorValues; rest < r.run {
			for i := range r.count {
				lo, hi := out+i*r.run+rest, out+(i+1)*r.run
				largestOfFour(y[lo:hi], from[lo:hi], in[at+i*r.step+rest:], r.right, r.down)
			}
		}
	})
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

func (x *machine) poolBackward(p Pool2, dx, dy []float32, from []int32, batch int) {
	p.check(dx, dy, from, batch)
	r := p.row()
	if p.Stride == 1 {
		clear(dx)
		p.rows(batch, func(out, at int) {
			// A pixel is the last of its window's row before it is the first of the next
			// one's: adding the right neighbours first keeps the order of the outputs.
			for _, which := range [4]int{r.right, 0, r.down + r.right, r.down} {
				x.addWhereAll(dx[at+which:at+which+r.run], dy[out:out+r.run], from[out:out+r.run], which)
			}
		})
		return
	}
	if p.Stride > 2 || p.Height%2 == 1 || p.Width%2 == 1 {
		clear(dx) // between the windows and behind them
	}
	p.rows(batch, func(out, at int) {
		vectors := 0
		if x.disjoint != nil {
			vectors = r.run / vectorValues
		}
		if vectors > 0 {
			x.disjoint(&dx[at], r.step*4, r.right, r.down, &dy[out], &from[out], r.run*4, r.count, vectors)
		}
		if rest := vectors * vectorValues; rest < r.run {
			for i := range r.count {
				lo, hi := out+i*r.run+rest, out+(i+1)*r.run
				to := dx[at+i*r.step+rest:]
				for k, v := range dy[lo:hi] {
					to[k], to[k+r.right], to[k+r.down], to[k+r.down+r.right] = 0, 0, 0, 0
					to[k+int(from[lo+k])] = v
				}
			}
		}
	})
}

// addWhereAll adds src to dst where from is which.
func (x *machine) addWhereAll(dst, src []float32, from []int32, which int) {
	whole := 0
	if x.addWhere != nil {
		whole = len(src) &^ (vectorValues - 1)
	}
	if whole > 0 {
		x.addWhere(&dst[0], &src[0], &from[0], which, whole/vectorValues)
	}
	for i := whole; i < len(src); i++ {
		if int(from[i]) == which {
			dst[i] += src[i]
		}
	}
}
