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
	window
}

// together is how many rows are multiplied at a time: enough to fill the kernel's
// blocks, few enough to stay in the cache from im2col to the product.
const together = 168

func (l *conv2d) chunk() int { return max(1, together/l.t) }

func (l *conv2d) forward(c *call, s *state, x []float32) []float32 {
	in, out := l.in.Size(), l.out.Size()
	y := grow(&s.y, c.n*out)
	// Rows that no trace needs are forgotten at once.
	examples := c.n
	if c.record == nil || l.part != TrainAll {
		examples = min(c.n, l.chunk())
	}
	a := grow(&s.a, l.groups*examples*l.t*l.m)
	l.pack(c, s)
	for g := range l.groups {
		rows := a[g*examples*l.t*l.m : (g+1)*examples*l.t*l.m]
		for i := 0; i < c.n; i += l.chunk() {
			k := min(l.chunk(), c.n-i)
			part := rows
			if examples == c.n {
				part = rows[i*l.t*l.m:]
			}
			part = part[:k*l.t*l.m]
			for j := range k {
				l.gather(part[j*l.t*l.m:(j+1)*l.t*l.m], x[(i+j)*in:(i+j+1)*in], g)
			}
			if l.groups == 1 {
				l.apply(c, s, y[i*out:(i+k)*out], part, 0)
				continue
			}
			own := grow(&s.scratch, k*l.t*l.n)
			l.apply(c, s, own, part, g)
			spread(y[i*out:(i+k)*out], own, l.out.Channels, g*l.n, l.n)
		}
	}
	return y
}

func (l *conv2d) backward(c *call, s *state, dy []float32) []float32 {
	in := l.in.Size()
	var dx []float32
	if c.wantInput {
		dx = grow(&s.dx, c.n*in)
		clear(dx)
	}
	for g := range l.groups {
		own := dy
		if l.groups > 1 {
			size := c.n * l.t * l.n
			own = grow(&s.g, l.groups*size)[g*size : (g+1)*size]
			collect(own, dy, l.out.Channels, g*l.n, l.n)
		}
		for i := 0; c.wantInput && i < c.n; i += l.chunk() {
			k := min(l.chunk(), c.n-i)
			da := grow(&s.scratch, k*l.t*l.m)
			l.applyTransposed(s, da, own[i*l.t*l.n:(i+k)*l.t*l.n], g)
			for j := range k {
				l.scatter(dx[(i+j)*in:(i+j+1)*in], da[j*l.t*l.m:(j+1)*l.t*l.m], g)
			}
		}
		if l.part == TrainAll {
			size := c.n * l.t * l.m
			l.trace(c, s.a[g*size:(g+1)*size], own, g)
		}
	}
	l.traceBias(c, s, dy)
	return dx
}

func (l *conv2d) memory(trained, wantInput bool) int {
	return l.out.Size() + when(l.part == TrainAll, l.groups*l.t*l.m) + when(wantInput, l.in.Size()) +
		when(trained && l.groups > 1, l.out.Size()) + when(l.part == TrainBias, l.t)
}

// gather fills rows (t×m) with the windows of one image.
func (l *conv2d) gather(rows, image []float32, g int) {
	channels := l.in.Channels / l.groups
	line := l.size * channels
	at := 0
	for i := range l.out.Height {
		top, bottom, y := l.span(i, l.in.Height, l.top)
		for j := range l.out.Width {
			left, right, x := l.span(j, l.in.Width, l.left)
			row := rows[at : at+l.m]
			at += l.m
			if bottom-top < l.size || right-left < l.size {
				clear(row)
			}
			for r := top; r < bottom; r++ {
				to := row[r*line+left*channels : r*line+right*channels]
				from := image[((y+r-top)*l.in.Width+x)*l.in.Channels:]
				if l.groups == 1 {
					copyShort(to, from)
					continue
				}
				for k := 0; k < len(to); k += channels {
					copy(to[k:k+channels], from[k*l.groups+g*channels:])
				}
			}
		}
	}
}

// scatter adds the gradients at the windows of one image to those at its pixels.
func (l *conv2d) scatter(image, rows []float32, g int) {
	channels := l.in.Channels / l.groups
	line := l.size * channels
	at := 0
	for i := range l.out.Height {
		top, bottom, y := l.span(i, l.in.Height, l.top)
		for j := range l.out.Width {
			left, right, x := l.span(j, l.in.Width, l.left)
			row := rows[at : at+l.m]
			at += l.m
			for r := top; r < bottom; r++ {
				from := row[r*line+left*channels : r*line+right*channels]
				to := image[((y+r-top)*l.in.Width+x)*l.in.Channels:]
				if l.groups == 1 {
					add(to[:len(from)], from)
					continue
				}
				for k := 0; k < len(from); k += channels {
					add(to[k*l.groups+g*channels:][:channels], from[k:])
				}
			}
		}
	}
}

// add adds the first len(dst) numbers of src to dst.
func add(dst, src []float32) {
	src = src[:len(dst)]
	if len(dst) >= 32 { // below, the call costs more than it gains
		kernel.AddScaled(dst, src, 1)
		return
	}
	for i, v := range src {
		dst[i] += v
	}
}

// copyShort fills dst from the beginning of src. Lines of a window are too short
// for the call that copy is; arrays of 8 become vector moves.
func copyShort(dst, src []float32) {
	src = src[:len(dst)]
	if len(dst) > 64 {
		copy(dst, src)
		return
	}
	for len(dst) >= 8 {
		*(*[8]float32)(dst) = *(*[8]float32)(src)
		dst, src = dst[8:], src[8:]
	}
	//lint:ignore S1001 copy is the call that this avoids
	for i, v := range src {
		dst[i] = v
	}
}

// spread writes columns of own (rows×n) to columns lo to lo+n of all (rows×width).
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
