package arous

import (
	"context"
	"fmt"
	"math"

	"pawl/compute/zoo"
	"pawl/core/accountant"
	"pawl/core/gradient"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/nets"
	"pawl/workflow"
)

// training is one as the paper describes it: plain steps of 0.1, clipping norm 1. Its
// copy names no lots; 256 is usual.
type training struct {
	data  *lab.Images
	net   zoo.Spec
	noise float64 // multiplier; 0 trains without privacy, by Adam at 0.001
	// budget is given in place of noise; byRule then trains as the library does.
	budget string
	byRule bool
	batch  int
	epochs float64
	runs   int
	// last releases the last parameters, which a longer run passes through too.
	last bool
}

const delta = "0.00001"

func (t training) run(ctx context.Context, seed uint64) (*workflow.Outcome, error) {
	return t.data.Run(ctx, t.net, seed, t.input)
}

func (t training) input(in *workflow.TrainInput) {
	in.Batch, in.Epochs = t.batch, t.epochs
	switch {
	case t.byRule:
		in.Epsilon, in.Delta, in.Accountant = t.budget, delta, accountant.MethodRDP
		return
	case t.budget != "":
		in.Epsilon = t.budget
	case t.noise == 0:
		in.NonPrivate, in.Clipping, in.Optimizer, in.LearningRate = true, gradient.Unclipped, "adam", 1e-3
		return
	default:
		in.NoiseMultiplier = t.noise
	}
	in.Delta, in.Accountant = delta, accountant.MethodRDP
	in.Optimizer, in.LearningRate, in.ClippingNorm = "sgd", 0.1, 1
	if t.last {
		in.Average = 1e-9 // of the steps: the last one
	}
}

func (t training) name(what string) string {
	return fmt.Sprintf("%s: %s, noise %g, budget %q, by rule %t, %d of %s and %d, lots of %d, %g epochs, last %t, %d runs", what, t.net.Name,
		t.noise, t.budget, t.byRule, t.data.Train.Len(), t.data.Name, t.data.Test.Len(), t.batch, t.epochs, t.last, t.runs)
}

// accuracy is in percent, one a seed.
func (t training) accuracy(ctx context.Context, r *experiments.Run) ([]float64, error) {
	return r.Cell(ctx, t.name("accuracy"), func() (out []float64, err error) {
		for seed := range t.runs {
			o, err := t.run(ctx, uint64(seed+1))
			if err != nil {
				return nil, err
			}
			out = append(out, 100**o.Score.Exact)
		}
		return out, nil
	})
}

// epsilon is what the training states at δ = 1e-5.
func (t training) epsilon() (float64, error) {
	plan, err := t.data.Plan(t.net, 1, t.input)
	if err != nil {
		return math.NaN(), err
	}
	return plan.Epsilon, nil
}

// activated is a net of the paper with one activation, bounded at a.
func activated(name, activation string, a float64) (zoo.Spec, error) {
	s, err := nets.Net(name)
	if err != nil {
		return s, err
	}
	s.Defaults.Bound = a
	s, err = s.WithActivation(activation)
	s.Name += fmt.Sprintf(" with %s %g", activation, a)
	return s, err
}

var activations = []struct{ name, kind string }{{"ReLU", "relu"}, {"bounded ReLU", "bounded_relu"}, {"tanh", "tanh"}}
