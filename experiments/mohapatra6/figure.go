// Package mohapatra6 replays Fig. 6 of the adaptive-optimizers paper: how many
// candidates can be composed for the price of random stopping. It needs no data.
package mohapatra6

import (
	"context"
	"fmt"
	"math"

	"pawl/core/accountant"
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
			"as published: the paper's conversion, orders and the smaller of two readings of random stopping's δ (accountant.Replay), which is no guarantee",
			"honest: composition and random stopping by our accountant, with the larger reading; baseline: composition against private selection (Papernot and Steinke, η = 0, k runs on average)",
		},
	}
	for _, s := range settings {
		replay := accountant.Replay{Relation: dp.AddOrRemoveOne, Event: s.training()}
		theirs, err := s.crossing(ctx, r, "as published", func(k int) (float64, error) { return replay.ComposedCandidates(k, s.delta) },
			func(k int) (float64, error) { return replay.LiuTalwar(k, s.delta) })
		if err != nil {
			return nil, err
		}
		honest, err := s.crossing(ctx, r, "honest", s.composed, s.stopped)
		if err != nil {
			return nil, err
		}
		selection, err := s.crossing(ctx, r, "against selection", s.composed, s.selected)
		if err != nil {
			return nil, err
		}
		row := experiments.Row{Name: fmt.Sprintf("%g rows, δ = %g", s.rows, s.delta), Data: "none: accounting", Published: experiments.Value(float64(s.published)),
			AsPublished: experiments.Exact(theirs[0]), Honest: experiments.Exact(honest[0]), Baseline: experiments.Exact(selection[0])}
		row.Judge(0, "the crossing lies elsewhere")
		t.Rows = append(t.Rows, row)
		for i, name := range []string{"composition", "random stopping"} {
			t.Rows = append(t.Rows, experiments.Row{Name: fmt.Sprintf("%g rows, ε there of %s", s.rows, name), Data: "none: accounting",
				AsPublished: experiments.Exact(theirs[1+i]), Honest: experiments.Exact(honest[1+i]), Baseline: experiments.Exact(selection[1+i])})
		}
		c := experiments.Claim{
			Statement: fmt.Sprintf("composition can pay for %d candidates at the price of random stopping with %g rows", s.published, s.rows),
			Verdict:   row.Verdict, Evidence: fmt.Sprintf("%g candidates: ε %.4g against %.4g", theirs[0], theirs[1], theirs[2]),
		}
		t.Claims = append(t.Claims, c)
	}
	return t, nil
}

// crossing is the largest number of candidates, from 2 on, up to which composition is
// not dearer than the other, and what both cost there.
func (s setting) crossing(ctx context.Context, r *experiments.Run, name string, composed, other func(k int) (float64, error)) ([]float64, error) {
	return r.Cell(ctx, fmt.Sprintf("%s, %g rows", name, s.rows), func() ([]float64, error) {
		at := []float64{1, 0, 0}
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
			at = []float64{float64(k), a, b}
		}
		return at, nil
	})
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
