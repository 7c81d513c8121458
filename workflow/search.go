package workflow

import (
	"context"
	"fmt"
	"math"

	"pawl/advise"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/core/selection"
	"pawl/learn"
	"pawl/model"
	"pawl/schema"
)

// candidate is one data-free choice that a search or stw may make.
type candidate struct {
	name   string
	recipe advise.Recipe
}

// maxCandidates bounds the space of a search.
const maxCandidates = 12

// listCandidates crosses sets of attributes that the schema gives (all, without
// the one-hot categories, the operator's list) with settings around the rule's
// (clipping norm halved and doubled) and a setting that ignores the noise.
func (plan *Plan) listCandidates(f advise.Facts) ([]candidate, error) {
	type attributes struct {
		name string
		list []string
	}
	sets := []attributes{{"all attributes", nil}}
	if list := withoutOneHot(f.Schema, f.Target); list != nil {
		sets = append(sets, attributes{"without one-hot categories", list})
	}
	if f.Attributes != nil {
		sets = append(sets, attributes{"the named attributes", f.Attributes})
	}
	type setting struct {
		name           string
		clip, movement float64
	}
	var out []candidate
	for _, s := range sets {
		facts := f
		facts.Attributes, facts.Learner = s.list, advise.Descent
		base, err := advise.Choose(facts)
		if err != nil {
			return nil, err
		}
		settings := []setting{
			{"rule", 1, 1}, {"half the clipping norm", 0.5, 1}, {"twice the clipping norm", 2, 1},
			// What one would use who does not think of noise: no residual is clipped.
			{"no clipping, four times the movement", base.Unclipped(), 4},
		}
		for _, v := range settings {
			out = append(out, candidate{name: s.name + ", " + v.name, recipe: base.Scaled(v.clip, v.movement)})
		}
	}
	if plan.problem.task == model.Regression && len(out) < maxCandidates {
		facts := f
		facts.Learner = advise.NormalEquations
		normal, err := advise.Choose(facts)
		if err != nil {
			return nil, err
		}
		if plan.problem.Workflow == PAW {
			out = append(out, candidate{name: "normal equations", recipe: normal})
		}
	}
	return out[:min(len(out), maxCandidates)], nil
}

func withoutOneHot(s *schema.Schema, target string) []string {
	var list []string
	dropped := false
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.Type == schema.Ignore || c.Name == target || c.Name == s.Unit.Column {
			continue
		}
		if c.Type == schema.Categorical && !c.Ordered && len(c.Levels()) > 2 {
			dropped = true
			continue
		}
		list = append(list, c.Name)
	}
	if !dropped || len(list) == 0 {
		return nil
	}
	return list
}

// selectionEvent is a Papernot–Steinke selection whose runs train on one scope
// and score on a disjoint one with the same multiplier, so that the score is free.
func (plan *Plan) selectionEvent(x float64) dp.Select {
	return dp.Select{
		Runs: dp.TruncatedNegativeBinomial{Eta: 0, Mean: meanRuns},
		Event: dp.Compose{Events: []dp.Event{
			dp.Scoped{Scope: plan.trainScope, Event: dp.Gaussian{NoiseMultiplier: x}},
			dp.Scoped{Scope: plan.validateScope, Event: dp.Compose{Events: plan.validationEvents(x)}},
		}},
	}
}

func (plan *Plan) validationEvents(x float64) []dp.Event {
	if plan.problem.task == model.Regression {
		return plan.absoluteError(x).Events()
	}
	return []dp.Event{dp.DiscreteGaussian{NoiseMultiplier: x}}
}

func (plan *Plan) bookSearch() {
	sel := plan.selectionEvent(plan.noise)
	plan.selection = &sel
	plan.add("search and train", dp.WholeScope,
		fmt.Sprintf("private selection over at most %d data-free candidates, a secret number of runs (mean %d), the winner released", maxCandidates, meanRuns), sel)
}

// scored is what one run of a search yields.
type scored struct {
	model   *model.Model
	learner learn.Learner
}

// search runs the selection and returns the winner.
func (plan *Plan) search(ctx context.Context, permit *ledger.Permit, rows *intake.Rows, nominal float64, src *entropy.Source) (selection.Winner[candidate, scored], error) {
	candidates := plan.candidates
	if candidates == nil && plan.choosing == nil {
		var err error
		if candidates, err = plan.listCandidates(plan.facts(nominal)); err != nil {
			return selection.Winner[candidate, scored]{}, err
		}
	}
	draw := func(src *entropy.Source) candidate { return candidates[src.Uint64n(uint64(len(candidates)))] }
	if plan.choosing != nil {
		draw = plan.drawSet
	}
	base := func(ctx context.Context, permit *ledger.Permit, c candidate, src *entropy.Source) (scored, float64, error) {
		learner, err := plan.learner(c.recipe, nominal)
		if err != nil {
			return scored{}, 0, err
		}
		m, err := learner.Fit(ctx, permit, rows, src.Split("train"))
		if err != nil {
			return scored{}, 0, err
		}
		score, err := plan.validationScore(ctx, permit, rows, m, src.Split("score"))
		return scored{m, learner}, score, err
	}
	return selection.Run(ctx, permit, *plan.selection, src, draw, base)
}

// validationScore is larger for better models.
func (plan *Plan) validationScore(ctx context.Context, permit *ledger.Permit, rows *intake.Rows, m *model.Model, src *entropy.Source) (float64, error) {
	if plan.problem.task == model.Regression {
		e := plan.absoluteError(plan.noise)
		e.Scope, e.Predict = plan.validateScope, plan.unitPredictor(m)
		s, err := e.Release(ctx, permit, rows, src)
		return -s.Value, err
	}
	s, err := release.Accuracy{
		Scope: plan.validateScope, NoiseMultiplier: plan.noise, Column: plan.problem.targetColumn,
		Levels: len(m.Classes()), Predict: classPredictor(m),
	}.Release(ctx, permit, rows, src)
	return s.Value, err
}

// choosePublic is stw: it trains every candidate without noise on public rows and
// returns the one of best exact score on the validation rows.
func (plan *Plan) choosePublic(ctx context.Context, rows *intake.Rows, progress Progress) (candidate, error) {
	p := plan.problem
	best, bestScore := candidate{}, math.Inf(-1)
	for i, c := range plan.candidates {
		learner, err := plan.learner(c.recipe, float64(p.Rows))
		if err != nil {
			return best, err
		}
		d := learner.(*learn.Descent)
		d.Task.Scope = dp.Scope{Lower: plan.trainScope.Lower, Upper: plan.validateScope.Lower}
		d.ExpectedRows = float64(p.Rows) * d.Task.Scope.Fraction()
		m, err := d.FitPublic(ctx, rows)
		if err != nil {
			return best, err
		}
		score, err := plan.exactScore(rows, plan.validateScope, m)
		if err != nil {
			return best, err
		}
		if score > bestScore {
			best, bestScore = c, score
		}
		progress.step("choose", i+1, len(plan.candidates))
	}
	return best, nil
}

// exactScore is larger for better models; it works on public data only.
func (plan *Plan) exactScore(rows *intake.Rows, scope dp.Scope, m *model.Model) (float64, error) {
	e := newExact(plan, m)
	if err := release.Public(rows, scope, e.add); err != nil {
		return 0, err
	}
	if plan.problem.task == model.Regression {
		return -e.value(), nil
	}
	return e.value(), nil
}
