package nn

import (
	"fmt"
	"math"

	"pawl/compute/onnx"
)

// writer writes a net as nodes of ONNX. Each op writes itself.
type writer struct {
	*onnx.Graph
	params, frozen []float32
	// info is the layer that is being written, outs are the input and what came out of the
	// layers before.
	info LayerInfo
	outs []value
	// lengths are those of the sequences, int64 [N, 1], at most length; mask is float
	// [N, length, 1], 1 for the steps that there are.
	lengths, mask string
	length        int
}

// value is what comes out of a layer.
type value struct {
	name  string
	order order
	shape Shape
}

// order says how the numbers of a value lie.
type order int

const (
	flat    order = iota // [N, d], an image as rows of pixels with their channels
	planes               // [N, channels, height, width], what convolutions take
	inSteps              // [N, length, d]
)

// ONNX adds the net with parameters params to g and returns its scores, float [N,
// Outputs()]. row is its input, float [N, Inputs()], where that is made of something else;
// for "" the net declares an input of its own, and tokens says what the numbers of tokens
// mean.
func (n *Net) ONNX(g *onnx.Graph, params []float32, row, tokens string) string {
	n.settle()
	w := &writer{Graph: g, params: params, frozen: n.frozen}
	v := value{row, flat, n.input}
	if row == "" {
		v = w.begin(n, tokens)
	}
	w.outs = append(w.outs, v)
	for i, o := range n.ops {
		w.info = n.layers[i]
		w.Scope = fmt.Sprintf("layer %d %s", i+1+n.skipped, w.info.Kind)
		v = o.write(w, v)
		w.outs = append(w.outs, v)
	}
	return w.asFlat(v)
}

// begin declares the input.
func (w *writer) begin(n *Net, tokens string) value {
	in := n.input
	if e, ok := n.ops[0].(*embedding); ok {
		return w.tokens(e, tokens)
	}
	if in.Height == 1 && in.Width == 1 {
		return value{w.Input(onnx.NewPort("input", onnx.Floats, "numbers as the model was trained on", 0, in.Channels)), flat, in}
	}
	name := w.Input(onnx.NewPort("image", onnx.Floats, "rows of pixels with their channels, in [0, 1]", 0, in.Height, in.Width, in.Channels))
	w.Scope = "input"
	return value{w.Reshape(name, -1, int64(in.Size())), flat, in}
}

// asFlat is v as [N, d].
func (w *writer) asFlat(v value) string {
	if v.order != planes {
		return v.name
	}
	if v.shape.Height*v.shape.Width == 1 {
		return w.Reshape(v.name, -1, int64(v.shape.Channels))
	}
	return w.Reshape(w.Transpose(v.name, 0, 2, 3, 1), -1, int64(v.shape.Size()))
}

// asPlanes is v as [N, channels, height, width].
func (w *writer) asPlanes(v value) string {
	if v.order == planes {
		return v.name
	}
	s := v.shape
	return w.Transpose(w.Reshape(v.name, -1, int64(s.Height), int64(s.Width), int64(s.Channels)), 0, 3, 1, 2)
}

// made is the output of the layer that is being written.
func (w *writer) made(name string, o order) value { return value{name, o, w.info.Output} }

// rootOf is √k, the norm of rows with mean square 1.
func rootOf(k int) float64 { return math.Sqrt(float64(k)) }
