package meaning

import (
	"math"
	"testing"
)

func TestRoundUp(t *testing.T) {
	for _, c := range []struct {
		x      float64
		digits int
		want   string
	}{
		{0, 2, "0.00"}, {0.1, 3, "0.100"}, {0.1201, 2, "0.13"}, {1e-12, 3, "0.001"}, {2.9999, 2, "3.00"}, {7, 0, "7"},
		{7.1, 0, "8"}, {math.Inf(1), 2, "inf"}, {math.NaN(), 2, "inf"}, {-1, 1, "0.0"}, {0.30000000000000004, 2, "0.31"}, {1.05, -3, "2"},
	} {
		if got := RoundUp(c.x, c.digits); got != c.want {
			t.Errorf("RoundUp(%v, %d) = %q, want %q", c.x, c.digits, got, c.want)
		}
	}
}
