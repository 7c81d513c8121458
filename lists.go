package pawl

import (
	"pawl/internal/request"
	"pawl/learn"
	"pawl/search"
	"pawl/search/space"
	"pawl/workflow"
)

// Named is a value that a field of a job may have.
type Named struct {
	// Name is the value, What describes it in one line.
	Name, What string
	// NeedsCount is true for the methods of [Select] that need its Count.
	NeedsCount bool
}

// Strategies are the values of [Search.Strategy].
func Strategies() (all []Named) {
	for _, k := range search.Kinds() {
		all = append(all, Named{Name: string(k), What: request.StrategyWords[k]})
	}
	return all
}

// Methods are the values of [Select.Method].
func Methods() (all []Named) {
	for _, m := range workflow.SelectMethods {
		all = append(all, Named{m.Name, m.What, workflow.NeedsCount(m.Name)})
	}
	return all
}

// Spaces are the built-in values of [Search.Space].
func Spaces() []string { return space.List() }

// Learners are the values of [Fit.Model] for tables, beside "auto". Some are for classes or for
// numbers only; a plan that asks for another is refused.
func Learners() []string { return learn.Names() }
