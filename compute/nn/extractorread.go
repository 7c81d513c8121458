package nn

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/compute/onnx"
)

// pixelScales are the ways in which networks take pixels, as factors and shifts of three channels.
var pixelScales = map[string][2][3]float32{
	"0..1":     {{1, 1, 1}, {}},
	"-1..1":    {{2, 2, 2}, {-1, -1, -1}},
	"0..255":   {{255, 255, 255}, {}},
	"imagenet": {{1 / .229, 1 / .224, 1 / .225}, {-.485 / .229, -.456 / .224, -.406 / .225}},
}

// PixelScales are the names of the ways in which an extractor can take pixels: 0..1, −1..1, 0..255, and by the
// means and deviations of ImageNet's channels.
func PixelScales() []string {
	return []string{"0..1", "-1..1", "0..255", "imagenet"}
}

// operators are those of ONNX that an extractor may have.
const operators = "Conv, Gemm, MatMul, BatchNormalization, Relu, Clip, Add, Sub, Mul, Div, MaxPool, AveragePool, GlobalAveragePool, ReduceMean, Flatten, Reshape, Squeeze, Transpose, Identity, Dropout, Constant"

// ReadExtractor reads a network for images of a shape from the bytes of an ONNX file. The network takes one batch of
// images, [N, channels, height, width], or by rows of pixels and then a Transpose. Images of another height or
// width are resized, and one channel is repeated where three are wanted. pixels is one of PixelScales. The last
// node's first output is what it makes, up to what is named in output, "" for the whole.
//
// An operator that is not supported is an error that names it and its node.
func ReadExtractor(name string, file []byte, image Shape, pixels, output string) (*Extractor, error) {
	scale, ok := pixelScales[pixels]
	if !ok {
		return nil, fmt.Errorf("pixels %q: write %s", pixels, strings.Join(PixelScales(), ", "))
	}
	m, err := onnx.Parse(file)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(file)
	r := &extractorReader{Read: m, values: map[string]extracted{}, e: &Extractor{File: name, SHA256: hex.EncodeToString(digest[:]), Pixels: pixels}}
	if err := r.begin(image, scale); err != nil {
		return nil, err
	}
	if output == "" && len(m.Outputs) > 0 {
		output = m.Outputs[0]
	}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if err := r.node(n); err != nil {
			return nil, fmt.Errorf("node %d, %s%s: %w", i+1, n.Op, named(n.Name), err)
		}
		if slices.Contains(n.Outputs, output) {
			break
		}
	}
	end, ok := r.values[output]
	if !ok || end.op == 0 {
		return nil, fmt.Errorf("no node makes the output %q", output)
	}
	// The result is the last operation's.
	r.e.Ops = r.e.Ops[:end.op]
	for i, op := range r.e.Ops {
		if op.Op == "dense" || op.Op == "conv" || op.Op == "scale" {
			r.e.weights = append(r.e.weights, r.weights[i]...)
		}
	}
	if _, err := r.e.steps(image); err != nil {
		return nil, err
	}
	return r.e, nil
}

func named(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" %.60q", name)
}

// extracted is a value of the file: the result of an operation, and how the file has it.
type extracted struct {
	op    int
	shape Shape
	// last says that channels come last, before a Transpose.
	last bool
	// vector says that the file has it as [N, d].
	vector bool
}

type extractorReader struct {
	*onnx.Read
	e       *Extractor
	values  map[string]extracted
	weights [][]float32
}

// add appends an operation, and takes the name of its result.
func (r *extractorReader) add(op ExtractorOp, weights []float32, from extracted, name string) error {
	op.From = append([]int{from.op}, op.From...)
	r.e.Ops, r.weights = append(r.e.Ops, op), append(r.weights, weights)
	steps, err := r.e.steps(r.values[""].shape)
	if err != nil {
		return err
	}
	out := from
	out.op, out.shape = len(steps), steps[len(steps)-1].out
	out.vector = from.vector || op.Op == "flatten"
	r.values[name] = out
	return nil
}

// begin makes of an image what the file takes.
func (r *extractorReader) begin(image Shape, scale [2][3]float32) error {
	if len(r.Inputs) != 1 {
		return fmt.Errorf("the file has %d inputs, an extractor takes one: images", len(r.Inputs))
	}
	in := r.Inputs[0]
	if len(in.Dims) != 4 {
		return fmt.Errorf("input %.60q has %d dimensions, images have 4: [N, channels, height, width]", in.Name, len(in.Dims))
	}
	if in.Dims[0] > 1 {
		return fmt.Errorf("input %.60q takes %d images at a time; save the model with an open batch size, or 1", in.Name, in.Dims[0])
	}
	channel, height, width := in.Dims[1], in.Dims[2], in.Dims[3]
	last := in.Dims[3] == 3 && in.Dims[1] != 3 || in.Dims[3] == 1 && in.Dims[1] > 3
	if last {
		height, width, channel = in.Dims[1], in.Dims[2], in.Dims[3]
	}
	if channel < 0 {
		channel = int64(image.Channels)
	}
	r.values[""] = extracted{shape: image}
	at := extracted{shape: image, last: last}
	do := func(op ExtractorOp, weights []float32) error {
		err := r.add(op, weights, at, in.Name)
		at = r.values[in.Name]
		return err
	}
	r.values[in.Name] = at
	if max(height, width) > 1<<14 {
		return fmt.Errorf("input %.60q takes images of %d×%d", in.Name, height, width)
	}
	if height > 0 && width > 0 && (int(height) != image.Height || int(width) != image.Width) {
		if err := do(ExtractorOp{Op: "resize", Window: []int{int(height), int(width)}}, nil); err != nil {
			return err
		}
	}
	if int(channel) != image.Channels {
		if image.Channels != 1 || channel < 1 || channel > 64 {
			return fmt.Errorf("input %.60q takes images of %d channels, the data have %d", in.Name, channel, image.Channels)
		}
		if err := do(ExtractorOp{Op: "repeat", Outputs: int(channel)}, nil); err != nil {
			return err
		}
	}
	if scale == pixelScales["0..1"] {
		return nil
	}
	if channel > 3 {
		return fmt.Errorf("pixels of %d channels have no such scale; use 0..1", channel)
	}
	return do(ExtractorOp{Op: "scale"}, slices.Concat(scale[0][:channel], scale[1][:channel]))
}

func (r *extractorReader) node(n *onnx.ReadNode) error {
	if n.Domain != "" && n.Domain != "ai.onnx" {
		return fmt.Errorf("the operator %s.%s is not supported; an extractor may have %s", n.Domain, n.Op, operators)
	}
	if len(n.Outputs) == 0 {
		return fmt.Errorf("it has no output")
	}
	out := n.Outputs[0]
	if n.Op == "Constant" {
		c := n.Attributes["value"].Constant
		if c == nil {
			return fmt.Errorf("a constant that is not a tensor")
		}
		r.Constants[out] = *c
		return nil
	}
	if len(n.Inputs) == 0 {
		return fmt.Errorf("it has no input")
	}
	x, ok := r.values[n.Inputs[0]]
	if _, constant := r.Constants[n.Inputs[0]]; !ok && !(constant && (n.Op == "Add" || n.Op == "Mul")) {
		return fmt.Errorf("its input %.60q is the result of no node before it", n.Inputs[0])
	}
	if x.last && n.Op != "Transpose" {
		return fmt.Errorf("it takes images with their channels last; only a Transpose to [N, channels, height, width] may")
	}
	switch n.Op {
	case "Identity", "Dropout":
		r.values[out] = x
		return nil
	case "Relu":
		return r.add(ExtractorOp{Op: "relu"}, nil, x, out)
	case "Clip":
		return r.clip(n, x, out)
	case "Transpose":
		if !slices.Equal(n.Attributes["perm"].Ints, []int64{0, 3, 1, 2}) || !x.last {
			return fmt.Errorf("a Transpose of images may only bring the channels of the input to the front")
		}
		x.last = false
		r.values[out] = x
		return nil
	case "Conv":
		return r.conv(n, x, out)
	case "BatchNormalization":
		return r.batchNorm(n, x, out)
	case "MaxPool", "AveragePool":
		return r.pool(n, x, out)
	case "GlobalAveragePool":
		return r.add(ExtractorOp{Op: "global_avg_pool"}, nil, x, out)
	case "ReduceMean":
		return r.mean(n, x, out)
	case "Flatten", "Reshape", "Squeeze":
		return r.flatten(n, x, out)
	case "Gemm", "MatMul":
		return r.dense(n, x, out)
	case "Add", "Sub", "Mul", "Div":
		return r.arithmetic(n, out)
	}
	return fmt.Errorf("the operator %s is not supported; an extractor may have %s", n.Op, operators)
}

// floats are the constant of an input of a node, nil where there is none.
func (r *extractorReader) floats(n *onnx.ReadNode, i int, what string) (onnx.Constant, error) {
	if i >= len(n.Inputs) || n.Inputs[i] == "" {
		return onnx.Constant{}, fmt.Errorf("it has no %s", what)
	}
	c, ok := r.Constants[n.Inputs[i]]
	if !ok {
		return c, fmt.Errorf("its %s is not a constant", what)
	}
	return c, nil
}

func (r *extractorReader) clip(n *onnx.ReadNode, x extracted, out string) error {
	bounds := []float32{-math.MaxFloat32, math.MaxFloat32}
	for i, name := range []string{"min", "max"} {
		if a, ok := n.Attributes[name]; ok {
			bounds[i] = a.Float
		}
		if i+1 < len(n.Inputs) && n.Inputs[i+1] != "" {
			c, err := r.floats(n, i+1, name)
			if err != nil || len(c.Floats) != 1 {
				return fmt.Errorf("its %s is not a single number", name)
			}
			bounds[i] = c.Floats[0]
		}
	}
	return r.add(ExtractorOp{Op: "clip", Bounds: bounds}, nil, x, out)
}

// window reads what convolutions and pools have in common.
func (r *extractorReader) window(n *onnx.ReadNode, x extracted, kernel []int) (op ExtractorOp, err error) {
	one := func(name string) (int, error) {
		a := n.Attributes[name].Ints
		switch {
		case len(a) == 0:
			return 1, nil
		case len(a) != 2 || a[0] != a[1] || a[0] < 1 || a[0] > 1<<14:
			return 0, fmt.Errorf("%s of %v are not supported: they must be the same both ways", name, a)
		}
		return int(a[0]), nil
	}
	op.Window, op.Pads = kernel, make([]int, 4)
	if op.Stride, err = one("strides"); err != nil {
		return op, err
	}
	if op.Dilation, err = one("dilations"); err != nil {
		return op, err
	}
	if n.Attributes["ceil_mode"].Int != 0 {
		return op, fmt.Errorf("ceil_mode is not supported")
	}
	pads := n.Attributes["pads"].Ints
	if len(pads) != 0 && len(pads) != 4 {
		return op, fmt.Errorf("pads of %v", pads)
	}
	for i, p := range pads {
		if p < 0 || p > 1<<14 {
			return op, fmt.Errorf("pads of %v", pads)
		}
		op.Pads[i] = int(p)
	}
	switch auto := n.Attributes["auto_pad"].Text; auto {
	case "", "NOTSET", "VALID":
	case "SAME_UPPER", "SAME_LOWER":
		for i, side := range []int{x.shape.Height, x.shape.Width} {
			places := (side + op.Stride - 1) / op.Stride
			all := max(0, (places-1)*op.Stride+(kernel[i]-1)*op.Dilation+1-side)
			op.Pads[i], op.Pads[i+2] = all/2, all-all/2
			if auto == "SAME_LOWER" {
				op.Pads[i], op.Pads[i+2] = op.Pads[i+2], op.Pads[i]
			}
		}
	default:
		return op, fmt.Errorf("auto_pad %q is not supported", auto)
	}
	return op, nil
}

func (r *extractorReader) conv(n *onnx.ReadNode, x extracted, out string) error {
	w, err := r.floats(n, 1, "filters")
	if err != nil {
		return err
	}
	if len(w.Dims) != 4 || x.vector {
		return fmt.Errorf("filters of %v: only convolutions of images are supported", w.Dims)
	}
	op, err := r.window(n, x, []int{w.Dims[2], w.Dims[3]})
	if err != nil {
		return err
	}
	op.Op, op.Outputs, op.Groups = "conv", w.Dims[0], max(1, int(n.Attributes["group"].Int))
	if op.Groups*w.Dims[1] != x.shape.Channels || op.Outputs%op.Groups != 0 {
		return fmt.Errorf("filters of %v in %d groups on %d channels", w.Dims, op.Groups, x.shape.Channels)
	}
	// [filters, channels of a group, rows, columns] to groups of rows × columns × channels × filters.
	filters, channels, pixels := op.Outputs/op.Groups, w.Dims[1], w.Dims[2]*w.Dims[3]
	weights := make([]float32, len(w.Floats), len(w.Floats)+op.Outputs)
	for f := range op.Outputs {
		g := f / filters
		for c := range channels {
			for p := range pixels {
				weights[((g*pixels+p)*channels+c)*filters+f%filters] = w.Floats[(f*channels+c)*pixels+p]
			}
		}
	}
	bias := make([]float32, op.Outputs)
	if len(n.Inputs) > 2 && n.Inputs[2] != "" {
		b, err := r.floats(n, 2, "bias")
		if err != nil || len(b.Floats) != op.Outputs {
			return fmt.Errorf("its bias does not fit %d filters", op.Outputs)
		}
		copy(bias, b.Floats)
	}
	return r.add(op, append(weights, bias...), x, out)
}

// batchNorm is a factor and a shift of each channel: its statistics are the file's. Behind a convolution whose
// result nothing else has taken, they go into its filters.
func (r *extractorReader) batchNorm(n *onnx.ReadNode, x extracted, out string) error {
	var parts [4][]float32
	for i, what := range []string{"scale", "shift", "mean", "variance"} {
		c, err := r.floats(n, i+1, what)
		if err != nil {
			return err
		}
		if len(c.Floats) != x.shape.Channels {
			return fmt.Errorf("its %s has %d numbers for %d channels", what, len(c.Floats), x.shape.Channels)
		}
		parts[i] = c.Floats
	}
	if n.Attributes["training_mode"].Int != 0 {
		return fmt.Errorf("in training mode it mixes images")
	}
	epsilon := float64(n.Attributes["epsilon"].Float)
	if _, given := n.Attributes["epsilon"]; !given {
		epsilon = 1e-5
	}
	factor, shift := make([]float32, x.shape.Channels), make([]float32, x.shape.Channels)
	for k := range factor {
		f := float64(parts[0][k]) / math.Sqrt(float64(parts[3][k])+epsilon)
		factor[k], shift[k] = float32(f), float32(float64(parts[1][k])-f*float64(parts[2][k]))
	}
	if i := x.op - 1; i >= 0 && r.e.Ops[i].Op == "conv" && r.users(n.Inputs[0]) == 1 {
		op, w := r.e.Ops[i], slices.Clone(r.weights[i])
		filters, each := op.Outputs/op.Groups, (len(w)-op.Outputs)/op.Groups
		for j := range len(w) - op.Outputs {
			w[j] *= factor[j/each*filters+j%filters]
		}
		for k, b := range w[len(w)-op.Outputs:] {
			w[len(w)-op.Outputs+k] = float32(b*factor[k]) + shift[k]
		}
		r.weights[i], r.values[out] = w, x
		return nil
	}
	return r.add(ExtractorOp{Op: "scale"}, append(factor, shift...), x, out)
}

// users counts the nodes that take a value.
func (r *extractorReader) users(name string) int {
	count := 0
	for i := range r.Nodes {
		for _, in := range r.Nodes[i].Inputs {
			if in == name {
				count++
			}
		}
	}
	return count
}

func (r *extractorReader) pool(n *onnx.ReadNode, x extracted, out string) error {
	k := n.Attributes["kernel_shape"].Ints
	if len(k) != 2 || min(k[0], k[1]) < 1 || max(k[0], k[1]) > 1<<14 {
		return fmt.Errorf("a window of %v", k)
	}
	op, err := r.window(n, x, []int{int(k[0]), int(k[1])})
	if err != nil {
		return err
	}
	if op.Dilation != 1 {
		return fmt.Errorf("dilations of a pool are not supported")
	}
	op.Dilation = 0
	if op.Op = "max_pool"; n.Op == "AveragePool" {
		op.Op, op.CountPads = "avg_pool", n.Attributes["count_include_pad"].Int != 0
	}
	return r.add(op, nil, x, out)
}

func (r *extractorReader) mean(n *onnx.ReadNode, x extracted, out string) error {
	axes := n.Attributes["axes"].Ints
	if len(n.Inputs) > 1 {
		c, err := r.floats(n, 1, "axes")
		if err != nil {
			return err
		}
		axes = c.Ints
	}
	axes = slices.Clone(axes)
	for i, a := range axes {
		if a < 0 {
			axes[i] = a + 4
		}
	}
	slices.Sort(axes)
	if !slices.Equal(axes, []int64{2, 3}) || x.vector {
		return fmt.Errorf("a mean over the axes %v: only over height and width", axes)
	}
	if err := r.add(ExtractorOp{Op: "global_avg_pool"}, nil, x, out); err != nil {
		return err
	}
	keep, given := n.Attributes["keepdims"]
	v := r.values[out]
	v.vector = given && keep.Int == 0
	r.values[out] = v
	return nil
}

// flatten makes [N, d] of images. Shapes that say anything else are refused.
func (r *extractorReader) flatten(n *onnx.ReadNode, x extracted, out string) error {
	switch n.Op {
	case "Flatten":
		if a, given := n.Attributes["axis"]; given && a.Int != 1 {
			return fmt.Errorf("from axis %d: only from 1", a.Int)
		}
	case "Squeeze":
		if x.shape.Height*x.shape.Width != 1 {
			return fmt.Errorf("of an image of %s", x.shape)
		}
	case "Reshape":
		c, err := r.floats(n, 1, "shape")
		if err != nil {
			return err
		}
		size := int64(x.shape.Size())
		if len(c.Ints) != 2 || c.Ints[1] != -1 && c.Ints[1] != size || c.Ints[0] > 1 {
			return fmt.Errorf("to %v: only to [N, %d]", c.Ints, size)
		}
	}
	if x.vector {
		r.values[out] = x
		return nil
	}
	return r.add(ExtractorOp{Op: "flatten"}, nil, x, out)
}

func (r *extractorReader) dense(n *onnx.ReadNode, x extracted, out string) error {
	w, err := r.floats(n, 1, "weights")
	if err != nil {
		return err
	}
	if len(w.Dims) != 2 || !x.vector {
		return fmt.Errorf("weights of %v on %s: only [N, d] by a matrix is supported", w.Dims, x.shape)
	}
	for name, want := range map[string]float32{"alpha": 1, "beta": 1} {
		if a, given := n.Attributes[name]; given && a.Float != want {
			return fmt.Errorf("%s of %g is not supported", name, a.Float)
		}
	}
	m, outputs := w.Dims[0], w.Dims[1]
	weights := slices.Clone(w.Floats)
	if n.Op == "Gemm" && n.Attributes["transB"].Int != 0 {
		weights = transposed(w.Floats, outputs, 0, outputs)
		m, outputs = outputs, m
	}
	if n.Attributes["transA"].Int != 0 || m != x.shape.Size() {
		return fmt.Errorf("weights of %v on %d numbers", w.Dims, x.shape.Size())
	}
	bias := make([]float32, outputs)
	if n.Op == "Gemm" && len(n.Inputs) > 2 && n.Inputs[2] != "" {
		b, err := r.floats(n, 2, "bias")
		if err != nil || len(b.Floats) != outputs && len(b.Floats) != 1 {
			return fmt.Errorf("its bias does not fit %d outputs", outputs)
		}
		for j := range bias {
			bias[j] = b.Floats[j%len(b.Floats)]
		}
	}
	return r.add(ExtractorOp{Op: "dense", Outputs: outputs}, append(weights, bias...), x, out)
}

// arithmetic adds two results, or takes a constant for each channel.
func (r *extractorReader) arithmetic(n *onnx.ReadNode, out string) error {
	if len(n.Inputs) != 2 {
		return fmt.Errorf("it has %d inputs", len(n.Inputs))
	}
	a, okA := r.values[n.Inputs[0]]
	b, okB := r.values[n.Inputs[1]]
	if okA && okB {
		if n.Op != "Add" {
			return fmt.Errorf("%s of two results is not supported, only Add", n.Op)
		}
		return r.add(ExtractorOp{Op: "add", From: []int{b.op}}, nil, a, out)
	}
	x, constant := a, n.Inputs[1]
	if !okA {
		if x, constant = b, n.Inputs[0]; !okB || n.Op == "Sub" || n.Op == "Div" {
			return fmt.Errorf("a constant before the operator is not supported")
		}
	}
	c, ok := r.Constants[constant]
	if !ok {
		return fmt.Errorf("its input %.60q is the result of no node before it", constant)
	}
	channels := x.shape.Channels
	v, err := perChannel(c, channels, x.vector)
	if err != nil {
		return err
	}
	weights := make([]float32, 2*channels)
	for k := range channels {
		weights[k] = 1
		switch n.Op {
		case "Add":
			weights[channels+k] = v[k]
		case "Sub":
			weights[channels+k] = -v[k]
		case "Mul":
			weights[k] = v[k]
		case "Div":
			weights[k] = 1 / v[k]
		}
	}
	return r.add(ExtractorOp{Op: "scale"}, weights, x, out)
}

// perChannel is a constant for each channel, of [1, C, 1, 1], [C, 1, 1], [C] of a vector, or a single number.
func perChannel(c onnx.Constant, channels int, vector bool) ([]float32, error) {
	v := make([]float32, channels)
	fits := len(c.Floats) == channels
	behind := 0
	for i := len(c.Dims) - 1; i >= 0 && c.Dims[i] == 1; i-- {
		behind++
	}
	if channels > 1 {
		fits = fits && (vector && behind == 0 || !vector && behind == 2)
	}
	if !fits && len(c.Floats) != 1 {
		return nil, fmt.Errorf("a constant of %v on %d channels: one number, or one for each channel", c.Dims, channels)
	}
	for k := range v {
		v[k] = c.Floats[k%len(c.Floats)]
	}
	return v, nil
}
