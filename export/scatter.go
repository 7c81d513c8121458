package export

import (
	"math"

	"pawl/compute/scatter"
)

// scatter is a scattering layer as convolutions. The periodic plane around an image is
// laid out once more to the right and below, so that a convolution without padding, whose
// kernel is one period long, sees every point as the periodic one does. A kernel of a
// whole plane is small where matrices of plane times outputs would make the file of a
// 28×28 image 60 megabytes.
func (n *network) scatter(l *layer, x string) string {
	in := l.info.Input
	h, w, colours := in.Height, in.Width, int64(in.Channels)
	f := scatter.FiltersOf(h, w)
	step := 2 // between moduli of scale 0
	if l.Mode == "full" {
		step = 1
	}
	// Colours are images of their own.
	x = n.reshape(x, -1, 1, int64(h), int64(w))
	const m = scatter.Margin
	plane := n.add("Pad", attributes{"mode", "reflect"}, x, n.ints(0, 0, m, m, 0, 0, m, m))
	s := &scattering{n, f, h, w}
	fine := s.moduli(plane, 0, 1, step)
	coarse := s.moduli(plane, 1, 1, 2)
	// The moduli of each orientation go on as planes of their own.
	rows, cols := int64(f.Rows/step), int64(f.Cols/step)
	deep := s.moduli(n.reshape(fine, -1, 1, rows, cols), 1, step, 2)
	positions := int64(h / scatter.Stride * (w / scatter.Stride))
	features := n.add("Concat", attributes{"axis", int64(1)},
		s.channels(plane, 1, 1),
		s.channels(fine, step, scatter.Angles), s.channels(coarse, 2, scatter.Angles), s.channels(deep, 2, scatter.Angles*scatter.Angles))
	// Every three channels over all positions to mean 0 and variance 1, then all by the
	// root of their number: scatter.Transform.Normalize.
	d := l.info.Output.Size()
	groups := int(colours) * scatter.Channels / 3
	by := make([]float32, groups)
	for i := range by {
		by[i] = float32(1 / math.Sqrt(float64(d)))
	}
	even := n.add("InstanceNormalization", attributes{"epsilon", float32(smallVariance)}, n.reshape(features, -1, int64(groups), 3*positions),
		n.tensor("scale", by, groups), n.tensor("shift", make([]float32, groups), groups))
	return n.reshape(even, -1, int64(d))
}

type scattering struct {
	*network
	filters       scatter.Filters
	height, width int
}

// around lays a period of planes [P, 1, rows, cols] out again to the right and below.
func (s *scattering) around(planes string, from int) string {
	for axis, size := range []int{2: s.filters.Rows / from, 3: s.filters.Cols / from} {
		if size == 0 {
			continue
		}
		planes = s.add("Concat", attributes{"axis", int64(axis)}, planes, s.slice(planes, axis, 0, size-1))
	}
	return planes
}

// kernels are filters on every from-th point as those of a convolution, which counts
// forwards: the value for a point k places on is that of the filter at −k.
func (s *scattering) kernels(from int, filters ...func(i int) float64) string {
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
	return s.tensor("filters", values, len(filters), 1, rows, cols)
}

func (s *scattering) convolve(planes, kernels string, stride int) string {
	return s.add("Conv", attributes{"strides", []int64{int64(stride), int64(stride)}}, planes, kernels)
}

// moduli takes planes [P, 1, …] known at every from-th point to the moduli of their
// responses at every to-th, [P, orientations, …].
func (s *scattering) moduli(planes string, scale, from, to int) string {
	var re, im []func(i int) float64
	for _, wave := range s.filters.Waves[scale] {
		re = append(re, func(i int) float64 { return real(wave[i]) })
		im = append(im, func(i int) float64 { return imag(wave[i]) })
	}
	around := s.around(planes, from)
	a, b := s.convolve(around, s.kernels(from, re...), to/from), s.convolve(around, s.kernels(from, im...), to/from)
	return s.op("Sqrt", s.op("Add", s.op("Mul", a, a), s.op("Mul", b, b)))
}

// average takes planes [P, 1, …] known at every from-th point to averages at the
// positions of the features, [P, 1, height/4, width/4].
func (s *scattering) average(planes string, from int) string {
	all := s.convolve(s.around(planes, from), s.kernels(from, func(i int) float64 { return s.filters.Average[i] }), scatter.Stride/from)
	const first = scatter.Margin / scatter.Stride
	return s.slice(s.slice(all, 2, first, first+s.height/scatter.Stride), 3, first, first+s.width/scatter.Stride)
}

// channels are the averages of moduli at every from-th point, [colours, channels,
// positions].
func (s *scattering) channels(moduli string, from, channels int) string {
	planes := s.reshape(moduli, -1, 1, int64(s.filters.Rows/from), int64(s.filters.Cols/from))
	positions := s.height / scatter.Stride * (s.width / scatter.Stride)
	return s.reshape(s.average(planes, from), -1, int64(channels), int64(positions))
}
