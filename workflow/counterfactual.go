package workflow

import (
	"math"

	"pawl/core/accountant"
	"pawl/core/accountant/calibrate"
	"pawl/core/dp"
	"pawl/report"
	"pawl/search"
)

// counterfactual compares the budget of the model's own training with that of a plan that pays for no choice, by
// prices alone: no row is read. It is nil where choosing costs nothing.
func (plan *Plan) counterfactual() (*report.Counterfactual, error) {
	if h, ok := plan.job.(*searching); ok {
		return h.counterfactual()
	}
	return plan.unselected()
}

func (h *searching) counterfactual() (*report.Counterfactual, error) {
	switch h.Strategy.Kind {
	case search.None, search.Public, search.STW:
		return nil, nil
	}
	if h.asPublished {
		return nil, nil
	}
	trains := h.scopes.Train
	for _, stage := range h.plan.Stages {
		if stage.Name == "train" { // the winner, on rows of its own or on all
			trains = stage.Scope
		}
	}
	return h.plan.without("the search", h.quote.BaseEpsilon, h.quote.Epsilon, trains)
}

// unselected is the counterfactual of a selection that was charged as an entry of its own on the same data set: a
// fit of all columns at the price of both entries together.
func (plan *Plan) unselected() (*report.Counterfactual, error) {
	p := plan.problem
	by := p.Chosen
	if by == nil || by.Unpaid || by.Dataset != p.Dataset || len(by.Events) == 0 || plan.free {
		return nil, nil
	}
	both := []dp.Event{plan.Event}
	for _, e := range by.Events {
		if e.Relation != p.relation || e.Unit != p.Schema.Unit.Name {
			return nil, nil // no one bound holds for both
		}
		both = append(both, e.Event)
	}
	price, err := accountant.Epsilon(dp.Compose{Events: both}, p.relation, p.delta, p.Accountant)
	if err != nil || math.IsInf(price.Epsilon, 0) || p.delta == 0 {
		return nil, nil // without a price, or where Gaussian noise has none, there is nothing to compare
	}
	return plan.without("the selection of features", plan.Epsilon, price.Epsilon, plan.trainScope)
}

// without compares a model that trains on a scope at an epsilon with one that has all of the budget.
func (plan *Plan) without(choice string, epsilon, whole float64, trains dp.Scope) (*report.Counterfactual, error) {
	p := plan.problem
	c := &report.Counterfactual{Without: choice, Epsilon: report.Number(upward(epsilon)), EpsilonWithout: report.Number(upward(whole))}
	for _, x := range []struct {
		epsilon float64
		to      *report.Number
	}{{epsilon, &c.NoiseMultiplier}, {whole, &c.NoiseMultiplierWithout}} {
		sigma, _, err := calibrate.To(calibrate.Target{Epsilon: x.epsilon, Delta: p.delta}, p.relation, p.Accountant,
			calibrate.Search{Event: func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} }, Decreasing: true})
		if err != nil {
			return nil, nil // no noise of this price: the comparison is left out, and the job goes on
		}
		*x.to = report.Number(sigma)
	}
	if p.Rows > 0 {
		rows := float64(p.Rows) / float64(p.Schema.Unit.MaxRows)
		r := report.Number(rows * trains.Fraction() / float64(c.NoiseMultiplier))
		without := report.Number(rows * plan.trainScope.Fraction() / float64(c.NoiseMultiplierWithout))
		c.SignalRatio, c.SignalRatioWithout = &r, &without
	}
	return c, nil
}
