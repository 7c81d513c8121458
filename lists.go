package pawl

import (
	"pawl/internal/request"
	"pawl/learn"
	"pawl/search"
	"pawl/search/space"
	"pawl/workflow"
)

// Named is a name that a job may have in a field, and what it stands for.
type Named struct{ Name, What string }

// Strategies are the values of [Search.Strategy].
func Strategies() (all []Named) {
	for _, k := range search.Kinds() {
		all = append(all, Named{string(k), request.StrategyWords[k]})
	}
	return all
}

// Methods are the values of [Select.Method]. Those with a * need a Count.
func Methods() (all []Named) {
	for _, m := range workflow.SelectMethods {
		name := m.Name
		if workflow.NeedsCount(name) {
			name += " *"
		}
		all = append(all, Named{name, m.What})
	}
	return all
}

// Spaces are the built-in values of [Search.Space].
func Spaces() []string { return space.List() }

// FrontEnds are the forms of [Train.FrontEnd], with commas between them.
func FrontEnds() string { return request.FrontEnds() }

// Learners are the values of [Fit.Model] for tables, beside "auto".
func Learners() []string { return learn.Names() }
