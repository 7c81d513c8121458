package export

import (
	"fmt"

	"pawl/compute/nn"
	"pawl/model"
)

// order says how the numbers of a value lie.
type order int

const (
	flat     order = iota // [N, d], an image as rows of pixels with their channels
	planes                // [N, channels, height, width], what convolutions take
	sequence              // [N, length, d]
)

// value is what comes out of a layer.
type value struct {
	name  string
	order order
	shape nn.Shape
}

// network walks the layers.
type network struct {
	*graph
	// lengths are those of the sequences, int64 [N, 1]; mask is float [N, length, 1], 1 for
	// the steps that there are.
	lengths, mask string
	length        int
	outs          []value // of the input and of the layers so far
}

// network adds the layers of m and returns its scores, float [N, outputs]. row is its
// input where that is made of the columns of a table, else empty.
func (g *graph) network(m *model.Model, row string) (string, error) {
	n := &network{graph: g}
	layers := layersOf(m)
	v := value{row, flat, m.Net.Input()}
	if row == "" {
		v = n.begin(m, layers)
	}
	n.outs = append(n.outs, v)
	for i := range layers {
		l := &layers[i]
		g.scope = fmt.Sprintf("layer %d %s", l.number, l.Kind)
		next, err := n.layer(l, v)
		if err != nil {
			return "", err
		}
		v = next
		n.outs = append(n.outs, v)
	}
	return n.asFlat(v), nil
}

// begin declares the input.
func (n *network) begin(m *model.Model, layers []layer) value {
	in := m.Net.Input()
	switch {
	case layers[0].Kind == "embedding":
		return n.tokens(in.Size()-1, m.Vocabulary != nil)
	case in.Height == 1 && in.Width == 1:
		return value{n.input(port("input", floats, "numbers as the model was trained on", 0, in.Channels)), flat, in}
	}
	name := n.input(port("image", floats, "rows of pixels with their channels, in [0, 1]", 0, in.Height, in.Width, in.Channels))
	n.scope = "input"
	return value{n.reshape(name, -1, int64(in.Size())), flat, in}
}

// asFlat is v as [N, d].
func (n *network) asFlat(v value) string {
	switch v.order {
	case planes:
		if v.shape.Height*v.shape.Width == 1 {
			return n.reshape(v.name, -1, int64(v.shape.Channels))
		}
		return n.reshape(n.transpose(v.name, 0, 2, 3, 1), -1, int64(v.shape.Size()))
	default:
		return v.name
	}
}

// asPlanes is v as [N, channels, height, width].
func (n *network) asPlanes(v value) string {
	if v.order == planes {
		return v.name
	}
	s := v.shape
	return n.transpose(n.reshape(v.name, -1, int64(s.Height), int64(s.Width), int64(s.Channels)), 0, 3, 1, 2)
}

func (n *network) layer(l *layer, v value) (value, error) {
	out := l.info.Output
	if nn.IsFrontEnd(l.Kind) {
		x, err := n.frontEnd(l, v)
		return value{x, flat, out}, err
	}
	same := func(name string) value { return value{name, v.order, v.shape} }
	switch l.Kind {
	case "dropout", "identity":
		return v, nil
	case "flatten":
		return value{n.asFlat(v), flat, out}, nil
	case "dense":
		return n.dense(l, v), nil
	case "conv2d":
		return value{n.conv(l, n.asPlanes(v)), planes, out}, nil
	case "max_pool", "avg_pool", "pool2x2":
		return value{n.pool(l, n.asPlanes(v)), planes, out}, nil
	case "layer_norm", "group_norm", "instance_norm":
		return n.norm(l, v), nil
	case "batch_norm":
		return value{n.batchNorm(l, n.asPlanes(v)), planes, out}, nil
	case "residual":
		other := n.outs[l.From]
		switch {
		case other.order == v.order:
			return same(n.op("Add", v.name, other.name)), nil
		default:
			return value{n.op("Add", n.asFlat(v), n.asFlat(other)), flat, out}, nil
		}
	case "relu":
		return same(n.op("Relu", v.name)), nil
	case "bounded_relu":
		return same(n.op("Clip", v.name, n.float(0), n.float(float32(l.Bound)))), nil
	case "tanh":
		return same(n.op("Tanh", v.name)), nil
	case "sigmoid":
		return same(n.op("Sigmoid", v.name)), nil
	case "tempered_sigmoid":
		s := n.op("Sigmoid", n.op("Mul", v.name, n.float(float32(l.Temperature))))
		return same(n.op("Sub", n.op("Mul", s, n.float(float32(l.Scale))), n.float(float32(l.Offset)))), nil
	case "embedding":
		return n.embedding(l, v), nil
	case "lstm", "gru":
		return n.recurrent(l, v), nil
	case "mean_over_time":
		return value{n.meanOverTime(v.name), flat, out}, nil
	}
	return value{}, &Error{fmt.Sprintf("layer %d (%s)", l.number, l.Kind), "the ONNX writer does not know this kind of layer",
		"predict with pawl predict, or export the weights with --format safetensors"}
}
