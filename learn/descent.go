package learn

import (
	"context"
	"math"

	"pawl/core/dp"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/linear"
	"pawl/data/encode"
	"pawl/model"
)

var _ = register(Kind{
	Name: "linear", Classes: true, Numbers: true, Approximate: true, Vectors: true, Texts: true, Weights: true,
	New: func(s Settings) Learner {
		return &Descent{
			Task: s.Task, Encoding: s.Encoding, LearningRate: s.LearningRate, Momentum: s.Momentum, ClassWeights: s.ClassWeights,
			Privacy: gradient.Privacy{Scope: s.Scope, ClippingNorm: s.ClippingNorm, Steps: s.Steps, SamplingRate: 1, NoiseMultiplier: StepNoise(s.NoiseMultiplier, s.Steps)},
		}
	},
})

// Descent is clipped full-batch (or Poisson-lot) noisy heavy-ball descent on a
// linear model.
type Descent struct {
	Task
	gradient.Privacy
	Encoding               *encode.Encoding
	LearningRate, Momentum float64
	// ClassWeights are public factors in (0, 1] on the losses of the classes, nil for 1.
	ClassWeights []float64
	// start are the weights of a model of public rows, nil without one.
	start    []float64
	Progress func(done, steps int)
}

// Name implements Learner.
func (d *Descent) Name() string { return "linear model by noisy gradient descent" }

func (d *Descent) config() linear.Descent {
	p := d.Privacy
	p.Scope = d.Task.Scope
	g := linear.Descent{
		Privacy: p, Encoding: d.Encoding, Loss: linear.Residual, Outputs: 1, Target: d.value(),
		ExpectedRows: d.ExpectedRows, LearningRate: d.LearningRate, Momentum: d.Momentum, ClassWeights: d.ClassWeights, Progress: d.Progress, Start: d.start,
	}
	if d.Kind == model.Classification {
		g.Loss = linear.Logistic
		if d.Levels() > 2 {
			g.Loss, g.Outputs = linear.Softmax, d.Levels()
		}
	}
	return g
}

// Sample implements Sampled. noise is that of a step.
func (d *Descent) Sample(rate, noise float64) { d.SamplingRate, d.NoiseMultiplier = rate, noise }

// Event implements Learner.
func (d *Descent) Event() dp.Event { return d.Privacy.Event() }

// Fit implements Learner.
func (d *Descent) Fit(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (*model.Model, error) {
	g := d.config()
	w, err := linear.Descend(ctx, permit, rows, g)
	if err != nil {
		return nil, err
	}
	return d.wrap(w, g.Outputs), nil
}

// FitPublic trains without noise. It works on public data sets only and its
// model carries no guarantee.
func (d *Descent) FitPublic(ctx context.Context, rows *intake.Rows) (*model.Model, error) {
	g := d.config()
	w, err := linear.DescendPublic(ctx, rows, g)
	if err != nil {
		return nil, err
	}
	return d.wrap(w, g.Outputs), nil
}

// Teach implements Taught: the first weights are those that a descent on the public rows ends
// with, of settings for so many rows.
func (d *Descent) Teach(ctx context.Context, rows *intake.Rows, s Settings) (err error) {
	p := *d
	p.Task.Scope, p.ExpectedRows, p.ClippingNorm, p.Steps, p.LearningRate, p.Momentum = s.Scope, s.ExpectedRows, s.ClippingNorm, s.Steps, s.LearningRate, s.Momentum
	p.start, p.Progress = nil, nil
	d.start, err = linear.DescendPublic(ctx, rows, p.config())
	return err
}

func (d *Descent) wrap(w []float64, outputs int) *model.Model {
	m := d.model(model.Linear)
	m.Encoding, m.Outputs, m.Weights = d.Encoding, outputs, w
	return m
}

// Watch implements Watched.
func (d *Descent) Watch(progress func(done, steps int)) { d.Progress = progress }

// StepNoise is the multiplier of each of T steps that together amount to one
// release with multiplier x: x·√T, nudged up so that rounding cannot lower it.
func StepNoise(x float64, steps int) float64 {
	return x * math.Sqrt(float64(steps)) * (1 + 1e-12)
}
