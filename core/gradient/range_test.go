package gradient

import (
	"context"
	"testing"

	"pawl/core/dp"
)

// A clipping norm so small that its noise becomes 0 is refused before rows are read:
// clipped sums would leave as they are, at the price of noise.
func TestNoiseThatVanishesIsRefused(t *testing.T) {
	net := rawNet{t: 1, m: 2, n: 2}
	tr := training(net, nil)
	tr.ClippingNorm, tr.NoiseMultiplier = LeastNorm, 5e-324
	p := mustPermit(t, dp.AddOrRemoveOne, 1, tr.Event())
	if err := Train(context.Background(), p, rawRows(1, false, net, 3), tr, make([]float32, 4)); err == nil || p.Opened() {
		t.Errorf("network: %v, opened %v", err, p.Opened())
	}
}
