package workflow

import (
	"pawl/core/accountant/calibrate"
	"pawl/core/dp"
	"pawl/report"
	"pawl/search"
)

// counterfactual compares the budget of the model's own training with that of a plan that pays for no choice, by
// prices alone: no row is read. It is nil where choosing costs nothing.
func (h *searching) counterfactual() (*report.Counterfactual, error) {
	switch h.Strategy.Kind {
	case search.None, search.Public, search.STW:
		return nil, nil
	}
	if h.asPublished {
		return nil, nil
	}
	p := h.plan.problem
	c := &report.Counterfactual{Without: "the search", Epsilon: report.Number(upward(h.quote.BaseEpsilon)), EpsilonWithout: report.Number(upward(h.quote.Epsilon))}
	for _, x := range []struct {
		epsilon float64
		to      *report.Number
	}{{h.quote.BaseEpsilon, &c.NoiseMultiplier}, {h.quote.Epsilon, &c.NoiseMultiplierWithout}} {
		sigma, _, err := calibrate.To(calibrate.Target{Epsilon: x.epsilon, Delta: p.delta}, p.relation, p.Accountant,
			calibrate.Search{Event: func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} }, Decreasing: true})
		if err != nil {
			return nil, err
		}
		*x.to = report.Number(sigma)
	}
	if p.Rows > 0 {
		rows, trains := float64(p.Rows)/float64(p.Schema.Unit.MaxRows), h.scopes.Train
		for _, stage := range h.plan.Stages {
			if stage.Name == "train" { // the winner, on rows of its own or on all
				trains = stage.Scope
			}
		}
		r := report.Number(rows * trains.Fraction() / float64(c.NoiseMultiplier))
		without := report.Number(rows * h.plan.trainScope.Fraction() / float64(c.NoiseMultiplierWithout))
		c.SignalRatio, c.SignalRatioWithout = &r, &without
	}
	return c, nil
}
