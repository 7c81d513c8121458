package audits

import (
	"context"
	"fmt"
	"time"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/data/schema"
	"pawl/evidence/audit"
	"pawl/evidence/audit/bound"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/workflow"
)

// Counts repeats audits of trainings in one run: how often a true claim is exceeded, how
// often a broken training is convicted, and what share of a claim is shown.
func Counts() experiments.Experiment {
	return experiments.Experiment{
		Name: "audit-counts", Title: "Audits of trainings in one run: honest ones, noise off, clipping off",
		Source: "ours: a control of pawl audit canary", Quick: 130, Run: counts,
	}
}

const (
	countsNet  = "mnist-paw-fcn"
	countsRows = 60_000
	// share of the claim that a white-box audit should show at the largest ε.
	wanted = 0.3
)

// auditedAt is a training that is audited over and over.
type auditedAt struct {
	epsilon  string
	canaries int
}

// fault is what is done to a training whose price stays that of the honest one.
type fault struct {
	name   string
	change func(p *gradient.Privacy)
}

// A run needs some noise to have a price of its own; a thousandth is none. Without
// clipping a canary's gradient is eight norms long, as far as the canary reaches.
var faults = []fault{
	{"honest", func(*gradient.Privacy) {}},
	{"noise off", func(p *gradient.Privacy) { p.NoiseMultiplier /= 1000 }},
	{"clipping off", func(p *gradient.Privacy) { p.ClippingNorm *= 8; p.NoiseMultiplier /= 8 }},
}

func counts(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	runs := experiments.Pick(r.Scale, 1, 20, 100)
	cases := experiments.Pick(r.Scale, []auditedAt{{"4", 2000}}, audited, audited)
	t := &experiments.Table{Unit: "lower bounds on ε at 95 %; counts in runs", Guarantee: "audits on canaries alone, no data"}
	for _, c := range cases {
		honest, plan, err := c.training()
		if err != nil {
			return nil, err
		}
		for _, f := range faults {
			broken := honest
			f.change(&broken)
			var bounds, shares []float64
			convicted, claim := 0, 0.0
			for seed := range runs {
				cell := fmt.Sprintf("%s at ε = %s, %s, %d canaries, seed %d", countsNet, c.epsilon, f.name, c.canaries, seed)
				v, err := r.Cell(ctx, cell, func() ([]float64, error) { return c.audit(ctx, broken, honest.Event(), plan, seed) })
				if err != nil {
					return nil, err
				}
				bounds, shares, claim = append(bounds, v[0]), append(shares, v[0]/v[1]), v[1]
				convicted += int(v[2])
			}
			t.Rows = append(t.Rows, experiments.Row{
				Name: fmt.Sprintf("ε = %s, %s", c.epsilon, f.name), Data: fmt.Sprintf("%s, %d rows, %d canaries", countsNet, countsRows, c.canaries),
				Honest: experiments.Of(bounds), Baseline: experiments.Exact(claim), Verdict: experiments.Unpublished, Why: fmt.Sprintf("convicted %d of %d", convicted, runs),
			})
			t.Claims = append(t.Claims, countClaim(c.epsilon, f.name, convicted, runs, experiments.Of(bounds)))
			if f.name == faults[0].name && c.epsilon == "4" {
				t.Claims = append(t.Claims, shareClaim(experiments.Of(shares)))
			}
		}
	}
	t.Notes = []string{
		"one run of DP-SGD each, at the settings that pawl train would take (preset balanced) for " + fmt.Sprint(countsRows) + " rows; every canary pushes along a direction of its own as far as clipping leaves it; verdicts at 99.9 %, at δ = 5e-5/canaries",
		"baseline: the claim at the δ at which the bound at 95 % stands; of broken trainings the bounds are above it",
		"noise off: a thousandth of it; clipping off: gradients of eight norms under the noise of one",
		"a thousand canaries can show little at a small ε, whatever leaks: most guesses have to be right by more than chance",
	}
	return t, nil
}

// audited are the trainings of the counts.
var audited = []auditedAt{{"0.5", 1000}, {"1", 1000}, {"4", 5000}}

// training is what pawl train would run.
func (c auditedAt) training() (gradient.Privacy, bound.Claim, error) {
	spec, err := lab.Net(countsNet)
	if err != nil {
		return gradient.Privacy{}, bound.Claim{}, err
	}
	in := workflow.TrainInput{
		Input: workflow.Input{
			Dataset: "canaries", Public: true, Target: "digit", Epsilon: c.epsilon, Rows: countsRows, Test: workflow.Official, Preset: "balanced",
			Schema: &schema.Schema{Version: schema.Version, Dataset: "canaries", Public: true, Unit: schema.Unit{Name: "image", MaxRows: 1}, Rows: schema.RowCount{Kind: schema.RowsDeclared, N: countsRows},
				Columns: []schema.Column{{Name: "digit", Type: schema.Categorical, Categories: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, Missing: schema.MissingRefuse}}},
		},
		Name: spec.Name, Layers: spec.Network, Shape: spec.Input, Outputs: spec.Outputs, Kappa: spec.Defaults.Kappa, ClippingNorm: spec.Defaults.ClippingNorm,
		Clipping: gradient.Flat, Optimizer: "momentum",
	}
	if in.Radius, err = spec.Radius(); err != nil {
		return gradient.Privacy{}, bound.Claim{}, err
	}
	plan, err := workflow.NewTrainPlan(in)
	if err != nil {
		return gradient.Privacy{}, bound.Claim{}, err
	}
	s, err := plan.Statement("", time.Unix(0, 0))
	if err != nil {
		return gradient.Privacy{}, bound.Claim{}, err
	}
	h := s.Choice.Hyperparameters
	p := gradient.Privacy{Scope: dp.WholeScope}
	p.SamplingRate, _ = h["sampling_rate"].(float64)
	p.Steps, _ = h["steps"].(int)
	p.NoiseMultiplier, _ = h["noise_multiplier"].(float64)
	p.ClippingNorm, _ = h["clipping_norm"].(float64)
	return p, bound.Claim{Epsilon: float64(s.Privacy.Epsilon), Delta: float64(s.Privacy.Delta)}, nil
}

// audit is one run: the bound at 95 %, the claim at its δ, and whether it convicts.
func (c auditedAt) audit(ctx context.Context, p gradient.Privacy, price dp.Event, stated bound.Claim, seed int) ([]float64, error) {
	delta := min(stated.Delta, (1-bound.Conviction)/(20*float64(c.canaries)))
	shown := min(stated.Delta, (1-bound.Printed)/(10*float64(c.canaries)))
	r, err := audit.GradientCanaries{Canaries: c.canaries, Privacy: p, Delta: delta, ShownDelta: shown, Priced: price}.Run(ctx, bound.Conviction, entropy.Seeded(uint64(seed+1)))
	if err != nil {
		return nil, err
	}
	claim, err := bound.ClaimOf(price, dp.AddOrRemoveOne, shown)
	if err != nil {
		return nil, err
	}
	v := []float64{r.Shown.Epsilon, claim.Epsilon, 0}
	if r.Convicted {
		v[2] = 1
	}
	return v, nil
}

// countClaim: an honest claim is never exceeded, a broken one always convicted.
func countClaim(epsilon, fault string, convicted, runs int, e *experiments.Estimate) experiments.Claim {
	want, statement := runs, fmt.Sprintf("ε = %s, %s: convicted in every run", epsilon, fault)
	if fault == faults[0].name {
		want, statement = 0, fmt.Sprintf("ε = %s, honest: the claim is never exceeded at 99.9 %%", epsilon)
	}
	c := experiments.Claim{Statement: statement, Verdict: experiments.Reproduced, Evidence: fmt.Sprintf("convicted %d of %d; bounds %s", convicted, runs, e)}
	if convicted != want {
		c.Verdict = experiments.Not
	}
	return c
}

func shareClaim(e *experiments.Estimate) experiments.Claim {
	c := experiments.Claim{Statement: fmt.Sprintf("at ε = 4 an auditor who sees every step shows %g of the claim", wanted), Verdict: experiments.Not, Evidence: e.String() + " of it"}
	switch {
	case e.Low >= wanted:
		c.Verdict = experiments.Reproduced
	case e.Mean >= wanted:
		c.Verdict = experiments.SameSign
	}
	return c
}
