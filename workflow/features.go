package workflow

import (
	"fmt"
	"slices"

	"pawl/report"
)

// kept says how the attributes of a table were chosen and what that cost, from the plan
// and the choice that the statement holds. Nil for networks, which have no attributes.
func (plan *Plan) kept(d *description, s *report.Statement) *report.Selection {
	p := plan.problem
	if p.Dense || d.features.none {
		return nil
	}
	all := attributes(p)
	k := &report.Selection{Offered: len(all), LeftOut: []string{}, How: "all declared columns, by rule; no row was used"}
	if p.Features != nil {
		k.How = "named by the operator; no row was used"
	}
	if by := p.Chosen; by != nil {
		switch k.How = fmt.Sprintf("by a separate selection, method %s on data set %s; no row was used", by.Method, by.Dataset); {
		case by.Unpaid:
			k.How = fmt.Sprintf("by a separate selection, method %s on data set %s as published; not charged", by.Method, by.Dataset)
			k.Unpaid = true
		case by.Entry != "":
			k.How = fmt.Sprintf("by a separate selection, method %s, charged as entry %s of data set %s", by.Method, by.Entry, by.Dataset)
		}
	}
	if f := d.features; f.how != "" {
		k.How, k.Unpaid, k.Together = f.how, k.Unpaid || f.unpaid, f.together
		if f.among != nil {
			k.Offered, all = len(f.among), f.among
		}
	}
	for _, stage := range d.features.stages {
		if st, ok := s.Privacy.ByStage[stage]; ok {
			k.Epsilon = st.Epsilon
			if s.Privacy.Epsilon > 0 {
				k.Share = min(k.Epsilon/s.Privacy.Epsilon, 1)
			}
			break
		}
	}
	if d.features.columns {
		return k // columns of an encoding leave out no attribute by name
	}
	for _, name := range all {
		if !slices.Contains(s.Choice.Features, name) {
			k.LeftOut = append(k.LeftOut, name)
		}
	}
	return k
}
