package nn

import (
	"fmt"

	"pawl/compute/kernel"
	"pawl/compute/onnx"
)

var _ = register(Kind{
	Name: "conv2d", Help: "a convolution of images, in groups",
	Keys: []string{"filters", "kernel", "stride", "padding", "groups", "standardize_weights", "share", "trainable"},
	Also: []string{"conv", "convolution"}, Role: Weights, Reach: 1, build: (*builder).conv2d, output: fresh,
	positions: func(l LayerInfo) int { return l.Output.Height * l.Output.Width },
})

// conv2d maps images x (n×H×W×C) to y (n×H'×W'×F). Group g convolves the channels
// [g·C/groups, (g+1)·C/groups) to the filters [g·F/groups, (g+1)·F/groups).
//
// Its linear map has one row for each output position: the window's pixels, in
// order (row, column, channel of the group), m = kernel·kernel·C/groups of them
// (im2col); pixels outside of the image are zeros. Those rows are its trace.
type conv2d struct {
	affine
	window
	conv *kernel.Conv
	// standard says that the filters in use are those of the parameters, standardized.
	standard bool
}

func newConv2d(f affine, w window) (*conv2d, error) {
	c, err := kernel.NewConv(kernel.ConvShape{
		Height: w.in.Height, Width: w.in.Width, Channels: w.in.Channels, KernelHeight: w.size, KernelWidth: w.size,
		Filters: w.out.Channels, Stride: w.stride, Groups: f.groups, Same: w.same,
	})
	return &conv2d{affine: f, window: w, conv: c}, err
}

// together is how many rows are multiplied at a time: enough to fill the kernel's
// blocks, few enough to stay in the cache from im2col to the product.
const together = 168

func (l *conv2d) forward(c *call, s *state, x []float32) []float32 {
	in, out := l.in.Size(), l.out.Size()
	y := grow(&s.y, c.n*out)
	for g := range l.groups {
		w, b := l.group(c.params, c.net.frozen, g)
		if l.standard {
			w = s.standardized(&l.affine, g).set(w)
		}
		l.conv.PackGroup(&s.conv, g, w, c.record != nil && c.wantInput)
		for i := g * l.n; i < len(y); i += l.out.Channels {
			copy(y[i:i+l.n], b)
		}
	}
	// Rows that no trace needs are made and forgotten inside the product.
	if c.record == nil || l.part != TrainAll {
		l.conv.Forward(y, x, c.n, &s.conv, true)
		return y
	}
	size := l.t * l.m
	a := grow(&s.a, l.groups*c.n*size)
	few := max(1, together/l.t)
	for g := range l.groups {
		rows := a[g*c.n*size : (g+1)*c.n*size]
		for i := 0; i < c.n; i += few {
			end := min(i+few, c.n)
			part := rows[i*size : end*size]
			l.conv.Patches(part, x[i*in:end*in], end-i, g)
			l.conv.Multiply(y[i*out:end*out], part, end-i, g, &s.conv, true)
		}
	}
	return y
}

func (l *conv2d) backward(c *call, s *state, dy []float32) []float32 {
	var dx []float32
	if c.wantInput {
		dx = grow(&s.dx, c.n*l.in.Size())
		l.conv.InputGradient(dx, dy, c.n, &s.conv)
	}
	for g := range l.groups {
		if l.part != TrainAll {
			break
		}
		own := dy
		if l.groups > 1 {
			size := c.n * l.t * l.n
			own = grow(&s.g, l.groups*size)[g*size : (g+1)*size]
			collect(own, dy, l.out.Channels, g*l.n, l.n)
		}
		size := c.n * l.t * l.m
		l.trace(c, s.a[g*size:(g+1)*size], own, g, s.chain(l, g))
	}
	l.traceBias(c, s, dy)
	return dx
}

func (l *conv2d) memory(_, wantInput bool) int {
	return l.out.Size() + when(l.part == TrainAll, l.groups*l.t*l.m) + when(wantInput, l.in.Size()) +
		when(l.part == TrainAll && l.groups > 1, l.out.Size()) + when(l.part == TrainBias, l.t)
}

// collect copies columns lo to lo+n of all (rows×width) to own (rows×n).
func collect(own, all []float32, width, lo, n int) {
	for i, j := lo, 0; j < len(own); i, j = i+width, j+n {
		copy(own[j:j+n], all[i:i+n])
	}
}

func (b *builder) conv2d(l Layer, info *LayerInfo) (op, error) {
	stride, groups := max(l.Stride, 1), max(l.Groups, 1)
	in := b.shape
	switch {
	case l.Filters < 1:
		return nil, b.fault("filters", fmt.Sprintf("filters must be at least 1, got %d", l.Filters), "give the number of output channels")
	case l.Kernel < 1:
		return nil, b.fault("kernel", fmt.Sprintf("kernel must be at least 1, got %d", l.Kernel), "3 is a common choice")
	case l.Stride < 0 || l.Stride > maxNumbers:
		return nil, b.fault("stride", fmt.Sprintf("stride must be at least 1 and no larger than an image, got %d", l.Stride), "leave it out for 1")
	case l.Padding != "" && l.Padding != "valid" && l.Padding != "same":
		return nil, b.fault("padding", fmt.Sprintf("padding is %q", l.Padding), "write valid or same")
	case l.Groups < 0 || in.Channels%groups != 0 || l.Filters%groups != 0:
		return nil, b.fault("groups", fmt.Sprintf("%d groups divide neither evenly: %d channels, %d filters", l.Groups, in.Channels, l.Filters),
			"use a number that divides both")
	}
	same := l.Padding == "same"
	if err := b.fits("kernel", l.Kernel, same); err != nil {
		return nil, err
	}
	m := l.Kernel * l.Kernel * (in.Channels / groups)
	if tooMany(l.Kernel, l.Kernel, in.Channels, l.Filters/groups) {
		return nil, b.fault("", fmt.Sprintf("the layer has more than %d parameters", maxNumbers), "make it smaller")
	}
	w := newWindow(in, l.Kernel, stride, l.Filters, same)
	info.Output = w.out
	if tooMany(w.out.Height, w.out.Width, w.out.Channels) || tooMany(w.positions(), m, groups) {
		return nil, b.fault("filters", "one example takes more than 1 GiB here", "make the layer smaller or the stride larger")
	}
	f, err := b.affine(affine{t: w.positions(), m: m, n: l.Filters / groups, groups: groups, part: l.Trainable}, l.Share, info)
	if err != nil {
		return nil, err
	}
	c, err := newConv2d(f, w)
	if err == nil {
		c.standard = l.StandardizeWeights
	}
	return c, err
}

func (l *conv2d) write(w *writer, v value) value {
	weights, bias := l.filters(w.params, w.frozen)
	size, stride := int64(l.size), int64(l.stride)
	a := onnx.Attributes{"kernel_shape", []int64{size, size}, "strides", []int64{stride, stride}, "group", int64(l.groups)}
	if l.same {
		// The odd zero goes below and right.
		pad := func(in, out int) (before, after int64) {
			all := max((out-1)*l.stride+l.size-in, 0)
			return int64(all / 2), int64(all - all/2)
		}
		top, bottom := pad(l.in.Height, l.out.Height)
		left, right := pad(l.in.Width, l.out.Width)
		a = append(a, "pads", []int64{top, left, bottom, right})
	}
	return w.made(w.Add("Conv", a, w.asPlanes(v), w.Tensor("weights", weights, l.filterShape()...), w.Tensor("bias", bias, len(bias))), planes)
}

func (l *conv2d) tensors(params, frozen []float32) []Tensor {
	if l.shared {
		return nil
	}
	w, b := l.filters(params, frozen)
	return []Tensor{{"weight", l.filterShape(), w}, {"bias", []int{len(b)}, b}}
}

func (l *conv2d) filterShape() []int {
	return []int{l.out.Channels, l.in.Channels / l.groups, l.size, l.size}
}

// filters are the weights in use as [filters, channels of a group, kernel, kernel], and
// the biases.
func (l *conv2d) filters(params, frozen []float32) (weights, biases []float32) {
	channels := l.in.Channels / l.groups
	for g := range l.groups {
		w, b := l.group(params, frozen, g)
		if l.standard {
			z := newStandardizer(l.m, l.n)
			w = z.set(w)
		}
		for j := range l.n {
			for c := range channels {
				for pixel := range l.m / channels {
					weights = append(weights, w[(pixel*channels+c)*l.n+j])
				}
			}
		}
		biases = append(biases, b...)
	}
	return weights, biases
}
