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

// aimLines are the rows of the first table.
func aimLines(b *strings.Builder, all []*Result) {
	list := aims(all)
	if len(list) == 0 {
		return
	}
	b.WriteString("## Does the privacy-aware workflow win?\n\nFour workflows at one total ε on the same rows, with everything paid for except in the last column. Accuracy on test rows in %, unless the row names another measure;\nmean ± half of a 95 % interval (runs), differences run by run. Drop-in DP-SGD is the usual net with the usual settings without privacy, not\nthe best possible DP-SGD: a net and a step size chosen for privacy come closer.\n\n")
	b.WriteString("| data | ε | `pawl fit` | drop-in DP-SGD | usual choices, paid | `fit` − drop-in | `fit` − paid choices | usual choices, unpaid: no guarantee |\n|---|---|---|---|---|---|---|---|\n")
	for _, a := range list {
		name := a.Data
		if a.Metric != "" {
			name += " (" + a.Metric + ")"
		}
		over := a.OverPaid
		if over == "" {
			over = "–"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", cell(name), a.Epsilon, a.Fit, a.DropIn, a.Paid, a.OverDropIn, over, a.Unpaid)
	}
	b.WriteString("\n")
	for _, r := range all {
		for _, c := range r.Table.Claims {
			if strings.HasPrefix(r.Table.Name, "mission-") && strings.Contains(c.Statement, ", all data: ") {
				fmt.Fprintf(b, "- %s: %s\n", c.Statement, c.Evidence)
			}
		}
	}
	b.WriteString("\nThe workflows and their settings are described under ")
	var names []string
	for _, r := range all {
		if strings.HasPrefix(r.Table.Name, "mission-") {
			names = append(names, fmt.Sprintf("[%s](#%s)", r.ID(), r.ID()))
		}
	}
	b.WriteString(strings.Join(names, ", ") + ".\n\n")
}
