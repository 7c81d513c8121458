package gradient

import (
	"context"
	"slices"
	"testing"

	"pawl/compute/kernel"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
)

// One goroutine gives the bits of several; on public rows a simulated run is the run.
func TestAloneAndSimulatedAreTheSameRun(t *testing.T) {
	net := &tinyNet{t: 5, m: 3, n: 2, bias: true, dropout: true}
	public, sensitive := rawRows(1, true, net, 61), rawRows(1, false, net, 61)
	run := func(alone bool, train func(t Training, params []float32) error) []float32 {
		tr := training(net, nil)
		tr.Steps, tr.SamplingRate, tr.ExpectedRows, tr.Microbatch, tr.Alone = 4, 0.5, 61, 4, alone
		tr.Update = func(_ int, params, g []float32) { kernel.AddScaled(params, g, -0.1) }
		params := make([]float32, net.Parameters())
		if err := train(tr, params); err != nil {
			t.Fatal(err)
		}
		return params
	}
	private := func(tr Training, params []float32) error {
		return Train(context.Background(), permitWith(t, entropy.Seeded(9), dp.AddOrRemoveOne, 1, tr.Event()), sensitive, tr, params)
	}
	first := run(false, private)
	if !slices.Equal(first, run(true, private)) {
		t.Error("one goroutine changes the result")
	}
	simulated := run(true, func(tr Training, params []float32) error {
		return SimulatePublic(context.Background(), public, tr, params, streamOf(t, entropy.Seeded(9), tr.Event()))
	})
	// The private run enlarges the noise by 1e-5.
	for j := range first {
		if d := first[j] - simulated[j]; d > 1e-3 || d < -1e-3 {
			t.Fatalf("parameter %d: %g, simulated %g", j, first[j], simulated[j])
		}
	}
}

func TestSimulationOpensPublicRowsOnly(t *testing.T) {
	net := rawNet{t: 1, m: 2, n: 2}
	tr := training(net, nil)
	params := make([]float32, net.Parameters())
	for name, c := range map[string]struct {
		rows *sealed.Rows
		edit func()
	}{
		"sensitive rows": {rawRows(1, false, net, 3), func() {}},
		"no noise":       {rawRows(1, true, net, 3), func() { tr.NoiseMultiplier = 0 }},
		"no clipping":    {rawRows(1, true, net, 3), func() { tr.Clipping = Unclipped }},
	} {
		t.Run(name, func(t *testing.T) {
			tr = training(net, nil)
			c.edit()
			if err := SimulatePublic(context.Background(), c.rows, tr, params, entropy.Seeded(1)); err == nil {
				t.Error("it ran")
			}
		})
	}
}
