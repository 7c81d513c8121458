package workflow

import (
	"fmt"
	"slices"

	"pawl/feature"
	"pawl/report"
)

// kept says how the attributes of a table were chosen and what that cost, from the plan
// and the choice that the statement holds. Nil for images, which have no attributes.
func (plan *Plan) kept(s *report.Statement) *report.Selection {
	p := plan.problem
	if p.Dense || plan.network != nil {
		return nil
	}
	all := attributes(p)
	k := &report.Selection{Offered: len(all), LeftOut: []string{}, How: "all that the schema declares, by rule: no row was looked at"}
	if p.Features != nil {
		k.How = "named by the operator: no row was looked at"
	}
	if by := p.Chosen; by != nil {
		switch k.How = fmt.Sprintf("by a selection of its own, method %s on data set %s: no row was looked at", by.Method, by.Dataset); {
		case by.Unpaid:
			k.How = fmt.Sprintf("by a selection of its own, method %s on data set %s as published: not paid for", by.Method, by.Dataset)
			k.Unpaid = true
		case by.Entry != "":
			k.How = fmt.Sprintf("by a selection of its own, method %s, paid for as entry %s of data set %s", by.Method, by.Entry, by.Dataset)
		}
	}
	stage := ""
	switch c := plan.choosing; {
	case c != nil:
		stage, k.How, k.Unpaid = "select", plan.Stages[0].What, c.AsPublished
		if p.Features != nil {
			k.Offered, all = len(p.Features), p.Features
		}
	case plan.hunt != nil && plan.hunt.AsPublished:
		k.How, k.Unpaid = "by the search as published, with everything else that it chose", true
	case plan.hunt != nil:
		k.How, k.Together = "by the search, with everything else that it chose", true
		stage = "search and train"
		if _, ok := s.Privacy.ByStage[stage]; !ok {
			stage = "search"
		}
	case p.Workflow == STW:
		k.How, k.Unpaid = "by exact accuracy on public rows, with everything else that it chose", true
	}
	if st, ok := s.Privacy.ByStage[stage]; ok {
		k.Epsilon = st.Epsilon
		if s.Privacy.Epsilon > 0 {
			k.Share = min(k.Epsilon/s.Privacy.Epsilon, 1)
		}
	}
	if plan.choosing != nil && plan.choosing.Level != feature.AttributeLevel {
		return k // columns of an encoding leave out no attribute by name
	}
	for _, name := range all {
		if !slices.Contains(s.Choice.Features, name) {
			k.LeftOut = append(k.LeftOut, name)
		}
	}
	return k
}
