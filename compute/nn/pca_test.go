package nn

import (
	"math"
	"strings"
	"testing"
)

func TestPCA(t *testing.T) {
	net, err := Compile(Spec{Layers: []Layer{{Kind: "pca", Coefficients: 2}, {Kind: "dense", Units: 2}}}, Vector(3), 2)
	if err != nil {
		t.Fatal(err)
	}
	if d, k := net.Components(); d != 3 || k != 2 || net.FrozenPrefix() != 1 || net.AllParameters() != 3+6+6 {
		t.Fatalf("%d components of %d, %d parameters", k, d, net.AllParameters())
	}
	if err := net.SetComponents([]float32{1, 1, 1}, []float32{1, 0, 0, 0, 0, 1}); err != nil {
		t.Fatal(err)
	}
	// (4,1,5) − 1 has the components 3 and 4; their root mean square is √12.5.
	got := net.ForwardPrefix(0, []float32{4, 1, 5, 1, 7, 1})
	for i, want := range []float64{3 / math.Sqrt(12.5), 4 / math.Sqrt(12.5), 0, 0} {
		if math.Abs(float64(got[i])-want) > 1e-6 {
			t.Errorf("got %v, want %g at %d", got, want, i)
		}
	}
	if err := net.SetComponents([]float32{1}, nil); err == nil {
		t.Error("components of another size are taken")
	}
	for name, layers := range map[string][]Layer{
		"not the first":     {{Kind: "standardize"}, {Kind: "pca", Coefficients: 1}, {Kind: "dense", Units: 2}},
		"1 to 3":            {{Kind: "pca", Coefficients: 4}, {Kind: "dense", Units: 2}},
		"after a trainable": {{Kind: "dense", Units: 2}, {Kind: "pca", Coefficients: 1}},
	} {
		if _, err := Compile(Spec{Layers: layers}, Vector(3), 2); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
