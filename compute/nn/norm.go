package nn

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/compute/onnx"
	"pawl/core/gradient"
)

var _ = register(Kind{
	Name: "layer_norm", Help: "mean 0 and variance 1 over all numbers of an example, then a scale and a shift", Keys: []string{"trainable"}, Also: []string{"layernorm"},
	Role: Scales, Reach: 1, build: (*builder).norm, output: fresh, overTime: true,
})

var _ = register(Kind{
	Name: "group_norm", Help: "mean 0 and variance 1 over each group of channels of an example, then a scale and a shift", Keys: []string{"groups", "trainable"}, Also: []string{"groupnorm"},
	Role: Scales, Reach: 1, build: (*builder).norm, output: fresh,
})

var _ = register(Kind{
	Name: "instance_norm", Help: "mean 0 and variance 1 over each channel of an example, then a scale and a shift", Keys: []string{"trainable"}, Also: []string{"instancenorm", "instancenorm2d"},
	Role: Scales, Reach: 1, build: (*builder).norm, output: fresh,
})

// smallVariance is added to variances, as elsewhere.
const smallVariance = 1e-5

// scaling is a trained or frozen scale γ and shift β of d channels.
type scaling struct {
	d    int
	part Trainable
	// block is the place of γ, with β behind it, in the trained or the frozen vector.
	block int
}

func (l *scaling) values(params, frozen []float32) (scale, shift []float32) {
	if l.part == TrainNone {
		params = frozen
	}
	return params[l.block:][:l.d], params[l.block+l.d:][:l.d]
}

func (l *scaling) draw(n *Net, _ float64, params []float32, _ *rand.Rand) {
	scale, shift := l.values(params, n.frozen)
	for j := range scale {
		scale[j] = 1
	}
	clear(shift)
}

// channels works on the numbers of one unit, positions × d channels, whose channels
// lie in groups: units are normalized one by one, each group of one to mean 0 and
// variance 1 over all of its positions and channels.
type channels struct {
	d, groups int
	// sum and other are sums over positions; mean and scale those of the group, for
	// each channel.
	sum, other  []float64
	mean, scale []float32
}

func (k *channels) init(s *state, d, groups int) {
	sums, part := grow(&s.sums, 2*d), grow(&s.part, 2*d)
	*k = channels{d, groups, sums[:d], sums[d:], part[:d], part[d:]}
}

// spread puts into sums, for each channel, the total of its group times share.
func (k *channels) spread(sums []float64, share float64) {
	each := k.d / k.groups
	for lo := 0; lo < k.d; lo += each {
		total := 0.0
		for _, v := range sums[lo : lo+each] {
			total += v
		}
		for j := lo; j < lo+each; j++ {
			sums[j] = total * share
		}
	}
}

// measure sets mean and scale = 1/√(variance + 10⁻⁵) of the unit x.
func (k *channels) measure(x []float32) {
	share := float64(k.groups) / float64(max(len(x), 1))
	clear(k.sum)
	clear(k.other)
	for i := 0; i < len(x); i += k.d {
		for j, v := range x[i : i+k.d] {
			k.sum[j] += float64(v)
		}
	}
	k.spread(k.sum, share)
	for i := 0; i < len(x); i += k.d {
		for j, v := range x[i : i+k.d] {
			u := float64(v) - k.sum[j]
			k.other[j] += u * u
		}
	}
	k.spread(k.other, share)
	for j := range k.mean {
		k.mean[j], k.scale[j] = float32(k.sum[j]), inverseRoot(k.other[j])
	}
}

func inverseRoot(variance float64) float32 { return float32(1 / math.Sqrt(variance+smallVariance)) }

// normalize sets even to (x − mean)·scale and y to γ·even + β.
func (k *channels) normalize(even, y, x, gamma, beta []float32) {
	for i := 0; i < len(x); i += k.d {
		e, to := even[i:i+k.d], y[i:i+k.d]
		for j, v := range x[i : i+k.d] {
			u := (v - k.mean[j]) * k.scale[j]
			e[j] = u
			to[j] = gamma[j]*u + beta[j]
		}
	}
}

// back sets dx from dy, both of one unit, and what normalize left, where scale is
// that of the channels:
//
//	dx = scale·(d − mean d − even·mean(d·even)),    d = γ·dy
func (k *channels) back(dx, dy, even, gamma, scale []float32) {
	share := float64(k.groups) / float64(max(len(dy), 1))
	clear(k.sum)
	clear(k.other)
	for i := 0; i < len(dy); i += k.d {
		e := even[i : i+k.d]
		for j, v := range dy[i : i+k.d] {
			u := float64(gamma[j] * v)
			k.sum[j] += u
			k.other[j] += u * float64(e[j])
		}
	}
	k.spread(k.sum, share)
	k.spread(k.other, share)
	for i := 0; i < len(dy); i += k.d {
		e, to := even[i:i+k.d], dx[i:i+k.d]
		for j, v := range dy[i : i+k.d] {
			to[j] = scale[j] * (gamma[j]*v - float32(k.sum[j]) - e[j]*float32(k.other[j]))
		}
	}
}

// norm normalizes each example, or each time step, by itself: x (n×H×W×C) to
// y = γ x̂ + β, where x̂ is x less its mean over its deviation, both over all positions
// of one of the groups of channels, and γ and β belong to a channel (Wu and He,
// arXiv:1803.08494). One group is layer normalization, one for each channel instance
// normalization; a vector has one position, and layer normalization then is that of
// Ba et al., arXiv:1607.06450, as it is at each step of a sequence.
//
// γ is a diagonal map of x̂, and is traced as such.
type norm struct {
	scaling
	in     Shape
	groups int
	// ragged says that the units are the steps of sequences, as many as in.Height.
	ragged bool
}

// unit is the count of numbers that are normalized together.
func (l *norm) unit() int {
	if l.ragged {
		return l.d
	}
	return l.in.Size()
}

func (l *norm) forward(c *call, s *state, x []float32) []float32 {
	y, even := grow(&s.y, len(x)), grow(&s.a, len(x))
	unit := l.unit()
	scales := grow(&s.wide, len(x)/unit*l.d)
	gamma, beta := l.values(c.params, c.net.frozen)
	var k channels
	k.init(s, l.d, l.groups)
	for i := 0; i*unit < len(x); i++ {
		lo, hi := i*unit, (i+1)*unit
		k.measure(x[lo:hi])
		k.normalize(even[lo:hi], y[lo:hi], x[lo:hi], gamma, beta)
		copy(scales[i*l.d:], k.scale)
	}
	return y
}

func (l *norm) backward(c *call, s *state, dy []float32) []float32 {
	var dx []float32
	if c.wantInput {
		dx = grow(&s.dx, len(dy))
		unit := l.unit()
		gamma, _ := l.values(c.params, c.net.frozen)
		var k channels
		k.init(s, l.d, l.groups)
		for i := 0; i*unit < len(dy); i++ {
			lo, hi := i*unit, (i+1)*unit
			k.back(dx[lo:hi], dy[lo:hi], s.a[lo:hi], gamma, s.wide[i*l.d:(i+1)*l.d])
		}
	}
	if l.part == TrainAll {
		tr := gradient.Trace{Offset: l.block, T: l.in.Height * l.in.Width, M: l.d, N: l.d, Bias: true, Diagonal: true, A: s.a, G: dy}
		if l.ragged {
			tr.Starts = c.steps.starts
		}
		c.record(tr)
	}
	return dx
}

func (l *norm) memory(_, wantInput bool) int {
	units := 1
	if l.ragged {
		units = l.in.Height
	}
	return 2*l.in.Size() + units*l.d + when(wantInput, l.in.Size())
}

func (b *builder) norm(l Layer, info *LayerInfo) (op, error) {
	s := scaling{d: b.shape.Channels, part: l.Trainable, block: b.net.trainable}
	groups := 1
	switch {
	case l.Trainable == TrainBias:
		return nil, b.fault("trainable", "its shift cannot be trained alone", "write true or false")
	case l.Kind == "group_norm":
		if groups = l.Groups; groups < 1 || s.d%groups != 0 {
			return nil, b.fault("groups", fmt.Sprintf("%d groups do not divide %d channels", groups, s.d), instead(b.shape))
		}
	case l.Kind == "instance_norm":
		groups = s.d
	}
	if l.Kind != "layer_norm" && b.sequence || b.shape.Height*b.shape.Width*s.d/groups == 1 {
		return nil, b.fault("", "one number has no standard deviation", "leave it out, or use layer_norm on more numbers")
	}
	info.Parameters = 2 * s.d
	if l.Trainable == TrainAll {
		info.Trainable = info.Parameters
	} else {
		s.block = b.frozen
	}
	if l.Kind != "batch_norm" {
		return &norm{scaling: s, in: b.shape, groups: groups, ragged: b.sequence}, nil
	}
	// Mean and variance lie behind what is frozen of scale and shift.
	frozen := b.frozen + info.Parameters - info.Trainable
	info.Parameters += 2 * s.d
	return &batchNorm{scaling: s, in: b.shape, frozen: frozen, running: &running{}}, nil
}

// write is layer, group or instance normalization. Those of images are instance
// normalizations of one row of numbers for each group, since the opset has no other.
func (l *norm) write(w *writer, v value) value {
	gamma, beta := l.values(w.params, w.frozen)
	epsilon := float32(smallVariance)
	if v.order == inSteps || v.shape.Height*v.shape.Width == 1 && w.info.Kind == "layer_norm" {
		x, lies := v.name, inSteps
		if v.order != inSteps {
			x, lies = w.asFlat(v), flat
		}
		return w.made(w.Add("LayerNormalization", onnx.Attributes{"axis", int64(-1), "epsilon", epsilon}, x, w.Tensor("scale", gamma, l.d), w.Tensor("shift", beta, l.d)), lies)
	}
	ones := make([]float32, l.groups)
	for i := range ones {
		ones[i] = 1
	}
	even := w.Add("InstanceNormalization", onnx.Attributes{"epsilon", epsilon},
		w.Reshape(w.asPlanes(v), -1, int64(l.groups), int64(l.in.Size()/l.groups)), w.Once(ones, l.groups), w.Once(make([]float32, l.groups), l.groups))
	even = w.Reshape(even, -1, int64(l.d), int64(v.shape.Height), int64(v.shape.Width))
	scale, shift := w.Tensor("scale", gamma, l.d, 1, 1), w.Tensor("shift", beta, l.d, 1, 1)
	return w.made(w.Op("Add", w.Op("Mul", even, scale), shift), planes)
}

func (l *scaling) tensors(params, frozen []float32) []Tensor {
	gamma, beta := l.values(params, frozen)
	return []Tensor{{"weight", []int{l.d}, gamma}, {"bias", []int{l.d}, beta}}
}
