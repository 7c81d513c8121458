package report

import (
	"bytes"
	"encoding/json"
	"strings"
)

// exactRows prints every rounded number of the report with all its digits.
func exactRows(s *Statement) []row {
	p, b := s.Privacy, s.Budget
	out := []row{
		{"ε of the whole plan", exact(p.Epsilon)},
		{"δ of the whole plan", exact(p.Delta)},
		{"requested ε", or(p.EpsilonAsked, "—")},
		{"requested δ", or(p.DeltaAsked, "—")},
		{"neighbouring relation", Plain(p.Relation)},
	}
	for _, st := range stages(p) {
		out = append(out, row{"ε of stage " + st.Name + ", alone at the plan's δ", exact(st.Epsilon)})
	}
	for _, a := range []struct {
		name string
		Amount
	}{{"total", b.Total}, {"spent" + aside(s), b.Spent}, {"reserved", b.Reserved}, {"left", b.Left}} {
		out = append(out, row{"ledger, " + a.name + " (ε, δ)", "(" + exact(a.Epsilon) + ", " + exact(a.Delta) + ")"})
	}
	if sc := s.Score; sc != nil {
		out = append(out, row{"score", exact(sc.Value)},
			row{"score, 95% interval", "[" + exact(sc.Interval[0]) + ", " + exact(sc.Interval[1]) + "]"},
			row{"baseline", exact(sc.Baseline)})
		if iv := sc.BaselineInterval; iv != nil {
			out = append(out, row{"baseline, 95% interval", "[" + exact(iv[0]) + ", " + exact(iv[1]) + "]"})
		}
		if sc.AUROC != nil {
			out = append(out, row{"area under the ROC curve", exact(*sc.AUROC)})
		}
		out = append(append(out, exactQuality(s)...), exactGroups(sc)...)
	}
	return out
}

func versions(s *Statement) []row {
	classes := make([]string, len(s.Data.Classes))
	for i, c := range s.Data.Classes {
		classes[i] = Plain(c)
	}
	out := []row{
		{"data set", or(s.Data.Name, "—")},
		{"target", or(s.Data.Target, "—")},
		{"unit", or(s.Privacy.Unit, "—")},
		{"budget", or(s.Budget.Granted, "no grant is recorded")},
		{"who granted it", grantWords(s)},
		{"run by", or(s.Budget.RunBy, "—")},
		{"first record of the data set", or(s.Budget.Since, "—")},
		{"sampling", or(s.Privacy.Sampling, "—")},
		{"accountant", or(s.Privacy.Accountant, "—")},
		{"statement version", exact(Number(s.Version))},
		{"command", or(s.Command, "—")},
		{"software", strings.TrimSpace(Plain(s.Software.Name + " " + s.Software.Version + ", " + s.Software.Go))},
		{"rows", or(s.Data.Rows, "not declared")},
	}
	if len(classes) > 0 {
		out = append(out, row{"classes, declared", strings.Join(classes, ", ")})
	}
	return append(out,
		row{"fingerprint of the data (keyed)", or(s.Data.Fingerprint, "—")},
		row{"ledger", or(strings.TrimSpace(s.Budget.Ledger+", data set "+s.Budget.Dataset), "—")},
		row{"ledger entry of this run", or(s.Budget.Entry, "—")},
		row{"ledger head after this run", or(s.Budget.Head, "—")},
	)
}

// events prints the list from which another accountant can recompute the claim.
func events(p Privacy) string {
	if len(p.Events) == 0 {
		return "[]"
	}
	var out bytes.Buffer
	for i, e := range p.Events {
		if i > 0 {
			out.WriteByte('\n')
		}
		// Compact: a nested event indented over forty lines reads worse than one line.
		if json.Compact(&out, e) != nil {
			out.WriteString("an event that is not JSON")
		}
	}
	return out.String()
}
