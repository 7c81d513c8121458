// Package table9 replays Table IX: nets that random search over trainable layers found
// by the two workflows.
package table9

import (
	"context"

	"pawl/experiments"
	"pawl/experiments/lab"
	"pawl/experiments/nets"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "table-9", Title: "Nets found by random search over trainable layers, on MNIST",
		Source: "Bao, Bauer and Bindschaedler, Table IX", Data: []string{"mnist"}, Quick: 600, Run: run,
	}
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	p := &nets.Replay{Run: r, Settings: nets.Settings{
		Rows: experiments.Pick(r.Scale, 300, 60000, 60000), Test: experiments.Pick(r.Scale, 200, 10000, 10000),
		Batch: experiments.Pick(r.Scale, 100, 1000, 4096), Runs: experiments.Pick(r.Scale, 1, 5, 5),
		Epochs: experiments.Pick(r.Scale, 1., 10., 60.), Paper: r.Scale == experiments.Paper,
	}}
	data, err := lab.OpenImages("mnist", r.DataDir, p.Settings.Rows, p.Test)
	if err != nil {
		return nil, err
	}
	var all []nets.Arm
	for i, a := range []struct {
		name, net, epsilon string
		published          float64
	}{
		{"STW, DP-SGD, ε = 2.11", "table-ix-stw", "2.11", 92.04}, {"PAW, DP-SGD, ε = 2.11", "table-ix-paw", "2.11", 95.18},
		{"STW, DP-SGD, ε = 0.34", "table-ix-stw", "0.341", 72.28}, {"PAW, DP-SGD, ε = 0.34", "table-ix-paw-low-epsilon", "0.341", 91.61},
		{"STW, SGD", "table-ix-stw", "", 97.97}, {"PAW of 2.11, SGD", "table-ix-paw", "", 96.84},
		{"PAW of 0.34, SGD", "table-ix-paw-low-epsilon", "", 92.70},
	} {
		net, err := nets.Net(a.net)
		if err != nil {
			return nil, err
		}
		against := i ^ 1
		if i == 6 {
			against = 4
		}
		all = append(all, nets.Arm{Name: a.name, Net: net, Data: data, Epsilon: a.epsilon, Batch: 100, Epochs: 500, Published: a.published, Against: against})
	}
	rows, v, err := p.Rows(ctx, all, nil)
	if err != nil {
		return nil, err
	}
	return &experiments.Table{
		Unit: "% of test images", Rows: rows,
		Notes: []string{
			"nets 64-2048-256-64-10 with a frozen layer 256-64 (674,762 parameters, 658,314 trained), 64-128-10 (9,610) and 64-1024-10 whose hidden layer keeps its random weights (76,810, 10,250); inputs are the 64 lowest frequencies of a cosine transform in place of principal components, which nobody pays for",
			p.Note(), nets.Honest, nets.Base,
		},
		PublishedEpsilon: map[string]float64{"the larger": 2.11, "the smaller": 0.34},
		Claims: []experiments.Claim{
			nets.Better("at ε = 2.11 the privacy-aware net is better (95.18 against 92.04)", v.Published[1], v.Published[0]),
			nets.Better("at ε = 0.34 the privacy-aware net is better (91.61 against 72.28)", v.Published[3], v.Published[2]),
			nets.Better("without privacy the standard net is better (97.97 against 96.84)", v.Published[4], v.Published[5]),
			nets.Better("without privacy the standard net is better than the net of ε = 0.34 (97.97 against 92.70)", v.Published[4], v.Published[6]),
			nets.Within("the net of ε = 0.34 loses little to privacy (1.09 points; we ask for 2)", v.Published[3], v.Published[6], 2),
			nets.Better("as the library trains them, the privacy-aware net is better at ε = 0.34", v.Honest[3], v.Honest[2]),
		},
	}, nil
}
