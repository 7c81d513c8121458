package audit

import (
	"context"
	"errors"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/core/selection"
)

func selections() []design { return []design{bestOfMany, bestOfPoisson} }

// bestOfMany is the best of a geometric number of noisy counts: 0.6 of ε. The bound of
// the theorem is met by a mechanism whose outputs are ranked against the better world.
func bestOfMany(noise float64) (Mechanism, error) {
	return bestOf(noise, "selection", dp.TruncatedNegativeBinomial{Eta: 1, Mean: 10})
}

// bestOfPoisson is the best of a Poisson number, which may be none.
func bestOfPoisson(noise float64) (Mechanism, error) {
	return bestOf(noise, "selection, Poisson", dp.PoissonRuns{Mean: 6})
}

// nothing is the score of a study without a run: below every count that will be drawn.
const nothing = -1000

func bestOf(noise float64, name string, runs dp.Runs) (Mechanism, error) {
	c := release.Count{Scope: dp.WholeScope, NoiseMultiplier: noise}
	sel := dp.Select{Runs: runs, Event: c.Event()}
	b, err := addOrRemove(repeat(3, one), one, sel)
	study := selection.Study[struct{}, int64]{Select: sel, Draw: func(*entropy.Source) struct{} { return struct{}{} }}
	return Mechanism{
		Name: name, Entry: "selection.Study.Run", Neighbours: "3 rows and 4, the score of a run being their noisy number", Event: sel,
		Relation: dp.AddOrRemoveOne, Delta: 1e-5,
		Score: b.score(func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (float64, error) {
			s := study
			s.Base = func(ctx context.Context, permit *ledger.Permit, _ int, _ struct{}) (int64, float64, error) {
				v, err := c.Release(ctx, permit, rows)
				return v, float64(v), err
			}
			w, err := s.Run(ctx, permit)
			if errors.Is(err, selection.ErrNothing) {
				return nothing, nil
			}
			return w.Score, err
		}),
	}, err
}
