package zoo

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/compute/nn"
)

// counts are those of the papers' tables, recomputed by hand: all parameters and
// the trained ones.
var counts = map[string][2]int{
	"mnist-fcn-150": {150*128 + 128 + 128*10 + 10, 20618}, "mnist-paw-fcn": {9610, 9610}, "mnist-stw-fcn": {66762, 66762},
	"fmnist-paw-fcn": {9610, 9610}, "fmnist-stw-fcn": {38410, 38410},
	"cifar-paw-fcn": {19914, 19914}, "cifar-stw-fcn": {636938, 636938},
	"svhn-paw-fcn": {39818, 39818}, "svhn-stw-fcn": {221066, 221066},
	"purchase-paw-fcn": {89828, 89828}, "purchase-stw-fcn": {903524, 903524},
	"table-ix-paw": {9610, 9610}, "table-ix-paw-low-epsilon": {76810, 10250}, "table-ix-stw": {674762, 658314},
	"fig-6-simple": {9610, 9610}, "fig-6-complex": {674762, 674762},
	"table-vii-simple": {435402, 435402}, "rwt-fcn": {1362122, 33482},
	"cifar-paw-cnn": {246554, 246554}, "cifar-stw-cnn": {1820330, 1820330},
	"mnist-paw-cnn": {56970, 56970}, "mnist-stw-cnn": {197130, 197130},
	"svhn-paw-cnn": {600522, 600522}, "svhn-stw-cnn": {1817930, 1817930},
	"lenet-5": {61706, 61706}, "rwt-cnn": {122442, 103114},
	"arous-cnn": {26010, 26010}, "arous-cifar-cnn": {421546, 421546},
	"arous-cnn-group-norm": {26106, 26106}, "arous-cnn-layer-norm": {26106, 26106}, "arous-cnn-instance-norm": {26106, 26106},
	"arous-cnn-batch-norm": {26202, 26106}, "arous-cifar-cnn-group-norm": {422506, 422506},
	"sms-rnn-simple": {50000 + 4*(50*4+4*4+4) + 4*16 + 16 + 16*2 + 2, 50994}, "sms-rnn-complex": {496978, 496978}, "rwt-rnn": {496978, 132610},
	"logistic": {7850, 7850}, "features-linear": {7850, 7850}, "fcn-64": {784*64 + 64 + 650, 784*64 + 64 + 650},
	// The released mean counts as a parameter that is not trained.
	"scatter-linear": {3969 + 39700, 39700}, "scatter-mirror": {3969 + 39700, 39700},
	"scatter-pooled": {729 + 7300, 7300}, "scatter-mirror-pooled": {729 + 7300, 7300},
	"scatter-uncentred": {39700, 39700}, "scatter-mirror-uncentred": {39700, 39700},
	"fcn-300-64-10": {19914, 19914}, "fcn-784-1024-512-64-10": {1362122, 1362122}, "cifar-cnn-32-64-128-256": {421546, 421546},
}

// outputsOf are those of a net whose data decide them.
func outputsOf(s Spec) int {
	if s.Outputs > 0 {
		return s.Outputs
	}
	return 10
}

func init() {
	for _, depth := range []int{2, 6, 12} {
		for _, u := range []int{10, 30, 60, 120} {
			n := 784*u + u + (depth-1)*(u*u+u) + u + 1
			counts[fmt.Sprintf("medical-%dx%d", depth, u)] = [2]int{n, n}
		}
	}
}

// Tables XIV and XV give no counts, the text does: 40,741 for 12 layers of 60, and 73,561
// for 6 layers of 120, on six inputs.
func TestCountsOfRegression(t *testing.T) {
	for name, want := range map[string]int{"medical-12x60": 40741, "medical-6x120": 73561} {
		s, _ := Lookup(name)
		s, err := s.For(nn.Vector(6), 1)
		if err != nil {
			t.Fatal(err)
		}
		net, err := s.Compile()
		if err != nil || net.Parameters() != want {
			t.Errorf("%s: %d parameters, want %d (%v)", name, net.Parameters(), want, err)
		}
	}
}

func TestCountsAreThoseOfTheTables(t *testing.T) {
	all := List()
	if len(all) != len(counts) {
		t.Errorf("%d nets, %d counts", len(all), len(counts))
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			want, ok := counts[s.Name]
			if !ok {
				t.Fatal("no count to compare with")
			}
			if s.Input == (nn.Shape{}) {
				var err error
				if s, err = s.For(nn.Shape{Height: 28, Width: 28, Channels: 1}, outputsOf(s)); err != nil {
					t.Fatal(err)
				}
			} else if s.Parameters != want[0] || s.Trainable != want[1] {
				t.Errorf("the file states %d and %d, want %v", s.Parameters, s.Trainable, want)
			}
			for name, form := range map[string]Spec{"published": s, "default": s.Default()} {
				net, err := form.Compile()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if net.AllParameters() != want[0] || net.Parameters() != want[1] {
					t.Errorf("%s: %d parameters, %d trained, want %v", name, net.AllParameters(), net.Parameters(), want)
				}
			}
			if s.Title == "" || s.Source == "" || s.Defaults.Kappa == 0 || s.Defaults.Radius == 0 && s.Parameters > 0 || s.Defaults.ClippingNorm == 0 {
				t.Errorf("title, source, kappa, radius or clipping norm is missing: %+v", s)
			}
			if _, ok := File(s.Name); !ok {
				t.Error("the file has another name than the net")
			}
		})
	}
}

// The stated radii are the rule's, except where pixels in [0, 1] are shorter than
// the rule for standardized inputs has them.
func TestRadiiAreThoseOfTheRule(t *testing.T) {
	for _, s := range List() {
		if strings.HasPrefix(s.Note, "The radius") || s.Input == (nn.Shape{}) {
			continue
		}
		stated := s.Defaults.Radius
		s.Defaults.Radius = 0
		got, err := s.Default().Radius()
		if err != nil || math.Abs(got-stated) > 0.002*stated {
			t.Errorf("%s: the rule gives %.4g (%v), the file %.4g", s.Name, got, err, stated)
		}
	}
}

// shapes of the tables, after each layer that changes them.
func TestShapesAreThoseOfTheTables(t *testing.T) {
	for name, want := range map[string]string{
		"cifar-paw-cnn": "16×16×3 12×12×16 6×6×16 6×6×32 3×3×32 3×3×48 a vector of 432 a vector of 512 a vector of 10",
		"mnist-paw-cnn": "14×14×1 10×10×16 5×5×16 5×5×32 a vector of 800 a vector of 64 a vector of 10",
		"lenet-5":       "28×28×6 14×14×6 10×10×16 5×5×16 a vector of 400 a vector of 120 a vector of 84 a vector of 10",
		"rwt-cnn":       "24×24×32 12×12×32 10×10×64 5×5×64 a vector of 1600 a vector of 64 a vector of 10",
		"arous-cnn":     "14×14×16 13×13×16 5×5×32 4×4×32 a vector of 512 a vector of 32 a vector of 10",
	} {
		s, ok := Lookup(name)
		if !ok {
			t.Fatal(name)
		}
		net, err := s.Compile()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range net.Layers() {
			if l.Output != l.Input {
				got = append(got, l.Output.String())
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, " "), want)
		}
	}
}

func TestChanges(t *testing.T) {
	cnn, _ := Lookup("mnist-paw-cnn")
	relu := len(cnn.Network.Layers)
	for _, name := range nn.Activations() {
		s, err := cnn.WithActivation(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Compile(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := cnn.WithActivation("swish"); err == nil {
		t.Error("an unknown activation is taken")
	}
	if got := cnn.Default(); len(got.Network.Layers) != relu-1 || got.Network.Layers[3].Kind != "tanh" {
		t.Errorf("the default form is %+v", got.Network.Layers)
	}
	if again, _ := Lookup("mnist-paw-cnn"); again.Network.Layers[3].Kind != "relu" || len(again.Network.Layers) != relu {
		t.Error("changing a copy changed the zoo")
	}
	if _, ok := Lookup("mnist"); ok {
		t.Error("a net without a file")
	}
	last := cnn.TrainLast(1)
	net, err := last.Compile()
	if err != nil || net.Parameters() != 650 || net.AllParameters() != 56970 {
		t.Errorf("last layer: %v, %d of %d", err, net.Parameters(), net.AllParameters())
	}
	full, _ := Lookup("fcn-784-1024-512-64-10")
	if net, err := full.TrainLast(2).Compile(); err != nil || net.Parameters() != 33482 {
		t.Errorf("last two layers: %v", err)
	}
	brelu, _ := mustLookup(t, "cifar-paw-cnn").WithActivation("bounded_relu")
	if brelu.Network.Layers[3].Bound != 4 {
		t.Errorf("bound of CIFAR: %+v", brelu.Network.Layers[3])
	}
}

func mustLookup(t *testing.T, name string) Spec {
	t.Helper()
	s, ok := Lookup(name)
	if !ok {
		t.Fatalf("no net %s", name)
	}
	return s
}

func TestShapesFromTheData(t *testing.T) {
	linear := mustLookup(t, "logistic")
	if _, err := linear.Compile(); !errors.Is(err, ErrNoShape) {
		t.Errorf("without a shape: %v", err)
	}
	if _, err := linear.Radius(); err != nil {
		t.Errorf("a stated radius needs no shape: %v", err)
	}
	s, err := linear.For(nn.Vector(108), 2)
	if err != nil {
		t.Fatal(err)
	}
	if net, err := s.Compile(); err != nil || net.Parameters() != 218 {
		t.Errorf("108 inputs, 2 classes: %v", err)
	}
	fixed := mustLookup(t, "fcn-300-64-10")
	if _, err := fixed.For(nn.Shape{Height: 10, Width: 10, Channels: 3}, 10); err != nil {
		t.Errorf("an image of 300 numbers: %v", err)
	}
	for _, bad := range []struct {
		in      nn.Shape
		outputs int
	}{{nn.Vector(301), 10}, {nn.Vector(300), 9}} {
		if _, err := fixed.For(bad.in, bad.outputs); err == nil {
			t.Errorf("%v with %d outputs is taken", bad.in, bad.outputs)
		}
	}
	if _, err := mustLookup(t, "lenet-5").For(nn.Vector(784), 10); err == nil {
		t.Error("a vector is taken for an image")
	}
}

func TestFaultsHaveAPlace(t *testing.T) {
	tests := []struct{ name, text, want, hint string }{
		{"empty", "", "net.yaml:1:1: a network file holds one YAML document", ""},
		{"no version", "layers: [{kind: dense}]\n", "net.yaml:1:1: version must be 1", "version: 1"},
		{"later version", "name: x\nversion: 2\nflux: 3\n", "net.yaml:2:10: version must be 1", ""},
		{"unknown key", "version: 1\nlayer: []\n", `net.yaml:2:1: YAML: unknown field "layer"`, "models show"},
		{"unknown key of a layer", "version: 1\nlayers:\n  - {kind: dense, unit: 3}\n", `net.yaml:3:19: YAML: unknown field "unit"`, ""},
		{"key twice", "version: 1\nversion: 1\n", "net.yaml:2:1: YAML:", ""},
		{"not a number", "version: 1\noutputs: many\n", "net.yaml:2:10: YAML:", "models show"},
		{"no layers", "version: 1\noutputs: 3\n", "net.yaml:1:1: layers must list", ""},
		{"bad shape", "version: 1\ninput: [3, 4]\nlayers: [{kind: dense}]\n", "net.yaml:2:8: YAML: input must be a number, or [height, width, channels]", ""},
		{"zero shape", "version: 1\ninput: 0\nlayers: [{kind: dense}]\n", "input must be at least 1", ""},
		{"bad dilation", "version: 1\nlayers: [{kind: conv2d, dilation: many}]\n", "net.yaml:2:35: YAML: dilation must be a number, or [height, width]", ""},
		{"no dilation", "version: 1\nlayers: [{kind: conv2d, dilation: 1}, {kind: conv2d, dilation: [2, 0]}]\n", "net.yaml:2:64: YAML: dilation must be at least 1 in both directions", ""},
		{"dilation with a fraction", "version: 1\nlayers: [{kind: conv2d, dilation: 1.5}]\n", "net.yaml:2:35: dilation must be a whole number", ""},
		{"slope that is none", "version: 1\ninput: 4\noutputs: 2\nlayers: [{kind: leaky_relu, slope: 1.5}, {kind: dense}]\n", "net.yaml:4:36: layer 1 (leaky_relu): slope must lie between 0 and 1", "0.01"},
		{"shape with a fraction", "version: 1\ninput: [28.5, 28, 1]\nlayers: [{kind: dense}]\n", "net.yaml:2:8: input must be a whole number", ""},
		{"units with a fraction", "version: 1\nlayers:\n  - kind: dense\n    units: 2.9\n", "net.yaml:4:12: units must be a whole number", ""},
		{"dilation of another layer", "version: 1\nlayers: [{kind: dense, dilation: 2}]\n", `net.yaml:2:34: layer 1 (dense): "dilation" has no meaning here`, "it takes units"},
		{"wide dilation", "version: 1\ninput: [6, 6, 1]\noutputs: 2\nlayers:\n  - {kind: conv2d, filters: 2, kernel: 3, dilation: 3}\n  - {kind: dense}\n", "net.yaml:5:53: layer 1 (conv2d): the dilated kernel reaches over 7×7 pixels, its input is 6×6×1", `"padding: same"`},
		{"dilation beyond the image", "version: 1\ninput: [6, 6, 1]\noutputs: 2\nlayers:\n  - {kind: conv2d, filters: 2, kernel: 3, padding: same, dilation: [1, 7]}\n  - {kind: dense}\n", "a dilation of 1×7 does not suit an image of 6×6", "no more than the image's sides"},
		{"bad trainable", "version: 1\nlayers: [{kind: dense, trainable: maybe}]\ntrainable: 7\n", "net.yaml:2:35: YAML: trainable must be true, false or bias", ""},
		{"uneven groups", "version: 1\ninput: [4, 4, 6]\noutputs: 2\nlayers:\n  - {kind: group_norm, groups: 4}\n  - {kind: dense, units: 2}\n",
			"net.yaml:5:32: layer 1 (group_norm): 4 groups do not divide 6 channels", "such as 3"},
		{"near kind", "version: 1\ninput: 4\noutputs: 2\nlayers:\n  - kind: dens\n    units: 2\n", `net.yaml:5:11: layer 1 (dens): no layer is called "dens"`, `did you mean "dense"?`},
		{"large kernel", "version: 1\ninput: [4, 4, 1]\noutputs: 2\nlayers:\n  - {kind: conv2d, filters: 2, kernel: 5}\n", "net.yaml:5:40: layer 1 (conv2d): a 5×5 window is larger than its input of 4×4×1", `"padding: same"`},
		{"wrong outputs", "version: 1\ninput: 4\noutputs: 3\nlayers:\n  - kind: dense\n    units: 2\n", "net.yaml:5:5: layer 1 (dense): the last layer gives a vector of 2, but 3 outputs are wanted", "end with a dense layer of 3 units"},
		{"wrong count", "version: 1\ninput: 4\noutputs: 3\nlayers: [{kind: dense}]\nparameters: 16\n", "net.yaml:5:13: network : parameters is stated as 16, the layers have 15", ""},
		{"loss", "version: 1\ninput: 4\noutputs: 3\nloss: hinge\nlayers: [{kind: dense}]\n", `net.yaml:4:7: no loss is called "hinge"`, "softmax"},
		{"unknown kind without a shape", "version: 1\nlayers: [{kind: tanhh}]\n", `net.yaml:2:17: layer 1 (tanhh): no layer is called "tanhh"`, `did you mean "tanh"?`},
		{"key without a shape", "version: 1\nlayers: [{kind: tanh, units: 3}]\n", `net.yaml:2:30: layer 1 (tanh): "units" has no meaning here`, "it takes none"},
		{"anchor", "version: 1\nlayers: [&a {kind: dense}, *a]\n", "net.yaml:2:10: anchors and aliases have no use here", ""},
		{"default activation", "version: 1\nlayers: [{kind: dense}]\ndefaults: {activation: swish}\n", `net.yaml:3:24: no activation is called "swish"`, ""},
		{"two documents", "version: 1\n---\nversion: 1\n", "one YAML document", ""},
		{"not text", "version: \xff", "not UTF-8", ""},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode("net.yaml", []byte(c.text))
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("a %T, want *Error", err)
			}
			if !strings.Contains(e.Hint(), c.hint) {
				t.Errorf("hint %q, want %q", e.Hint(), c.hint)
			}
		})
	}
}

func TestReadsAFile(t *testing.T) {
	s, err := Decode("net.yaml", []byte(`
version: 1
name: mine
input: [6, 6, 2]
outputs: 1
loss: huber
huber_threshold: 0.5
layers:
  - {kind: standardize}
  - {kind: conv2d, filters: 4, kernel: 3, stride: 2, groups: 2, padding: same, trainable: false}
  - {kind: tempered_sigmoid, scale: 2, temperature: 3, offset: 1}
  - {kind: dense, units: 3, trainable: bias}
  - {kind: dropout, rate: 0.1}
  - {kind: dense}
`))
	if err != nil {
		t.Fatal(err)
	}
	net, err := s.Compile()
	if err != nil {
		t.Fatal(err)
	}
	if net.Parameters() != 3+4 || net.AllParameters() != 2*(9*2+2)+36*3+3+4 || net.Loss() != (nn.Loss{Kind: nn.Huber, Threshold: 0.5}) {
		t.Errorf("%d of %d parameters, loss %+v", net.Parameters(), net.AllParameters(), net.Loss())
	}
}

func TestFilesAreReadBack(t *testing.T) {
	all := List()
	brelu, _ := mustLookup(t, "rwt-cnn").WithActivation("bounded_relu")
	all = append(all, brelu.TrainLast(1), Spec{Input: nn.Vector(4), Outputs: 1, Network: nn.Spec{Loss: nn.Loss{Kind: nn.Huber, Threshold: 0.5},
		Layers: []nn.Layer{{Kind: "dense", Units: 3, Trainable: nn.TrainBias}, {Kind: "dense", Units: 1}}}},
		Spec{Input: nn.Shape{Height: 9, Width: 9, Channels: 1}, Outputs: 2, Network: nn.Spec{Loss: nn.Loss{Kind: nn.Softmax}, Layers: []nn.Layer{
			{Kind: "conv2d", Filters: 2, Kernel: 3, Dilation: nn.Dilation{Height: 2, Width: 2}}, {Kind: "conv2d", Filters: 2, Kernel: 2, Dilation: nn.Dilation{Height: 1, Width: 3}}, {Kind: "dense", Units: 2}}}})
	for _, s := range all {
		text, err := Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode("again", text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Errorf("%s: %s", s.Name, diff)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range List() {
		text, _ := File(s.Name)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Decode("net.yaml", text)
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Col < 1) {
			t.Fatalf("an error without a place: %v", err)
		}
		if err == nil && len(s.Network.Layers) == 0 {
			t.Fatal("a net without layers")
		}
	})
}

// Random weights training of the RNN is training its last two layers.
func TestRandomWeightsOfRecurrentNets(t *testing.T) {
	whole, _ := Lookup("sms-rnn-complex")
	last, _ := Lookup("rwt-rnn")
	got, want := whole.TrainLast(2), last.Network
	if d := cmp.Diff(want, got.Network); d != "" {
		t.Error(d)
	}
	net, err := got.Compile()
	if err != nil || net.Parameters() != 132610 || net.FrozenPrefix() != 2 || net.Rest().Inputs() != 256 {
		t.Errorf("%v: %d trained parameters behind %d layers", err, net.Parameters(), net.FrozenPrefix())
	}
	// A normalization goes with the layer before it.
	normed, _ := Lookup("arous-cnn-group-norm")
	for k, want := range map[int]int{2: 16416 + 330, 3: 8224 + 64 + 16416 + 330} {
		if net, err := normed.TrainLast(k).Compile(); err != nil || net.Parameters() != want {
			t.Errorf("last %d layers: %v, %d parameters, want %d", k, err, net.Parameters(), want)
		}
	}
}

// Only the net of batch normalization mixes examples, and says so.
func TestNetsTreatExamplesApart(t *testing.T) {
	for _, s := range List() {
		if s.Input == (nn.Shape{}) {
			continue
		}
		net, err := s.Compile()
		if err != nil {
			t.Fatal(err)
		}
		if err := net.PerExample(); (err != nil) != (s.Name == "arous-cnn-batch-norm") {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}
