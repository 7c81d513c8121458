// Package nets measures networks side by side: what tables of trained networks share.
//
// As published, a net has rectifiers and dropout, and its ε is that of its training
// alone: nobody pays for the choice of net and step size. Honest is the same net as the
// library trains it at the same total ε: tanh, no dropout, the step of a rule that looks
// at no row; the net itself is the paper's, which was chosen on these data, so that
// number is the price of a training and not of the choice. Trainings of one seed share
// lots and the order of draws, so nets are compared seed by seed.
package nets

import (
	"context"
	"fmt"
	"math"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/core/accountant"
	"pawl/core/gradient"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/workflow"
)

// Settings of a scale.
type Settings struct {
	Rows, Test, Batch, Runs int
	Epochs                  float64
	// Paper trains by plain steps of the arm's learning rate with clipping norm 1, as the
	// paper does; else by momentum and the step of the library's rule.
	Paper bool
}

// Arm is one training that a table prints.
type Arm struct {
	Name string
	Net  zoo.Spec
	Data *lab.Images
	// Epsilon is that of the training at delta 1e-5; empty trains without noise.
	Epsilon string
	// Clipped clips although there is no noise.
	Clipped bool
	// Batch, Epochs and LearningRate are the paper's, for Settings.Paper; a zero is that
	// of the settings, or 0.15.
	Batch        int
	Epochs       float64
	LearningRate float64
	// Published is in percent, 0 for none; Against is the index of the arm that it stands
	// beside in the table, whose difference is what the table shows.
	Published float64
	Against   int
}

// Replay measures arms.
type Replay struct {
	Run *experiments.Run
	Settings
}

// Values are accuracies in percent, one a seed, by arm; Honest is nil where a training
// has no noise.
type Values struct{ Published, Honest [][]float64 }

const delta = "0.00001"

// Net is the network of a name of the zoo.
func Net(name string) (zoo.Spec, error) {
	s, ok := zoo.Lookup(name)
	if !ok {
		return s, fmt.Errorf("no net %q", name)
	}
	return s, nil
}

// Whole is the net with every layer trained.
func Whole(s zoo.Spec) zoo.Spec {
	s = s.TrainLast(len(s.Network.Layers))
	s.Name += ", all layers"
	return s
}

// Linear is the model that an arm is held against: softmax regression on what the net
// is given.
func Linear() zoo.Spec {
	return zoo.Spec{Name: "linear", Network: nn.Spec{Layers: []nn.Layer{{Kind: "normalize", Scale: 4}, {Kind: "dense"}}},
		Defaults: zoo.Defaults{Kappa: 2, Radius: 4, ClippingNorm: 0.1}}
}

// Rows measures all arms and makes a row of each. baseline, where not nil, is a number in
// percent that needs no network; else a linear model is trained at every ε.
func (p *Replay) Rows(ctx context.Context, arms []Arm, baseline *float64) ([]experiments.Row, *Values, error) {
	v := &Values{}
	var rows []experiments.Row
	for _, a := range arms {
		published, err := p.measure(ctx, a, "as published", a.Net)
		if err != nil {
			return nil, nil, err
		}
		row := experiments.Row{Name: a.Name, Data: a.Data.Name, AsPublished: experiments.Of(published)}
		if a.Published > 0 {
			row.Published = experiments.Value(a.Published)
		}
		var honest []float64
		if a.Epsilon != "" {
			if honest, err = p.measure(ctx, a, "honest", a.Net.Default()); err != nil {
				return nil, nil, err
			}
			row.Honest = experiments.Of(honest)
		}
		if row.Baseline, err = p.baseline(ctx, a, baseline); err != nil {
			return nil, nil, err
		}
		v.Published, v.Honest = append(v.Published, published), append(v.Honest, honest)
		rows = append(rows, row)
	}
	for i := range rows {
		judge(&rows[i], arms, v, i)
	}
	return rows, v, nil
}

func (p *Replay) baseline(ctx context.Context, a Arm, known *float64) (*experiments.Estimate, error) {
	if known != nil {
		return experiments.Exact(*known), nil
	}
	a.Clipped = false // one linear model without noise serves all
	v, err := p.measure(ctx, a, "linear", Linear())
	return experiments.Of(v), err
}

// measure trains with different seeds.
func (p *Replay) measure(ctx context.Context, a Arm, how string, spec zoo.Spec) ([]float64, error) {
	batch, epochs, rate := p.Batch, p.Epochs, a.LearningRate
	theirs := p.Paper && how == "as published"
	if theirs && a.Batch > 0 {
		batch = a.Batch
	}
	if theirs && a.Epochs > 0 {
		epochs = a.Epochs
	}
	if rate == 0 {
		rate = .15
	}
	cell := fmt.Sprintf("%s, %s, %s, ε = %q, clipped %t, rate %g, %d of %s, %d test, lots of %d, %g epochs, %d runs",
		how, spec.Name, spec.Title, a.Epsilon, a.Clipped, rate, a.Data.Train.Len(), a.Data.Name, a.Data.Test.Len(), batch, epochs, p.Runs)
	return p.Run.Cell(ctx, cell, func() ([]float64, error) {
		var out []float64
		for seed := range p.Runs {
			v, err := a.Data.Fit(ctx, spec, uint64(seed+1), func(in *workflow.TrainInput) {
				in.Batch, in.Epochs = batch, epochs
				if theirs {
					in.Optimizer, in.LearningRate, in.ClippingNorm = "sgd", rate, 1
				}
				switch {
				case a.Epsilon != "":
					in.Epsilon, in.Delta, in.Accountant = a.Epsilon, delta, accountant.MethodRDP
				case a.Clipped:
					in.NonPrivate = true
				default:
					in.NonPrivate, in.Clipping, in.Optimizer, in.LearningRate = true, gradient.Unclipped, "adam", 1e-3
				}
			})
			if err != nil {
				return nil, err
			}
			out = append(out, 100*v)
		}
		return out, nil
	})
}

// judge: within a point or the interval is reproduced. Else a number's sign is that of
// the difference to the arm beside it.
func judge(row *experiments.Row, arms []Arm, v *Values, i int) {
	a := arms[i]
	row.Judge(1, fmt.Sprintf("ours differs by %+.1f points", row.AsPublished.Mean-a.Published))
	if row.Verdict != experiments.Not || a.Against == i {
		return
	}
	d := experiments.Of(Difference(v.Published[i], v.Published[a.Against]))
	printed := a.Published - arms[a.Against].Published
	if d.Mean*printed > 0 {
		row.Verdict = experiments.SameSign
	}
	row.Why += fmt.Sprintf("; against “%s” %+.1f, published %+.1f", arms[a.Against].Name, d.Mean, printed)
}

// Difference is a − b, seed by seed.
func Difference(a, b []float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

// Better claims that a is above b, seed by seed: reproduced where the interval excludes
// 0, of the same sign where only the mean does.
func Better(statement string, a, b []float64) experiments.Claim {
	d := experiments.Of(Difference(a, b))
	c := experiments.Claim{Statement: statement, Verdict: experiments.Not, Evidence: fmt.Sprintf("difference %s points, seed by seed", d)}
	switch {
	case d.Low > 0:
		c.Verdict = experiments.Reproduced
	case d.Mean > 0:
		c.Verdict = experiments.SameSign
	}
	return c
}

// Within claims that a is at most so many points below b.
func Within(statement string, a, b []float64, points float64) experiments.Claim {
	d := experiments.Of(Difference(a, b))
	c := experiments.Claim{Statement: statement, Verdict: experiments.Not, Evidence: fmt.Sprintf("difference %s points, seed by seed", d)}
	switch {
	case d.Low >= -points && !math.IsInf(d.Low, -1):
		c.Verdict = experiments.Reproduced
	case d.Mean >= -points:
		c.Verdict = experiments.SameSign
	}
	return c
}

// Note says how networks were trained.
func (p *Replay) Note() string {
	if p.Paper {
		return fmt.Sprintf("as published: the paper's lots, epochs and learning rates, clipping norm 1, noise such that ε is the printed one by Rényi accounting of Poisson lots at δ = 1e-5; without privacy Adam at 0.001; honest: lots of %d, %g epochs; %d runs", p.Batch, p.Epochs, p.Runs)
	}
	return fmt.Sprintf("%d examples, lots of %d, %g epochs, noise such that ε is the printed one by Rényi accounting of Poisson lots at δ = 1e-5, momentum and the step of the library's rule (the paper trains for 200 to 500 epochs: --scale paper); without privacy Adam at 0.001; %d runs", p.Settings.Rows, p.Batch, p.Epochs, p.Runs)
}

// Honest says what the column is.
const Honest = "honest: the paper's net as the library trains it at the same total ε and δ (tanh, no dropout, a step by rule); the choice of the net is not in it, since the paper made it on these data; table-8 pays for choices"

// Base says what the baseline is.
const Base = "baseline: softmax regression on the same inputs at the same ε"
