package workflow

import (
	"context"
	"math"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/release"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/model"
	spacetable "pawl/search/space/table"
)

// candidate is one data-free choice that stw or a selection of features may make.
type candidate struct {
	name   string
	recipe advise.Recipe
}

// listCandidates crosses sets of attributes that the schema gives (all, without
// the one-hot categories, the operator's list) with settings around the rule's
// (clipping norm halved and doubled) and a setting that ignores the noise.
func (plan *Plan) listCandidates(f advise.Facts) ([]candidate, error) {
	type attributes struct {
		name string
		list []string
	}
	sets := []attributes{{"all attributes", nil}}
	if list := spacetable.WithoutOneHot(f.Schema, f.Target, nil); list != nil {
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
	return out, nil
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
