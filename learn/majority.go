package learn

import (
	"context"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/model"
)

var _ = register(Kind{
	Name: "majority", Classes: true, Approximate: true, Pure: true, Vectors: true, Texts: true,
	New: func(s Settings) Learner {
		return &Majority{Task: s.Task, NoiseMultiplier: 1 / s.Epsilon}
	},
})

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
