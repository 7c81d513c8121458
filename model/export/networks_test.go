package export

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pawl/compute/nn"
	"pawl/compute/onnx"
	"pawl/compute/zoo"
	"pawl/data/schema"
	"pawl/model"
)

// netModel is a model around a net with random numbers in all places: biases, scales and
// what is released too.
func netModel(t testing.TB, spec nn.Spec, input nn.Shape, outputs int) *model.Model {
	t.Helper()
	net, err := nn.Compile(spec, input, outputs)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, uint64(net.Parameters())))
	params := net.Init(rng)
	frozen := net.Frozen()
	for _, list := range [][]float32{params, frozen} {
		for i := range list {
			list[i] += float32(0.05 * rng.NormFloat64())
		}
	}
	if err := net.SetFrozen(frozen); err != nil {
		t.Fatal(err)
	}
	classes := make([]string, max(outputs, 2))
	for k := range classes {
		classes[k] = "class " + strconv.Itoa(k)
	}
	m := &model.Model{Task: model.Classification, Kind: model.Network, Target: "y", Net: net, Layers: spec, Parameters32: params, NotPrivate: true,
		Schema: &schema.Schema{Version: 1, Unit: schema.Unit{Name: "row", MaxRows: 1}, Rows: schema.RowCount{Kind: schema.RowsPublic}, NA: schema.DefaultNA,
			Columns: []schema.Column{{Name: "y", Type: schema.Categorical, Categories: classes, Missing: schema.MissingRefuse}}}}
	if loss := net.Loss().Kind; loss != nn.Softmax && loss != nn.Logistic {
		m.Task, m.Scale = model.Regression, model.TargetScale{Lower: -3, Upper: 7}
		m.Schema.Columns[0] = schema.Column{Name: "y", Type: schema.Numeric, Lower: -3, Upper: 7, Missing: schema.MissingRefuse}
	}
	return m
}

// examples draws inputs as the net takes them and as the graph does. Constant images are
// among them where a front end has to make zeros of them; a normalization of a constant
// plane only shows rounding, 316 times larger.
func examples(m *model.Model, f *File, n int) (own []float32, in map[string]array) {
	rng := rand.New(rand.NewPCG(8, 9))
	in = map[string]array{}
	d := m.Net.Inputs()
	if f.Inputs[0].Name == "tokens" {
		tokens, lengths := array{dims: []int{n, d - 1}}, array{dims: []int{n}}
		vocabulary := m.Layers.Layers[0].Vocabulary
		for e := range n {
			length := rng.IntN(d) // 0 to all
			if e == 0 {
				length = 0
			}
			lengths.v = append(lengths.v, float64(length))
			own = append(own, float32(length))
			for range d - 1 {
				token := rng.IntN(vocabulary+2) - 1
				tokens.v = append(tokens.v, float64(token))
				own = append(own, float32(token))
			}
		}
		in["tokens"], in["lengths"] = tokens, lengths
		return own, in
	}
	a := array{dims: append([]int{n}, f.Inputs[0].Shape[1:]...)}
	constant := slices.ContainsFunc(m.Layers.Layers, func(l nn.Layer) bool { return nn.KindOf(l.Kind).Role == nn.FrontEnd })
	for e := range n {
		for range d {
			v := rng.Float32()
			switch {
			case constant && e%8 == 6:
				v = 0.3
			case constant && e%8 == 7:
				v = 0
			}
			a.v = append(a.v, float64(v))
			own = append(own, v)
		}
	}
	in[f.Inputs[0].Name] = a
	return own, in
}

func networkAnswers(m *model.Model, own []float32) answers {
	a := answers{span: 1}
	predict := m.InputPredictor()
	if m.Task == model.Regression {
		a.span = m.Scale.Upper - m.Scale.Lower
	}
	d := m.Net.Inputs()
	for at := 0; at < len(own); at += d {
		v := predict(own[at : at+d])
		if m.Task == model.Regression {
			a.numbers = append(a.numbers, v)
			continue
		}
		a.labels = append(a.labels, m.Classes()[int(v)])
		p := make([]float64, len(m.Classes()))
		m.InputProber()(p, own[at:at+d])
		a.numbers = append(a.numbers, p...)
	}
	return a
}

func checkNetwork(t *testing.T, m *model.Model, n int) {
	t.Helper()
	f, err := ONNX(m, Facts{Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	own, in := examples(m, f, n)
	out := parse(t, f.Bytes).run(t, in)
	worst, differ := networkAnswers(m, own).worst(out, "label")
	if !(worst <= 1e-5) || differ > 0 {
		t.Errorf("worst error %g, %d labels differ", worst, differ)
	}
}

// zooModels are the nets that come with the program, as published and in the form to
// train under privacy where that differs.
func zooModels(t testing.TB) map[string]*model.Model {
	t.Helper()
	all := map[string]*model.Model{}
	for _, s := range zoo.List() {
		if s.Input == (nn.Shape{}) {
			var err error
			if s, err = s.For(nn.Shape{Height: 28, Width: 28, Channels: 1}, cmp.Or(s.Outputs, 10)); err != nil {
				t.Fatal(err)
			}
		}
		d := s.Default()
		all[s.Name] = netModel(t, d.Network, d.Input, d.Outputs)
	}
	return all
}

func TestZooAnswersAsTheModel(t *testing.T) {
	for name, m := range zooModels(t) {
		t.Run(name, func(t *testing.T) { checkNetwork(t, m, 2) })
	}
}

// publicNet is a network as a file has it, with what an extractor is made of; netModel gives it its numbers.
func publicNet(in nn.Shape) *nn.Extractor {
	g := onnx.New()
	x := g.Input(onnx.NewPort("image", onnx.Floats, "", 0, in.Channels, in.Height, in.Width))
	x = g.Op("Sub", x, g.Tensor("mean", []float32{.1, .2, .3, .4}, 1, 4, 1, 1))
	a := g.Add("Conv", onnx.Attributes{"pads", []int64{1, 1, 1, 1}, "group", int64(2), "kernel_shape", []int64{3, 3}}, x, g.Tensor("filters", make([]float32, 6*2*9), 6, 2, 3, 3))
	a = g.Op("Add", g.Op("Relu", a), a)
	p := g.Add("AveragePool", onnx.Attributes{"kernel_shape", []int64{2, 2}, "strides", []int64{2, 2}}, g.Op("Clip", a, g.Float(-1), g.Float(1)))
	p = g.Add("MaxPool", onnx.Attributes{"kernel_shape", []int64{2, 2}}, p)
	flat := g.Op("Flatten", p)
	g.Put(onnx.NewPort("y", onnx.Floats, "", 0, 5), "Gemm", "", nil, flat, g.Tensor("weights", make([]float32, 36*5), 36, 5))
	e, err := nn.ReadExtractor("public.onnx", g.Model("public", "", "1", nil), in, "0..1", "")
	if err != nil {
		panic(err)
	}
	return e
}

// nets have every kind of layer in every form.
func nets() map[string]struct {
	input   nn.Shape
	outputs int
	layers  []nn.Layer
	loss    nn.Loss
} {
	type net = struct {
		input   nn.Shape
		outputs int
		layers  []nn.Layer
		loss    nn.Loss
	}
	image, colour, vector := nn.Shape{Height: 8, Width: 12, Channels: 1}, nn.Shape{Height: 9, Width: 7, Channels: 4}, nn.Vector(20)
	end := nn.Layer{Kind: "dense", Units: 3}
	texts := nn.Tokens(6)
	words := nn.Layer{Kind: "embedding", Vocabulary: 11, Units: 5}
	return map[string]net{
		"logistic":       {vector, 1, []nn.Layer{{Kind: "dense", Units: 4}, {Kind: "tanh"}, {Kind: "dense", Units: 1}}, nn.Loss{Kind: nn.Logistic}},
		"squared":        {vector, 1, []nn.Layer{{Kind: "dense", Units: 4}, {Kind: "sigmoid"}, {Kind: "dense", Units: 1}}, nn.Loss{Kind: nn.Squared}},
		"frozen":         {vector, 3, []nn.Layer{{Kind: "dense", Units: 8, Trainable: nn.TrainNone}, {Kind: "relu"}, {Kind: "dense", Units: 6, Trainable: nn.TrainBias}, {Kind: "bounded_relu", Bound: 0.5}, end}, nn.Loss{}},
		"shared":         {vector, 3, []nn.Layer{{Kind: "dense", Units: 20}, {Kind: "tanh"}, {Kind: "dense", Units: 20, Share: 1}, {Kind: "tempered_sigmoid", Scale: 1.5, Temperature: 3, Offset: 0.4}, end}, nn.Loss{}},
		"leaky":          {vector, 3, []nn.Layer{{Kind: "dense", Units: 8}, {Kind: "leaky_relu", Slope: 0.3}, end}, nn.Loss{}},
		"residual":       {vector, 3, []nn.Layer{{Kind: "dense", Units: 20}, {Kind: "relu"}, {Kind: "residual"}, {Kind: "layer_norm"}, {Kind: "dropout", Rate: 0.5}, end}, nn.Loss{}},
		"front ends":     {colour, 3, []nn.Layer{{Kind: "pool2x2", Mode: "mean"}, {Kind: "standardize"}, {Kind: "random", Coefficients: 30, Seed: 5}, {Kind: "normalize"}, {Kind: "centre", Scale: 4}, end}, nn.Loss{}},
		"extractor":      {colour, 3, []nn.Layer{{Kind: "extractor", Graph: publicNet(colour)}, {Kind: "normalize"}, end}, nn.Loss{}},
		"dct":            {colour, 3, []nn.Layer{{Kind: "dct", Coefficients: 40}, {Kind: "identity"}, end}, nn.Loss{}},
		"pca":            {image, 3, []nn.Layer{{Kind: "pca", Coefficients: 10}, end}, nn.Loss{}},
		"dp_pca":         {image, 3, []nn.Layer{{Kind: "normalize"}, {Kind: "dp_pca", Coefficients: 10}, end}, nn.Loss{}},
		"scatter":        {image, 3, []nn.Layer{{Kind: "scatter"}, end}, nn.Loss{}},
		"scatter white":  {image, 3, []nn.Layer{{Kind: "scatter", Mode: "whitened"}, end}, nn.Loss{}},
		"scatter full":   {image, 3, []nn.Layer{{Kind: "scatter", Mode: "full"}, {Kind: "centre"}, end}, nn.Loss{}},
		"scatter colour": {nn.Shape{Height: 8, Width: 8, Channels: 3}, 3, []nn.Layer{{Kind: "scatter", Mode: "mirrored"}, {Kind: "centre", Scale: 4}, end}, nn.Loss{}},
		"scatter maps":   {image, 3, []nn.Layer{{Kind: "scatter"}, {Kind: "group_norm", Groups: 27, Trainable: nn.TrainNone}, {Kind: "conv2d", Filters: 4, Kernel: 2}, {Kind: "tanh"}, end}, nn.Loss{}},
		"scatter colour maps": {nn.Shape{Height: 12, Width: 8, Channels: 3}, 3, []nn.Layer{{Kind: "scatter", Mode: "mirrored"}, {Kind: "centre", Scale: 40}, {Kind: "conv2d", Filters: 4, Kernel: 3, Padding: "same"}, {Kind: "tanh"},
			{Kind: "max_pool", Size: 2}, end}, nn.Loss{}},
		"convolutions": {colour, 3, []nn.Layer{{Kind: "conv2d", Filters: 6, Kernel: 3, Padding: "same", Stride: 2, Groups: 2}, {Kind: "tanh"}, {Kind: "conv2d", Filters: 4, Kernel: 2, Padding: "same"},
			{Kind: "max_pool", Size: 2, Stride: 1}, {Kind: "avg_pool", Size: 2}, {Kind: "flatten"}, end}, nn.Loss{}},
		"dilated convolutions": {colour, 3, []nn.Layer{{Kind: "conv2d", Filters: 4, Kernel: 3, Groups: 2, Dilation: nn.Dilation{Height: 2, Width: 1}, Padding: "same"}, {Kind: "relu"},
			{Kind: "conv2d", Filters: 4, Kernel: 2, Dilation: nn.Dilation{Height: 1, Width: 2}}, end}, nn.Loss{}},
		"global pool": {colour, 3, []nn.Layer{{Kind: "conv2d", Filters: 6, Kernel: 3}, {Kind: "relu"}, {Kind: "global_avg_pool"}, {Kind: "tanh"}, end}, nn.Loss{}},
		"frozen convolutions": {colour, 3, []nn.Layer{{Kind: "conv2d", Filters: 4, Kernel: 3, Groups: 2, Trainable: nn.TrainNone}, {Kind: "conv2d", Filters: 4, Kernel: 3, Groups: 4, Trainable: nn.TrainBias, StandardizeWeights: true},
			{Kind: "conv2d", Filters: 4, Kernel: 3, StandardizeWeights: true, Padding: "same"}, {Kind: "relu"}, {Kind: "conv2d", Filters: 4, Kernel: 3, StandardizeWeights: true, Padding: "same", Share: 3}, {Kind: "residual", From: 3}, end}, nn.Loss{}},
		"norms": {colour, 3, []nn.Layer{{Kind: "conv2d", Filters: 4, Kernel: 3, Padding: "same"}, {Kind: "group_norm", Groups: 2}, {Kind: "residual"}, {Kind: "instance_norm"}, {Kind: "batch_norm"}, {Kind: "layer_norm", Trainable: nn.TrainNone},
			{Kind: "batch_norm", Trainable: nn.TrainNone}, end}, nn.Loss{}},
		"vector norms":  {vector, 3, []nn.Layer{{Kind: "group_norm", Groups: 4}, {Kind: "dense", Units: 6}, {Kind: "batch_norm"}, {Kind: "layer_norm"}, end}, nn.Loss{}},
		"lstm":          {texts, 3, []nn.Layer{words, {Kind: "lstm", Units: 4}, end}, nn.Loss{}},
		"lstm mean":     {texts, 3, []nn.Layer{words, {Kind: "dense", Units: 6}, {Kind: "tanh"}, {Kind: "lstm", Units: 4, Mode: "mean", Trainable: nn.TrainNone}, end}, nn.Loss{}},
		"gru":           {texts, 3, []nn.Layer{words, {Kind: "gru", Units: 4}, end}, nn.Loss{}},
		"gru sequences": {texts, 3, []nn.Layer{words, {Kind: "gru", Units: 5, Mode: "sequence", Trainable: nn.TrainNone}, {Kind: "residual", From: 1}, {Kind: "layer_norm"}, {Kind: "dropout", Rate: 0.1}, {Kind: "gru", Units: 4, Mode: "mean"}, end}, nn.Loss{}},
		"mean of words": {texts, 3, []nn.Layer{{Kind: "embedding", Vocabulary: 11, Units: 5, Trainable: nn.TrainNone}, {Kind: "lstm", Units: 4, Mode: "sequence"}, {Kind: "mean_over_time"}, end}, nn.Loss{}},
	}
}

func TestEveryLayerAnswersAsTheModel(t *testing.T) {
	seen := map[string]bool{}
	for name, n := range nets() {
		for _, l := range n.layers {
			seen[l.Kind] = true
		}
		t.Run(name, func(t *testing.T) {
			checkNetwork(t, netModel(t, nn.Spec{Layers: n.layers, Loss: n.loss}, n.input, n.outputs), 16)
		})
	}
	for _, kind := range nn.Kinds() {
		if !seen[kind] {
			t.Errorf("no net has a layer of kind %s", kind)
		}
	}
}
