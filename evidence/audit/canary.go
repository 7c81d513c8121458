package audit

import (
	"context"
	"errors"
	"fmt"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/schema"
	"pawl/evidence/audit/bound"
)

// GradientCanaries audits a whole run of DP-SGD at once: every canary has a direction of
// its own in the space of gradients, along which it pushes with all the length that
// clipping leaves it, and a fair coin of its own decides whether it is in the data. What
// the run did along a direction is the canary's score. One training takes the place of
// thousands (Steinke, Nasr and Jagielski, arXiv:2305.08846, with the canaries of a
// white-box auditor).
type GradientCanaries struct {
	// Canaries is their number, and that of the parameters; a few thousand.
	Canaries int
	// Privacy is the run: norm, noise, steps and lots. Scope is the whole data set.
	Privacy gradient.Privacy
	// Delta is where ε is stated. It must be small against (1−confidence)/Canaries.
	Delta float64
	// ShownDelta is where the bound at 95 % is stated, 0 for Delta: its error is larger, so
	// that it can afford a larger δ.
	ShownDelta float64
	// Priced, when not nil, is what the run is claimed to cost in place of
	// Privacy.Event(): how a test asks whether a false price is found.
	Priced dp.Event
}

// MostCanaries bounds the memory of an audit: half of them are rows of as many numbers,
// 128 MiB at the bound.
const MostCanaries = 1 << 13

// CanaryResult is an audit in one run.
type CanaryResult struct {
	Claim bound.Claim  `json:"claim"`
	Bound bound.OneRun `json:"bound"`
	// Convicted says that the bound at Confidence exceeds the claim.
	Convicted  bool    `json:"convicted"`
	Confidence float64 `json:"confidence"`
	// Shown is the bound at 95 %.
	Shown bound.OneRun `json:"shown"`
}

// manyDirections is the network of a canary for each parameter: y = Σ_i w_i·x_i with
// x the canary's unit vector, under the loss c·y, whose gradient is c·x whatever w is.
type manyDirections struct {
	n int
	c float32
}

func (d manyDirections) Parameters() int   { return d.n }
func (d manyDirections) Inputs() int       { return d.n }
func (d manyDirections) PerExample() error { return nil }
func (d manyDirections) Backprop(_ int, _, inputs, targets []float32, _ []uint64, record func(gradient.Trace)) {
	g := make([]float32, len(targets))
	for i := range g {
		g[i] = d.c
	}
	record(gradient.Trace{T: 1, M: d.n, N: 1, A: inputs[:len(targets)*d.n], G: g})
}

// Run trains once, through core, and judges the claim: convicted at confidence (0 means
// bound.Conviction). src tosses the coins and draws the noise.
func (g GradientCanaries) Run(ctx context.Context, confidence float64, src *entropy.Source) (CanaryResult, error) {
	if src == nil {
		return CanaryResult{}, errors.New("audit: a source of randomness is required")
	}
	if g.Canaries < 1 || g.Canaries > MostCanaries {
		return CanaryResult{}, fmt.Errorf("audit: %d canaries; at most %d fit", g.Canaries, MostCanaries)
	}
	if confidence == 0 {
		confidence = bound.Conviction
	}
	g.Privacy.Scope = dp.WholeScope
	price := g.Priced
	if price == nil {
		price = g.Privacy.Event()
	}
	claim, err := bound.ClaimOf(price, dp.AddOrRemoveOne, g.Delta)
	if err != nil {
		return CanaryResult{}, err
	}
	c, err := g.train(ctx, src)
	if err != nil {
		return CanaryResult{}, err
	}
	out := CanaryResult{Claim: claim, Confidence: confidence}
	// The guesses that would show most if the claim held and were tight.
	each := g.Canaries / 20
	if sigma, err := accountant.GaussianNoiseMultiplier(claim.Epsilon, g.Delta); err == nil && sigma > 0 {
		each = bound.DeclaredFor(g.Canaries, 1/sigma, g.Delta, bound.Printed)
	}
	if out.Bound, err = c.EpsilonBest(each, g.Delta, confidence); err != nil {
		return CanaryResult{}, err
	}
	out.Convicted = out.Bound.Epsilon > claim.Epsilon
	shown := g.ShownDelta
	if shown == 0 {
		shown = g.Delta
	}
	out.Shown, err = c.EpsilonBest(each, shown, bound.Printed)
	return out, err
}

func (g GradientCanaries) train(ctx context.Context, src *entropy.Source) (bound.Canaries, error) {
	coins := src.Split("coins")
	c := bound.Canaries{Score: make([]float64, g.Canaries), In: make([]bool, g.Canaries)}
	build := intake.NewBuilder(intake.SimulationKey(dataset, 1), rowsSchema(1))
	for i := range c.In {
		if c.In[i] = coins.Bernoulli(0.5); !c.In[i] {
			continue
		}
		direction := make([]float32, g.Canaries)
		direction[i] = 1
		if err := build.AddFloats([]float64{0, 0}, direction, schema.Record{}); err != nil {
			return c, err
		}
	}
	permit, err := (&desk{relation: dp.AddOrRemoveOne, rowsPerUnit: 1, events: []dp.Event{g.Privacy.Event()}}).next(ctx, src.Split("training").Uint64())
	if err != nil {
		return c, err
	}
	params := make([]float32, g.Canaries)
	err = trainOn(ctx, permit, build.Seal(), gradient.Training{
		Privacy: g.Privacy, Clipping: gradient.Flat, Network: manyDirections{g.Canaries, float32(-8 * g.Privacy.ClippingNorm)}, Target: target,
		ExpectedRows: 1, Microbatch: 64, Multiplicity: 1,
		Update: func(_ int, params, gradient []float32) {
			for j, v := range gradient {
				params[j] -= v
			}
		},
	}, params)
	for i, v := range params {
		c.Score[i] = float64(v)
	}
	return c, err
}

func trainOn(ctx context.Context, permit *ledger.Permit, rows *intake.Rows, t gradient.Training, params []float32) error {
	if err := gradient.Train(ctx, permit, rows, t, params); err != nil {
		return failed(ctx, "training", err)
	}
	return nil
}
