package nn

import (
	"fmt"
	"math"
	"runtime"
	"sync"

	"pawl/compute/kernel"
	"pawl/compute/onnx"
	"pawl/compute/scatter"
)

var _ = register(Kind{
	Name: "scatter", Help: "scattering features of an image, rows of norm 1 at most; maps where convolutions or pools follow", Keys: []string{"mode"}, Role: FrontEnd, build: (*builder).scatter,
	unitRows: always, Front: &Front{Word: "scatter", Searched: true, Layers: one(Layer{Kind: "scatter"})},
})

// scattering maps images x (n×H×W×C) to their scattering features, rows of norm 1 at
// most (package scatter), in mode whitened of norm 1; in mode mirrored the features of an
// image and of its mirror image are added up and whitened. It depends on no data and stands before the first trainable
// layer, so it has no backward pass.
//
// y is a vector, channel after channel (n×C·81·H/4·W/4). Where the next layer with weights
// is a convolution, or a pool stands before it, y is an image of the same numbers,
// n×(H/4)×(W/4)×(C·81).
type scattering struct {
	in                             Shape
	full, mirrored, whitened, maps bool
	d                              int
	// transform is built when it is first used: most nets are only looked at.
	transform func() *scatter.Transform
}

func (b *builder) scatter(l Layer, info *LayerInfo) (op, error) {
	switch l.Mode {
	case "", "full", "whitened", "mirrored":
	default:
		return nil, b.fault("mode", fmt.Sprintf("mode is %q", l.Mode), "write full (the first scale on every pixel), whitened (channels multiplied by a fixed matrix) or mirrored (the same for the image and its mirror image), or leave it out")
	}
	in := b.shape
	d, err := scatter.Size(in.Height, in.Width, in.Channels)
	if err != nil {
		return nil, b.fault("", fmt.Sprintf("its input is %s", in), err.Error())
	}
	full, maps := l.Mode == "full", b.windowsFollow()
	info.Output = Vector(d)
	if maps {
		info.Output = Shape{in.Height / scatter.Stride, in.Width / scatter.Stride, in.Channels * scatter.Channels}
	}
	return &scattering{in, full, l.Mode == "mirrored", l.Mode == "mirrored" || l.Mode == "whitened", maps, d, sync.OnceValue(func() *scatter.Transform {
		t, err := scatter.New(in.Height, in.Width, in.Channels, scatter.Options{Full: full})
		if err != nil {
			panic(err) // Size has checked the shape
		}
		return t
	})}, nil
}

func (l *scattering) forward(c *call, s *state, x []float32) []float32 {
	y := grow(&s.y, c.n*l.d)
	t := l.transform()
	t.Apply(y, x, runtime.GOMAXPROCS(0))
	t.Normalize(y)
	if l.mirrored {
		mirror, other := grow(&s.x, len(x)), grow(&s.wide, len(y))
		width, channels := l.in.Width, l.in.Channels
		for p := range len(x) / channels {
			from := p - p%width + width - 1 - p%width
			copy(mirror[p*channels:(p+1)*channels], x[from*channels:])
		}
		t.Apply(other, mirror, runtime.GOMAXPROCS(0))
		t.Normalize(other)
		kernel.AddScaled(y, other, 1)
	}
	if l.whitened {
		t.Whiten(y)
	}
	if l.maps {
		channels := l.in.Channels * scatter.Channels
		vector := grow(&s.a, l.d)
		for i := 0; i < len(y); i += l.d {
			image := y[i : i+l.d]
			copy(vector, image)
			for k := range channels {
				for p, v := range vector[k*l.d/channels : (k+1)*l.d/channels] {
					image[p*channels+k] = v
				}
			}
		}
	}
	return y
}

func (l *scattering) backward(*call, *state, []float32) []float32 { return nil }

func (l *scattering) memory(_, _ bool) int {
	return l.d + when(l.mirrored, l.d+l.in.Size())
}

// write is the transform as convolutions. The periodic plane around an image is
// laid out once more to the right and below, so that a convolution without padding, whose
// kernel is one period long, sees every point as the periodic one does. A kernel of a
// whole plane is small where matrices of plane times outputs would make the file of a
// 28×28 image 60 megabytes.
func (l *scattering) write(n *writer, v value) value {
	x, h, w := n.asPlanes(v), l.in.Height, l.in.Width
	// Colours are images of their own.
	x = n.Reshape(x, -1, 1, int64(h), int64(w))
	d, positions := l.d, int64(h/scatter.Stride*(w/scatter.Stride))
	features := l.features(n, x)
	if l.mirrored {
		var back []int64
		for i := range w {
			back = append(back, int64(w-1-i))
		}
		mirror := n.Transpose(n.Op("Gather", n.Transpose(x, 3, 0, 1, 2), n.Ints(back...)), 1, 2, 3, 0)
		features = n.Op("Add", features, l.features(n, mirror))
	}
	if l.whitened {
		by := n.Tensor("whitening", scatter.Whitening(), scatter.Channels, scatter.Channels, 1, 1)
		white := n.Add("Conv", onnx.Attributes{"strides", []int64{1, 1}}, n.Reshape(features, -1, scatter.Channels, positions, 1), by)
		features = n.Unit(n.Reshape(white, -1, int64(d)), 1)
	}
	if l.maps {
		return n.made(n.Reshape(features, -1, int64(l.in.Channels*scatter.Channels), int64(h/scatter.Stride), int64(w/scatter.Stride)), planes)
	}
	return n.made(n.Reshape(features, -1, int64(d)), flat)
}

// features are those of images [P, 1, height, width] of one colour each, normalized.
func (l *scattering) features(n *writer, x string) string {
	h, w := l.in.Height, l.in.Width
	f := scatter.FiltersOf(h, w)
	step := 2 // between moduli of scale 0
	if l.full {
		step = 1
	}
	const m = scatter.Margin
	plane := n.Add("Pad", onnx.Attributes{"mode", "reflect"}, x, n.Ints(0, 0, m, m, 0, 0, m, m))
	s := &convolutions{n, f, h, w}
	fine := s.moduli(plane, 0, 1, step)
	coarse := s.moduli(plane, 1, 1, 2)
	// The moduli of each orientation go on as planes of their own.
	rows, cols := int64(f.Rows/step), int64(f.Cols/step)
	deep := s.moduli(n.Reshape(fine, -1, 1, rows, cols), 1, step, 2)
	positions := int64(h / scatter.Stride * (w / scatter.Stride))
	features := n.Add("Concat", onnx.Attributes{"axis", int64(1)},
		s.channels(plane, 1, 1),
		s.channels(fine, step, scatter.Angles), s.channels(coarse, 2, scatter.Angles), s.channels(deep, 2, scatter.Angles*scatter.Angles))
	// Every three channels over all positions to mean 0 and variance 1, then all by the
	// root of their number: scatter.Transform.Normalize.
	d := l.d
	groups := l.in.Channels * scatter.Channels / 3
	by := make([]float32, groups)
	for i := range by {
		by[i] = float32(1 / math.Sqrt(float64(d)))
	}
	return n.Add("InstanceNormalization", onnx.Attributes{"epsilon", float32(smallVariance)}, n.Reshape(features, -1, int64(groups), 3*positions),
		n.Tensor("scale", by, groups), n.Tensor("shift", make([]float32, groups), groups))
}

type convolutions struct {
	*writer
	filters       scatter.Filters
	height, width int
}

// around lays a period of planes [P, 1, rows, cols] out again to the right and below.
func (s *convolutions) around(planes string, from int) string {
	for axis, size := range []int{2: s.filters.Rows / from, 3: s.filters.Cols / from} {
		if size == 0 {
			continue
		}
		planes = s.Add("Concat", onnx.Attributes{"axis", int64(axis)}, planes, s.Slice(planes, axis, 0, size-1))
	}
	return planes
}

// kernels are filters on every from-th point as those of a convolution, which counts
// forwards: the value for a point k places on is that of the filter at −k.
func (s *convolutions) kernels(from int, filters ...func(i int) float64) string {
	rows, cols := s.filters.Rows/from, s.filters.Cols/from
	var values []float32
	for _, f := range filters {
		for i := range rows {
			for j := range cols {
				at := (rows-i)%rows*from*s.filters.Cols + (cols-j)%cols*from
				values = append(values, float32(float64(from*from)*f(at)))
			}
		}
	}
	return s.Tensor("filters", values, len(filters), 1, rows, cols)
}

func (s *convolutions) convolve(planes, kernels string, stride int) string {
	return s.Add("Conv", onnx.Attributes{"strides", []int64{int64(stride), int64(stride)}}, planes, kernels)
}

// moduli takes planes [P, 1, …] known at every from-th point to the moduli of their
// responses at every to-th, [P, orientations, …].
func (s *convolutions) moduli(planes string, scale, from, to int) string {
	var re, im []func(i int) float64
	for _, wave := range s.filters.Waves[scale] {
		re = append(re, func(i int) float64 { return real(wave[i]) })
		im = append(im, func(i int) float64 { return imag(wave[i]) })
	}
	around := s.around(planes, from)
	a, b := s.convolve(around, s.kernels(from, re...), to/from), s.convolve(around, s.kernels(from, im...), to/from)
	return s.Op("Sqrt", s.Op("Add", s.Op("Mul", a, a), s.Op("Mul", b, b)))
}

// average takes planes [P, 1, …] known at every from-th point to averages at the
// positions of the features, [P, 1, height/4, width/4].
func (s *convolutions) average(planes string, from int) string {
	all := s.convolve(s.around(planes, from), s.kernels(from, func(i int) float64 { return s.filters.Average[i] }), scatter.Stride/from)
	const first = scatter.Margin / scatter.Stride
	return s.Slice(s.Slice(all, 2, first, first+s.height/scatter.Stride), 3, first, first+s.width/scatter.Stride)
}

// channels are the averages of moduli at every from-th point, [colours, channels,
// positions].
func (s *convolutions) channels(moduli string, from, channels int) string {
	planes := s.Reshape(moduli, -1, 1, int64(s.filters.Rows/from), int64(s.filters.Cols/from))
	positions := s.height / scatter.Stride * (s.width / scatter.Stride)
	return s.Reshape(s.average(planes, from), -1, int64(channels), int64(positions))
}
