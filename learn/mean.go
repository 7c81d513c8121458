package learn

import (
	"context"
	"fmt"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/model"
)

var _ = register(Kind{
	Name: "mean", Numbers: true, Approximate: true, Pure: true, Vectors: true, Texts: true,
	New: func(s Settings) Learner {
		return &Mean{Task: s.Task, NoiseMultiplier: 1 / s.Epsilon}
	},
})

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
