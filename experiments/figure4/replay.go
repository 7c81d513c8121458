// Package figure4 replays Fig. 4: accuracy on Breast Cancer against the number of features.
package figure4

import (
	"context"

	"pawl/experiments"
	"pawl/experiments/published"
	"pawl/search/feature/aware"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "figure-4", Title: "Accuracy against the number of features on Breast Cancer under objective perturbation",
		Source: "Bao, Bauer and Bindschaedler, Fig. 4", Data: []string{"breast-cancer"}, Quick: 20, Run: run,
	}
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	var every []int
	for size := 1; size <= 43; size++ {
		every = append(every, size)
	}
	sizes := []int{1, 2, 3, 5, 8, 11, 15, 20, 30, 43}
	p, err := published.Curves{
		Data: "breast-cancer", Class: "recurrence-events", Train: 191, Test: 95,
		Sizes:    experiments.Pick(r.Scale, []int{1, 11, 43}, sizes, every),
		Epsilons: []float64{.5, 1, 5, 10, 20, 50, 100, aware.NoPrivacy},
		Splits:   experiments.Pick(r.Scale, 4, 50, 100), Repeats: experiments.Pick(r.Scale, 4, 24, 100),
		Honest: experiments.Pick(r.Scale, 2, 20, 100),
	}.Measure(ctx, r)
	if err != nil {
		return nil, err
	}
	return &experiments.Table{
		Unit: "% of test rows", Rows: p.Rows(nil), Notes: p.Notes(),
		Claims: []experiments.Claim{
			p.ClaimBest("for ε ≤ 1 the best model uses the single best feature", 1, .5, 1),
			p.ClaimBest("for ε = 5 the best model uses 11 features", 11, 5),
			p.ClaimSubset("for ε = 50 a subset is slightly better than all 43 features, so the crossover lies above 50", 50),
			p.ClaimBest("without privacy the best model uses all features", 43, aware.NoPrivacy),
			p.ClaimHonest(),
		},
	}, nil
}
