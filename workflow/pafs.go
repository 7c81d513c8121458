package workflow

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/advise"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/ledger"
	"pawl/feature"
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
	p.Search = true // sets are candidates of a search
	cut := 1 - validationShare
	plan.trainScope, plan.validateScope = dp.Scope{Lower: 0, Upper: cut}, dp.Scope{Lower: cut, Upper: 1}
	if plan.noise, err = plan.smallest(plan.trainingEvent); err != nil {
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
	sel := plan.selectionEvent(plan.noise)
	plan.selection = &sel
	plan.add("select", dp.WholeScope,
		fmt.Sprintf("private selection over sets of attributes drawn without looking at data, a secret number of trainings (mean %d), the winner released", meanRuns), sel)
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
	receipt, seeded, err := plan.charged(ctx, env, func(permit *ledger.Permit, src *entropy.Source) error {
		env.Progress.step("select", 0, 0)
		winner, err := plan.search(ctx, permit, env.Rows, float64(plan.problem.Rows), src)
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
	out.Receipt, out.Seeded = receipt, seeded
	return out, err
}
