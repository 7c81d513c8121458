package workflow

import (
	"context"
	"errors"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/public"
	"pawl/core/release"
	"pawl/model"
)

func (plan *Plan) planScore() error {
	p := plan.problem
	if p.Test != HeldOut {
		what := "exact score on a public test file"
		if p.Test == Official {
			what = "exact score on the official public test set"
		}
		plan.add("score", dp.Scope{}, what)
		return plan.planGroups()
	}
	if err := plan.calibrateScore(); err != nil {
		return err
	}
	plan.add("score", plan.scoreScope, "score and baseline on held-out rows, from one noisy table of counts", plan.scoreEvents(plan.scoreNoise)...)
	return plan.planGroups()
}

// scoreEvents splits a score's budget: a regression first pays a fifth for the
// mean that its baseline predicts.
func (plan *Plan) scoreEvents(x float64) []dp.Event {
	switch {
	case plan.problem.delta == 0:
		return []dp.Event{dp.DiscreteLaplace{NoiseMultiplier: x}}
	case plan.problem.task == model.Regression:
		return plan.problem.absoluteError(plan.scoreScope, x).Events()
	}
	return []dp.Event{dp.DiscreteGaussian{NoiseMultiplier: x}}
}

// scoreRows fills the score: exact on a public test set, released otherwise, and
// both on a public data set without one.
func (plan *Plan) scoreRows(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	p := plan.problem
	if p.Test != HeldOut {
		e := newExact(plan.problem, out.Model)
		for _, cells := range env.Test {
			e.add(cells)
		}
		return e.publish(out)
	}
	var err error
	if p.task == model.Regression {
		err = plan.releaseError(ctx, env, permit, out)
	} else {
		err = plan.releaseAccuracy(ctx, env, permit, out, release.Accuracy{Predict: classPredictor(out.Model)})
	}
	if err == nil {
		err = plan.releaseGroups(ctx, env, permit, out)
	}
	if err != nil || !p.Public {
		return err
	}
	e := newExact(plan.problem, out.Model)
	if err := public.Visit(env.Rows, plan.scoreScope, e.add); err != nil {
		return err
	}
	e.accompany(out)
	return nil
}

// publish makes the exact score of a public test set the score of the run.
func (e *exact) publish(out *Outcome) error {
	if e.n == 0 {
		return errors.New("no test row has a known target")
	}
	out.Score = e.score()
	if e.groups != nil {
		out.Score.Groups = e.groups.scores(e.model.Task)
	}
	out.Score.How = "test file, public by the operator's word"
	if e.problem.Test == Official {
		out.Score.How = "public benchmark, official test set"
	}
	return nil
}

// accompany puts the exact numbers of a public data set beside the released ones.
func (e *exact) accompany(out *Outcome) {
	if e.n == 0 {
		return
	}
	s := e.score()
	out.Score.Exact, out.Score.ExactBaseline, out.Score.AUROC = s.Exact, s.ExactBaseline, s.AUROC
	if e.groups != nil {
		e.groups.accompany(out.Score.Groups, e.model.Task)
	}
}

func (e *exact) score() Score {
	v := e.value()
	b, baseline := e.baseline()
	s := Score{Value: v, Interval: e.interval(), Baseline: b, BaselineInterval: baseline, Exact: &v, ExactBaseline: &b, losses: e.losses}
	if a, ok := e.auroc(); ok {
		s.AUROC = &a
	}
	return s
}

const heldOutHow = "released on held-out rows"

// releaseAccuracy scores by a, which says how to predict.
func (plan *Plan) releaseAccuracy(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome, a release.Accuracy) error {
	a.Scope, a.NoiseMultiplier, a.Pure = plan.scoreScope, plan.scoreNoise, plan.problem.delta == 0
	a.Column, a.Levels = plan.problem.targetColumn, len(out.Model.Classes())
	s, err := a.Release(ctx, permit, env.Rows)
	if err != nil {
		return err
	}
	out.Score = Score{Value: s.Value, Interval: s.Interval, Baseline: s.Baseline, BaselineInterval: s.BaselineInterval, How: heldOutHow}
	return nil
}

func (plan *Plan) releaseError(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	e := plan.problem.absoluteError(plan.scoreScope, plan.scoreNoise)
	e.Predict = plan.problem.unitPredictor(out.Model)
	s, err := e.Release(ctx, permit, env.Rows)
	if err != nil {
		return err
	}
	span := plan.problem.scale.Upper - plan.problem.scale.Lower
	inUnits := func(i [2]float64) [2]float64 { return [2]float64{i[0] * span, i[1] * span} }
	out.Score = Score{Value: s.Value * span, Interval: inUnits(s.Interval), Baseline: s.Baseline * span, BaselineInterval: inUnits(s.BaselineInterval), How: heldOutHow}
	return nil
}

// validationEvents are what a score that chooses costs.
func (p *problem) validationEvents(x float64) []dp.Event {
	if p.task == model.Regression {
		return p.absoluteError(dp.Scope{}, x).Events()
	}
	return []dp.Event{dp.DiscreteGaussian{NoiseMultiplier: x}}
}

// validationScore scores on a scope that chooses; it is larger for better models.
func (p *problem) validationScore(ctx context.Context, permit *ledger.Permit, rows *intake.Rows, m *model.Model, scope dp.Scope, noise float64) (float64, error) {
	if p.task == model.Regression {
		e := p.absoluteError(scope, noise)
		e.Predict = p.unitPredictor(m)
		s, err := e.Release(ctx, permit, rows)
		return known(-s.Value, -1), err
	}
	s, err := release.Accuracy{
		Scope: scope, NoiseMultiplier: noise, Column: p.targetColumn,
		Levels: len(m.Classes()), Predict: classPredictor(m),
	}.Release(ctx, permit, rows)
	return known(s.Value, 0), err
}

// known is a score to choose by. One that noise left unknown is the worst: as a failed
// run it could end a selection that was paid for without a winner, by what the rows hold.
func known(score, worst float64) float64 {
	if score != score {
		return worst
	}
	return score
}
