package export

import "math"

// dense is x·W + b, of each time step of a sequence.
func (n *network) dense(l *layer, v value) value {
	f := l.groups[0]
	w, b := n.tensor("weights", f.w, f.rows, f.columns), n.tensor("bias", f.b, f.columns)
	if v.order == sequence {
		return value{n.op("Add", n.op("MatMul", v.name, w), b), sequence, l.info.Output}
	}
	return value{n.op("Gemm", n.asFlat(v), w, b), flat, l.info.Output}
}

// conv is a convolution in groups, [N, channels, height, width] to [N, filters, …].
func (n *network) conv(l *layer, x string) string {
	in, out := l.info.Input, l.info.Output
	w, b := l.filters()
	a := attributes{"kernel_shape", []int64{int64(l.Kernel), int64(l.Kernel)}, "strides", []int64{int64(l.Stride), int64(l.Stride)}, "group", int64(l.Groups)}
	if l.Padding == "same" {
		// The odd zero goes below and right.
		pad := func(in, out int) (before, after int64) {
			all := max((out-1)*l.Stride+l.Kernel-in, 0)
			return int64(all / 2), int64(all - all/2)
		}
		top, bottom := pad(in.Height, out.Height)
		left, right := pad(in.Width, out.Width)
		a = append(a, "pads", []int64{top, left, bottom, right})
	}
	return n.add("Conv", a, x, n.tensor("weights", w, l.Filters, in.Channels/l.Groups, l.Kernel, l.Kernel), n.tensor("bias", b, l.Filters))
}

// filters are the weights of a convolution as [filters, channels of a group, kernel,
// kernel], and its biases. The rows of the linear map are pixels with their channels.
func (l *layer) filters() (w, b []float32) {
	channels := l.info.Input.Channels / l.Groups
	for _, f := range l.groups {
		for j := range f.columns {
			for c := range channels {
				for pixel := range l.Kernel * l.Kernel {
					w = append(w, f.w[(pixel*channels+c)*f.columns+j])
				}
			}
		}
		b = append(b, f.b...)
	}
	return w, b
}

// pool is that of windows without padding.
func (n *network) pool(l *layer, x string) string {
	size, stride, op := l.Size, l.Stride, "MaxPool"
	if l.Kind == "pool2x2" {
		size, stride = 2, 2
	}
	if stride == 0 {
		stride = size
	}
	if l.Kind == "avg_pool" || l.Mode == "mean" {
		op = "AveragePool"
	}
	return n.add(op, attributes{"kernel_shape", []int64{int64(size), int64(size)}, "strides", []int64{int64(stride), int64(stride)}}, x)
}

// smallVariance is what package nn adds to variances.
const smallVariance = 1e-5

// norm is layer, group or instance normalization. Those of images are instance
// normalizations of one row of numbers for each group, since the opset has no other.
func (n *network) norm(l *layer, v value) value {
	d := l.info.Input.Channels
	if v.order == sequence || v.shape.Height*v.shape.Width == 1 && l.Kind == "layer_norm" {
		x, lies := v.name, sequence
		if v.order != sequence {
			x, lies = n.asFlat(v), flat
		}
		y := n.add("LayerNormalization", attributes{"axis", int64(-1), "epsilon", float32(smallVariance)}, x, n.tensor("scale", l.scale, d), n.tensor("shift", l.shift, d))
		return value{y, lies, l.info.Output}
	}
	groups := l.Groups
	switch l.Kind {
	case "layer_norm":
		groups = 1
	case "instance_norm":
		groups = d
	}
	ones := make([]float32, groups)
	for i := range ones {
		ones[i] = 1
	}
	even := n.add("InstanceNormalization", attributes{"epsilon", float32(smallVariance)},
		n.reshape(n.asPlanes(v), -1, int64(groups), int64(l.info.Input.Size()/groups)), n.once(ones, groups), n.once(make([]float32, groups), groups))
	even = n.reshape(even, -1, int64(d), int64(v.shape.Height), int64(v.shape.Width))
	scale, shift := n.tensor("scale", l.scale, d, 1, 1), n.tensor("shift", l.shift, d, 1, 1)
	return value{n.op("Add", n.op("Mul", even, scale), shift), planes, l.info.Output}
}

// batchNorm applies the running statistics: one factor and one summand for each channel.
func (n *network) batchNorm(l *layer, x string) string {
	scale, shift := make([]float32, len(l.scale)), make([]float32, len(l.scale))
	for j, g := range l.scale {
		by := float64(g) / math.Sqrt(float64(l.variance[j])+smallVariance)
		scale[j], shift[j] = float32(by), float32(float64(l.shift[j])-float64(l.mean[j])*by)
	}
	return n.op("Add", n.op("Mul", x, n.tensor("scale", scale, len(scale), 1, 1)), n.tensor("shift", shift, len(shift), 1, 1))
}
