package nn

import (
	"encoding/json"
	"errors"
	"fmt"

	"pawl/compute/kernel"
	"pawl/compute/onnx"
	"pawl/core/gradient"

	"github.com/goccy/go-yaml"
)

var _ = register(Kind{
	Name: "conv2d", Help: "a convolution of images, in groups",
	Keys: []string{"filters", "kernel", "stride", "dilation", "padding", "groups", "standardize_weights", "share", "trainable"},
	Also: []string{"conv", "convolution"}, Role: Weights, Reach: 1, build: (*builder).conv2d, output: fresh, windows: true,
	positions: func(l LayerInfo) int { return l.Output.Height * l.Output.Width },
})

// conv2d maps images x (n×H×W×C) to y (n×H'×W'×F). Group g convolves the channels
// [g·C/groups, (g+1)·C/groups) to the filters [g·F/groups, (g+1)·F/groups).
//
// Its linear map has one row for each output position: the window's pixels, in
// order (row, column, channel of the group), m = kernel·kernel·C/groups of them
// (im2col), rows and columns as far apart as the dilation says; pixels outside of the image are zeros. Those rows are its trace.
type conv2d struct {
	affine
	window
	conv *kernel.Conv
	// high and wide are how many pixels the kernel reaches over.
	high, wide int
	// standard says that the filters in use are those of the parameters, standardized.
	standard bool
}

// Dilation is how many pixels lie from one row or column of a kernel to the next, at
// least 1; the zero value stands for 1 and 1. In a file it is a number for both, or
// [height, width].
type Dilation struct{ Height, Width int }

// MarshalJSON writes what UnmarshalJSON reads.
func (d Dilation) MarshalJSON() ([]byte, error) {
	if d.Height == d.Width {
		return json.Marshal(d.Height)
	}
	return json.Marshal([]int{d.Height, d.Width})
}

// UnmarshalJSON reads a number of at least 1, or two.
func (d *Dilation) UnmarshalJSON(data []byte) error { return d.read(json.Unmarshal, data) }

// MarshalYAML writes what UnmarshalYAML reads.
func (d Dilation) MarshalYAML() ([]byte, error) { return d.MarshalJSON() }

// UnmarshalYAML reads a number of at least 1, or two.
func (d *Dilation) UnmarshalYAML(data []byte) error {
	return d.read(func(data []byte, v any) error { return yaml.Unmarshal(data, v) }, data)
}

func (d *Dilation) read(unmarshal func([]byte, any) error, data []byte) error {
	var one int
	var two []int
	switch {
	case unmarshal(data, &one) == nil:
		two = []int{one, one}
	case unmarshal(data, &two) != nil || len(two) != 2:
		return errors.New("dilation must be a number, or [height, width]")
	}
	if min(two[0], two[1]) < 1 {
		return errors.New("dilation must be at least 1 in both directions; leave it out for 1")
	}
	d.Height, d.Width = two[0], two[1]
	return nil
}

func (l *conv2d) forward(c *call, s *state, x []float32) []float32 {
	bias := grow(&s.part, l.out.Channels)
	for g := range l.groups {
		w, b := l.group(c.params, c.net.frozen, g)
		if !c.packed {
			if l.standard {
				w = s.standardized(&l.affine, g).set(w)
			}
			l.conv.PackGroup(&s.conv, g, w, c.record != nil && c.wantInput)
		}
		copy(bias[g*l.n:], b)
	}
	y := grow(&s.y, c.n*l.out.Size())
	l.conv.Forward(y, x, c.n, &s.conv, bias)
	s.x = x
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
		tr := gradient.Trace{Offset: l.block + g*(l.m*l.n+l.n), T: l.t, M: l.m, N: l.n, Bias: true, G: own, Chain: s.chain(l, g)}
		if gradient.Forms(l.t, l.m, l.n) {
			tr.Form = l.form(c, s, g)
		} else {
			size := c.n * l.t * l.m
			tr.A = grow(&s.a, l.groups*size)[g*size : (g+1)*size]
			l.conv.Patches(tr.A, s.x, g, 0, c.n*l.t)
		}
		c.record(tr)
	}
	l.traceBias(c, s, dy)
	return dx
}

// form returns what forms gradients of group g, the same function each time. Where they are formed, rows are made from the
// input when they are needed, for as many positions as the cache holds: they are many times the input.
func (l *conv2d) form(c *call, s *state, g int) func(w, dy []float32, from int, add bool) {
	if room := c.room; len(s.form) == g {
		s.form = append(s.form, func(w, dy []float32, from int, add bool) { l.conv.WeightGradient(room, w, dy, s.x, g, from, add) })
	}
	return s.form[g]
}

// memory counts rows that are never kept, too: it decides the size of microbatches, and so the last bits of results.
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
	height, width, err := b.dilated(l, same)
	if err != nil {
		return nil, err
	}
	m := l.Kernel * l.Kernel * (in.Channels / groups)
	if tooMany(l.Kernel, l.Kernel, in.Channels, l.Filters/groups) {
		return nil, b.fault("", fmt.Sprintf("the layer has more than %d parameters", maxNumbers), "make it smaller")
	}
	conv, err := kernel.NewConv(kernel.ConvShape{
		Height: in.Height, Width: in.Width, Channels: in.Channels, KernelHeight: l.Kernel, KernelWidth: l.Kernel,
		Filters: l.Filters, Stride: stride, DilationHeight: l.Dilation.Height, DilationWidth: l.Dilation.Width, Groups: groups, Same: same,
	})
	if err != nil {
		return nil, b.fault("", err.Error(), "make the layer smaller")
	}
	w := window{in: in, out: Shape{conv.OutHeight(), conv.OutWidth(), l.Filters}, size: l.Kernel, stride: stride, same: same}
	info.Output = w.out
	if tooMany(w.out.Height, w.out.Width, w.out.Channels) || tooMany(w.positions(), m, groups) || tooMany(in.Height+height, in.Width+width, in.Channels) {
		return nil, b.fault("filters", "one example takes more than 1 GiB here", "make the layer smaller or the stride larger")
	}
	f, err := b.affine(affine{t: w.positions(), m: m, n: l.Filters / groups, groups: groups, part: l.Trainable}, l.Share, info)
	if err != nil {
		return nil, err
	}
	return &conv2d{affine: f, window: w, conv: conv, high: height, wide: width, standard: l.StandardizeWeights}, nil
}

// dilated is how many pixels the kernel of l reaches over, down and across. A kernel
// whose rows lie further apart than the image is high would see one of them at a time.
func (b *builder) dilated(l Layer, same bool) (height, width int, err error) {
	in, d := b.shape, Dilation{max(l.Dilation.Height, 1), max(l.Dilation.Width, 1)}
	if l.Dilation != (Dilation{}) && min(l.Dilation.Height, l.Dilation.Width) < 1 || d.Height > in.Height || d.Width > in.Width {
		return 0, 0, b.fault("dilation", fmt.Sprintf("a dilation of %d×%d does not suit an image of %d×%d", l.Dilation.Height, l.Dilation.Width, in.Height, in.Width),
			"give at least 1 and no more than the image's sides")
	}
	height, width = (l.Kernel-1)*d.Height+1, (l.Kernel-1)*d.Width+1
	if !same && (height > in.Height || width > in.Width) {
		return 0, 0, b.fault("dilation", fmt.Sprintf("the dilated kernel reaches over %d×%d pixels, its input is %s", height, width, in), `use a smaller dilation, or "padding: same"`)
	}
	return height, width, nil
}

func (l *conv2d) write(w *writer, v value) value {
	weights, bias := l.filters(w.params, w.frozen)
	size, stride := int64(l.size), int64(l.stride)
	a := onnx.Attributes{"kernel_shape", []int64{size, size}, "strides", []int64{stride, stride}, "group", int64(l.groups)}
	if l.high > l.size || l.wide > l.size {
		a = append(a, "dilations", []int64{int64((l.high - 1) / (l.size - 1)), int64((l.wide - 1) / (l.size - 1))})
	}
	if l.same {
		// The odd zero goes below and right.
		pad := func(in, out, extent int) (before, after int64) {
			all := max((out-1)*l.stride+extent-in, 0)
			return int64(all / 2), int64(all - all/2)
		}
		top, bottom := pad(l.in.Height, l.out.Height, l.high)
		left, right := pad(l.in.Width, l.out.Width, l.wide)
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
