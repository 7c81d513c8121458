package net_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/search/space"
	"pawl/search/space/net"
)

func lookup(t testing.TB, name string) *space.Space {
	t.Helper()
	s, ok := space.Lookup(name)
	if !ok {
		t.Fatalf("%s is missing", name)
	}
	return s
}

func decode(t testing.TB, text string) *space.Space {
	t.Helper()
	s, err := space.Decode("test.yaml", []byte("version: 1\nname: test\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func build(t testing.TB, s *space.Space, point string, input nn.Shape, outputs int) (zoo.Spec, *nn.Net) {
	t.Helper()
	p, err := s.Parse(point)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := net.Net(p, input, outputs)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := spec.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return spec, compiled
}

// The papers' counts of parameters.
func TestParameters(t *testing.T) {
	images := nn.Shape{Height: 28, Width: 28, Channels: 1}
	color, grey := nn.Shape{Height: 32, Width: 32, Channels: 3}, nn.Shape{Height: 32, Width: 32, Channels: 1}
	for _, c := range []struct {
		name, space, point string
		input              nn.Shape
		outputs            int
		parameters         int
		trainable          int
	}{
		{"MNIST, Table I", "fcn", "layers=1 units_1=128 activation_1=relu", nn.Vector(64), 10, 9610, 9610},
		{"MNIST STW", "fcn", "layers=2 units_1=512 units_2=64 activation_1=relu activation_2=tanh", nn.Vector(64), 10, 66762, 66762},
		{"CIFAR STW", "fcn", "layers=1 units_1=2048 activation_1=relu", nn.Vector(300), 10, 636938, 636938},
		{"Purchase STW", "fcn", "layers=2 units_1=1024 units_2=256 activation_1=relu activation_2=relu", nn.Vector(600), 100, 903524, 903524},
		{"Table IX STW", "fcn-trainable", "layers=3 units_1=2048 units_2=256 units_3=64 activation_1=relu activation_2=relu activation_3=relu trainable_1=true trainable_2=true trainable_3=false trainable_out=true", nn.Vector(64), 10, 674762, 658314},
		{"Table IX PAW at 0.34", "fcn-trainable", "layers=1 units_1=1024 activation_1=relu trainable_1=false trainable_out=true", nn.Vector(64), 10, 76810, 10250},
		{"MNIST CNN, Table XXVI", "cnn", "blocks=2 filters=16 units=64", images, 10, 56970, 56970},
		{"MNIST CNN STW", "cnn", "blocks=2 filters=48 units=64", images, 10, 197130, 197130},
		{"CIFAR CNN, Table XIX", "cnn", "blocks=3 filters=16 units=512", color, 10, 246554, 246554},
		{"CIFAR CNN, Table XX", "cnn", "blocks=2 filters=48 units=512", color, 10, 1820330, 1820330},
		{"SVHN CNN", "cnn", "blocks=2 filters=16 units=512", grey, 10, 600522, 600522},
		{"random convolutions", "cnn-trainable", "blocks=2 filters=16 units=64 trainable_conv_1=false trainable_conv_2=false trainable_dense=true trainable_out=true", images, 10, 56970, 51914},
		{"example", "example", "num_layers=2 num_units_per_layer=64 activation_fn=TanH", nn.Vector(100), 10, 6464 + 4160 + 650, 6464 + 4160 + 650},
		{"Arous, Table 2", "arous", "learning_rate=0.1 activation=bounded_relu bound=2", images, 10, 26010, 26010},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got := build(t, lookup(t, c.space), c.point, c.input, c.outputs)
			if got.AllParameters() != c.parameters || got.Parameters() != c.trainable {
				t.Errorf("got %d parameters, %d trainable, want %d, %d", got.AllParameters(), got.Parameters(), c.parameters, c.trainable)
			}
		})
	}
}

// Layer for layer the nets that the zoo has from the papers' tables.
func TestSameAsZoo(t *testing.T) {
	for _, c := range []struct{ zoo, space, point string }{
		{"mnist-paw-cnn", "cnn", "blocks=2 filters=16 units=64"},
		{"cifar-paw-cnn", "cnn", "blocks=3 filters=16 units=512"},
		{"cifar-paw-fcn", "fcn", "layers=1 units_1=64 activation_1=relu"},
	} {
		want, ok := zoo.Lookup(c.zoo)
		if !ok {
			t.Fatalf("%s is missing", c.zoo)
		}
		input, layers := want.Input, want.Network.Layers
		if nn.KindOf(layers[0].Kind).Role == nn.FrontEnd {
			input, layers = nn.Vector(layers[0].Coefficients), layers[1:]
		}
		got, _ := build(t, lookup(t, c.space), c.point, input, want.Outputs)
		if !slices.Equal(got.Network.Layers, layers) {
			t.Errorf("%s: got\n%+v\nwant\n%+v", c.zoo, got.Network.Layers, layers)
		}
	}
}

// Every point of every space with a net compiles, and points that differ make nets
// that differ.
func TestEveryPointCompiles(t *testing.T) {
	for _, name := range []string{"fcn", "cnn-trainable", "example"} {
		all, err := lookup(t, name).All()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		for p := range all {
			spec, err := net.Net(p, nn.Shape{Height: 28, Width: 28, Channels: 1}, 10)
			if err != nil {
				t.Fatalf("%v: %v", p, err)
			}
			if _, err := spec.Compile(); err != nil {
				t.Fatalf("%v: %v", p, err)
			}
			layers := fmt.Sprint(spec.Network.Layers)
			if other, twice := seen[layers]; twice {
				t.Fatalf("%v and %s are one net", p, other)
			}
			seen[layers] = p.String()
		}
	}
}

func TestFrontEnds(t *testing.T) {
	s := decode(t, "net: fcn\ndimensions: {features: [all, pool, dct, pca], coefficients: {values: [16, 64], when: {features: [dct, pca]}}, layers: 1, units: 8, activation: tanh, dropout: 0}")
	for point, want := range map[string]string{
		"features=all": "dense tanh dense", "features=pool": "pool2x2 dense tanh dense",
		"features=dct coefficients=16": "dct dense tanh dense", "features=pca coefficients=64": "pca dense tanh dense",
	} {
		spec, _ := build(t, s, point+" layers=1 units=8 activation=tanh dropout=0", nn.Shape{Height: 28, Width: 28, Channels: 1}, 10)
		var kinds []string
		for _, l := range spec.Network.Layers {
			kinds = append(kinds, l.Kind)
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%s: got %s, want %s", point, got, want)
		}
	}
}

func TestZooNets(t *testing.T) {
	s := decode(t, "net: rwt-fcn\ndimensions: {activation: [relu, bounded_relu], bound: {values: [3], when: {activation: bounded_relu}}, dropout: [0, 0.5], train_last: [1, 4]}")
	input := nn.Shape{Height: 28, Width: 28, Channels: 1}
	spec, n := build(t, s, "activation=bounded_relu bound=3 dropout=0 train_last=1", input, 10)
	if n.Parameters() != 650 || len(spec.Network.Layers) != 7 || spec.Network.Layers[1] != (nn.Layer{Kind: "bounded_relu", Bound: 3}) {
		t.Errorf("got %d trainable of %+v", n.Parameters(), spec.Network.Layers)
	}
	spec, n = build(t, s, "activation=relu dropout=0.5 train_last=4", input, 10)
	if n.Parameters() != 1362122 || spec.Network.Layers[2].Rate != 0.5 {
		t.Errorf("got %d trainable of %+v", n.Parameters(), spec.Network.Layers)
	}
	if original, _ := zoo.Lookup("rwt-fcn"); original.Network.Layers[2].Rate != 0.2 {
		t.Error("the zoo's own net changed")
	}
}

func TestHyper(t *testing.T) {
	s, err := space.Open("fcn,optimizers")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Size().String(); got != "573480" { // 1,770·324
		t.Errorf("got %s candidates", got)
	}
	p, err := s.Parse("layers=1 units_1=64 activation_1=relu optimizer=momentum clipping_norm=0.5 learning_rate=0.2 momentum=0.9")
	if err != nil {
		t.Fatal(err)
	}
	got, err := net.Hyper(p)
	if want := (net.Training{Optimizer: "momentum", LearningRate: 0.2, Momentum: 0.9, ClippingNorm: 0.5}); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := net.Net(p, nn.Vector(10), 2); err != nil {
		t.Error(err)
	}
}

func TestBind(t *testing.T) {
	s := decode(t, "net: fcn\ndimensions: {layers: [1, 2], units_1: [16, 64, 256], units_2: {values: [16, 64], when: {layers: 2}}, activation: tanh, trainable_1: [true, false], learning_rate: {reals: [0.01, 1], scale: log}}\nconstraints: [parameters <= 10000, trainable_parameters >= 200]")
	if _, err := s.Draw(rand.NewPCG(1, 1)); !errors.Is(err, space.ErrUnbound) {
		t.Errorf("got %v", err)
	}
	bound, err := net.Bind(s, nn.Vector(100), 10)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, l := range [][]int{{16}, {64}, {256}, {16, 16}, {16, 64}, {64, 16}, {64, 64}, {256, 16}, {256, 64}} {
		all, frozen, in := 0, 0, 100
		for i, u := range append(slices.Clone(l), 10) {
			all += in*u + u
			if i == 0 {
				frozen = in*u + u
			}
			in = u
		}
		for _, trainable := range []int{all, all - frozen} {
			if all <= 10000 && trainable >= 200 {
				want++
			}
		}
	}
	if got := bound.Size(); !got.Exact || got.Points.Int64() != int64(want) {
		t.Errorf("got %v points, want %d", got, want)
	}
	rng := rand.NewPCG(1, 1)
	for range 200 {
		p, err := bound.Draw(rng)
		if err != nil {
			t.Fatal(err)
		}
		p = bound.Mutate(rng, p)
		spec, err := net.Net(p, nn.Vector(100), 10)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := spec.Compile(); err != nil || n.AllParameters() > 10000 || n.Parameters() < 200 {
			t.Fatalf("%v: %v", p, err)
		}
	}
	if _, err := net.Bind(s, nn.Vector(1_000_000), 10); err == nil || !strings.Contains(err.Error(), "satisfied") {
		t.Errorf("no net is small enough: got %v", err)
	}
}

// Images that three blocks shrink to nothing leave the nets of two.
func TestBindDropsWhatCannotBeBuilt(t *testing.T) {
	tiny := nn.Shape{Height: 16, Width: 16, Channels: 1}
	bound, err := net.Bind(lookup(t, "cnn"), tiny, 10)
	if err != nil {
		t.Fatal(err)
	}
	if got := bound.Size().String(); got != "12" {
		t.Errorf("got %s points", got)
	}
	if _, err := net.Bind(lookup(t, "cnn"), nn.Shape{Height: 4, Width: 4, Channels: 1}, 10); err == nil {
		t.Error("no net can be built on 4×4 pixels")
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, text, point, want string }{
		{"no width", "net: fcn\ndimensions: {layers: 1, activation: relu}", "layers=1 activation=relu", "units_1 or units or num_units_per_layer is missing"},
		{"no activation", "net: fcn\ndimensions: {layers: 1, units: 2}", "layers=1 units=2", "activation_fn is missing"},
		{"unknown activation", "net: fcn\ndimensions: {layers: 1, units: 2, activation: swish}", "layers=1 units=2 activation=swish", `no activation is called "swish"`},
		{"half a unit", "net: fcn\ndimensions: {layers: 1, units: 2.5, activation: relu}", "layers=1 units=2.5 activation=relu", "units is 2.5, it must be a whole number"},
		{"dropout of everything", "net: fcn\ndimensions: {layers: 1, units: 2, activation: relu, dropout: 1}", "layers=1 units=2 activation=relu dropout=1", "dropout is 1; it must be in [0, 1)"},
		{"unknown features", "net: fcn\ndimensions: {layers: 1, units: 2, activation: relu, features: wavelets}", "layers=1 units=2 activation=relu features=wavelets", `features is "wavelets"`},
		{"no family", "net: transformer\ndimensions: {layers: 1}", "layers=1", "unknown net"},
		{"no family at all", "dimensions: {layers: 1}", "layers=1", "unknown net"},
		{"bound of nothing", "net: arous-cnn\ndimensions: {activation: bounded_relu, bound: 0}", "activation=bounded_relu bound=0", "bound is 0, it must be above 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := decode(t, c.text).Parse(c.point)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := net.Net(p, nn.Vector(4), 2); !errors.Is(err, net.ErrPoint) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	for _, c := range []struct{ text, point, want string }{
		{"optimizer: lion", "optimizer=lion", `no optimizer is called "lion"`},
		{"learning_rate: -1", "learning_rate=-1", "learning_rate is -1, it must be above 0"},
		{"momentum: 1", "momentum=1", "momentum is 1, it must lie in [0, 1)"},
		{"batch: fast", "batch=fast", "batch is fast, it must be a whole number"},
	} {
		p, err := decode(t, "dimensions: {"+c.text+"}").Parse(c.point)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := net.Hyper(p); !errors.Is(err, net.ErrPoint) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	slip := decode(t, "net: fcn\ndimensions: {layers: 1, units_1: 2, activation_1: relu, learnin_rate: [1, 2]}")
	if err := net.Check(slip); err == nil || !strings.Contains(err.Error(), "nothing reads dimension learnin_rate") {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"fcn", "fcn-trainable", "cnn", "cnn-trainable", "example", "arous"} {
		if err := net.Check(lookup(t, name)); err != nil {
			t.Error(err)
		}
	}
}

func Example() {
	s, _ := space.Lookup("fcn")
	p, err := s.Draw(rand.NewPCG(1, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	spec, err := net.Net(p, nn.Vector(64), 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	n, err := spec.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Size(), "nets, one of them:", p)
	fmt.Println(n.Parameters(), "parameters")
	// Output:
	// 1770 nets, one of them: layers=3 units_1=1024 units_2=256 units_3=10 activation_1=tanh activation_2=tanh activation_3=tanh
	// 331640 parameters
}

// The example of the manual.
func TestManual(t *testing.T) {
	page, err := os.ReadFile("../../../docs/SPACES.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ := strings.Cut(after, "```")
	s, err := space.Decode("docs/SPACES.md", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	bound, err := net.Bind(s, nn.Shape{Height: 28, Width: 28, Channels: 1}, 10)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(bound.Size())
	rng := rand.NewPCG(1, 1)
	for range 100 {
		p, err := bound.Draw(rng)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := net.Hyper(p); err != nil {
			t.Fatal(err)
		}
	}
}
