package nn

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestReleasedPCA(t *testing.T) {
	layers := []Layer{{Kind: "normalize"}, {Kind: "dp_pca", Coefficients: 2}, {Kind: "dense", Units: 2}}
	net, err := Compile(Spec{Layers: layers}, Vector(3), 2)
	if err != nil {
		t.Fatal(err)
	}
	want := Released{Inputs: 3, Components: 2, Bound: 1, Centred: true}
	if got, ok := net.Released(); !ok || got != want || net.FrozenPrefix() != 1 {
		t.Fatalf("it waits for %+v behind a prefix of %d, want %+v behind 1", got, net.FrozenPrefix(), want)
	}
	if d, k := net.Components(); d != 0 || k != 0 {
		t.Error("components that are paid for count as those that are not")
	}
	rest := net.Rest()
	params := net.Init(rand.New(rand.NewPCG(1, 2)))
	// Before the release an example is zero: the scores are the biases.
	if got := rest.Predict(0, params, []float32{1, 2, 3}); got[0] != params[4] || got[1] != params[5] {
		t.Errorf("before the release scores are %v", got)
	}
	// The second component was left out.
	if err := rest.SetReleased([]float32{0, 1, 0}, []float32{0.6, 0, 0, 0, 0.8, 0}); err != nil {
		t.Fatal(err)
	}
	if net.Frozen()[1] != 1 {
		t.Error("a net and its rest do not share the release")
	}
	got := rest.Predict(0, params, []float32{3, 1, 4})
	for k := range 2 {
		// (3,0,4)·(0.6,0,0.8) = 5, over the root mean square √(25/2).
		if want := math.Sqrt2*float64(params[k]) + float64(params[4+k]); math.Abs(float64(got[k])-want) > 1e-6 {
			t.Errorf("score %d is %g, want %g", k, got[k], want)
		}
	}
	if err := net.SetReleased([]float32{1}, nil); err == nil {
		t.Error("a release of another size is taken")
	}
	plain, err := Compile(Spec{Layers: []Layer{{Kind: "dp_pca", Coefficients: 1, Bound: 9, Mode: "uncentred"}, {Kind: "dense", Units: 2}}}, Vector(3), 2)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := plain.Released(); got != (Released{Inputs: 3, Components: 1, Bound: 9}) {
		t.Errorf("it waits for %+v", got)
	}
}

func TestReleasedPCAIsRefused(t *testing.T) {
	dense := Layer{Kind: "dense", Units: 2}
	for name, layers := range map[string][]Layer{
		"public bound":         {{Kind: "standardize"}, {Kind: "dp_pca", Coefficients: 1}, dense},
		"bound must be":        {{Kind: "dp_pca", Coefficients: 1, Bound: math.Inf(1)}, dense},
		"got -1":               {{Kind: "dp_pca", Coefficients: 1, Bound: -1}, dense},
		"1 to 3, got 4":        {{Kind: "normalize"}, {Kind: "dp_pca", Coefficients: 4}, dense},
		"1 to 3, got 0":        {{Kind: "normalize"}, {Kind: "dp_pca"}, dense},
		"mode is":              {{Kind: "normalize"}, {Kind: "dp_pca", Coefficients: 1, Mode: "max"}, dense},
		"dp_pca): only one of": {{Kind: "normalize"}, {Kind: "centre"}, {Kind: "dp_pca", Coefficients: 1, Bound: 1}, dense},
		"centre): only one of": {{Kind: "dp_pca", Coefficients: 2, Bound: 1}, {Kind: "normalize"}, {Kind: "centre"}, dense},
		"trainable layer":      {dense, {Kind: "dp_pca", Coefficients: 1, Bound: 1}},
		"has no meaning":       {{Kind: "dp_pca", Coefficients: 1, Bound: 1, Seed: 3}, dense},
	} {
		if _, err := Compile(Spec{Layers: layers}, Vector(3), 2); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
