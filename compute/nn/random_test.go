package nn

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func projected(t *testing.T, d, k int, seed uint64, x []float32) []float32 {
	t.Helper()
	net, err := Compile(Spec{Layers: []Layer{{Kind: "random", Coefficients: k, Seed: seed}, {Kind: "dense", Units: 2}}}, Vector(d), 2)
	if err != nil {
		t.Fatal(err)
	}
	if net.FrozenPrefix() != 1 || len(net.Frozen()) != 0 {
		t.Fatalf("a prefix of %d layers with %d numbers; a projection keeps its seed only", net.FrozenPrefix(), len(net.Frozen()))
	}
	return append([]float32(nil), net.ForwardPrefix(0, x)...)
}

// The signs of a seed are for ever: saved models hold nothing else. Bits of PCG(7, 5),
// lowest first.
func TestRandomSignsStay(t *testing.T) {
	bits, i := rand.NewPCG(7, 5).Uint64(), 0
	for _, v := range signs(5, 4, 7) {
		want := float32(-0.5)
		if bits>>i&1 == 1 {
			want = 0.5
		}
		if v != want {
			t.Fatalf("entry %d is %g, want %g", i, v, want)
		}
		i++
	}
	const want = "++--+-+--+-++++++-+--+++------+-"
	golden := ""
	for _, v := range signs(4, 8, 1) {
		golden += string("-+"[b2i(v > 0)])
	}
	if golden != want {
		t.Errorf("the signs of seed 1 became %s; saved models need %s", golden, want)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Null: over seeds ‖y‖²/‖x‖² has mean 1 and variance 2(1 − Σx⁴/‖x‖⁴)/k. The mean of
// 400 at k = 16 lies within 4.8916 standard errors (1e-6); scaling by √d, or none,
// fails.
func TestRandomKeepsNorms(t *testing.T) {
	const d, k, n = 40, 16, 400
	x := make([]float32, d)
	norm := 0.0
	for i := range x {
		x[i] = float32(math.Sin(float64(i)))
		norm += float64(x[i]) * float64(x[i])
	}
	sum := 0.0
	for seed := range uint64(n) {
		for _, v := range projected(t, d, k, seed, x) {
			sum += float64(v) * float64(v) / norm
		}
	}
	if z := (sum/n - 1) / math.Sqrt(2.0/k/n); math.Abs(z) > 4.8916 {
		t.Errorf("squared norms change by a factor of %.3f on average (z = %.1f)", sum/n, z)
	}
}

func TestRandomIsLinear(t *testing.T) {
	one, two := []float32{1, 0, 2}, []float32{0, -1, 1}
	a, b, both := projected(t, 3, 2, 9, one), projected(t, 3, 2, 9, two), projected(t, 3, 2, 9, []float32{1, -1, 3})
	other := projected(t, 3, 2, 10, one)
	same := true
	for i := range a {
		if math.Abs(float64(a[i]+b[i]-both[i])) > 1e-6 {
			t.Errorf("not linear: %v + %v is not %v", a, b, both)
		}
		same = same && a[i] == other[i]
	}
	if same {
		t.Error("another seed makes the same projection")
	}
}

func TestRandomIsRefused(t *testing.T) {
	for name, layers := range map[string][]Layer{
		"1 to 3, got 4":     {{Kind: "random", Coefficients: 4}, {Kind: "dense", Units: 2}},
		"1 to 3, got 0":     {{Kind: "random"}, {Kind: "dense", Units: 2}},
		"after a trainable": {{Kind: "dense", Units: 2}, {Kind: "random", Coefficients: 1}},
	} {
		if _, err := Compile(Spec{Layers: layers}, Vector(3), 2); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
