package book

import (
	"fmt"
	"strings"

	"pawl/experiments"
)

// aim is what whole workflows reach on one data set at one ε, as the replays called mission-… store it
// in two rows and two claims.
type aim struct {
	Data, Epsilon, Metric     string
	Fit, DropIn, Paid, Unpaid *experiments.Estimate
	OverDropIn, OverPaid      string // paired differences
}

func aims(all []*Result) (out []aim) {
	for _, r := range all {
		if !strings.HasPrefix(r.Table.Name, "mission-") || r.Table.Scale == experiments.Smoke {
			continue
		}
		for _, row := range r.Table.Rows {
			head, what, _ := strings.Cut(row.Name, ": ")
			if what == "usual choices, unpaid and paid" && len(out) > 0 {
				last := &out[len(out)-1]
				last.Paid, last.Unpaid = row.Honest, row.AsPublished
				last.OverPaid = r.difference(last, "the usual choices, paid")
				continue
			}
			epsilon, metric, _ := strings.Cut(strings.TrimPrefix(head, "ε = "), " (")
			a := aim{Data: row.Data, Epsilon: epsilon, Metric: strings.TrimSuffix(metric, ")"), Fit: row.Honest, DropIn: row.Baseline}
			a.OverDropIn = r.difference(&a, "drop-in DP-SGD")
			out = append(out, a)
		}
	}
	return out
}

// difference is that of fit to another workflow, run by run.
func (r *Result) difference(a *aim, other string) string {
	want := fmt.Sprintf("%s, ε = %s: fit against %s", a.Data, a.Epsilon, other)
	for _, c := range r.Table.Claims {
		if c.Statement == want {
			return strings.TrimSuffix(c.Evidence, " points, run by run")
		}
	}
	return "–"
}

// Missions are the results that whole workflows have, Totals their claims on all data.
func (v view) Missions() (names []string) {
	for _, r := range v.Results {
		if strings.HasPrefix(r.Table.Name, "mission-") {
			names = append(names, r.ID())
		}
	}
	return names
}

func (v view) Totals() (claims []experiments.Claim) {
	for _, r := range v.Results {
		for _, c := range r.Table.Claims {
			if strings.HasPrefix(r.Table.Name, "mission-") && strings.Contains(c.Statement, ", all data: ") {
				claims = append(claims, c)
			}
		}
	}
	return claims
}
