// Package figure1 replays Fig. 1: accuracy against the number of parameters, with privacy
// and without.
package figure1

import (
	"context"
	"fmt"

	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/curves"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "figure-1", Title: "Accuracy against the number of parameters, with privacy and without (MNIST)",
		Source: "Bao, Bauer and Bindschaedler, Fig. 1", Data: []string{"mnist"}, Quick: 70, Run: run,
	}
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	s := &curves.Study{
		Run: r, Epsilons: []float64{.5},
		Seeds: experiments.Pick(r.Scale, 2, 3, 10), Batch: experiments.Pick(r.Scale, 60, 1000, 250), Epochs: experiments.Pick(r.Scale, 1., 5., 100.),
	}
	var err error
	if s.Data, err = lab.OpenImages("mnist", r.DataDir, experiments.Pick(r.Scale, 120, 20000, 60000), experiments.Pick(r.Scale, 60, 10000, 10000)); err != nil {
		return nil, err
	}
	shapes := experiments.Pick(r.Scale, [][]int{{4}, {64}}, [][]int{{4}, {16}, {64}, {256}, {1024}, {1024, 256, 64}}, [][]int{{2}, {4}, {8}, {16}, {32}, {64}, {128}, {256}, {512}, {1024}, {2048}, {1024, 256, 64}, {2048, 256, 64}})
	var sizes []curves.Size
	for _, hidden := range shapes {
		name := fmt.Sprintf("hidden layers of %v", hidden)
		sizes = append(sizes, curves.Size{Name: name, Parameters: curves.Parameters(64, 10, hidden...), Model: curves.Model{Name: name, Net: curves.Hidden(64, 10, hidden...), Rates: []float64{.5, 2}}})
	}
	w, err := s.Sweep(ctx, sizes)
	if err != nil {
		return nil, err
	}
	t := &experiments.Table{
		Unit: "% of test images", Rows: s.SweepRows(sizes, w),
		Claims: []experiments.Claim{
			curves.Falls("with privacy a net of middling size is best, and the largest is worse", w.Published, 0),
			curves.Falls("so it is as the library trains them (our question)", w.Honest, 0),
			largest("without privacy the most complex net is best", w.Plain),
		},
	}
	t.Notes = append([]string{s.Note(), "the paper names neither data nor ε nor nets of this figure: fully connected nets on 64 frequencies of a cosine transform stand for it, at ε = 0.5"}, curves.Notes[:2]...)
	return t, nil
}

// largest claims that the last size is the best, or within a tenth of a point of it.
func largest(statement string, values [][]float64) experiments.Claim {
	best, last := curves.Best(values), len(values)-1
	gap := experiments.Of(values[best]).Mean - experiments.Of(values[last]).Mean
	c := experiments.Claim{Statement: statement, Verdict: experiments.Not, Evidence: fmt.Sprintf("best size %d of %d, %.2f points above the largest", best+1, len(values), gap)}
	switch {
	case best == last:
		c.Verdict = experiments.Reproduced
	case gap <= .1:
		c.Verdict = experiments.SameSign
	}
	return c
}
