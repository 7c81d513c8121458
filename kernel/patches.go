package kernel

import "slices"

// vectorValues is how many values copyRuns moves at once.
const vectorValues = 8

// A block is as many whole images as have step places, or one image of which
// step places are worked on at a time.
type block struct {
	firstImage, images int
	firstPlace, step   int
	positions          int       // of one image
	buffer             []float32 // for patches
	padding            []float32 // for padded images
}

// blocks calls do for all blocks of a batch, with a buffer for step patches of
// stride values.
func (c *Conv) blocks(batch, step, stride int, do func(b block)) {
	n := min(batch, max(1, step/c.Positions()))
	buffer, padding := borrow(min(step, n*c.Positions())*stride), borrow(n*c.paddedSize()+vectorValues)
	defer giveBack(buffer)
	defer giveBack(padding)
	for i := 0; i < batch; i += n {
		do(block{i, min(n, batch-i), i * c.Positions(), step, c.Positions(), *buffer, *padding})
	}
}

// places calls do for the block's places, counted from its first.
func (b block) places(do func(lo, hi int)) {
	n := b.images * b.positions
	for lo := 0; lo < n; lo += b.step {
		do(lo, min(lo+b.step, n))
	}
}

func (c *Conv) paddedSize() int { return c.paddedHeight * c.paddedWidth * c.s.Channels }

func (c *Conv) unpadded() bool {
	return c.paddedHeight == c.s.Height && c.paddedWidth == c.s.Width
}

// pad returns the images of a block with the zeros around them: no place is then
// an edge.
func (c *Conv) pad(b block, in []float32) []float32 {
	if c.unpadded() {
		return in[b.firstImage*c.InputSize() : (b.firstImage+b.images)*c.InputSize()]
	}
	padded := c.cleared(b, nil)
	c.rows(b, func(at, paddedAt, n int) { copy(padded[paddedAt:paddedAt+n], in[at:]) })
	// The room behind lets the last strip be read by whole vectors.
	return padded[:len(padded)+vectorValues]
}

// cleared returns zeros to add the gradient of a block's padded images to: the
// images themselves where nothing is padded.
func (c *Conv) cleared(b block, images []float32) []float32 {
	image := b.padding[:b.images*c.paddedSize()]
	if c.unpadded() {
		image = images[b.firstImage*c.InputSize() : (b.firstImage+b.images)*c.InputSize()]
	}
	clear(image)
	return image
}

// unpad copies a block's images out of their padding.
func (c *Conv) unpad(b block, images, padded []float32) {
	if !c.unpadded() {
		c.rows(b, func(at, paddedAt, n int) { copy(images[at:at+n], padded[paddedAt:]) })
	}
}

// rows calls do with the places of each row of a block's images, in the batch
// and in the padded block.
func (c *Conv) rows(b block, do func(at, paddedAt, n int)) {
	n := c.s.Width * c.s.Channels
	for i := range b.images {
		for y := range c.s.Height {
			do(((b.firstImage+i)*c.s.Height+y)*n, ((i*c.paddedHeight+c.top+y)*c.paddedWidth+c.left)*c.s.Channels, n)
		}
	}
}

// A strip is the part of a patch that is adjacent both in the patch and in the
// image: a kernel row, or with groups one place of it.
type strip struct{ offset, column, size int }

// strips of kernel rows y0 to y1−1, in the order of the patch.
func (c *Conv) strips(y0, y1 int) (strips []strip) {
	columns, size := 1, c.s.KernelWidth*c.channels
	if c.s.Groups > 1 {
		columns, size = c.s.KernelWidth, c.channels
	}
	for y := y0; y < y1; y++ {
		for j := range columns {
			strips = append(strips, strip{((y-y0)*columns + j) * size, (y*c.paddedWidth + j) * c.s.Channels, size})
		}
	}
	return strips
}

// runs calls do for the places from lo to hi−1, as far as they are in one output
// row: count places from place at, whose patches begin at image.
func (c *Conv) runs(lo, hi int, do func(at, count, image int)) {
	for p := lo; p < hi; {
		n, place := p/c.Positions(), p%c.Positions()
		y, x := place/c.outWidth, place%c.outWidth
		count := min(c.outWidth-x, hi-p)
		do(p-lo, count, ((n*c.paddedHeight+y*c.s.Stride)*c.paddedWidth+x*c.s.Stride)*c.s.Channels)
		p += count
	}
}

// patches writes kernel rows y0 to y1−1 of the patches at a block's places lo to
// hi−1 into buffer.
func (x *machine) patches(c *Conv, buffer, image []float32, g, lo, hi, y0, y1 int) Matrix {
	size := (y1 - y0) * c.s.KernelWidth * c.channels
	m := Matrix{Data: buffer, Rows: hi - lo, Cols: size, RowStride: patchStride(size), ColStride: 1}
	x.fillPatches(c, m, image, g, lo, y0, y1)
	return m
}

func (x *machine) fillPatches(c *Conv, to Matrix, image []float32, g, lo, y0, y1 int) {
	step, strips := c.s.Stride*c.s.Channels, c.strips(y0, y1)
	vectors := (strips[0].size + vectorValues - 1) / vectorValues
	// Whole vectors run over the end of a strip, into the next one, which is
	// written later, or the spare room.
	over := vectors*vectorValues - strips[0].size
	fast := x.copyRuns != nil && (over == 0 || to.RowStride-to.Cols >= over)
	c.runs(lo, lo+to.Rows, func(at, count, from int) {
		for _, s := range strips {
			dst, src := to.Data[at*to.RowStride+s.offset:], image[from+s.column+g*c.channels:]
			whole := 0
			if left := len(src) - vectors*vectorValues; fast && left >= 0 {
				whole = min(count, left/step+1)
				x.copyRuns(&dst[0], to.RowStride*4, &src[0], step*4, whole, vectors)
			}
			for i := whole; i < count; i++ {
				copy(dst[i*to.RowStride:i*to.RowStride+s.size], src[i*step:])
			}
		}
	})
}

// addPatches adds patches to the places of the image that they came from.
func (x *machine) addPatches(c *Conv, image []float32, from Matrix, g, lo int) {
	step, strips := c.s.Stride*c.s.Channels, c.strips(0, c.s.KernelHeight)
	// From the last strip back, a value of the image gets its sums in the order of
	// places, wherever places were cut into blocks.
	slices.Reverse(strips)
	c.runs(lo, lo+from.Rows, func(at, count, to int) {
		for _, s := range strips {
			dst, src := image[to+s.column+g*c.channels:], from.Data[at*from.RowStride+s.offset:]
			if x.addRuns != nil {
				x.addRuns(&dst[0], step*4, &src[0], from.RowStride*4, count, s.size)
				continue
			}
			for i := range count {
				for j, v := range src[i*from.RowStride : i*from.RowStride+s.size] {
					dst[i*step+j] += v
				}
			}
		}
	})
}
