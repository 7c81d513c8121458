package nn

import "pawl/kernel"

// conv2d maps images x (n×H×W×C) to y (n×H'×W'×F). Group g convolves the channels
// [g·C/groups, (g+1)·C/groups) to the filters [g·F/groups, (g+1)·F/groups).
//
// Its linear map has one row for each output position: the window's pixels, in
// order (row, column, channel of the group), m = kernel·kernel·C/groups of them
// (im2col); pixels outside of the image are zeros. Those rows are its trace.
type conv2d struct {
	affine
	maps *kernel.Conv
	// in and out are the sizes of an image before and after.
	in, out int
}

// together is how many rows are multiplied at a time: enough to fill the kernel's
// blocks, few enough to stay in the cache from im2col to the product.
const together = 168

func (l *conv2d) forward(c *call, s *state, x []float32) []float32 {
	y := grow(&s.y, c.n*l.out)
	size := c.n * l.t * l.m
	a := grow(&s.a, l.groups*size)
	l.pack(c, s)
	step := max(1, together/l.t)
	for g := range l.groups {
		rows := a[g*size : (g+1)*size]
		for i := 0; i < c.n; i += step {
			k := min(step, c.n-i)
			part, to := rows[i*l.t*l.m:(i+k)*l.t*l.m], y[i*l.out:(i+k)*l.out]
			l.maps.Patches(part, x[i*l.in:(i+k)*l.in], k, g)
			if l.groups == 1 {
				l.apply(c, s, to, part, 0)
				continue
			}
			own := grow(&s.scratch, k*l.t*l.n)
			l.apply(c, s, own, part, g)
			spread(to, own, l.biases(), g*l.n, l.n)
		}
	}
	return y
}

func (l *conv2d) backward(c *call, s *state, dy []float32) []float32 {
	var dx []float32
	if c.wantInput {
		dx = grow(&s.dx, c.n*l.in)
		l.maps.Pack(&s.conv, l.allWeights(c, s))
		l.maps.InputGradient(dx, dy, c.n, &s.conv)
	}
	size := c.n * l.t
	for g := range l.groups {
		own := dy
		if l.groups > 1 && l.part == TrainAll {
			own = grow(&s.g, l.groups*size*l.n)[g*size*l.n : (g+1)*size*l.n]
			collect(own, dy, l.biases(), g*l.n, l.n)
		}
		l.trace(c, s.a[g*size*l.m:(g+1)*size*l.m], own, g)
	}
	l.traceBias(c, s, dy)
	return dx
}

// allWeights returns the weights of all groups, one after another.
func (l *conv2d) allWeights(c *call, s *state) []float32 {
	if l.groups == 1 {
		w, _ := l.group(c.params, c.net.frozen, 0)
		return w
	}
	all := grow(&s.scratch, l.weights())
	for g := range l.groups {
		w, _ := l.group(c.params, c.net.frozen, g)
		copy(all[g*l.m*l.n:], w)
	}
	return all
}

// spread writes own (rows×n) to the columns from lo on of all (rows×width).
func spread(all, own []float32, width, lo, n int) {
	for i, j := lo, 0; j < len(own); i, j = i+width, j+n {
		copy(all[i:i+n], own[j:j+n])
	}
}

// collect is the inverse of spread.
func collect(own, all []float32, width, lo, n int) {
	for i, j := lo, 0; j < len(own); i, j = i+width, j+n {
		copy(own[j:j+n], all[i:i+n])
	}
}
