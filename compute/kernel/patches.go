package kernel

// vectorValues is how many values the copies move at once.
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

// blocks calls do for all blocks of a batch, with a buffer for the patches of a step.
func (c *Conv) blocks(batch int, do func(b block)) {
	stride := patchStride(c.PatchSize())
	step := max(1, min(blockM, patchValues/stride))
	n := min(batch, max(1, step/c.Positions()))
	buffer, padding := buffers.borrow(min(step, n*c.Positions())*stride), buffers.borrow(n*c.paddedSize()+vectorValues)
	defer buffers.giveBack(buffer)
	defer buffers.giveBack(padding)
	for i := 0; i < batch; i += n {
		do(block{i, min(n, batch-i), i * c.Positions(), step, c.Positions(), buffer, padding})
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

// strips are the parts of a patch that are adjacent both in the patch and in the
// image, all of one size and one after another in the patch: its kernel rows, or
// with groups or columns that are not neighbours the places of each kernel row, which
// then is a set of them.
type strips struct {
	sets, count, size int
	setStride, stride int // in the image
}

func (c *Conv) strips() strips {
	line := c.down * c.paddedWidth * c.s.Channels
	if c.s.Groups > 1 || c.across > 1 {
		return strips{c.s.KernelHeight, c.s.KernelWidth, c.channels, line, c.across * c.s.Channels}
	}
	return strips{1, c.s.KernelHeight, c.s.KernelWidth * c.channels, 0, line}
}

// each calls do for all strips with their places in the patch and in the image.
func (s strips) each(do func(at, image int)) {
	for i := range s.sets {
		for j := range s.count {
			do((i*s.count+j)*s.size, i*s.setStride+j*s.stride)
		}
	}
}

// within is how many of count patches, step apart in an image and stride apart in
// memory, have room behind for strips of width values in both.
func (s strips) within(count, image, step, memory, stride, width int) int {
	image -= (s.sets-1)*s.setStride + (s.count-1)*s.stride + width
	memory -= (s.sets*s.count-1)*s.size + width
	if image < 0 || memory < 0 {
		return 0
	}
	return min(count, image/step+1, memory/stride+1)
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

// patches views a block's buffer as so many patches.
func (c *Conv) patches(b block, count int) Matrix {
	return Matrix{Data: b.buffer, Rows: count, Cols: c.PatchSize(), RowStride: patchStride(c.PatchSize()), ColStride: 1}
}

func (x *machine) fillPatches(c *Conv, to Matrix, image []float32, g, lo int) {
	step := c.s.Stride * c.s.Channels
	strips := c.strips()
	vectors := (strips.size + vectorValues - 1) / vectorValues
	over := vectors*vectorValues - strips.size
	// Whole vectors run over the end of a strip, into what is written after it: the
	// next strip or patch, of this run or the next one, or the spare room.
	fast := x.copyStrips != nil && (strips.sets == 1 || over == 0 || to.RowStride-to.Cols >= over)
	c.runs(lo, lo+to.Rows, func(at, count, from int) {
		dst, src := to.Data[at*to.RowStride:], image[from+g*c.channels:]
		whole := 0
		if fast {
			whole = strips.within(count, len(src), step, len(dst), to.RowStride, vectors*vectorValues)
		}
		if whole > 0 {
			gap := to.RowStride - strips.count*strips.size
			for i := range strips.sets {
				x.copyStrips(&dst[i*strips.count*strips.size], strips.size*4, gap*4, &src[i*strips.setStride], step*4, strips.stride*4, whole, strips.count, vectors)
			}
		}
		for i := whole; i < count; i++ {
			patch, from := dst[i*to.RowStride:], src[i*step:]
			strips.each(func(at, image int) { copy(patch[at:at+strips.size], from[image:]) })
		}
	})
}

// addPatches adds patches to the places of the image that they came from. A value
// of the image gets its sums in the order of places, wherever places were cut into
// blocks.
func (x *machine) addPatches(c *Conv, image []float32, from Matrix, g, lo int) {
	step := c.s.Stride * c.s.Channels
	strips := c.strips()
	vectors := (strips.size + vectorValues - 1) / vectorValues
	c.runs(lo, lo+from.Rows, func(at, count, to int) {
		src, dst := from.Data[at*from.RowStride:], image[to+g*c.channels:]
		whole := 0
		if x.addStrips != nil {
			whole = strips.within(count, len(dst), step, len(src), from.RowStride, vectors*vectorValues)
		}
		if whole > 0 {
			gap := from.RowStride - strips.count*strips.size
			// Places of a run lie in one row, so each row of the image meets one kernel row.
			for i := range strips.sets {
				x.addStrips(&src[i*strips.count*strips.size], strips.size*4, gap*4, &dst[i*strips.setStride], step*4, strips.stride*4, whole, strips.count, strips.size/vectorValues)
			}
		}
		for i := whole; i < count; i++ {
			patch, to := src[i*from.RowStride:], dst[i*step:]
			strips.each(func(at, image int) {
				to := to[image:][:strips.size]
				for j, v := range patch[at : at+strips.size] {
					to[j] += v
				}
			})
		}
	})
}
