// Package table7 replays Table VII: a large net of random weights against a small one.
package table7

import (
	"context"

	"pawl/experiments"
	"pawl/experiments/lab"
	"pawl/experiments/nets"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "table-7", Title: "A complex net with random weights against a simple one, all trained, on MNIST at ε = 0.34",
		Source: "Bao, Bauer and Bindschaedler, Table VII", Data: []string{"mnist"}, Quick: 300, Run: run,
	}
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	p := &nets.Replay{Run: r, Settings: nets.Settings{
		Rows: experiments.Pick(r.Scale, 300, 60000, 60000), Test: experiments.Pick(r.Scale, 200, 10000, 10000),
		Batch: experiments.Pick(r.Scale, 100, 2000, 4096), Runs: experiments.Pick(r.Scale, 1, 3, 5),
		Epochs: experiments.Pick(r.Scale, 1., 8., 60.), Paper: r.Scale == experiments.Paper,
	}}
	data, err := lab.OpenImages("mnist", r.DataDir, p.Settings.Rows, p.Test)
	if err != nil {
		return nil, err
	}
	random, err := nets.Net("rwt-fcn")
	if err != nil {
		return nil, err
	}
	simple, err := nets.Net("table-vii-simple")
	if err != nil {
		return nil, err
	}
	// Noise 10, lots of 100 and 500 epochs state 0.341.
	arm := nets.Arm{Data: data, Epsilon: "0.341", Batch: 100, Epochs: 500}
	all := []nets.Arm{arm, arm, arm}
	all[0].Name, all[0].Net, all[0].Published, all[0].Against = "complex, normal (1,362,122 parameters)", nets.Whole(random), 49.90, 2
	all[1].Name, all[1].Net, all[1].Published, all[1].Against = "complex, random weights (33,482)", random, 75.18, 2
	all[2].Name, all[2].Net, all[2].Published, all[2].Against = "simple, normal (435,402)", simple, 73.04, 1
	rows, v, err := p.Rows(ctx, all, nil)
	if err != nil {
		return nil, err
	}
	return &experiments.Table{
		Unit: "% of test images", Rows: rows,
		Notes:            []string{"nets of Table XXIX: 784-1024-512-64-10, of which the last two layers are trained, and 784-512-64-10", p.Note(), nets.Honest, nets.Base},
		PublishedEpsilon: map[string]float64{"every row": 0.34},
		Claims: []experiments.Claim{
			nets.Better("with all layers trained the simple net is better (73.04 against 49.90)", v.Published[2], v.Published[0]),
			nets.Better("with random weights the complex net is better than the simple one (75.18 against 73.04)", v.Published[1], v.Published[2]),
			nets.Better("the same as the library trains them", v.Honest[1], v.Honest[2]),
		},
	}, nil
}
