package workflow

import (
	"context"
	"errors"

	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/model"
)

// train runs the training stage, whichever way the plan chooses.
func (plan *Plan) train(ctx context.Context, env Env, permit *ledger.Permit, nominal float64, out *Outcome) error {
	p := plan.problem
	recipe := plan.Recipe
	if p.Rows == 0 {
		var err error
		if recipe, err = plan.recipeForReleasedRows(nominal); err != nil {
			return err
		}
	}
	if p.Workflow == STW {
		c, err := plan.choosePublic(ctx, env.Rows, env.Progress)
		if err != nil {
			return err
		}
		recipe, out.Winner = c.recipe, c.name
	}
	learner, err := plan.learner(recipe, nominal)
	if err != nil {
		return err
	}
	if w, ok := learner.(learn.Watched); ok {
		w.Watch(func(done, of int) { env.Progress.step("train", done, of) })
	} else {
		env.Progress.step("train", 0, 0)
	}
	if d, ok := learner.(*learn.Descent); ok && plan.perStep > 0 {
		d.SamplingRate, d.NoiseMultiplier = plan.Recipe.SamplingRate, plan.perStep
		d.Steps = plan.Recipe.Steps
	}
	out.Learner, out.Recipe = learner, recipe
	out.Model, err = learner.Fit(ctx, permit, env.Rows)
	return err
}

// recipeForReleasedRows chooses among full-batch descents, all of which the
// booked Gaussian release pays for. Where the rule would release a constant, the
// same descent fits an intercept only.
func (plan *Plan) recipeForReleasedRows(nominal float64) (advise.Recipe, error) {
	facts := plan.facts(nominal)
	recipe, err := advise.Choose(facts)
	if err != nil {
		return recipe, err
	}
	if recipe.Learner != advise.Descent {
		rules := recipe.Rules
		facts.Learner = advise.Descent
		if recipe, err = advise.Choose(facts); err != nil {
			return recipe, err
		}
		recipe.Encoding.InterceptOnly, recipe.Encoding.Crosses = true, false
		recipe.Useful, recipe.Rules = false, rules
	}
	recipe.SamplingRate = 1
	return recipe, nil
}

// scoreStage fills the score: exact on a public test set, released otherwise, and
// both on a public data set without one.
func (plan *Plan) scoreStage(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	p := plan.problem
	if p.Test != HeldOut {
		e := newExact(plan, out.Model)
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
	e := newExact(plan, out.Model)
	if err := release.Public(env.Rows, plan.scoreScope, e.add); err != nil {
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
	if e.plan.problem.Test == Official {
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

const heldOutHow = "released on rows that chose nothing"

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
	e := plan.absoluteError(plan.scoreNoise)
	e.Predict = plan.unitPredictor(out.Model)
	s, err := e.Release(ctx, permit, env.Rows)
	if err != nil {
		return err
	}
	span := plan.problem.scale.Upper - plan.problem.scale.Lower
	inUnits := func(i [2]float64) [2]float64 { return [2]float64{i[0] * span, i[1] * span} }
	out.Score = Score{Value: s.Value * span, Interval: inUnits(s.Interval), Baseline: s.Baseline * span, BaselineInterval: inUnits(s.BaselineInterval), How: heldOutHow}
	return nil
}
