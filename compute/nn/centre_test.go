package nn

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCentre(t *testing.T) {
	spec := Spec{Layers: []Layer{{Kind: "normalize"}, {Kind: "centre"}, {Kind: "dense", Units: 2}}}
	net, err := Compile(spec, Vector(3), 2)
	if err != nil {
		t.Fatal(err)
	}
	if net.Centred() != 3 || net.FrozenPrefix() != 1 || net.Rest().Centred() != 3 {
		t.Fatalf("centres %d behind a prefix of %d, want 3 behind 1", net.Centred(), net.FrozenPrefix())
	}
	rest := net.Rest()
	params := net.Init(rand.New(rand.NewPCG(1, 2)))
	mean := []float32{0.5, -1, 2}
	if err := rest.SetCentre(mean); err != nil {
		t.Fatal(err)
	}
	if net.Frozen()[1] != -1 {
		t.Error("a net and its rest do not share the mean")
	}
	x := []float32{1, 2, 3}
	got := rest.Predict(0, params, x)
	var norm float64
	for j, v := range x {
		norm += float64((v - mean[j]) * (v - mean[j]))
	}
	norm = math.Sqrt(norm)
	for k := range 2 {
		want := float64(params[3*2+k])
		for j, v := range x {
			want += float64(v-mean[j]) / norm * float64(params[j*2+k])
		}
		if math.Abs(float64(got[k])-want) > 1e-6 {
			t.Errorf("score %d is %g, want %g", k, got[k], want)
		}
	}
	// An example at the mean has no direction: it becomes zero.
	if got := rest.Predict(0, params, mean); got[0] != params[6] || got[1] != params[7] {
		t.Errorf("at the mean: scores %v, want the biases", got)
	}
	if err := net.SetCentre([]float32{1}); err == nil {
		t.Error("a mean of another length is taken")
	}
}

// Rows of another norm than 1: of normalize, whose output then gives centre no bound, and
// of centre.
func TestScaledRows(t *testing.T) {
	net, err := Compile(Spec{Layers: []Layer{{Kind: "normalize"}, {Kind: "centre", Scale: 4}, {Kind: "dense", Units: 1}}, Loss: Loss{Kind: Squared}}, Vector(2), 1)
	if err != nil {
		t.Fatal(err)
	}
	params := []float32{1, 0, 0} // the first number of a row
	if err := net.SetCentre([]float32{0, 0.5}); err != nil {
		t.Fatal(err)
	}
	// (1,0) − (0,½) has norm √1.25.
	if got, want := net.Predict(0, params, []float32{3, 0})[0], 4/math.Sqrt(1.25); math.Abs(float64(got)-want) > 1e-6 {
		t.Errorf("centred row: %g, want %g", got, want)
	}
	net, err = Compile(Spec{Layers: []Layer{{Kind: "normalize", Scale: 10}, {Kind: "dense", Units: 2}}}, Vector(2), 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := net.ForwardPrefix(0, []float32{3, -4}); math.Abs(float64(got[0])-6) > 1e-5 || math.Abs(float64(got[1])+8) > 1e-5 {
		t.Errorf("got %v, want 6 -8", got)
	}
	for name, layers := range map[string][]Layer{
		"public bound":  {{Kind: "normalize", Scale: 2}, {Kind: "centre"}, {Kind: "dense", Units: 2}},
		"scale must be": {{Kind: "normalize", Scale: math.NaN()}, {Kind: "dense", Units: 2}},
		"got -1":        {{Kind: "normalize"}, {Kind: "centre", Scale: -1}, {Kind: "dense", Units: 2}},
	} {
		if _, err := Compile(Spec{Layers: layers}, Vector(2), 2); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCentreIsRefused(t *testing.T) {
	for name, layers := range map[string][]Layer{
		"after a trainable layer": {{Kind: "dense", Units: 2}, {Kind: "centre"}},
		"only one of":             {{Kind: "normalize"}, {Kind: "centre"}, {Kind: "centre"}, {Kind: "dense", Units: 2}},
		"need a public bound":     {{Kind: "standardize"}, {Kind: "centre"}, {Kind: "dense", Units: 2}},
		"after a trainable":       {{Kind: "dense", Units: 2}, {Kind: "normalize"}},
	} {
		if _, err := Compile(Spec{Layers: layers}, Vector(2), 2); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestNormalize(t *testing.T) {
	net, err := Compile(Spec{Layers: []Layer{{Kind: "normalize"}, {Kind: "dense", Units: 2}}}, Vector(2), 2)
	if err != nil {
		t.Fatal(err)
	}
	got := net.ForwardPrefix(0, []float32{3, -4, 0, 0, 1e-30, 0})
	for i, want := range []float32{0.6, -0.8, 0, 0, 1, 0} {
		if math.Abs(float64(got[i]-want)) > 1e-6 {
			t.Errorf("got %v, want 0.6 -0.8 0 0 1 0", got)
			break
		}
	}
}
