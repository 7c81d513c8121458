package workflow

import (
	"context"
	"errors"
	"math"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/public"
	"pawl/core/release"
	"pawl/evidence/quality"
	"pawl/model"
)

// scorer scores or predicts a row, by its cells or by its dense input.
type scorer struct {
	cells func(cells []float64) float64
	input func(input []float32) float64
}

func (s scorer) of(cells []float64, input []float32) float64 {
	if s.input != nil {
		return s.input(input)
	}
	return s.cells(cells)
}

// predictors are what a model says of rows of a table: its labels or numbers and, for
// classes, raw scores.
func predictors(m *model.Model) (predict, score scorer) {
	predict.cells = m.Predictor()
	if m.Scored() {
		score.cells = m.RowScorer()
	}
	return predict, score
}

// scoreRows fills the score: exact on a public test set, released otherwise, and
// both on a public data set without one.
func (plan *Plan) scoreRows(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	p := plan.problem
	predict, score := predictors(out.Model)
	if p.Test != HeldOut {
		if err := plan.calibrate(ctx, env, permit, out, predict, score); err != nil {
			return err
		}
		e := newExact(plan.problem, out.Model)
		for _, cells := range env.Test {
			e.add(cells)
		}
		return e.publish(out)
	}
	if err := plan.release(ctx, env, permit, out); err != nil {
		return err
	}
	if err := plan.releaseGroups(ctx, env, permit, out); err != nil || !p.Public {
		return err
	}
	e := newExact(plan.problem, out.Model)
	if err := public.Visit(env.Rows, plan.scoreScope, e.add); err != nil {
		return err
	}
	e.accompany(out)
	return nil
}

// release releases the score of a model of a table.
func (plan *Plan) release(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	if plan.problem.task == model.Regression {
		return plan.releaseNumbers(ctx, env, permit, out)
	}
	predict, score := predictors(out.Model)
	return plan.releaseClasses(ctx, env, permit, out, predict, score)
}

// publish makes the exact score of a public test set the score of the run.
func (e *exact) publish(out *Outcome) error {
	if e.n == 0 {
		return errors.New("no test row has a known target")
	}
	out.Score = e.score()
	if e.groups != nil {
		var classes func(rows []int) *quality.Classification
		if e.model.TwoClasses() {
			classes = e.classification
		}
		out.Score.Groups = e.groups.scores(e.model.Task, classes)
	}
	out.Score.How = "test file, declared public by the operator"
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
	s := Score{Value: v, Interval: e.interval(), Baseline: b, BaselineInterval: baseline, Exact: &v, ExactBaseline: &b, losses: e.losses, Gain: e.gain()}
	if e.model.Task == model.Regression {
		s.Numbers = e.numbers()
		return s
	}
	if s.Classes = e.classification(e.all()); s.Classes.AUROC != nil && s.Classes.AUROC.Known() {
		s.AUROC = s.Classes.AUROC
	}
	return s
}

const heldOutHow = "released on held-out rows"

// known and interval are those of an estimate: NaN and [low, high] where there is none.
func (s *Score) set(value, baseline quality.Estimate, low, high float64) {
	read := func(e quality.Estimate) (float64, [2]float64) {
		if !e.Known() {
			return math.NaN(), [2]float64{low, high}
		}
		return *e.Value, *e.Interval
	}
	s.Value, s.Interval = read(value)
	s.Baseline, s.BaselineInterval = read(baseline)
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
