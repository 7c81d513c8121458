package design

import (
	"math"
	"math/big"
	"testing"
)

func TestSigmoidAgainstTheLibrary(t *testing.T) {
	worst := 0.0
	for i := range 200001 {
		x := float64(i-100000) * 0.00699
		want := 1 / (1 + math.Exp(-x))
		if e := math.Abs(Sigmoid(x)-want) / want; !(e <= worst) {
			worst = e
		}
	}
	// math.Exp itself is good to one unit in the last place.
	if worst > 1e-15 {
		t.Errorf("relative error %g", worst)
	}
	for _, tc := range []struct {
		name    string
		x, want float64
	}{
		{"zero", 0, 0.5},
		{"beyond the range", 1e9, 1},
		{"infinity", math.Inf(1), 1},
	} {
		if got := Sigmoid(tc.x); got != tc.want {
			t.Errorf("%s: Sigmoid(%g) = %v, want %v", tc.name, tc.x, got, tc.want)
		}
	}
	for _, x := range []float64{-701, -1e9, math.Inf(-1)} {
		if got := Sigmoid(x); !(got >= 0 && got < 1e-300) {
			t.Errorf("Sigmoid(%g) = %v, want a number just above 0", x, got)
		}
	}
	if got := Sigmoid(math.NaN()); got == got {
		t.Errorf("Sigmoid(NaN) = %v", got)
	}
}

// The high part of ln 2 must leave room for an exact product with any k that can
// occur, else the reduced argument loses its digits.
func TestSigmoidReductionIsExact(t *testing.T) {
	const high = 0x1.62e42fefap-1 / 64
	for _, k := range []float64{1, 4097, 64636, -64637} {
		exact := new(big.Float).SetPrec(200).Mul(big.NewFloat(k), big.NewFloat(high))
		if got, _ := exact.Float64(); exact.Cmp(new(big.Float).SetFloat64(got)) != 0 || got != k*high {
			t.Errorf("%g·high is not exact", k)
		}
	}
}

// Sigmoid returns 1/(1+e^(−x)); see Sigmoids.
func Sigmoid(x float64) float64 {
	v := [1]float64{x}
	Sigmoids(v[:])
	return v[0]
}
