// Package arous replays Tables 4 and 5 of Arous et al.: a genetic search over learning
// rate and bound of an activation (TuneBound).
package arous

import (
	"context"
	"fmt"

	"pawl/core/accountant"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/nets"
	"pawl/search"
	"pawl/search/space"
	"pawl/workflow"
)

// table is what differs between the two.
type table struct {
	name, data, net string
	quick           int
	arms            [2]arm
}

// arm is a row.
type arm struct {
	name, activation string
	epsilon          string
	published        float64
	of               float64 // epsilon as a number
}

// Table4 is that of MNIST.
func Table4() experiments.Experiment {
	return table{"4", "mnist", "arous-cnn", 600, [2]arm{
		{"genetic search with ReLU", "relu", "1.75", 73.745, 1.75}, {"genetic search with bounded ReLU", "bounded_relu", "1.74", 82.99, 1.74},
	}}.experiment()
}

// Table5 is that of CIFAR-10.
func Table5() experiments.Experiment {
	return table{"5", "cifar10", "arous-cifar-cnn", 900, [2]arm{
		{"genetic search with ReLU", "relu", "0.599", 37.999, 0.599}, {"genetic search with bounded ReLU", "bounded_relu", "0.514", 37.88, 0.514},
	}}.experiment()
}

func (k table) experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "arous-table-" + k.name, Title: "TuneBound: genetic search over learning rate and bound, on " + k.data,
		Source: "Arous et al., IJCNN 2023, Table " + k.name, Data: []string{k.data}, Quick: k.quick, Run: k.run,
	}
}

// candidates is the space (lr, a); our copy gives no ranges, ours hold the published
// rates and bounds.
func (k table) candidates(a arm) (*space.Space, error) {
	text := fmt.Sprintf("version: 1\nname: tunebound-%s\nnet: %s\ndimensions:\n  activation: %s\n  learning_rate: {reals: [0.005, 1], scale: log}\n", a.activation, k.net, a.activation)
	if a.activation == "bounded_relu" {
		text += "  bound: {reals: [1, 6]}\n"
	}
	return space.Decode("tunebound.yaml", []byte(text))
}

// settings of a scale.
type settings struct {
	rows, test, batch, runs int
	epochs                  float64
	genetic, honest         search.Strategy
}

func (k table) at(s experiments.Scale) settings {
	heavy := k.data == "cifar10"
	small := func(of, light int) int {
		if heavy {
			return of
		}
		return light
	}
	p := settings{
		rows: experiments.Pick(s, small(40, 100), small(4000, 20000), 60000), test: experiments.Pick(s, small(20, 40), small(2000, 10000), 10000),
		batch: experiments.Pick(s, small(20, 50), small(250, 500), 256), runs: experiments.Pick(s, 1, 3, 3),
		epochs: float64(experiments.Pick(s, 1, small(2, 5), 10)),
	}
	p.genetic = search.Strategy{Kind: search.TuneBound, Generations: experiments.Pick(s, 1, small(1, 3), 10), Population: experiments.Pick(s, 5, 5, 10), Retain: .4, Validation: .1}
	p.honest = search.Strategy{Kind: search.PS, Mean: experiments.Pick(s, 1.5, 5, 10), Validation: .1}
	return p
}

func (k table) run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	p := k.at(r.Scale)
	data, err := lab.OpenImages(k.data, r.DataDir, p.rows, p.test)
	if err != nil {
		return nil, err
	}
	t := &experiments.Table{Unit: "% of test images", PublishedEpsilon: map[string]float64{}}
	var published, honest, fixed [2][]float64
	for i, a := range k.arms {
		measure := func(how string, one func(seed uint64) (float64, error)) ([]float64, error) {
			cell := fmt.Sprintf("%s, %s, ε = %s, %d × %d, mean %g, %d images, %d test, lots of %d, %g epochs, %d runs",
				a.name, how, a.epsilon, p.genetic.Generations, p.genetic.Population, p.honest.Mean, data.Train.Len(), data.Test.Len(), p.batch, p.epochs, p.runs)
			return r.Cell(ctx, cell, func() (out []float64, err error) {
				for seed := range p.runs {
					v, err := one(uint64(seed + 1))
					if err != nil {
						return nil, err
					}
					out = append(out, 100*v)
				}
				return out, nil
			})
		}
		budget := func(in *workflow.TrainInput) {
			in.Epsilon, in.Delta, in.Accountant, in.Batch, in.Epochs = a.epsilon, "0.00001", accountant.MethodRDP, p.batch, p.epochs
		}
		candidates, err := k.candidates(a)
		if err != nil {
			return nil, err
		}
		if published[i], err = measure("genetic", func(seed uint64) (float64, error) {
			return score(data.Search(ctx, lab.Search{Space: candidates, Strategy: p.genetic, AsPublished: true, Dropout: true}, seed, func(in *workflow.TrainInput) {
				budget(in)
				in.Optimizer, in.ClippingNorm = "sgd", 1
			}))
		}); err != nil {
			return nil, err
		}
		if honest[i], err = measure("private selection", func(seed uint64) (float64, error) {
			return score(data.Search(ctx, lab.Search{Space: candidates, Strategy: p.honest}, seed, budget))
		}); err != nil {
			return nil, err
		}
		net, err := nets.Net(k.net)
		if err != nil {
			return nil, err
		}
		if net, err = net.WithActivation(a.activation); err != nil {
			return nil, err
		}
		if fixed[i], err = measure("no search", func(seed uint64) (float64, error) { return data.Fit(ctx, net, seed, budget) }); err != nil {
			return nil, err
		}
		row := experiments.Row{Name: a.name + ", ε = " + a.epsilon, Data: k.data, Published: experiments.Value(a.published),
			AsPublished: experiments.Of(published[i]), Honest: experiments.Of(honest[i]), Baseline: experiments.Of(fixed[i])}
		t.PublishedEpsilon[a.name] = a.of
		row.Judge(1, fmt.Sprintf("ours differs by %+.1f points", row.AsPublished.Mean-a.published))
		t.Rows = append(t.Rows, row)
	}
	k.judge(t, published)
	t.Claims = []experiments.Claim{
		nets.Better("tuned, bounded ReLU is better than ReLU", published[1], published[0]),
		nets.Better("by private selection within the same ε, bounded ReLU is better than ReLU", honest[1], honest[0]),
		nets.Better("private selection beats a fixed bound and a step by rule at the same ε (our remark)", honest[1], fixed[1]),
	}
	t.Notes = []string{
		fmt.Sprintf("%s, the paper's net; %d images, lots of %d, %g epochs, noise such that ε is the printed one at δ = 1e-5; %d runs", k.net, data.Train.Len(), p.batch, p.epochs, p.runs),
		fmt.Sprintf("genetic search of %d generations of %d (the paper: 10 of 10, mutation 0.25, 10 segments, which we have no use for with two genes); rates 0.005 to 1 and bounds 1 to 6, since our copy gives no ranges; clipping norm 1, plain steps", p.genetic.Generations, p.genetic.Population),
		"as published: ε is that of one training and the search is not paid for (docs/READING.md, H9)",
		fmt.Sprintf("honest: a private selection of a secret number of runs, %g on average, and the winner cost the printed ε together", p.honest.Mean),
		"baseline: one training with the whole ε, bound 2 or the zoo's, the step of the library's rule",
	}
	return t, nil
}

func score(out *workflow.Outcome, err error) (float64, error) {
	if err != nil {
		return 0, err
	}
	return *out.Score.Exact, nil
}

// judge: where a number differs, what counts is which activation is better.
func (k table) judge(t *experiments.Table, published [2][]float64) {
	d := experiments.Of(nets.Difference(published[1], published[0]))
	printed := k.arms[1].published - k.arms[0].published
	for i := range t.Rows {
		row := &t.Rows[i]
		if row.Verdict != experiments.Not {
			continue
		}
		row.Why += fmt.Sprintf("; bounded ReLU minus ReLU %+.1f, published %+.1f", d.Mean, printed)
		if d.Mean*printed > 0 {
			row.Verdict = experiments.SameSign
		}
	}
}
