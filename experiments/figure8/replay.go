// Package figure8 replays Fig. 8: logistic regression, a fully connected net and a CNN on
// MNIST over ε, and the comparison of a CNN with a fully connected net beside it.
package figure8

import (
	"context"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/experiments"
	"pawl/experiments/curves"
	"pawl/experiments/lab"
	"pawl/experiments/nets"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "figure-8", Title: "Where a CNN begins to beat logistic regression on MNIST",
		Source: "Bao, Bauer and Bindschaedler, Fig. 8 and Sec. VI-D", Data: []string{"mnist"}, Quick: 800, Run: run,
	}
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	s := &curves.Study{
		Run:      r,
		Epsilons: experiments.Pick(r.Scale, []float64{.1, 2}, []float64{.05, .1, .25, .5, 1, 2}, []float64{.01, .05, .1, .15, .25, .35, .5, .75, 1, 1.5, 2}),
		Seeds:    experiments.Pick(r.Scale, 2, 3, 10), Batch: experiments.Pick(r.Scale, 60, 1000, 250), Lots: experiments.Pick(r.Scale, 60, 250, 250), Epochs: experiments.Pick(r.Scale, 1., 5., 100.),
	}
	var err error
	if s.Data, err = lab.OpenImages("mnist", r.DataDir, experiments.Pick(r.Scale, 120, 60000, 60000), experiments.Pick(r.Scale, 60, 10000, 10000)); err != nil {
		return nil, err
	}
	if s.Models, err = models(); err != nil {
		return nil, err
	}
	majority := 100 * s.Data.Majority()
	t := &experiments.Table{Unit: "ε in the rows of a crossover, else % of test images"}
	var theirs, ours []curves.Curve
	for i := range s.Models {
		p, err := s.Measure(ctx, curves.Published, i)
		if err != nil {
			return nil, err
		}
		h, err := s.Measure(ctx, curves.Honest, i)
		if err != nil {
			return nil, err
		}
		theirs, ours = append(theirs, p), append(ours, h)
	}
	for _, pair := range []struct {
		simple, complex int
		low, high       float64
	}{{0, 2, .25, .5}, {0, 1, 0, 0}, {1, 2, 0, 0}} {
		row := curves.Row{Name: "crossover of " + s.Models[pair.simple].Name + " and " + s.Models[pair.complex].Name, Data: "mnist", Low: pair.low, High: pair.high, Runs: s.Seeds}
		if row.Published, err = s.Cross(theirs[pair.simple], theirs[pair.complex]); err != nil {
			return nil, err
		}
		if row.Honest, err = s.Cross(ours[pair.simple], ours[pair.complex]); err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, row.Row())
	}
	once, err := crossedOnce(ctx, s)
	if err != nil {
		return nil, err
	}
	t.Rows = append(t.Rows, once)
	for i := range s.Models {
		t.Rows = append(t.Rows, s.Rows(i, theirs[i], ours[i], &majority)...)
	}
	last := len(s.Epsilons) - 1
	t.Claims = []experiments.Claim{
		nets.Better("at the smallest ε logistic regression is better than the CNN", theirs[0][0], theirs[2][0]),
		nets.Better("at ε = 2 the CNN is better than logistic regression", theirs[2][last], theirs[0][last]),
		nets.Better("at the smallest ε, as the library trains them, logistic regression is better (our question)", ours[0][0], ours[2][0]),
	}
	beside, err := besides(ctx, r, s)
	if err != nil {
		return nil, err
	}
	t.Rows, t.Claims = append(t.Rows, beside.Rows...), append(t.Claims, beside.Claims...)
	t.Notes = append([]string{s.Note(), "the paper's ε run from 0.01 to 2, with lots and epochs that it does not name; 250 is what it prints for its other networks on MNIST; the printed crossover is a range, [0.25, 0.5], which stands here as the middle of it",
		"our copy does not say whether step sizes were tuned for every ε or once: both are replayed, the second by the best at the largest ε"}, curves.Notes...)
	t.Notes = append(t.Notes, beside.Notes...)
	return t, nil
}

// crossedOnce is the crossover where each model has one step size for all ε. Our copy does
// not say whether the paper's were tuned for every ε or once.
func crossedOnce(ctx context.Context, s *curves.Study) (experiments.Row, error) {
	simple, err := s.One(ctx, 0)
	if err != nil {
		return experiments.Row{}, err
	}
	complex, err := s.One(ctx, 2)
	if err != nil {
		return experiments.Row{}, err
	}
	row := curves.Row{Name: "crossover of logistic regression and CNN, one step size for all ε", Data: "mnist", Low: .25, High: .5, Runs: s.Seeds}
	if row.Published, err = s.Cross(simple, complex); err != nil {
		return experiments.Row{}, err
	}
	return row.Row(), nil
}

func models() ([]curves.Model, error) {
	fcn, err := nets.Net("mnist-paw-fcn")
	if err != nil {
		return nil, err
	}
	cnn, err := nets.Net("mnist-paw-cnn")
	if err != nil {
		return nil, err
	}
	logistic := zoo.Spec{Name: "logistic", Network: nn.Spec{Layers: []nn.Layer{{Kind: "normalize", Scale: 4}, {Kind: "dense"}}},
		Defaults: zoo.Defaults{Kappa: 2, Radius: 4, ClippingNorm: .1}}
	return []curves.Model{
		{Name: "logistic regression", Net: logistic, Rates: []float64{.5, 2}},
		{Name: "FCN", Net: fcn, Rates: []float64{.5, 2}},
		{Name: "CNN", Net: cnn, Rates: []float64{.5, 2}},
	}, nil
}

// besides is “can FCNs ever outperform CNNs”: two nets at ε = 2.11.
func besides(ctx context.Context, r *experiments.Run, s *curves.Study) (*experiments.Table, error) {
	cnn, err := nets.Net("mnist-stw-cnn")
	if err != nil {
		return nil, err
	}
	fcn, err := nets.Net("mnist-paw-fcn")
	if err != nil {
		return nil, err
	}
	p := nets.Replay{Run: r, Settings: nets.Settings{Rows: s.Data.Train.Len(), Test: s.Data.Test.Len(), Batch: s.Batch, Runs: s.Seeds, Epochs: s.Epochs, Paper: r.Scale == experiments.Paper}}
	rows, v, err := p.Rows(ctx, []nets.Arm{
		{Name: "FCN of the privacy-aware workflow, ε = 2.11", Net: fcn, Data: s.Data, Epsilon: "2.11", Batch: 250, Epochs: 200, Published: 94.94, Against: 1},
		{Name: "CNN of the standard workflow, ε = 2.11", Net: cnn, Data: s.Data, Epsilon: "2.11", Batch: 100, Epochs: 500, LearningRate: .05, Published: 93.92, Against: 0},
	}, nil)
	if err != nil {
		return nil, err
	}
	return &experiments.Table{
		Rows:   rows,
		Claims: []experiments.Claim{nets.Better("at ε = 2.11 the FCN of the privacy-aware workflow (94.94) beats the CNN of the standard one (93.92)", v.Published[0], v.Published[1])},
		Notes:  []string{"FCN and CNN at ε = 2.11: " + p.Note(), nets.Base},
	}, nil
}
