package pawl

import (
	"pawl/internal/request"
	"pawl/learn"
	"pawl/search"
	"pawl/search/space"
	"pawl/workflow"
)

// Named is one of the possible values of a field of a job.
type Named struct {
	// Name is the value, What describes it in one line.
	Name, What string
	// NeedsCount reports whether a method of [Select] needs its Count.
	NeedsCount bool
}

// Strategies returns the values of [Search.Strategy].
func Strategies() (all []Named) {
	for _, k := range search.Kinds() {
		all = append(all, Named{Name: string(k), What: request.StrategyWords[k]})
	}
	return all
}

// Methods returns the values of [Select.Method].
func Methods() (all []Named) {
	for _, m := range workflow.SelectMethods {
		all = append(all, Named{m.Name, m.What, workflow.NeedsCount(m.Name)})
	}
	return all
}

// Spaces returns the built-in values of [Search.Space].
func Spaces() []string { return space.List() }

// Learners returns the values of [Fit.Model] for tables, besides "auto". Some predict classes only or
// numbers only; a plan for the wrong kind of target is refused.
func Learners() []string { return learn.Names() }
