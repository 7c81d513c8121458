package sum

import (
	"math"
	"testing"
)

// A row of norm zero or without a target gives exactly zero.
func TestNothingComesFromNothing(t *testing.T) {
	scores := []float64{0, 1, -1, 40, -40, 800, -800, 1e308, -1e308, math.MaxFloat64, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, s := range scores {
		for _, y := range append([]float64{0, 1, 2}, scores...) {
			for _, c := range []float64{1e-300, 1, 1e300} {
				if got := clip(s-y, c, 0); got != 0 {
					t.Errorf("clip(%g, %g, 0) = %g, want 0", s-y, c, got)
				}
				v := []float64{s, 0, -s}
				if softmaxResidual(v, y, 1, c, 0); v[0] != 0 || v[1] != 0 || v[2] != 0 {
					t.Errorf("softmax of %g at norm 0: %v, want zeros", s, v)
				}
			}
		}
		v := []float64{s, 0, -s}
		if softmaxResidual(v, math.NaN(), 1, 1, 0.5); v[0] != 0 || v[1] != 0 || v[2] != 0 {
			t.Errorf("softmax of %g without a target: %v, want zeros", s, v)
		}
	}
	if got := clip(math.NaN(), 1, 0.5); got != 0 {
		t.Errorf("clip(NaN) = %g, want 0", got)
	}
}

// A residual that is not finite adds nothing, also to a row so short that the bound on it is not finite either.
func TestWhatIsNotFiniteIsNoResidual(t *testing.T) {
	for _, r := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		for _, norm := range []float64{5e-324, 1e-309, 0.5, 1} {
			if got := clip(r, 1, norm); got != 0 {
				t.Errorf("a residual of %v on a row of norm %v is clipped to %v", r, norm, got)
			}
		}
	}
	for _, norm := range []float64{5e-324, 1e-309, 0.5, 1} {
		if got := clip(math.MaxFloat64, 1, norm) * norm; !(got <= 1+1e-15) {
			t.Errorf("a row of norm %v adds %v", norm, got)
		}
	}
}
