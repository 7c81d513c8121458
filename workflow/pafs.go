package workflow

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/core/selection"
	"pawl/evidence/advise"
	"pawl/feature"
	"pawl/model"
)

// Privacy-aware feature selection trains private models on sets of attributes and keeps
// the set that scores best. Published, a genetic search reads the score of every model;
// that composes over thousands of trainings (pafspublished.go). Here sets are drawn without looking at data
// and a Papernot–Steinke selection releases the winner alone.

func (c *choosing) checkPAFS(p *problem) error {
	if c.AsPublished {
		return c.checkPublishedPAFS(p)
	}
	switch {
	case c.Level != feature.AttributeLevel:
		return usage("leave out --level", "method pafs draws sets of columns of the schema: a further category costs nothing under unit blocks")
	case c.Count != feature.Auto:
		return usage("leave out --k", "method pafs finds the number of features itself: the winning set has the number that scored best")
	case c.Bins != 0:
		return usage("leave out --bins", "method pafs counts no bins: its models take theirs from the recipe")
	}
	return nil
}

func (plan *Plan) planPAFS() (err error) {
	p := plan.problem
	switch {
	case p.delta == 0:
		return usage("give a delta above 0", "a private selection is offered at delta > 0 only")
	case p.Rows == 0:
		return usage("declare rows: about N in the schema", "settings of the trainings follow from a public number of rows")
	}
	cut := 1 - validationShare
	plan.trainScope, plan.validateScope = dp.Scope{Lower: 0, Upper: cut}, dp.Scope{Lower: cut, Upper: 1}
	if plan.noise, err = plan.smallest(func(x float64) dp.Event { return plan.selectionEvent(x) }); err != nil {
		return err
	}
	facts := plan.facts(float64(p.Rows))
	facts.Attributes, plan.SignalRatio = nil, facts.SignalRatio()
	rule, err := advise.Choose(facts)
	switch {
	case err != nil:
		return usage("use --method all", "%v", err)
	case !rule.Useful:
		// Every model would be noise, and so would the winner.
		return usage("a larger epsilon, or --method all", "no model can be trained at r = %.3g, so no set of features can win by its model", plan.SignalRatio)
	}
	if _, err := plan.setOf(nil); err != nil {
		return err
	}
	plan.add("select", dp.WholeScope,
		fmt.Sprintf("private selection over sets of attributes drawn without looking at data, a secret number of trainings (mean %d), the winner released", meanRuns), plan.selectionEvent(plan.noise))
	return plan.priceAll()
}

// setOf is the candidate of a set of attributes; nil stands for all.
func (plan *Plan) setOf(names []string) (candidate, error) {
	facts := plan.facts(float64(plan.problem.Rows))
	facts.Attributes, facts.Learner = names, advise.Descent
	recipe, err := advise.Choose(facts)
	if err != nil {
		return candidate{}, usage("use --method all", "%v", err)
	}
	return candidate{name: fmt.Sprint(names), recipe: recipe}, nil
}

// drawSet draws a set of attributes: its size is log-uniform.
func (plan *Plan) drawSet(src *entropy.Source) candidate {
	attributes := plan.choosing.layout.Domain.Attributes
	set := feature.DrawSubset(rand.New(rand.NewPCG(src.Uint64(), src.Uint64())), len(attributes))
	var names []string
	for _, i := range set.Indices() {
		names = append(names, attributes[i].Name)
	}
	c, err := plan.setOf(names)
	if err != nil {
		panic(err) // the plan has chosen a recipe for the same facts
	}
	return c
}

func (plan *Plan) choosePAFS(ctx context.Context, env Env) (*Selected, error) {
	out := &Selected{Plan: plan, Selection: &feature.Selection{Selector: "pafs", Level: feature.AttributeLevel}}
	receipt, err := plan.charged(ctx, env, func(permit *ledger.Permit) error {
		if err := out.booked.keep(env.Ledger, permit); err != nil {
			return err
		}
		env.Progress.step("select", 0, 0)
		winner, err := plan.selectSet(ctx, permit, env.Rows, float64(plan.problem.Rows))
		if err != nil {
			return err
		}
		out.Selection.Merit = winner.Score
		out.Selection.Note = "the merit is the winner's noisy validation accuracy: it chose the set, so it is optimistic"
		chosen := winner.Candidate.recipe.Encoding.Attributes
		for i, a := range plan.choosing.layout.Domain.Attributes {
			for _, name := range chosen {
				if name == a.Name {
					out.Selection.Chosen = append(out.Selection.Chosen, feature.Choice{Index: i, Column: feature.Column{Name: name, Attribute: i, Level: -1},
						Score: math.NaN(), Reason: "in the winning set"})
				}
			}
		}
		return nil
	})
	out.Receipt, out.Seeded = receipt, receipt.NotPrivate
	return out, err
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

// selectSet runs the selection and returns the winner.
func (plan *Plan) selectSet(ctx context.Context, permit *ledger.Permit, rows *intake.Rows, nominal float64) (selection.Winner[candidate, *model.Model], error) {
	base := func(ctx context.Context, permit *ledger.Permit, c candidate) (*model.Model, float64, error) {
		learner, err := plan.learner(c.recipe, nominal)
		if err != nil {
			return nil, 0, err
		}
		m, err := learner.Fit(ctx, permit, rows)
		if err != nil {
			return nil, 0, err
		}
		score, err := plan.validationScore(ctx, permit, rows, m)
		return m, score, err
	}
	return selection.Run(ctx, permit, plan.selectionEvent(plan.noise), plan.drawSet, base)
}

// validationScore is larger for better models.
func (plan *Plan) validationScore(ctx context.Context, permit *ledger.Permit, rows *intake.Rows, m *model.Model) (float64, error) {
	if plan.problem.task == model.Regression {
		e := plan.absoluteError(plan.noise)
		e.Scope, e.Predict = plan.validateScope, plan.unitPredictor(m)
		s, err := e.Release(ctx, permit, rows)
		return known(-s.Value, -1), err
	}
	s, err := release.Accuracy{
		Scope: plan.validateScope, NoiseMultiplier: plan.noise, Column: plan.problem.targetColumn,
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
