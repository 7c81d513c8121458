package workflow

import (
	"context"
	"fmt"
	"math"
	"time"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/public"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/model"
	"pawl/report"
	spacetable "pawl/search/space/table"
)

// standard is a fit by the standard workflow: on public rows, for comparison, it chooses
// without thinking of the noise and without paying, and then trains once.
type standard struct {
	*fit
	candidates []candidate
	validate   dp.Scope // within the training scope: the choice is not paid for
}

func (s *standard) planTraining() (err error) {
	if err := s.choose(); err != nil {
		return err
	}
	switch {
	case s.problem.Rows == 0:
		return usage("declare rows: in the schema", "workflow stw needs a public number of rows")
	case s.Recipe.Learner != advise.Descent:
		return usage("use --workflow paw: "+s.Recipe.Rules[0].Rule, "at r = %.3g there is nothing to choose", s.SignalRatio)
	}
	s.validate = dp.Scope{Lower: s.trainScope.Upper * (1 - validationShare), Upper: s.trainScope.Upper}
	if s.candidates, err = listCandidates(s.facts()); err != nil {
		return err
	}
	learner, err := s.models.learner(s.Recipe, float64(s.problem.Rows))
	if err != nil {
		return err
	}
	s.add("choose", s.validate, fmt.Sprintf("best of %d candidates by exact accuracy on public rows; not paid for", len(s.candidates)))
	// The steps follow from the choice; every full-batch descent that amounts to
	// this release is paid for by it.
	s.add("train", s.trainScope, learner.Name(), dp.Gaussian{NoiseMultiplier: s.models.noise})
	return nil
}

// listCandidates crosses sets of attributes that the schema gives (all, without
// the one-hot categories, the operator's list) with settings around the rule's
// (clipping norm halved and doubled) and a setting that ignores the noise.
func listCandidates(f advise.Facts) ([]candidate, error) {
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

func (s *standard) run(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	best, err := s.choosePublic(ctx, env)
	if err != nil {
		return err
	}
	out.Winner = best.name
	return s.train(ctx, env, permit, best.recipe, float64(s.problem.Rows), out)
}

// choosePublic trains every candidate without noise on public rows and returns the one of
// best exact score on the validation rows.
func (s *standard) choosePublic(ctx context.Context, env Env) (candidate, error) {
	apart := s.models
	apart.scope.Upper = s.validate.Lower
	best, bestScore := candidate{}, math.Inf(-1)
	for i, c := range s.candidates {
		learner, err := apart.learner(c.recipe, float64(s.problem.Rows))
		if err != nil {
			return best, err
		}
		m, err := learner.(*learn.Descent).FitPublic(ctx, env.Rows)
		if err != nil {
			return best, err
		}
		e := newExact(s.problem, m)
		if err := public.Visit(env.Rows, s.validate, e.add); err != nil {
			return best, err
		}
		score := e.value()
		if m.Task == model.Regression {
			score = -score
		}
		if score > bestScore {
			best, bestScore = c, score
		}
		env.Progress.step("choose", i+1, len(s.candidates))
	}
	return best, nil
}

func (s *standard) expected() time.Duration {
	return time.Duration(len(s.candidates)+1) * s.fit.expected()
}

func (s *standard) describe() description {
	d := s.fit.describe()
	d.unprotected = true
	d.choice.Search = fmt.Sprintf("exact accuracy on public rows over %d candidates, not paid for", len(s.candidates))
	d.uncovered = []string{"The choice among candidates: the drop-in workflow uses rows without charge. The whole is not private."}
	d.features = features{how: "by exact accuracy on public rows, with everything else that it chose", unpaid: true}
	return d
}

func (s *standard) complete(st *report.Statement, out *Outcome) {
	s.fit.complete(st, out)
	st.Warnings = append([]string{chosenUnpaid}, st.Warnings...)
}
