package nn

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// Each refusal names the layer, the reason and what to write instead.
func TestRefusals(t *testing.T) {
	image := Shape{8, 6, 4}
	conv := func(l Layer) Layer { l.Kind = "conv2d"; return l }
	tests := []struct {
		name    string
		in      Shape
		outputs int
		layers  []Layer
		loss    Loss
		layer   int
		key     string
		words   []string
	}{
		{"unknown layer", image, 2, []Layer{{Kind: "attention"}}, Loss{}, 1, "kind", []string{`no layer is called "attention"`, "layers: avg_pool"}},
		{"near layer", image, 2, []Layer{kind("tahn")}, Loss{}, 1, "kind", []string{`did you mean "tanh"?`}},
		{"name of another library", image, 2, []Layer{units(3), kind("Linear")}, Loss{}, 2, "kind", []string{`did you mean "dense"?`}},
		{"MaxPool2d", image, 2, []Layer{kind("MaxPool2d")}, Loss{}, 1, "kind", []string{`did you mean "max_pool"?`}},
		{"no kind", image, 2, []Layer{{}}, Loss{}, 1, "kind", []string{"has no kind"}},
		{"softmax layer", image, 2, []Layer{units(2), kind("softmax")}, Loss{}, 2, "kind", []string{"part of the loss"}},
		{"no layers", image, 2, nil, Loss{}, 0, "layers", []string{"there are no layers"}},
		{"zero units", image, 2, []Layer{units(0)}, Loss{}, 1, "units", []string{"units must be at least 1"}},
		{"negative units", image, 2, []Layer{units(-3)}, Loss{}, 1, "units", []string{"got -3"}},
		{"key of another layer", image, 2, []Layer{{Kind: "dense", Units: 2, Filters: 3}}, Loss{}, 1, "filters", []string{`"filters" has no meaning here`, "it takes units, share, trainable"}},
		{"key of a layer without", image, 2, []Layer{{Kind: "tanh", Trainable: TrainNone}}, Loss{}, 1, "trainable", []string{"it takes none"}},
		{"trainable", image, 2, []Layer{{Kind: "dense", Units: 2, Trainable: "weights"}}, Loss{}, 1, "trainable", []string{"true, false or bias"}},
		{"class count", image, 10, []Layer{units(12)}, Loss{}, 1, "", []string{"gives a vector of 12, but 10 outputs", "dense layer of 10 units"}},
		{"image at the end", image, 10, []Layer{conv(Layer{Filters: 2, Kernel: 3})}, Loss{}, 1, "", []string{"6×4×2"}},
		{"nothing trainable", image, 2, []Layer{{Kind: "dense", Units: 2, Trainable: TrainNone}, kind("tanh")}, Loss{}, 0, "layers", []string{"no layer has a trainable parameter"}},
		{"no filters", image, 2, []Layer{conv(Layer{Kernel: 3})}, Loss{}, 1, "filters", []string{"at least 1"}},
		{"no kernel", image, 2, []Layer{conv(Layer{Filters: 3})}, Loss{}, 1, "kernel", []string{"at least 1"}},
		{"large kernel", image, 2, []Layer{conv(Layer{Filters: 2, Kernel: 7})}, Loss{}, 1, "kernel", []string{"7×7 window is larger than its input of 8×6×4", "at most 6", "padding: same"}},
		{"kernel of a vector", Vector(9), 2, []Layer{conv(Layer{Filters: 2, Kernel: 2})}, Loss{}, 1, "kernel", []string{"needs an image", "a vector of 9", "before flatten"}},
		{"image too small in the middle", image, 2, []Layer{{Kind: "max_pool", Size: 3}, conv(Layer{Filters: 2, Kernel: 3}), units(2)}, Loss{}, 2, "kernel", []string{"larger than its input of 2×2×4"}},
		{"padding", image, 2, []Layer{conv(Layer{Filters: 2, Kernel: 3, Padding: "full"})}, Loss{}, 1, "padding", []string{"valid or same"}},
		{"stride", image, 2, []Layer{conv(Layer{Filters: 2, Kernel: 3, Stride: -1})}, Loss{}, 1, "stride", []string{"at least 1"}},
		{"groups", image, 2, []Layer{conv(Layer{Filters: 2, Kernel: 3, Groups: 4})}, Loss{}, 1, "groups", []string{"4 channels, 2 filters", "divides both"}},
		{"large pool", image, 2, []Layer{{Kind: "avg_pool", Size: 7}}, Loss{}, 1, "size", []string{"7×7 window is larger", "at most 6"}},
		{"no size", image, 2, []Layer{kind("max_pool")}, Loss{}, 1, "size", []string{"at least 1"}},
		{"pool stride", image, 2, []Layer{{Kind: "max_pool", Size: 2, Stride: -2}}, Loss{}, 1, "stride", []string{"at least 1"}},
		{"pool2x2 mode", image, 2, []Layer{{Kind: "pool2x2", Mode: "sum"}}, Loss{}, 1, "mode", []string{"mean or max"}},
		{"pool2x2 of a row", Shape{1, 6, 1}, 2, []Layer{{Kind: "pool2x2", Mode: "max"}}, Loss{}, 1, "", []string{"larger than its input of 1×6×1"}},
		{"leaky relu without a slope", image, 2, []Layer{kind("leaky_relu"), units(2)}, Loss{}, 1, "slope", []string{"between 0 and 1", "0.01"}},
		{"leaky relu as identity", image, 2, []Layer{{Kind: "leaky_relu", Slope: 1}, units(2)}, Loss{}, 1, "slope", []string{"between 0 and 1"}},
		{"dropout of all", image, 2, []Layer{{Kind: "dropout", Rate: 1}}, Loss{}, 1, "rate", []string{"[0, 1)"}},
		{"bound", image, 2, []Layer{kind("bounded_relu")}, Loss{}, 1, "bound", []string{"above 0", "2 to 4"}},
		{"tempered", image, 2, []Layer{{Kind: "tempered_sigmoid", Scale: 2}}, Loss{}, 1, "scale", []string{"above 0", "tanh"}},
		{"late dct", image, 2, []Layer{units(9), {Kind: "dct", Coefficients: 3}}, Loss{}, 2, "", []string{"after a trainable layer", "before the first"}},
		{"late standardize", image, 2, []Layer{units(9), kind("standardize")}, Loss{}, 2, "", []string{"after a trainable layer"}},
		{"many coefficients", image, 2, []Layer{{Kind: "dct", Coefficients: 400}}, Loss{}, 1, "coefficients", []string{"more than", "at most 192"}},
		{"uneven coefficients", image, 2, []Layer{{Kind: "dct", Coefficients: 6}}, Loss{}, 1, "coefficients", []string{"6 coefficients", "4 channels"}},
		{"no input", Shape{0, 3, 1}, 2, []Layer{units(2)}, Loss{}, 0, "input", []string{"0×3×1"}},
		{"one class", image, 1, []Layer{units(1)}, Loss{}, 0, "outputs", []string{"at least 2 outputs", "logistic"}},
		{"logistic of three", image, 3, []Layer{units(3)}, Loss{Kind: Logistic}, 0, "outputs", []string{"takes 1 output"}},
		{"unknown loss", image, 3, []Layer{units(3)}, Loss{Kind: "hinge"}, 0, "loss", []string{`"hinge"`}},
		{"threshold", image, 1, []Layer{units(1)}, Loss{Kind: Squared, Threshold: 2}, 0, "huber_threshold", []string{"huber loss only"}},
		{"bad threshold", image, 1, []Layer{units(1)}, Loss{Kind: Huber, Threshold: -2}, 0, "huber_threshold", []string{"above 0"}},
		{"too many units", image, 2, []Layer{units(1 << 40)}, Loss{}, 1, "", []string{"more than 268435456 parameters"}},
		{"too many together", Vector(1 << 14), 2, []Layer{units(1 << 13), units(1 << 13), units(1 << 13), units(2)}, Loss{}, 3, "", []string{"more than 268435456 parameters"}},
		{"too many filters", image, 2, []Layer{conv(Layer{Filters: 1 << 40, Kernel: 1})}, Loss{}, 1, "", []string{"more than 268435456 parameters"}},
		{"enormous kernel", image, 2, []Layer{conv(Layer{Filters: 1, Kernel: 1 << 40, Padding: "same"})}, Loss{}, 1, "kernel", []string{"larger than its input"}},
		{"enormous stride", image, 2, []Layer{conv(Layer{Filters: 1, Kernel: 3, Stride: 1 << 60, Padding: "same"})}, Loss{}, 1, "stride", []string{"no larger than an image"}},
		{"wide dct", Shape{1, 5000, 1}, 2, []Layer{{Kind: "dct", Coefficients: 3}}, Loss{}, 1, "coefficients", []string{"1 GiB"}},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			net, err := Compile(Spec{Layers: c.layers, Loss: c.loss}, c.in, c.outputs)
			if err == nil {
				t.Fatalf("compiles to %d parameters", net.Parameters())
			}
			var l *LayerError
			if !errors.As(err, &l) || !errors.Is(err, ErrSpec) {
				t.Fatalf("got a %T: %v", err, err)
			}
			if l.Layer != c.layer || l.Key != c.key || l.Instead == "" {
				t.Errorf("layer %d, key %q, instead %q: want %d, %q and a way out", l.Layer, l.Key, l.Instead, c.layer, c.key)
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
		})
	}
}

func TestLayersAreDescribed(t *testing.T) {
	net := mustCompile(t, Spec{Layers: []Layer{
		{Kind: "conv2d", Filters: 6, Kernel: 3, Groups: 2, Padding: "same", Trainable: TrainBias},
		{Kind: "max_pool", Size: 2}, kind("flatten"), {Kind: "dense", Units: 3, Trainable: TrainNone}, units(2),
	}}, Shape{4, 4, 2}, 2)
	want := []LayerInfo{
		{Kind: "conv2d", Input: Shape{4, 4, 2}, Output: Shape{4, 4, 6}, Parameters: 60, Trainable: 6},
		{Kind: "max_pool", Input: Shape{4, 4, 6}, Output: Shape{2, 2, 6}},
		{Kind: "flatten", Input: Shape{2, 2, 6}, Output: Vector(24)},
		{Kind: "dense", Input: Vector(24), Output: Vector(3), Parameters: 75},
		{Kind: "dense", Input: Vector(3), Output: Vector(2), Parameters: 8, Trainable: 8},
	}
	for i, l := range net.Layers() {
		l.gain = 0
		if l != want[i] {
			t.Errorf("layer %d: got %+v, want %+v", i+1, l, want[i])
		}
	}
	if net.Parameters() != 14 || net.AllParameters() != 143 || len(net.Frozen()) != 129 {
		t.Errorf("%d trainable of %d, %d frozen", net.Parameters(), net.AllParameters(), len(net.Frozen()))
	}
}

func TestEveryKindHasItsKeys(t *testing.T) {
	fields := map[string]bool{}
	for name := range (Layer{}).fields() {
		fields[name] = true
	}
	for _, k := range Kinds() {
		for _, key := range keysOf(k) {
			if !fields[key] {
				t.Errorf("%s reads %q, which no layer has", k, key)
			}
		}
	}
	var full Layer
	for i := range reflect.ValueOf(full).NumField() {
		switch f := reflect.ValueOf(&full).Elem().Field(i); f.Kind() {
		case reflect.String:
			f.SetString("none")
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Float64:
			f.SetFloat(1)
		case reflect.Struct:
			f.Set(reflect.ValueOf(Dilation{1, 1}))
		case reflect.Uint64:
			f.SetUint(1)
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		default:
			f.SetInt(1)
		}
	}
	all := full.given()
	for _, k := range Kinds() {
		for _, key := range keysOf(k) {
			if !strings.Contains(" "+strings.Join(all, " ")+" ", " "+key+" ") {
				t.Errorf("%s reads %s, which no field gives", k, key)
			}
		}
	}
}

// A spec survives JSON, with the words of its files.
func TestSpecAsJSON(t *testing.T) {
	for _, c := range append(withDropout(), frozenForms()...) {
		text, err := json.Marshal(c.spec())
		if err != nil {
			t.Fatal(err)
		}
		var got Spec
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, c.spec()) {
			t.Errorf("%s: %s read as %+v", c.name, text, got)
		}
	}
	text, _ := json.Marshal(Layer{Kind: "dense", Units: 3, Trainable: TrainNone})
	if want := `{"kind":"dense","units":3,"trainable":"false"}`; string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
	if json.Unmarshal([]byte(`{"trainable":"maybe"}`), &Layer{}) == nil {
		t.Error("trainable: maybe is taken")
	}
}

// A dilation is one number or two, in files of both kinds, and leaves no trace where it
// is not given.
func TestDilationIsReadBack(t *testing.T) {
	for text, want := range map[string]Dilation{`{"kind":"conv2d"}`: {}, `{"kind":"conv2d","dilation":2}`: {2, 2}, `{"kind":"conv2d","dilation":[1,3]}`: {1, 3}} {
		var l Layer
		if err := json.Unmarshal([]byte(text), &l); err != nil || l.Dilation != want {
			t.Errorf("%s is %+v (%v)", text, l.Dilation, err)
		}
		if got, err := json.Marshal(l); err != nil || string(got) != text {
			t.Errorf("%s is written as %s (%v)", text, got, err)
		}
	}
	for _, text := range []string{`0`, `[1]`, `[1, 0]`, `"2"`, `[1, 2, 3]`, `1.5`} {
		if err := json.Unmarshal([]byte(text), new(Dilation)); err == nil {
			t.Errorf("a dilation of %s is taken", text)
		}
	}
}

// keysOf lists the fields, by their names in a file, that a kind reads.
func keysOf(kind string) []string { return kinds[kind].Keys }
