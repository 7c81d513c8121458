// Package mohapatra6 replays Fig. 6 of the adaptive-optimizers paper: how many
// candidates can be composed for the price of random stopping. It needs no data.
package mohapatra6

import (
	"context"
	"fmt"
	"math"

	"pawl/core/accountant"
	"pawl/core/accountant/meaning"
	"pawl/core/dp"
	"pawl/experiments"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "mohapatra-figure-6", Title: "Up to how many candidates composing all of them is cheaper than random stopping",
		Source: "Mohapatra et al., AAAI 2022, Fig. 6", Quick: 10, Run: run,
	}
}

// setting is a half of the figure.
type setting struct {
	rows, delta float64
	published   int
}

var settings = []setting{{5000, 1e-4, 14}, {60000, 1e-5, 26}}

// most is where the search for a crossing ends.
const most = 200

// training is one candidate: noise 4, lots of 250, 10,000 iterations.
func (s setting) training() dp.Event {
	return dp.Repeat{Count: 10000, Event: dp.PoissonSampled{Rate: 250 / s.rows, Event: dp.Gaussian{NoiseMultiplier: 4}}}
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	t := &experiments.Table{
		Unit: "candidates, and ε in the rows that say so",
		Notes: []string{
			"noise 4, lots of 250, 10,000 iterations; random stopping with γ = 1/k and δ₂ = δ/2",
			"as published: the paper's conversion, orders and the smaller of two readings of random stopping's δ (meaning.Replay), which is no guarantee",
			"honest: composition and random stopping by our accountant, with the larger reading; baseline: the same against private selection (Papernot and Steinke, η = 0, k runs on average) instead of random stopping; 1 says that composing two is dearer already",
		},
	}
	for _, s := range settings {
		row, more, err := s.measure(ctx, r)
		if err != nil {
			return nil, err
		}
		t.Rows = append(append(t.Rows, row), more...)
		t.Claims = append(t.Claims, experiments.Claim{
			Statement: fmt.Sprintf("composition can pay for %d candidates at the price of random stopping with %g rows", s.published, s.rows), Verdict: row.Verdict,
			Evidence: fmt.Sprintf("up to %g; ε at %d is %.4g against %.4g", row.AsPublished.Mean, s.published, more[0].AsPublished.Mean, more[1].AsPublished.Mean),
		})
	}
	return t, nil
}

// measure makes the row of the crossing, and what candidates cost at the printed one.
func (s setting) measure(ctx context.Context, r *experiments.Run) (row experiments.Row, more []experiments.Row, err error) {
	replay := meaning.Replay{Relation: dp.AddOrRemoveOne, Event: s.training()}
	composed := func(k int) (float64, error) { return replay.ComposedCandidates(k, s.delta) }
	stopped := func(k int) (float64, error) { return replay.LiuTalwar(k, s.delta) }
	const data = "none: accounting"
	row = experiments.Row{Name: fmt.Sprintf("%g rows, δ = %g", s.rows, s.delta), Data: data, Published: experiments.Value(float64(s.published))}
	for _, c := range []struct {
		to              **experiments.Estimate
		name            string
		composed, other func(k int) (float64, error)
	}{{&row.AsPublished, "as published", composed, stopped}, {&row.Honest, "honest", s.composed, s.stopped}, {&row.Baseline, "against selection", s.composed, s.selected}} {
		v, err := s.crossing(ctx, r, c.name, c.composed, c.other)
		if err != nil {
			return row, nil, err
		}
		*c.to = experiments.Exact(v)
	}
	row.Judge(0, "the crossing lies elsewhere")
	prices := []func(k int) (float64, error){composed, stopped, s.composed, s.stopped, s.selected}
	v, err := r.Cell(ctx, fmt.Sprintf("prices, %g rows, %d candidates", s.rows, s.published), func() ([]float64, error) {
		out := make([]float64, len(prices))
		for i, price := range prices {
			if out[i], err = price(s.published); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
	if err != nil {
		return row, nil, err
	}
	for i, name := range []string{"composition", "random stopping"} {
		more = append(more, experiments.Row{Name: fmt.Sprintf("%g rows, ε of %s at %d", s.rows, name, s.published), Data: data,
			AsPublished: experiments.Exact(v[i]), Honest: experiments.Exact(v[2+i]), Baseline: experiments.Exact(v[4])})
	}
	return row, more, nil
}

// crossing is the largest number of candidates, from 2 on, up to which composition is
// not dearer than the other; 1 where it is from 2 on.
func (s setting) crossing(ctx context.Context, r *experiments.Run, name string, composed, other func(k int) (float64, error)) (float64, error) {
	v, err := r.Cell(ctx, fmt.Sprintf("%s, %g rows", name, s.rows), func() ([]float64, error) {
		at := 1.
		for k := 2; k <= most; k++ {
			a, err := composed(k)
			if err != nil {
				return nil, err
			}
			b, err := other(k)
			if err != nil {
				return nil, err
			}
			if a > b {
				break
			}
			if math.IsInf(b, 1) {
				// No bound on the other side is no price to compare with.
				return nil, fmt.Errorf("%s: no finite price for %d candidates", name, k)
			}
			at = float64(k)
		}
		return []float64{at}, nil
	})
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

func (s setting) price(e dp.Event) (float64, error) {
	r, err := accountant.Epsilon(e, dp.AddOrRemoveOne, s.delta, accountant.MethodRDP)
	return r.Epsilon, err
}

func (s setting) composed(k int) (float64, error) {
	return s.price(dp.Repeat{Count: int64(k), Event: s.training()})
}

func (s setting) stopped(k int) (float64, error) {
	return s.price(dp.Select{Runs: dp.RandomStopping{Gamma: 1 / float64(k), Delta2: s.delta / 2}, Event: s.training()})
}

func (s setting) selected(k int) (float64, error) {
	return s.price(dp.Select{Runs: dp.TruncatedNegativeBinomial{Mean: float64(k)}, Event: s.training()})
}
