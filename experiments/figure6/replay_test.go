package figure6

import (
	"math"
	"testing"
)

func TestFirst(t *testing.T) {
	for _, c := range []struct {
		name   string
		scores []float64
		want   float64
		ok     bool
	}{
		{"between two, halfway in ln ε", []float64{70, 80, 90}, math.Sqrt(1 * 4), true},
		{"there from the first", []float64{90, 95, 96}, 0, false},
		{"never", []float64{10, 20, 30}, 0, false},
		{"the first of two", []float64{80, 90, 70}, math.Sqrt(.25 * 1), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := first([]float64{.25, 1, 4}, c.scores, 85)
			if ok != c.ok || math.Abs(got-c.want) > 1e-12 {
				t.Errorf("got %g, %t, want %g, %t", got, ok, c.want, c.ok)
			}
		})
	}
}
