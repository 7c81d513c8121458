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
	"pawl/core/selection"
	"pawl/evidence/advise"
	"pawl/model"
	"pawl/search/feature"
)

// meanRuns is the expected number of trainings of method pafs.
const meanRuns = 8

// pafs is privacy-aware feature selection: it trains private models on sets of attributes and
// keeps the set that scores best. Published, a genetic search reads the score of every model;
// that composes over thousands of trainings (publishedpafs.go). Here sets are drawn without
// looking at data and a Papernot–Steinke selection releases the winner alone.
type pafs struct {
	*choosing
	models   tableModels
	validate dp.Scope
}

// candidate is one data-free choice that a selection of features, or the standard workflow, may make.
type candidate struct {
	name   string
	recipe advise.Recipe
}

func (c *choosing) checkPAFS() error {
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

func (c *pafs) price() (err error) {
	p := c.plan.problem
	switch {
	case p.delta == 0:
		return usage("give a delta above 0", "a private selection is offered at delta > 0 only")
	case p.Rows == 0:
		return usage("declare rows: about N in the schema", "the settings of the training runs follow from a public number of rows")
	}
	cut := 1 - validationShare
	c.validate = dp.Scope{Lower: cut, Upper: 1}
	c.models = tableModels{problem: p, scope: dp.Scope{Lower: 0, Upper: cut}, left: c.plan.remaining()}
	if c.models.noise, err = c.plan.smallest(func(x float64) dp.Event { return c.event(x) }); err != nil {
		return err
	}
	facts := c.models.facts(float64(p.Rows))
	facts.Attributes, c.plan.SignalRatio = nil, facts.SignalRatio()
	rule, err := advise.Choose(facts)
	switch {
	case err != nil:
		return usage("use --method all", "%v", err)
	case !rule.Useful:
		// Every model would be noise, and so would the winner.
		return usage("a larger epsilon, or --method all", "no model can be trained at r = %.3g, so no set of features can win by its model", c.plan.SignalRatio)
	}
	if _, err := c.setOf(nil); err != nil {
		return err
	}
	c.plan.add("select", dp.WholeScope,
		fmt.Sprintf("private selection over sets of attributes drawn independently of the data; a secret number of training runs (mean %d); only the winner is released", meanRuns), c.event(c.models.noise))
	return c.plan.priceAll()
}

// setOf is the candidate of a set of attributes; nil stands for all.
func (c *pafs) setOf(names []string) (candidate, error) {
	facts := c.models.facts(float64(c.plan.problem.Rows))
	facts.Attributes, facts.Learner = names, advise.Descent
	recipe, err := advise.Choose(facts)
	if err != nil {
		return candidate{}, usage("use --method all", "%v", err)
	}
	return candidate{name: fmt.Sprint(names), recipe: recipe}, nil
}

// drawSet draws a set of attributes: its size is log-uniform.
func (c *pafs) drawSet(src *entropy.Source) candidate {
	attributes := c.layout.Domain.Attributes
	set := feature.DrawSubset(rand.New(rand.NewPCG(src.Uint64(), src.Uint64())), len(attributes))
	var names []string
	for _, i := range set.Indices() {
		names = append(names, attributes[i].Name)
	}
	one, err := c.setOf(names)
	if err != nil {
		panic(err) // the plan has chosen a recipe for the same facts
	}
	return one
}

func (c *pafs) choose(ctx context.Context, env Env, permit *ledger.Permit, out *Selected) error {
	env.Progress.step("select", 0, 0)
	winner, err := c.selectSet(ctx, permit, env.Rows)
	if err != nil {
		return err
	}
	out.Selection = &feature.Selection{Selector: c.Method, Level: feature.AttributeLevel, Merit: winner.Score,
		Note: "the merit is the winner's noisy validation accuracy: it chose the set, so it is optimistic"}
	chosen := winner.Candidate.recipe.Encoding.Attributes
	for i, a := range c.layout.Domain.Attributes {
		for _, name := range chosen {
			if name == a.Name {
				out.Selection.Chosen = append(out.Selection.Chosen, feature.Choice{Index: i, Column: feature.Column{Name: name, Attribute: i, Level: -1},
					Score: math.NaN(), Reason: "in the winning set"})
			}
		}
	}
	return nil
}

// event is a Papernot–Steinke selection whose runs train on one scope
// and score on a disjoint one with the same multiplier, so that the score is free.
func (c *pafs) event(x float64) dp.Select {
	return dp.Select{
		Runs: dp.TruncatedNegativeBinomial{Eta: 0, Mean: meanRuns},
		Event: dp.Compose{Events: []dp.Event{
			dp.Scoped{Scope: c.models.scope, Event: dp.Gaussian{NoiseMultiplier: x}},
			dp.Scoped{Scope: c.validate, Event: dp.Compose{Events: c.plan.problem.validationEvents(x)}},
		}},
	}
}

// selectSet runs the selection and returns the winner.
func (c *pafs) selectSet(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (selection.Winner[candidate, *model.Model], error) {
	p := c.plan.problem
	base := func(ctx context.Context, permit *ledger.Permit, _ int, of candidate) (*model.Model, float64, error) {
		learner, err := c.models.learner(of.recipe, float64(p.Rows))
		if err != nil {
			return nil, 0, err
		}
		m, err := learner.Fit(ctx, permit, rows)
		if err != nil {
			return nil, 0, err
		}
		score, err := p.validationScore(ctx, permit, rows, m, c.validate, c.models.noise)
		return m, score, err
	}
	return selection.Study[candidate, *model.Model]{Select: c.event(c.models.noise), Draw: c.drawSet, Base: base}.Run(ctx, permit)
}

func (c *pafs) describe() description {
	return c.described(fmt.Sprintf("private selection over sets of attributes; a secret number of training runs, mean %d", meanRuns))
}
