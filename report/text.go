package report

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Text writes the summary that a terminal shows after a run: ten to fifteen lines of
// plain words, NOT PRIVATE first where it applies. It returns an error, and writes
// nothing, when Validate does.
func Text(w io.Writer, s *Statement) error {
	if s != nil && s.Description != nil {
		return DescriptionText(w, s)
	}
	if err := Validate(s); err != nil {
		return err
	}
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	p := s.Privacy
	if n := banner(s); n != "" {
		fmt.Fprintln(&b, n)
	}
	if n := wholeMark(s); n != "" {
		fmt.Fprintln(&b, n)
	}
	headline, why := verdict(s)
	fmt.Fprintf(&b, "%s %s\n\n", headline, why)
	pair := fmt.Sprintf("(epsilon, delta) = (%s, %s)", up2(p.Epsilon), deltaPlain(p.Delta))
	if banner(s) != "" {
		line("claim", "none; %s %s", wouldBe(s), pair)
	} else {
		alone := ""
		if wholeMark(s) != "" {
			alone = "of this run alone: "
		}
		line("claim", "%s%s, central model, %s", alone, pair, accountantWords(p))
	}
	line("neighbour", "%s", neighbourWords(p))
	if banner(s) == "" {
		line("risk", "%s", riskWords(p))
	}
	line("budget", "%s", grantWords(s))
	if math.IsInf(float64(s.Budget.Total.Epsilon), 1) {
		line("ledger", "not limited; spent epsilon %s%s", up2(s.Budget.Spent.Epsilon), aside(s))
	} else {
		line("ledger", "epsilon %s: spent %s%s, reserved %s, left %s", down2(s.Budget.Total.Epsilon),
			up2(s.Budget.Spent.Epsilon), aside(s), up2(s.Budget.Reserved.Epsilon), down2(s.Budget.Left.Epsilon))
	}
	if r := s.Budget.Renewal; r != nil {
		line("renewal", "%s", OverPeriods(r))
	}
	var parts []string
	for _, st := range stages(p) {
		parts = append(parts, strings.ToLower(st.Name)+" "+up2(st.Epsilon))
	}
	if len(parts) > 0 {
		line("stages", "%s (epsilon of each alone)", strings.Join(parts, ", "))
	}
	if sc := s.Score; sc != nil {
		line("score", "%s %s, %s (%s)", strings.ReplaceAll(sc.Metric, "_", " "), scoreText(s, sc.Value), intervalText(s, &sc.Interval), or(sc.How, "origin not stated"))
		line("baseline", "%s %s, %s", strings.ToLower(baselineWords(s)), scoreText(s, sc.Baseline), baselineInterval(s))
		if q := qualityLine(s); q != "" {
			line("quality", "%s", q)
		}
		if sc.Test != nil {
			exactly := scoreText(s, *sc.Test)
			if sc.TestBaseline != nil {
				exactly += ", " + strings.ToLower(baselineWords(s)) + " " + scoreText(s, *sc.TestBaseline)
			}
			line("benchmark", "exact, on public rows: %s", exactly)
		}
		if g := sc.ByGroup; g != nil {
			line("by group", "of %s, %s", or(g.Attribute, "the attribute"), or(g.How, "origin not stated"))
			for _, l := range groupLines(s) {
				line("", "  %s", l)
			}
		}
	} else {
		line("score", "none was released")
	}
	line("model", "%s", or(s.Choice.Model, "none"))
	if k := s.Choice.Selection; k != nil {
		line("features", "%d of %d, %s; %s", len(s.Choice.Features), k.Offered, or(k.How, "not stated"), strings.ReplaceAll(selectionCost(k), "ε", "epsilon"))
	}
	if s.Search != nil {
		line("search", "%s", Plain(s.Search.Paid))
	}
	if c := s.Counterfactual; c != nil {
		line("instead", "without %s, %s", Plain(c.Without), strings.ReplaceAll(c.words(), "ε", "epsilon"))
	}
	if top := leading(s.Shapes, 3); top != "" {
		line("shapes", "%s contribute most; all are in the report", top)
	}
	if f := s.Outputs.Report; f != "" {
		line("report", "%s", Plain(f))
	}
	for _, warning := range s.Warnings {
		line("warning", "%s", Plain(warning))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
