package runners

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/data/images"
	"pawl/evidence/audit"
	"pawl/evidence/audit/bound"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/workflow"
)

// auditing is an audit of a training in one run, honest or with a fault, whose price stays that of the honest one.
type auditing struct {
	Net      string `json:"net"`
	Rows     int64  `json:"rows"`
	Epsilon  string `json:"epsilon"`
	Canaries int    `json:"canaries"`
	Fault    string `json:"fault"`
	Seed     uint64 `json:"seed"`
}

// broken is the training with its fault. A run needs some noise to have a price of its own; a thousandth is none.
// Without clipping a canary's gradient is eight norms long, as far as the canary reaches.
func (a *auditing) broken(p gradient.Privacy) (gradient.Privacy, error) {
	switch a.Fault {
	case "honest":
	case "noise off":
		p.NoiseMultiplier /= 1000
	case "clipping off":
		p.ClippingNorm *= 8
		p.NoiseMultiplier /= 8
	default:
		return p, fmt.Errorf("fault %q: want honest, noise off or clipping off", a.Fault)
	}
	return p, nil
}

// training is what pawl train would run.
func (a *auditing) training() (gradient.Privacy, bound.Claim) {
	spec := must(lab.Net(a.Net))
	set := &images.Set{Shape: [3]int{spec.Input.Height, spec.Input.Width, spec.Input.Channels}, Classes: strings.Split("0123456789", "")}
	set.Bytes = make([]uint8, a.Rows*int64(set.Size())) // a plan asks how many there are
	plan := must((&lab.Images{Name: "canaries", Target: "digit", Train: set}).Plan(spec, 1, func(in *workflow.TrainInput) {
		in.Epsilon, in.Preset, in.Clipping, in.Optimizer = a.Epsilon, "balanced", gradient.Flat, "momentum"
	}))
	s := must(plan.Statement("", time.Unix(0, 0)))
	h := s.Choice.Hyperparameters
	p := gradient.Privacy{Scope: dp.WholeScope}
	p.SamplingRate, _ = h["sampling_rate"].(float64)
	p.Steps, _ = h["steps"].(int)
	p.NoiseMultiplier, _ = h["noise_multiplier"].(float64)
	p.ClippingNorm, _ = h["clipping_norm"].(float64)
	return p, bound.Claim{Epsilon: float64(s.Privacy.Epsilon), Delta: float64(s.Privacy.Delta)}
}

// auditTraining returns the bound at 95 %, the claim at its δ, and 1 where the claim fails.
func auditTraining(ctx context.Context, _ *experiments.Run, a *auditing) []float64 {
	honest, stated := a.training()
	price, broken := honest.Event(), must(a.broken(honest))
	delta := min(stated.Delta, (1-bound.Conviction)/(20*float64(a.Canaries)))
	shown := min(stated.Delta, (1-bound.Printed)/(10*float64(a.Canaries)))
	r := must(audit.GradientCanaries{Canaries: a.Canaries, Privacy: broken, Delta: delta, ShownDelta: shown, Priced: price}.Run(ctx, bound.Conviction, entropy.Seeded(a.Seed+1)))
	v := []float64{r.Shown.Epsilon, must(bound.ClaimOf(price, dp.AddOrRemoveOne, shown)).Epsilon, 0}
	if r.Convicted {
		v[2] = 1
	}
	return v
}
