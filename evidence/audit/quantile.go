package audit

import (
	"context"

	"pawl/core/dp"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/core/ledger"
)

// Hardly less than the whole power: the row moves the sum by the norm and the count by a
// half, down, and the score weighs both by their noise. The lot is so small that the
// count has a quarter of the precision. What is lost is that the share is rounded and cut.
func trainingQuantile(noise float64) (Mechanism, error) {
	const clip, lot = 0.5, 8
	t := gradient.Training{
		Privacy:  gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: clip, NoiseMultiplier: noise, Steps: 1, SamplingRate: 1},
		Clipping: gradient.Quantile, UnclippedShare: 0.5, Network: scalar{}, Target: target, ExpectedRows: lot, Microbatch: 4, Multiplicity: 1,
		Update: func(_ int, params, g []float32) { params[0] -= g[0] },
	}
	b, err := addOrRemove([]row{{input: []float32{0.1}}}, row{class: 1, input: []float32{5}}, t.Event())
	return Mechanism{
		Name: "training, quantile", Entry: "gradient.Train", Neighbours: "one example more, with a gradient of ten times the clipping norm", Event: t.Event(),
		Relation: dp.AddOrRemoveOne, Delta: 1e-5,
		Score: b.score(func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (float64, error) {
			t, params, share := t, make([]float32, 1), 0.0
			t.Follow = func(_, released float64) { share = released }
			err := gradient.Train(ctx, permit, rows, t, params)
			// z_Δ² is 4z²/3 and σ_b is z: in units of z², G·C/(z_Δ·C)² and half the count.
			return 0.75*lot*float64(params[0])/clip - lot*(share-0.5)/2, err
		}),
	}, err
}
