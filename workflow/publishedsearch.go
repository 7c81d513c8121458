package workflow

import (
	"math"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/search"
)

// pricePublished books nothing private: scores of all trainings are read.
func (h *searching) pricePublished() (err error) {
	plan, p := h.plan, h.plan.problem
	if p.Test == HeldOut {
		return usage("use a data set with a test set", "as published, a search is scored on a public test set only")
	}
	j := h.asked()
	if h.quote, err = h.Strategy.At(j, j.Epsilon); err != nil {
		return err
	}
	plan.add("search and train", plan.trainScope, h.inWords()+"; as published: scores are read without paying", dp.NonPrivate{})
	if err := plan.planScore(); err != nil {
		return err
	}
	plan.priceNothing("NOT a privacy guarantee: as published, the search reads the scores of its training runs")
	return nil
}

// scoreEpsilon is the papers' ε' of one validation score.
const scoreEpsilon = 0.02

// publishedScore is the papers' validation accuracy, with Laplace noise of scale 1/(n·ε').
func (out *Outcome) publishedScore(env Env, scope dp.Scope, src *entropy.Source) (float64, error) {
	score, rows, err := out.publicScore(env, scope, ByAccuracy)
	u := src.Open01() - 0.5
	return score - math.Copysign(math.Log1p(-2*math.Abs(u)), u)/(rows*scoreEpsilon), err
}

// publishedEpsilon is the whole by the paper's accounting: of random search by its
// formula, else the composition of what is trained and scored.
func (h *searching) publishedEpsilon() float64 {
	if h.Strategy.Kind == search.RS {
		validation := float64(h.plan.problem.Rows) * h.scopes.Validate.Fraction()
		if e, err := search.RandomSearchPublished(h.quote.BaseEpsilon, 0.05, 0.04, validation, h.Strategy.Mean); err == nil {
			return e
		}
	}
	return h.quote.Epsilon
}
