package kernel

import (
	"fmt"
	"math"
)

// ConvShape says what a two-dimensional convolution maps to what. Images are
// height × width × channels, row-major, one after another.
type ConvShape struct {
	Height, Width, Channels   int // of one input image, at least 1
	KernelHeight, KernelWidth int // at least 1
	Filters                   int // channels of the output, at least 1
	Stride                    int // in both directions, at least 1
	// DilationHeight and DilationWidth are how many pixels lie from one row or column of
	// the kernel to the next; 0 stands for 1, where they are neighbours.
	DilationHeight, DilationWidth int
	// Groups cuts channels and filters into as many equal parts, each mapped on its
	// own; it must divide both. 1 is the ordinary convolution.
	Groups int
	// Same pads with zeros to ⌈size/stride⌉ outputs, the odd one after the image;
	// otherwise only places where the whole kernel fits count.
	Same bool
}

// Conv is a two-dimensional convolution (as in all networks, a correlation):
//
//	out[y,x,f] = Σ in[y·stride+i·dh−top, x·stride+j·dw−left, c] · weight[i,j,c,f]
//
// over kernel rows i, columns j and channels c, with dilations dh and dw, and zeros
// outside the image.
// With patches A (Positions × PatchSize, the window of each output place) it is
// the product out = A·weight, and the gradients are Aᵀ·dOut and dOut·weightᵀ
// scattered back. Patches are made a few at a time on the way into the product.
//
// Weights are groups × KernelHeight × KernelWidth × Channels/Groups ×
// Filters/Groups, row-major. A Conv is never written to.
type Conv struct {
	s                   ConvShape
	outHeight, outWidth int
	down, across        int // dilations
	top, left           int
	channels, filters   int // of one group
	// padded is the image with the zeros around it that the kernel sees.
	paddedHeight, paddedWidth int
}

// NewConv checks a shape. The error names the first thing that does not fit.
func NewConv(s ConvShape) (*Conv, error) {
	for _, f := range []struct {
		name  string
		value int
	}{
		{"height", s.Height}, {"width", s.Width}, {"channels", s.Channels},
		{"kernel height", s.KernelHeight}, {"kernel width", s.KernelWidth},
		{"filters", s.Filters}, {"stride", s.Stride}, {"groups", s.Groups},
	} {
		if f.value < 1 || f.value > math.MaxInt32 {
			return nil, fmt.Errorf("convolution: %s is %d", f.name, f.value)
		}
	}
	if s.Channels%s.Groups != 0 || s.Filters%s.Groups != 0 {
		return nil, fmt.Errorf("convolution: %d groups of %d channels and %d filters", s.Groups, s.Channels, s.Filters)
	}
	c := &Conv{s: s, channels: s.Channels / s.Groups, filters: s.Filters / s.Groups, down: max(s.DilationHeight, 1), across: max(s.DilationWidth, 1)}
	height, width := extent(s.KernelHeight, c.down), extent(s.KernelWidth, c.across)
	switch {
	case s.DilationHeight < 0 || s.DilationWidth < 0 || height > math.MaxInt32 || width > math.MaxInt32:
		return nil, fmt.Errorf("convolution: dilations are %d and %d", s.DilationHeight, s.DilationWidth)
	case s.Same:
		c.outHeight, c.top = same(s.Height, height, s.Stride)
		c.outWidth, c.left = same(s.Width, width, s.Stride)
	case height > s.Height || width > s.Width:
		return nil, fmt.Errorf("convolution: kernel of %d×%d in an image of %d×%d", height, width, s.Height, s.Width)
	default:
		c.outHeight = (s.Height-height)/s.Stride + 1
		c.outWidth = (s.Width-width)/s.Stride + 1
	}
	c.paddedHeight = max(c.top+s.Height, (c.outHeight-1)*s.Stride+height)
	c.paddedWidth = max(c.left+s.Width, (c.outWidth-1)*s.Stride+width)
	return c, nil
}

// extent is how many pixels a dilated kernel reaches over.
func extent(kernel, dilation int) int { return (kernel-1)*dilation + 1 }

func same(size, kernel, stride int) (out, before int) {
	out = (size + stride - 1) / stride
	return out, max(0, (out-1)*stride+kernel-size) / 2
}

// OutHeight returns the height of one output image.
func (c *Conv) OutHeight() int { return c.outHeight }

// OutWidth returns the width of one output image.
func (c *Conv) OutWidth() int { return c.outWidth }

// Positions returns how many places of an image the kernel is applied to.
func (c *Conv) Positions() int { return c.outHeight * c.outWidth }

// PatchSize returns how many values of one group a place sees.
func (c *Conv) PatchSize() int { return c.s.KernelHeight * c.s.KernelWidth * c.channels }

// InputSize returns the values of one input image.
func (c *Conv) InputSize() int { return c.s.Height * c.s.Width * c.s.Channels }

// OutputSize returns the values of one output image.
func (c *Conv) OutputSize() int { return c.Positions() * c.s.Filters }

// WeightSize returns the number of weights.
func (c *Conv) WeightSize() int { return c.s.Groups * c.PatchSize() * c.filters }

// ConvWeights are weights packed for both directions: pack once a step.
type ConvWeights struct{ forward, backward []Packed }

// PackGroup packs the weights of one group (PatchSize × filters of the group) into w and
// reuses its memory, and those for InputGradient only if it is wanted.
func (c *Conv) PackGroup(w *ConvWeights, group int, weights []float32, inputGradient bool) {
	active.packGroup(c, w, group, weights, inputGradient)
}

func (x *machine) packGroup(c *Conv, w *ConvWeights, g int, weights []float32, inputGradient bool) {
	sizes("weights of a group", len(weights), c.PatchSize()*c.filters)
	if len(w.forward) != c.s.Groups {
		w.forward, w.backward = make([]Packed, c.s.Groups), make([]Packed, c.s.Groups)
	}
	m := Dense(weights, c.PatchSize(), c.filters)
	x.packInto(&w.forward[g], m)
	if inputGradient {
		x.packInto(&w.backward[g], m.T())
	}
}

// groupOutput views places lo to hi−1, counted over the batch, of one group.
func (c *Conv) groupOutput(out []float32, g, lo, hi int) Matrix {
	return Matrix{Data: out[lo*c.s.Filters+g*c.filters:], Rows: hi - lo, Cols: c.filters, RowStride: c.s.Filters, ColStride: 1}
}

func sizes(name string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("kernel: convolution of %d %s, want %d", got, name, want))
	}
}

func (c *Conv) checkWeights(packed []Packed) {
	if len(packed) != c.s.Groups {
		panic(fmt.Sprintf("kernel: convolution of %d groups with weights packed for %d", c.s.Groups, len(packed)))
	}
}

func (c *Conv) checkBatch(in, out []float32, batch int) {
	if batch < 0 {
		panic(fmt.Sprintf("kernel: convolution over a batch of %d", batch))
	}
	sizes("inputs", len(in), batch*c.InputSize())
	sizes("outputs", len(out), batch*c.OutputSize())
}

// patchValues bounds a block of patches to what fits the second-level cache.
const patchValues = 1 << 16

// Forward sets out (batch × output) from in (batch × input), and adds a bias, of one
// value for each filter, unless it is nil. An image's output depends on that image
// alone. It panics when sizes do not fit.
func (c *Conv) Forward(out, in []float32, batch int, w *ConvWeights, bias []float32) {
	active.convForward(c, out, in, batch, w, bias)
}

func (x *machine) convForward(c *Conv, out, in []float32, batch int, w *ConvWeights, bias []float32) {
	c.checkBatch(in, out, batch)
	c.checkWeights(w.forward)
	if bias != nil {
		sizes("biases", len(bias), c.s.Filters)
	}
	c.blocks(batch, func(b block) {
		image := c.pad(b, in)
		b.places(func(lo, hi int) {
			patches := c.patches(b, hi-lo)
			for g := range c.s.Groups {
				x.fillPatches(c, patches, image, g, lo)
				from := Matrix{}
				if bias != nil {
					from = repeated(bias[g*c.filters:(g+1)*c.filters], c.filters)
				}
				x.matMulPacked(c.groupOutput(out, g, b.firstPlace+lo, b.firstPlace+hi), patches, &w.forward[g], from)
			}
		})
	})
}

// InputGradient sets dIn (batch × input) from dOut (batch × output). An image's
// gradient depends on that image alone. It panics when sizes do not fit.
func (c *Conv) InputGradient(dIn, dOut []float32, batch int, w *ConvWeights) {
	active.convInputGradient(c, dIn, dOut, batch, w)
}

func (x *machine) convInputGradient(c *Conv, dIn, dOut []float32, batch int, w *ConvWeights) {
	c.checkBatch(dIn, dOut, batch)
	c.checkWeights(w.backward)
	c.blocks(batch, func(b block) {
		image := c.cleared(b, dIn)
		b.places(func(lo, hi int) {
			patches := c.patches(b, hi-lo)
			for g := range c.s.Groups {
				x.matMulPacked(patches, c.groupOutput(dOut, g, b.firstPlace+lo, b.firstPlace+hi), &w.backward[g], Matrix{})
				x.addPatches(c, image, patches, g, lo)
			}
		})
		c.unpad(b, dIn, image)
	})
}

// Patches sets dst (hi−lo × PatchSize, dense) to the patches of one group at places
// lo to hi−1, counted over all images of in: rows of the A of which Forward is the
// product. It panics when sizes do not fit.
func (c *Conv) Patches(dst, in []float32, group, lo, hi int) {
	active.convPatches(c, dst, in, group, lo, hi)
}

func (x *machine) convPatches(c *Conv, dst, in []float32, group, lo, hi int) {
	batch := len(in) / c.InputSize()
	sizes("inputs", len(in), batch*c.InputSize())
	if group < 0 || group >= c.s.Groups || lo < 0 || lo > hi || hi > batch*c.Positions() {
		panic(fmt.Sprintf("kernel: patches %d to %d of group %d of %d images of %d in %d groups", lo, hi, group, batch, c.Positions(), c.s.Groups))
	}
	sizes("patches", len(dst), (hi-lo)*c.PatchSize())
	padding := x.buffers.borrow(c.paddedSize() + vectorValues)
	defer x.buffers.giveBack(padding)
	for lo < hi {
		image, place := lo/c.Positions(), lo%c.Positions()
		n := min(c.Positions()-place, hi-lo)
		to := Matrix{Data: dst, Rows: n, Cols: c.PatchSize(), RowStride: c.PatchSize(), ColStride: 1}
		x.fillPatches(c, to, c.pad(block{firstImage: image, images: 1, padding: padding}, in), group, place)
		lo, dst = lo+n, dst[n*c.PatchSize():]
	}
}

// WeightGradient sets dw (PatchSize × filters of a group), or with accumulate adds to
// it, the product Aᵀ·dOut over places from lo on, counted over all images of in, where
// A is what Patches gives for them and dOut (places × filters of the group, dense) says
// how many they are. It panics when sizes do not fit.
func (c *Conv) WeightGradient(r *Room, dw, dOut, in []float32, group, lo int, accumulate bool) {
	r.x.convWeightGradient(c, dw, dOut, in, group, lo, accumulate)
}

func (x *machine) convWeightGradient(c *Conv, dw, dOut, in []float32, group, lo int, accumulate bool) {
	size, n := c.PatchSize(), len(dOut)/c.filters
	buffer := x.buffers.borrow(min(n, Chain) * size)
	defer x.buffers.giveBack(buffer)
	// A product starts another chain of sums there anyway.
	for from := 0; from < n || from == 0; from += Chain {
		k := min(n-from, Chain)
		x.convPatches(c, buffer[:k*size], in, group, lo+from, lo+from+k)
		x.matMul(Dense(dw, size, c.filters), Dense(buffer, k, size).T(), Dense(dOut[from*c.filters:], k, c.filters), accumulate || from > 0)
	}
}

// patchStride leaves room behind a patch, since copies end on whole vectors, and
// is odd in cache lines, so that patches do not collide in the cache.
func patchStride(n int) int { return oddLines(n + vectorValues) }
