package kernel

import "slices"

// patches writes kernel rows y0 to y1−1 of the patches at places lo to hi−1,
// counted over the batch, into buffer.
func (x *machine) patches(c *Conv, buffer, in []float32, g, lo, hi, y0, y1 int) Matrix {
	size := (y1 - y0) * c.s.KernelWidth * c.channels
	m := Matrix{Data: buffer, Rows: hi - lo, Cols: size, RowStride: patchStride(size), ColStride: 1}
	x.fillPatches(c, m, in, g, lo, y0, y1)
	return m
}

// A strip is the part of a patch that is adjacent both in the patch and in the
// image: a kernel row, or with groups one place of it.
type strip struct{ x, columns, size int }

func (c *Conv) strips() (strips []strip) {
	if c.s.Groups == 1 {
		return []strip{{0, c.s.KernelWidth, c.s.KernelWidth * c.channels}}
	}
	for j := range c.s.KernelWidth {
		strips = append(strips, strip{j, 1, c.channels})
	}
	return strips
}

// A run is count places of one output row, from place at of the patches, seen
// through one kernel row and strip. Its image row is y, its first column x;
// inside says that all strips of the run lie within the image.
type run struct {
	image, at, count int
	y, x             int
	offset           int // of the strip in the patch
	strip            strip
	inside           bool
}

// runs calls do for all runs of places lo to hi−1 and kernel rows y0 to y1−1,
// strips in the given order.
func (c *Conv) runs(strips []strip, lo, hi, y0, y1 int, do func(r run)) {
	for p := lo; p < hi; {
		image, place := p/c.Positions(), p%c.Positions()
		oy, ox := place/c.outWidth, place%c.outWidth
		count := min(c.outWidth-ox, hi-p)
		for ky := y0; ky < y1; ky++ {
			for _, s := range strips {
				r := run{image: image, y: oy*c.s.Stride + ky - c.top, strip: s}
				r.offset = ((ky-y0)*c.s.KernelWidth + s.x) * c.channels
				c.split(r, p-lo, ox, count, do)
			}
		}
		p += count
	}
}

// split cuts count places from column ox into those before the image's left
// edge, inside it, and over its right edge.
func (c *Conv) split(r run, at, ox, count int, do func(r run)) {
	first := 0
	if need := c.left - r.strip.x - ox*c.s.Stride; need > 0 {
		first = min(count, (need+c.s.Stride-1)/c.s.Stride)
	}
	last := first
	if room := c.s.Width - r.strip.columns - r.strip.x + c.left; room >= 0 {
		last = max(first, min(count, room/c.s.Stride+1-ox))
	}
	for _, part := range [3][2]int{{0, first}, {first, last}, {last, count}} {
		if part[0] == part[1] {
			continue
		}
		r.at, r.count = at+part[0], part[1]-part[0]
		r.x = (ox+part[0])*c.s.Stride + r.strip.x - c.left
		r.inside = part[0] == first && part[1] == last && r.y >= 0 && r.y < c.s.Height
		do(r)
	}
}

func (x *machine) fillPatches(c *Conv, to Matrix, in []float32, g, lo, y0, y1 int) {
	step := c.s.Stride * c.s.Channels
	spare := to.RowStride - to.Cols
	c.runs(c.strips(), lo, lo+to.Rows, y0, y1, func(r run) {
		dst := to.Data[r.at*to.RowStride+r.offset:]
		if !r.inside {
			for i := range r.count {
				c.copyEdge(dst[i*to.RowStride:i*to.RowStride+r.strip.size], in, g, r, r.x+i*c.s.Stride)
			}
			return
		}
		src := in[c.imageAt(r, g):]
		// Whole vectors run over the end of a strip, into the next one, which is
		// written later, or the spare room; they must not read past the input.
		vectors, whole := (r.strip.size+7)/8, 0
		if over := vectors*8 - r.strip.size; x.copyRuns != nil && (over == 0 || over <= spare) {
			if left := len(src) - vectors*8; left >= 0 {
				whole = min(r.count, left/step+1)
				x.copyRuns(&dst[0], to.RowStride*4, &src[0], step*4, whole, vectors)
			}
		}
		for i := whole; i < r.count; i++ {
			copy(dst[i*to.RowStride:i*to.RowStride+r.strip.size], src[i*step:])
		}
	})
}

func (c *Conv) imageAt(r run, g int) int {
	return ((r.image*c.s.Height+r.y)*c.s.Width+r.x)*c.s.Channels + g*c.channels
}

// copyEdge copies one strip that begins in column x and may leave the image.
func (c *Conv) copyEdge(dst, in []float32, g int, r run, x int) {
	clear(dst)
	if r.y < 0 || r.y >= c.s.Height {
		return
	}
	lo, hi := max(0, -x), min(r.strip.columns, c.s.Width-x)
	if lo >= hi {
		return
	}
	r.x = x + lo
	n := c.channels
	copy(dst[lo*n:hi*n], in[c.imageAt(r, g):])
}

// addPatches adds patches to the places of the image that they came from.
func (x *machine) addPatches(c *Conv, image []float32, from Matrix, g, lo, hi int) {
	step := c.s.Stride * c.s.Channels
	// From the last strip back, a value of the image gets its sums in the order of
	// places, wherever places were cut into blocks.
	strips := c.strips()
	slices.Reverse(strips)
	c.runs(strips, lo, hi, 0, c.s.KernelHeight, func(r run) {
		src := from.Data[r.at*from.RowStride+r.offset:]
		if r.y < 0 || r.y >= c.s.Height {
			return
		}
		if r.inside && x.addRuns != nil {
			x.addRuns(&image[c.imageAt(r, g)], step*4, &src[0], from.RowStride*4, r.count, r.strip.size)
			return
		}
		n := c.channels
		for i := range r.count {
			x := r.x + i*c.s.Stride
			first, last := max(0, -x), min(r.strip.columns, c.s.Width-x)
			if first >= last {
				continue
			}
			inner := r
			inner.x = x + first
			dst := image[c.imageAt(inner, g):]
			for j, v := range src[i*from.RowStride+first*n : i*from.RowStride+last*n] {
				dst[j] += v
			}
		}
	})
}
