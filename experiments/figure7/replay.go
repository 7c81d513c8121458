// Package figure7 replays Fig. 7: fully connected nets of the standard and of the
// privacy-aware workflow over ten to the power of −1 to 6 of ε.
package figure7

import (
	"context"
	"fmt"

	"pawl/experiments"
	"pawl/experiments/curves"
	"pawl/experiments/lab"
	"pawl/experiments/nets"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "figure-7", Title: "Where the net of the standard workflow begins to beat the privacy-aware one (MNIST, Fashion-MNIST, CIFAR-10)",
		Source: "Bao, Bauer and Bindschaedler, Fig. 7", Data: []string{"mnist", "fashion-mnist", "cifar10"}, Quick: 1300, Run: run,
	}
}

// task is a pair of nets on one set.
type task struct{ data, aware, standard string }

var tasks = []task{
	{"mnist", "mnist-paw-fcn", "mnist-stw-fcn"},
	{"fashion-mnist", "fmnist-paw-fcn", "fmnist-stw-fcn"},
	{"cifar10", "cifar-paw-fcn", "cifar-stw-fcn"},
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	t := &experiments.Table{Unit: "ε in the rows of a crossover, else % of test images"}
	for _, k := range tasks {
		s := &curves.Study{
			Run:      r,
			Epsilons: experiments.Pick(r.Scale, []float64{1, 1e4}, []float64{.1, 1, 10, 1e2, 1e3, 1e4, 1e6}, []float64{.1, 1, 10, 1e2, 1e3, 3e3, 1e4, 3e4, 1e5, 1e6}),
			Seeds:    experiments.Pick(r.Scale, 2, 3, 10), Batch: experiments.Pick(r.Scale, 60, 1000, 250), Epochs: experiments.Pick(r.Scale, 1., 5., 200.),
		}
		rows := experiments.Pick(r.Scale, 120, 20000, 60000)
		if k.data == "cifar10" {
			rows = min(rows, 10000)
		}
		var err error
		if s.Data, err = lab.OpenImages(k.data, r.DataDir, rows, experiments.Pick(r.Scale, 60, 10000, 10000)); err != nil {
			return nil, err
		}
		for _, name := range []string{k.aware, k.standard} {
			net, err := nets.Net(name)
			if err != nil {
				return nil, err
			}
			s.Models = append(s.Models, curves.Model{Name: name, Net: net, Rates: []float64{.5, 4}})
		}
		row := curves.Row{Name: "crossover, " + k.data, Data: k.data, Low: 1e3, High: 1e5, Runs: s.Seeds}
		var all [2][2]curves.Curve
		for i := range s.Models {
			for j, how := range []curves.How{curves.Published, curves.Honest} {
				if all[i][j], err = s.Measure(ctx, how, i); err != nil {
					return nil, err
				}
			}
		}
		if row.Published, err = s.Cross(all[0][0], all[1][0]); err != nil {
			return nil, err
		}
		if row.Honest, err = s.Cross(all[0][1], all[1][1]); err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, row.Row())
		majority := 100 * s.Data.Majority()
		for i := range s.Models {
			t.Rows = append(t.Rows, s.Rows(i, all[i][0], all[i][1], &majority)...)
		}
		one := 0
		for s.Epsilons[one] < 1 {
			one++
		}
		last := len(s.Epsilons) - 1
		t.Claims = append(t.Claims,
			nets.Better(fmt.Sprintf("%s: far below the crossover (ε = %g) the privacy-aware net is better", k.data, s.Epsilons[one]), all[0][0][one], all[1][0][one]),
			nets.Better(fmt.Sprintf("%s: far above it (ε = %g) the net of the standard workflow is", k.data, s.Epsilons[last]), all[1][0][last], all[0][0][last]),
		)
		t.Notes = append(t.Notes, s.Note())
	}
	t.Notes = append(t.Notes, "SVHN could not be had; the paper says “around 10^4”, which stands for [10^3, 10^5]; ε above 10 protects nobody, and 10^6 is the largest that the library takes (the paper: 10^7)")
	t.Notes = append(t.Notes, curves.Notes...)
	return t, nil
}
