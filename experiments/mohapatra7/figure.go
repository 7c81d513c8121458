// Package mohapatra7 replays Fig. 7 of the adaptive-optimizers paper: how often each pair
// of learning rate and clipping norm is the best of the grid of DP-SGD.
package mohapatra7

import (
	"context"
	"fmt"
	"slices"

	"pawl/experiments"
	"pawl/experiments/adaptive"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "mohapatra-figure-7", Title: "How often a pair of learning rate and clipping norm is the best for DP-SGD",
		Source: "Mohapatra et al., AAAI 2022, Fig. 7", Data: []string{"mnist", "adult"}, Quick: 1000, Run: run,
	}
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	g, err := adaptive.Open(r)
	if err != nil {
		return nil, err
	}
	noises := experiments.Pick(r.Scale, []float64{4}, []float64{2, 8}, []float64{2, 4, 8})
	all := g.Thin(adaptive.SGD())
	score := make([]float64, len(all))
	looks := 0
	for _, data := range g.Sets {
		for _, noise := range noises {
			curves, err := g.All(ctx, data, noise, all)
			if err != nil {
				return nil, err
			}
			for look := range g.Looks {
				score[curves.Best(look)]++
				looks++
			}
		}
	}
	t := &experiments.Table{
		Unit: "% of looks at which a pair is the best", Guarantee: experiments.NoGuarantee,
		Notes: append(g.Notes(), fmt.Sprintf("noise %v; %d looks in all (the paper: 2,400); the printed heat map has no numbers in our copy, so rows stand alone", noises, looks)),
	}
	for i, c := range all {
		t.Rows = append(t.Rows, experiments.Row{Name: c.String(), Data: "mnist, adult", AsPublished: experiments.Exact(100 * score[i] / float64(looks))})
	}
	t.Claims = []experiments.Claim{few(score, looks), product(all, score, looks)}
	return t, nil
}

// few is what lets the paper prune its grid.
func few(score []float64, looks int) experiments.Claim {
	sorted := slices.Sorted(slices.Values(score))
	slices.Reverse(sorted)
	sum, n := 0.0, 0
	for _, s := range sorted {
		if sum >= .9*float64(looks) {
			break
		}
		sum += s
		n++
	}
	c := experiments.Claim{Statement: "few pairs of the grid are ever the best, so that it can be pruned (we ask that a quarter holds nine tenths)", Verdict: experiments.Not,
		Evidence: fmt.Sprintf("%d of %d pairs hold %.0f %% of %d looks", n, len(score), 100*sum/float64(looks), looks)}
	if 4*n <= len(score) {
		c.Verdict = experiments.Reproduced
	}
	return c
}

// product is Theorem 4's practical content.
func product(all []adaptive.Candidate, score []float64, looks int) experiments.Claim {
	in := 0.0
	for i, c := range all {
		if p := c.LearningRate * c.Clip; p >= .05 && p <= .5 {
			in += score[i]
		}
	}
	c := experiments.Claim{Statement: "what matters is the product of learning rate and clipping norm (Theorem 4; we ask that a decade of it, 0.05 to 0.5, holds half of the looks)", Verdict: experiments.Not,
		Evidence: fmt.Sprintf("%.0f %% of %d looks", 100*in/float64(looks), looks)}
	if 2*in >= float64(looks) {
		c.Verdict = experiments.Reproduced
	}
	return c
}
