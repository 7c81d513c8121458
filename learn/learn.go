// Package learn turns a recipe into a model: it states the Event of a training
// run from public parameters and calls the audited mechanisms of core with
// callbacks. It never holds opened rows.
package learn

import (
	"context"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
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
	// Monotone names columns whose effect may only rise (1) or fall (−1).
	Monotone map[string]int
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
