// Package learn turns a recipe into a model: it states the Event of a training
// run from public parameters and calls the audited mechanisms of core with
// callbacks. It never holds opened rows.
package learn

import (
	"context"
	"fmt"

	"pawl/core/dp"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/model"
)

// Learner trains one model on one scope of the unit hash.
type Learner interface {
	// Name is the name a person knows it by.
	Name() string
	// Event is what Fit costs on its scope.
	Event() dp.Event
	// Fit trains. permit must hold Event on the learner's scope, unused.
	Fit(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (*model.Model, error)
}

// Task is what every learner needs to know about the problem: public facts only.
type Task struct {
	Schema *schema.Schema
	Target string
	Kind   model.Task
	// Scale belongs to regression.
	Scale model.TargetScale
	Scope dp.Scope
	// ExpectedRows is the nominal number of rows in Scope.
	ExpectedRows float64
}

func (t Task) column() int { return t.Schema.Column(t.Target) }

// Levels is the number of classes.
func (t Task) Levels() int { return len(t.Schema.Columns[t.column()].Levels()) }

func (t Task) model(kind model.Kind) *model.Model {
	return &model.Model{Task: t.Kind, Kind: kind, Schema: t.Schema, Target: t.Target, Scale: t.Scale}
}

// value is the training target: a class index, or the position in [−1, 1].
func (t Task) value() func(cells []float64) float64 {
	col := t.column()
	if t.Kind == model.Classification {
		return func(cells []float64) float64 { return cells[col] }
	}
	scale := t.Scale
	return func(cells []float64) float64 { return scale.Scale(cells[col]) }
}

// Descent is clipped full-batch (or Poisson-lot) noisy heavy-ball descent on a
// linear model.
type Descent struct {
	Task
	gradient.Privacy
	Encoding               *encode.Encoding
	LearningRate, Momentum float64
	Progress               func(done, steps int)
}

// Name implements Learner.
func (d *Descent) Name() string { return "linear model by noisy gradient descent" }

func (d *Descent) config() gradient.Descent {
	p := d.Privacy
	p.Scope = d.Task.Scope
	g := gradient.Descent{
		Privacy: p, Encoding: d.Encoding, Loss: gradient.Residual, Outputs: 1, Target: d.value(),
		ExpectedRows: d.ExpectedRows, LearningRate: d.LearningRate, Momentum: d.Momentum, Progress: d.Progress,
	}
	if d.Kind == model.Classification {
		g.Loss = gradient.Logistic
		if d.Levels() > 2 {
			g.Loss, g.Outputs = gradient.Softmax, d.Levels()
		}
	}
	return g
}

// Event implements Learner.
func (d *Descent) Event() dp.Event { return d.Privacy.Event() }

// Fit implements Learner.
func (d *Descent) Fit(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (*model.Model, error) {
	g := d.config()
	w, err := gradient.Descend(ctx, permit, rows, g)
	if err != nil {
		return nil, err
	}
	return d.wrap(w, g.Outputs), nil
}

// FitPublic trains without noise. It works on public data sets only and its
// model carries no guarantee.
func (d *Descent) FitPublic(ctx context.Context, rows *intake.Rows) (*model.Model, error) {
	g := d.config()
	w, err := gradient.DescendPublic(ctx, rows, g)
	if err != nil {
		return nil, err
	}
	return d.wrap(w, g.Outputs), nil
}

func (d *Descent) wrap(w []float64, outputs int) *model.Model {
	m := d.model(model.Linear)
	m.Encoding, m.Outputs, m.Weights = d.Encoding, outputs, w
	return m
}

// Majority predicts the class of the largest noisy count.
type Majority struct {
	Task
	NoiseMultiplier float64
}

// Name implements Learner.
func (m *Majority) Name() string { return "majority class" }

func (m *Majority) config() release.Majority {
	return release.Majority{Scope: m.Scope, NoiseMultiplier: m.NoiseMultiplier, Column: m.column(), Levels: m.Levels()}
}

// Event implements Learner.
func (m *Majority) Event() dp.Event { return m.config().Event() }

// Fit implements Learner.
func (m *Majority) Fit(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (*model.Model, error) {
	class, err := m.config().Release(ctx, permit, rows)
	if err != nil {
		return nil, err
	}
	out := m.model(model.Constant)
	out.Value = float64(class)
	return out, nil
}

// Mean predicts the noisy mean of the target within its public bounds.
type Mean struct {
	Task
	NoiseMultiplier float64
}

// Name implements Learner.
func (m *Mean) Name() string { return "mean" }

func (m *Mean) config() release.Mean {
	return release.Mean{Scope: m.Scope, NoiseMultiplier: m.NoiseMultiplier, Value: m.value(), ExpectedRows: m.ExpectedRows}
}

// Event implements Learner.
func (m *Mean) Event() dp.Event { return m.config().Event() }

// Fit implements Learner.
func (m *Mean) Fit(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (*model.Model, error) {
	v, err := m.config().Release(ctx, permit, rows)
	if err != nil {
		return nil, fmt.Errorf("mean: %w", err)
	}
	out := m.model(model.Constant)
	out.Value = v
	return out, nil
}
