// Package figure3 replays Fig. 3: accuracy on Adult against the number of features.
package figure3

import (
	"context"

	"pawl/experiments"
	"pawl/experiments/published"
	"pawl/search/feature/aware"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "figure-3", Title: "Accuracy against the number of features on Adult under objective perturbation",
		Source: "Bao, Bauer and Bindschaedler, Fig. 3", Data: []string{"adult"}, Quick: 75, Run: run,
	}
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	sizes := []int{1, 5, 10, 20, 40, 108}
	var every []int
	for size := range 108 {
		every = append(every, size+1)
	}
	p, err := published.Curves{
		Data: "adult", Class: published.AdultClass, Encoding: published.AdultOneHot(),
		Train: experiments.Pick(r.Scale, 2000, published.AdultTrain, published.AdultTrain), Test: experiments.Pick(r.Scale, 1000, published.AdultTest, published.AdultTest),
		Sizes:    experiments.Pick(r.Scale, []int{5, 108}, sizes, every),
		Epsilons: experiments.Pick(r.Scale, []float64{.1, aware.NoPrivacy}, []float64{.1, .5, 1, 10, 20, aware.NoPrivacy}, []float64{.1, .5, 1, 5, 10, 20, aware.NoPrivacy}),
		// 100 fits a point in all at the paper's scale.
		Splits: experiments.Pick(r.Scale, 2, 4, 5), Repeats: experiments.Pick(r.Scale, 1, 4, 20),
		Honest: experiments.Pick(r.Scale, 2, 4, 5),
	}.Measure(ctx, r)
	if err != nil {
		return nil, err
	}
	t := &experiments.Table{
		Unit: "% of test rows", Notes: p.Notes(),
		Rows: p.Rows(map[[2]float64]float64{{.1, 5}: 78.58, {.1, 108}: 70.86}),
		Claims: []experiments.Claim{
			p.ClaimBest("for ε = 0.1 the best model uses 5 features", 5, .1),
			p.ClaimSubset("for ε = 0.1 a subset is better than all features (78.58 against 70.86 %)", .1),
			p.ClaimBest("without privacy the best model uses all features", 108, aware.NoPrivacy),
			p.ClaimHonest(),
		},
	}
	if r.Scale != experiments.Smoke {
		t.Claims = append(t.Claims, p.ClaimSubset("for ε = 1 the best model uses a strict subset", 1))
	}
	return t, nil
}
