package nn

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/compute/onnx"
)

// draws are float32 numbers around 0.
func draws(rng *rand.Rand, n int, size float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(size * rng.NormFloat64())
	}
	return x
}

// extractorFile is a small network with every operator that an extractor may have.
func extractorFile() []byte {
	rng := rand.New(rand.NewPCG(3, 4))
	g := onnx.New()
	x := g.Input(onnx.NewPort("image", onnx.Floats, "", 0, 3, 12, 10))
	x = g.Op("Div", g.Op("Sub", x, g.Tensor("mean", []float32{.4, .5, .6}, 1, 3, 1, 1)), g.Tensor("deviation", []float32{.2, .25, .3}, 1, 3, 1, 1))
	positive := func(n int) []float32 {
		v := draws(rng, n, 0.3)
		for i := range v {
			v[i] = 0.2 + float32(v[i]*v[i]) // not fused: the file has the same bytes everywhere
		}
		return v
	}
	norm := func(x string, c int) string {
		return g.Add("BatchNormalization", onnx.Attributes{"epsilon", float32(1e-3)}, x, g.Tensor("scale", draws(rng, c, 1), c), g.Tensor("shift", draws(rng, c, .3), c),
			g.Tensor("mean", draws(rng, c, .3), c), g.Tensor("variance", positive(c), c))
	}
	conv := func(x string, a onnx.Attributes, bias bool, dims ...int) string {
		in := []string{x, g.Tensor("filters", draws(rng, dims[0]*dims[1]*dims[2]*dims[3], .4), dims...)}
		if bias {
			in = append(in, g.Tensor("bias", draws(rng, dims[0], .3), dims[0]))
		}
		return g.Add("Conv", a, in...)
	}
	// Pads that differ, and statistics that go into the filters.
	a := g.Op("Relu", norm(conv(x, onnx.Attributes{"pads", []int64{0, 1, 2, 1}, "strides", []int64{1, 1}, "kernel_shape", []int64{3, 3}}, false, 8, 3, 3, 3), 8))
	// A depthwise one, in another form of padding, and a join.
	b := conv(a, onnx.Attributes{"group", int64(8), "auto_pad", "SAME_UPPER", "kernel_shape", []int64{3, 3}}, true, 8, 1, 3, 3)
	c := g.Op("Add", a, norm(b, 8))
	d := g.Op("Clip", conv(c, onnx.Attributes{"dilations", []int64{2, 2}, "strides", []int64{2, 2}, "pads", []int64{2, 2, 2, 2}, "kernel_shape", []int64{3, 3}}, true, 6, 8, 3, 3), g.Float(0), g.Float(6))
	// Statistics of what two nodes take cannot go into filters.
	e := g.Op("Add", norm(d, 6), d)
	p := g.Add("MaxPool", onnx.Attributes{"kernel_shape", []int64{3, 2}, "strides", []int64{1, 1}, "pads", []int64{1, 0, 1, 0}}, e)
	p = g.Add("AveragePool", onnx.Attributes{"kernel_shape", []int64{2, 2}, "strides", []int64{1, 1}, "pads", []int64{0, 1, 1, 0}}, p)
	p = g.Add("AveragePool", onnx.Attributes{"kernel_shape", []int64{2, 2}, "strides", []int64{2, 2}, "pads", []int64{1, 1, 1, 1}, "count_include_pad", int64(1)}, p)
	flat := g.Add("Flatten", onnx.Attributes{"axis", int64(1)}, p)
	h, w := 4, 3 // of p
	hidden := g.Op("Relu", g.Add("Gemm", onnx.Attributes{"transB", int64(1)}, flat, g.Tensor("weights", draws(rng, 5*6*h*w, .2), 5, 6*h*w), g.Tensor("bias", draws(rng, 5, .2), 5)))
	pooled := g.Reshape(g.Op("GlobalAveragePool", p), -1, 6)
	out := g.Op("Add", g.Op("MatMul", pooled, g.Tensor("matrix", draws(rng, 30, .5), 6, 5)), g.Tensor("bias", draws(rng, 5, .5), 5))
	g.Put(onnx.NewPort("features", onnx.Floats, "", 0, 5), "Add", "", nil, hidden, out)
	return g.Model("test", "", "1", nil)
}

// oracle is what onnxruntime-node 1.30 made of the file in testdata, by extractor.mjs there.
type oracle struct {
	Shape    [4]int    `json:"shape"`
	Input    []float32 `json:"input"`    // planes
	Features []float32 `json:"features"` // rows
}

// Every operator against another runtime, to the rounding of float32.
func TestExtractorMatchesOnnxruntime(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("testdata", "extractor.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(file, extractorFile()) {
		t.Fatal("extractorFile makes another file than the one that the oracle ran: write it there and run node testdata/extractor.mjs")
	}
	text, err := os.ReadFile(filepath.Join("testdata", "extractor.json"))
	if err != nil {
		t.Fatal(err)
	}
	var o oracle
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	n, c, h, w := o.Shape[0], o.Shape[1], o.Shape[2], o.Shape[3]
	inputs := make([]float32, len(o.Input))
	for i := range n {
		for k := range c {
			for p := range h * w {
				inputs[(i*h*w+p)*c+k] = o.Input[(i*c+k)*h*w+p]
			}
		}
	}
	e, err := ReadExtractor("extractor.onnx", file, Shape{h, w, c}, "0..1", "")
	if err != nil {
		t.Fatal(err)
	}
	folded := 0
	for _, op := range e.Ops {
		if op.Op == "scale" {
			folded++
		}
	}
	if folded != 4 { // Sub, Div, the statistics of d, and the last bias
		t.Errorf("%d operations scale channels, want 4: statistics go into filters", folded)
	}
	got := features(t, e, Shape{h, w, c}, inputs)
	if len(got) != len(o.Features) {
		t.Fatalf("%d numbers, want %d", len(got), len(o.Features))
	}
	for i, want := range o.Features {
		if math.Abs(float64(got[i]-want)) > 2e-5*max(1, math.Abs(float64(want))) {
			t.Errorf("number %d is %g, onnxruntime has %g", i, got[i], want)
		}
	}
}

// features runs an extractor as the prefix of a net.
func features(t *testing.T, e *Extractor, in Shape, inputs []float32) []float32 {
	t.Helper()
	net, err := Compile(Spec{Layers: []Layer{{Kind: "extractor", Graph: e}, {Kind: "dense", Units: 2}}}, in, 2)
	if err != nil {
		t.Fatal(err)
	}
	net.Init(rand.New(rand.NewPCG(1, 1)))
	if net.FrozenPrefix() != 1 {
		t.Fatalf("a prefix of %d layers", net.FrozenPrefix())
	}
	return slices.Clone(net.ForwardPrefix(0, inputs))
}

// An image's features are those of the image alone, and a net without the file's numbers has them from what was kept.
func TestExtractorTreatsImagesApart(t *testing.T) {
	in := Shape{12, 10, 3}
	e, err := ReadExtractor("x", extractorFile(), in, "imagenet", "")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	inputs := draws(rng, 7*in.Size(), 1)
	all := features(t, e, in, inputs)
	for i := range 7 {
		if one := features(t, e, in, inputs[i*in.Size():(i+1)*in.Size()]); !slices.Equal(one, all[i*5:(i+1)*5]) {
			t.Fatalf("image %d alone has %v, among others %v", i, one, all[i*5:(i+1)*5])
		}
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var again Extractor
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	layers := func(e *Extractor) Spec {
		return Spec{Layers: []Layer{{Kind: "extractor", Graph: e}, {Kind: "dense", Units: 2}}}
	}
	first, err := Compile(layers(e), in, 2)
	if err != nil {
		t.Fatal(err)
	}
	first.Init(rng)
	second, err := Compile(layers(&again), in, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.SetFrozen(first.Frozen()); err != nil {
		t.Fatal(err)
	}
	if got := second.ForwardPrefix(0, inputs); !slices.Equal(got, all) {
		t.Error("a net that was read again has other features")
	}
}

// Images of another size are resized linearly, and one channel is repeated: a net that takes the mean has that
// of a plane, which resizing keeps, in every channel.
func TestExtractorFitsImages(t *testing.T) {
	g := onnx.New()
	x := g.Input(onnx.NewPort("image", onnx.Floats, "", 0, 3, 8, 8))
	g.Put(onnx.NewPort("mean", onnx.Floats, "", 0, 3, 1, 1), "GlobalAveragePool", "", nil, x)
	e, err := ReadExtractor("x", g.Model("m", "", "1", nil), Shape{4, 6, 1}, "-1..1", "")
	if err != nil {
		t.Fatal(err)
	}
	image := make([]float32, 24)
	for i := range image {
		image[i] = float32(i%6) / 5 // a plane that rises from 0 to 1
	}
	for _, v := range features(t, e, Shape{4, 6, 1}, image) {
		if math.Abs(float64(v)) > 1e-6 {
			t.Errorf("mean of a symmetric plane is %g, want 0 after scaling to -1..1", v)
		}
	}
}

// What is not supported is named; what is damaged is refused without a panic.
func TestExtractorRefuses(t *testing.T) {
	shape := Shape{8, 8, 3}
	model := func(build func(g *onnx.Graph, x string) string) []byte {
		g := onnx.New()
		x := g.Input(onnx.NewPort("image", onnx.Floats, "", 0, 3, 8, 8))
		y := build(g, x)
		g.Put(onnx.NewPort("y", onnx.Floats, "", 0, 3), "Identity", "", nil, y)
		return g.Model("m", "", "1", nil)
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"operator": {model(func(g *onnx.Graph, x string) string { return g.Op("Relu", g.Op("HardSwish", x)) }), "the operator HardSwish is not supported"},
		"domain": {model(func(g *onnx.Graph, x string) string {
			g.Node("Relu", "com.x", []string{"q"}, []string{x}, nil)
			return "q"
		}), "com.x.Relu is not supported"},
		"two results": {model(func(g *onnx.Graph, x string) string { return g.Op("Mul", x, x) }), "Mul of two results"},
		"softmax axis": {model(func(g *onnx.Graph, x string) string {
			return g.Add("ReduceMean", onnx.Attributes{"axes", []int64{1}}, x)
		}), "only over height and width"},
		"reshape": {model(func(g *onnx.Graph, x string) string { return g.Reshape(x, 2, -1) }), "only to [N, 192]"},
		"channels": {model(func(g *onnx.Graph, x string) string {
			return g.Op("Conv", x, g.Tensor("w", make([]float32, 8), 2, 4, 1, 1))
		}), "on 3 channels"},
		"strides": {model(func(g *onnx.Graph, x string) string {
			return g.Add("MaxPool", onnx.Attributes{"kernel_shape", []int64{2, 2}, "strides", []int64{1, 2}}, x)
		}), "the same both ways"},
		"window": {model(func(g *onnx.Graph, x string) string {
			return g.Add("MaxPool", onnx.Attributes{"kernel_shape", []int64{20, 20}}, x)
		}), "a window of 20×20"},
		"no file":   {[]byte("PNG and so on"), "not a model in ONNX"},
		"empty":     {nil, "it has no graph"},
		"transpose": {model(func(g *onnx.Graph, x string) string { return g.Transpose(x, 0, 2, 3, 1) }), "Transpose"},
	} {
		_, err := ReadExtractor("f", c.file, shape, "0..1", "")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	good := extractorFile()
	for name, c := range map[string]struct {
		shape          Shape
		pixels, output string
		want           string
	}{
		"pixels":   {Shape{12, 10, 3}, "0..2", "", "write 0..1"},
		"output":   {Shape{12, 10, 3}, "0..1", "nothing", `no node makes the output "nothing"`},
		"channels": {Shape{12, 10, 2}, "0..1", "", "the data have 2"},
	} {
		if _, err := ReadExtractor("f", good, c.shape, c.pixels, c.output); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(8, 9))
	for range 2000 {
		bad := slices.Clone(good)
		for range 1 + rng.IntN(3) {
			bad[rng.IntN(len(bad))] ^= byte(1 << rng.IntN(8))
		}
		_, _ = ReadExtractor("f", bad[:1+rng.IntN(len(bad))], Shape{12, 10, 3}, "0..1", "") // no panic
	}
	if _, err := Compile(Spec{Layers: []Layer{{Kind: "extractor"}, {Kind: "dense", Units: 2}}}, shape, 2); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("an extractor without a graph: %v", err)
	}
}
