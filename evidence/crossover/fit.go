package crossover

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"pawl/compute/zoo"
	"pawl/core/gradient"
	"pawl/evidence/advise"
	"pawl/evidence/lab"
	"pawl/workflow"
)

// cell is one training: a configuration at one ε with one seed.
type cell struct {
	epsilon float64 // +Inf trains without noise
	rows    int
	seed    uint64
	// rate replaces the step size where it is above 0, factor multiplies the rule's.
	rate, factor float64
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// noNoise is the ε that stands for no privacy where a learner of tables has no other way:
// its noise is far below what chance does to the rows.
const noNoise = 1e5

// score trains and returns what the model scores on the test rows.
func (d *Data) score(ctx context.Context, s Spec, delta string, c cell) (float64, error) {
	var out *workflow.Outcome
	var err error
	switch {
	case d.Images != nil:
		out, err = d.trainImages(ctx, s, delta, c)
	case s.ofTable():
		out, err = d.trainTable(ctx, s, delta, c)
	default:
		out, err = d.fitTable(ctx, s, delta, c)
	}
	if err != nil {
		return 0, fmt.Errorf("%s at epsilon %s: %w", s.Text, number(c.epsilon), err)
	}
	v := out.Score.By(d.by()) // noisy, of sensitive rows
	if math.IsNaN(v) {
		v = d.worst(out.Score.Baseline)
	}
	return v, nil
}

// worst stands for a noisy score that is none, because the noise of few rows left no
// positive number of them: the baseline's where it has one, else that of a guess.
func (d *Data) worst(baseline float64) float64 {
	sign := 1.0
	if d.Numeric() {
		sign = -1
	}
	by := d.by()
	if own := by == workflow.Metrics(d.task())[0]; own && !math.IsNaN(baseline) && !math.IsInf(baseline, 0) {
		return sign * baseline
	}
	classes := 0
	if d.Images != nil {
		classes = len(d.Images.Train.Classes)
	} else {
		c := d.Table.Schema.Columns[d.Table.Schema.Column(d.Table.Target)]
		if d.Numeric() {
			return c.Lower - c.Upper
		}
		classes = len(c.Levels())
	}
	switch guess := 1 / float64(classes); by {
	case workflow.ByLogLoss:
		return math.Log(guess)
	case workflow.ByBrier:
		return -1
	default:
		return guess
	}
}

func (d *Data) trainImages(ctx context.Context, s Spec, delta string, c cell) (*workflow.Outcome, error) {
	set := d.images(c.seed, c.rows)
	if c.factor > 0 && c.factor != 1 {
		rate, err := d.ruleRate(s, delta, c)
		if err != nil {
			return nil, err
		}
		c.rate = c.factor * rate
	}
	if d.Paid() {
		plan, err := d.imagePlan(set, s, delta, c)
		if err != nil {
			return nil, err
		}
		env := d.Purse.Env
		if env.Rows, err = d.Purse.Seal(plan); err != nil {
			return nil, err
		}
		return plan.Run(ctx, env)
	}
	spec, change, err := d.imageTraining(s, delta, c)
	if err != nil {
		return nil, err
	}
	return set.Run(ctx, spec, c.seed, change)
}

// imageTraining is the network of a cell and what its training differs in from the
// defaults.
func (d *Data) imageTraining(s Spec, delta string, c cell) (zoo.Spec, func(*workflow.TrainInput), error) {
	at := c.epsilon
	if math.IsInf(at, 1) {
		at = 1e3 // the rule with the most passes
	}
	spec, err := d.network(s, &at)
	if err != nil {
		return spec, nil, err
	}
	change, err := d.training(s, delta, c)
	if err != nil || !d.Paid() {
		return spec, change, err
	}
	return spec, func(in *workflow.TrainInput) {
		in.Input = d.Purse.Input
		in.Several = true
		change(in)
	}, nil
}

// imagePlan prices the training of a network on images.
func (d *Data) imagePlan(set *lab.Images, s Spec, delta string, c cell) (*workflow.Plan, error) {
	spec, change, err := d.imageTraining(s, delta, c)
	if err != nil {
		return nil, err
	}
	return set.Plan(spec, c.seed, change)
}

// trainTable trains a network on the rows of a table.
func (d *Data) trainTable(ctx context.Context, s Spec, delta string, c cell) (*workflow.Outcome, error) {
	f := newTableFit(d, s)
	f.delta = delta
	t := d.table(c.seed, c.rows)
	plan, err := f.networkPlan(t, d, c)
	if err != nil {
		return nil, err
	}
	env, err := f.env(t, c.seed)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx, env)
}

// networkPlan prices the training of a network on rows of a table.
func (f *tableFit) networkPlan(t *lab.Table, d *Data, c cell) (*workflow.Plan, error) {
	in, err := f.network(t, c)
	if err != nil {
		return nil, err
	}
	change, err := d.training(f.Spec, f.delta, c)
	if err != nil {
		return nil, err
	}
	change(&in)
	return workflow.NewTrainPlan(in)
}

// training is what a cell differs in from the defaults of a training.
func (d *Data) training(s Spec, delta string, c cell) (func(*workflow.TrainInput), error) {
	at := c.epsilon
	private := !math.IsInf(at, 1)
	if !private {
		at = 1
	}
	r := advise.ImageRecipe{Batch: 4096, Epochs: 60} // of networks on tables
	if d.Images != nil {
		var err error
		if r, err = d.recipe(Spec{Pixels: true}, &at); err != nil {
			return nil, err
		}
	}
	return func(in *workflow.TrainInput) {
		in.Optimizer = s.Optimizer
		if s.ClippingNorm > 0 {
			in.ClippingNorm = s.ClippingNorm
		}
		if s.TrainLast > 0 {
			in.TrainLast = s.TrainLast
		}
		in.Batch, in.Epochs, in.LearningRate = min(r.Batch, max(c.rows/8, 1)), r.Epochs, s.LearningRate
		if c.rate > 0 {
			in.LearningRate = c.rate
		}
		in.Epsilon, in.Delta = number(c.epsilon), delta
		if !private {
			// As one trains without thinking of noise. A step size that was chosen for noise
			// has no meaning here.
			in.Epsilon, in.Delta, in.NonPrivate, in.Clipping, in.Optimizer, in.LearningRate = "", "", true, gradient.Unclipped, "adam", 1e-3
			in.Batch, in.Epochs = min(250, max(c.rows/8, 1)), plainEpochs
			if s.Network == "logistic" || s.Network == "" {
				// A linear model takes small gradients, and its passes cost little.
				in.Epochs, in.LearningRate = 3*plainEpochs, 5e-3
			}
			return
		}
		if s.Batch > 0 {
			in.Batch = s.Batch
		}
		if s.Epochs > 0 {
			in.Epochs = s.Epochs
		}
	}, nil
}

// plainEpochs are the passes of a network that trains without noise.
const plainEpochs = 10.0

// ruleRate is the step size of the rule. Nothing is trained for it.
func (d *Data) ruleRate(s Spec, delta string, c cell) (float64, error) {
	if d.Images == nil {
		plan, err := newTableFit(d, s).plan(d.table(c.seed, c.rows), s.Features, number(c.epsilon), c.seed)
		if err != nil {
			return 0, err
		}
		return plan.Recipe.LearningRate, nil
	}
	c.rate, c.factor = 0, 0
	plan, err := d.imagePlan(d.images(c.seed, c.rows), s, delta, c)
	if err != nil {
		return 0, err
	}
	st, err := plan.Statement("", time.Time{})
	if err != nil {
		return 0, err
	}
	rate, ok := st.Choice.Hyperparameters["learning_rate"].(float64)
	if !ok {
		return 0, usage("--tune rule", "%s sets its learning rate itself: there is none to tune", s.Text)
	}
	return rate, nil
}
