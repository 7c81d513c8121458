package request

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/internal/usage"
	"pawl/report"
	"pawl/workflow"
)

// writeStatement writes what the ledger says about one data set. All of it is
// public: events and amounts are fixed before rows are read.
func writeStatement(w io.Writer, s *figures.Statement) error {
	if text := marked(s.SeededRuns); text != "" {
		fmt.Fprintln(w, text+", and no figure here bounds what their outputs reveal")
	} else if slices.ContainsFunc(s.Entries, func(e figures.Entry) bool { return e.NotPrivate }) {
		fmt.Fprintln(w, "NOT PRIVATE: entries with this mark used a seed; no figure here bounds what their outputs reveal")
	}
	if s.Exceeded {
		fmt.Fprintln(w, Exceeded(s))
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "data set\t%s (%s)\n", s.Name, kindOf(s.Public))
	if f := s.Frozen; f != nil {
		fmt.Fprintf(t, "FROZEN\tby %s at %s: %s\n", f.By, when(f.At), report.Plain(f.Reason))
	}
	writeSeeded(t, s)
	fmt.Fprintf(t, "protects\t%s\n", Protects(s))
	fmt.Fprintf(t, "granted\t%s\n", granted(s))
	if r := s.Renewal; r != nil {
		fmt.Fprintf(t, "period\t%s, since %s; the budget renews on %s, as in each %s\n", r.Period, day(r.Began), day(r.Renews), r.Per)
	}
	for _, r := range s.Reconciled {
		fmt.Fprintf(t, "RECONCILED\tby %s at %s: %s\n", r.By, when(r.At), report.Plain(r.Reason))
	}
	for _, d := range s.Different {
		fmt.Fprintf(t, "resembles\t%s\n", Resembles(d, when(d.At)))
	}
	for _, part := range []struct{ name, epsilon string }{
		{"total", limited(s.Total.Epsilon)}, {"spent", amount(s.Spent.Epsilon)}, {"reserved", amount(s.Reserved.Epsilon)}, {"left", limited(s.Left.Epsilon)},
	} {
		text := ""
		if part.name == "spent" && len(s.SeededRuns) > 0 {
			text = ", which does not bound the seeded runs"
		}
		fmt.Fprintf(t, "%s\tepsilon %s%s\n", part.name, part.epsilon, text)
	}
	fmt.Fprintf(t, "at delta\t%s\n", deltaText(s.Total.Delta))
	if s.AtOnce.Method != "" {
		fmt.Fprintf(t, "in one plan\tepsilon %s (%s)\n", amount(s.AtOnce.Epsilon), s.AtOnce.Method)
	}
	fmt.Fprintf(t, "chain head\t%x\n", s.Head[:])
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s\n", odometer(s))
	if s.Renewal != nil {
		fmt.Fprintf(w, "%s\n", report.OverPeriods(workflow.Renewal(s)))
	}
	if err := writeAnalysts(w, s.Analysts); err != nil {
		return err
	}
	if len(s.Entries) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t = tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "entry\ttime\tby\tstate\tepsilon alone\tstages")
	for _, e := range s.Entries {
		if e.Period != "" && s.Renewal != nil && e.Period != s.Renewal.Period {
			e.Stages = append(slices.Clone(e.Stages), "in "+e.Period)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", e.ID, when(e.At), e.By, state(&e), amount(e.Epsilon), strings.Join(e.Stages, ", "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if s.Entries[0].Method == "filter" {
		fmt.Fprintln(w, "\nThere are many different entries: \"epsilon alone\" and \"in one plan\" are filter bounds, a little larger than the smallest.")
	}
	return nil
}

// writeOutlook says in plain units what is left.
func writeOutlook(w io.Writer, o *figures.Outlook) {
	if o == nil {
		return
	}
	text := "another job like the last would be refused"
	switch {
	case o.More >= figures.MostMore:
		text = fmt.Sprintf("%d or more jobs like the last would fit", figures.MostMore)
	case o.More == 1:
		text = "about 1 more job like the last would fit"
	case o.More > 1:
		text = fmt.Sprintf("about %d more jobs like the last would fit", o.More)
	}
	fmt.Fprintf(w, "%.0f %% of the budget is used; %s\n", 100*float64(o.Used), text)
	switch {
	case o.Largest > 0:
		fmt.Fprintf(w, "the next job of that kind may cost up to about epsilon %s\n", threeDigits(float64(o.Largest)))
	case o.Refused:
		fmt.Fprintln(w, "no job of that kind would fit, however small its epsilon")
	}
}

// threeDigits writes a figure that is rounded down.
func threeDigits(x float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return strconv.FormatFloat(math.Floor(x/unit*(1+1e-12))*unit, 'g', 3, 64)
}

func kindOf(public bool) string {
	if public {
		return "public"
	}
	return "sensitive"
}

// Standing is one clause about the budget.
func Standing(s *figures.Statement) string {
	kind := kindOf(s.Public)
	if math.IsInf(float64(s.Total.Epsilon), 1) {
		return fmt.Sprintf("%s, not limited, spent epsilon %s", kind, amount(s.Spent.Epsilon)) + andMarked(s)
	}
	text := fmt.Sprintf("%s, budget epsilon %s at delta %s, left %s", kind, amount(s.Total.Epsilon), deltaText(s.Total.Delta), amount(s.Left.Epsilon))
	if r := s.Renewal; r != nil {
		text = fmt.Sprintf("%s, budget epsilon %s at delta %s in each %s, left %s in %s, which ends before %s", kind, amount(s.Total.Epsilon), deltaText(s.Total.Delta), r.Per, amount(s.Left.Epsilon), r.Period, day(r.Renews))
	}
	if s.Exceeded {
		text += ", EXCEEDED"
	}
	if s.Frozen != nil {
		text += ", frozen"
	}
	return text + andMarked(s)
}

func writeAnalysts(w io.Writer, shares []figures.Analyst) error {
	if len(shares) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "analyst\tepsilon\tspent\treserved\tleft\tdelta\tgranted")
	for _, a := range shares {
		left := amount(a.Left.Epsilon)
		if a.Exceeded {
			left += " (EXCEEDED)"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\tby %s at %s: %s\n", a.Name, amount(a.Total.Epsilon), amount(a.Spent.Epsilon),
			amount(a.Reserved.Epsilon), left, deltaText(a.Total.Delta), a.Granted.By, when(a.Granted.At), report.Plain(a.Granted.Reason))
	}
	return t.Flush()
}

func state(e *figures.Entry) string {
	s := string(e.State)
	if e.State == ledger.Reserved {
		s += " (charged)" // a run that is under way, or one that was killed
	}
	if e.NotPrivate {
		s += ", NOT PRIVATE"
	}
	if r := e.Rebooked; r != nil {
		s += fmt.Sprintf(", charged again by %s: %s", r.By, report.Plain(r.Reason))
	}
	if f := e.Foreign; f != nil {
		s += fmt.Sprintf(", charged by %s: %s", f.BookedBy, report.Plain(f.Reason))
	}
	for _, a := range e.Approvals {
		s += fmt.Sprintf(", approved by %s at %s: %s", a.By, when(a.At), report.Plain(a.Reason))
	}
	return s
}

// Exceeded is the clause about a budget of which more was spent than granted.
func Exceeded(s *figures.Statement) string {
	text := "EXCEEDED: more was spent than granted, by a run charged after the fact; every new job is refused"
	if s.Renewal != nil {
		text += " until the budget renews"
	}
	return text
}

// Resembles is the clause about rows that resemble those of another data set and were declared, at
// the time, to hold other units.
func Resembles(d ledger.Difference, time string) string {
	what := "its rows resemble"
	if d.Of == "test" {
		what = "rows of a test file resemble"
	}
	return fmt.Sprintf("%s those of %q; %s declared at %s that the units differ: %s", what, d.Other, d.By, time, report.Plain(d.Reason))
}

// Protects describes the unit, and the relation, that a budget protects.
func Protects(s *figures.Statement) string {
	unit := s.Unit
	if unit == "" {
		unit = "unit fixed by the first job"
	}
	if s.RowsPerUnit > 1 {
		unit += fmt.Sprintf(" (up to %d rows)", s.RowsPerUnit)
	}
	if !s.Relation.Valid() {
		return unit // so far the log was only reconciled
	}
	return unit + ", under " + s.Relation.String()
}

func granted(s *figures.Statement) string {
	g := s.Granted
	switch {
	case g == nil && s.Public:
		return "none: a public data set is recorded, not limited"
	case g == nil:
		return "nothing yet"
	}
	text := fmt.Sprintf("granted by %s at %s", g.By, when(g.At))
	if g.Self {
		text = "self-" + text
	}
	if g.Reason != "" {
		text += ": " + report.Plain(g.Reason)
	}
	return text
}

// odometer says why there are two figures.
func odometer(s *figures.Statement) string {
	live := 0
	for _, e := range s.Entries {
		if e.State != ledger.Cancelled && (s.Renewal == nil || e.Period == s.Renewal.Period) {
			live++
		}
	}
	switch {
	case s.Granted == nil:
		return "Without a limit, \"spent\" is what all entries would cost in one plan."
	case live <= 1:
		return "A single job costs its own smallest bound. From the second job on, choices may depend on earlier results, so a privacy filter counts all jobs, including the first."
	}
	text := "\"spent\" and \"reserved\" are what a privacy filter counts for these jobs; it decides on new ones. "
	if !s.Exceeded {
		text += "When later jobs depend on earlier results, the guarantee is the total, not the amount spent so far. "
	}
	return text + "\"in one plan\" is what the same jobs would have cost if planned together, for comparison only."
}

func day(at string) string { day, _, _ := strings.Cut(at, "T"); return day }

func when(at string) string {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return at
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// amount writes the ledger's decimal, which is rounded to the safe side already.
func amount(n ledger.Number) string {
	if math.IsInf(float64(n), 1) {
		return "inf"
	}
	return strconv.FormatFloat(float64(n), 'f', -1, 64)
}

// limit is amount for what caps a budget.
func limited(n ledger.Number) string {
	if math.IsInf(float64(n), 1) {
		return "not limited"
	}
	return amount(n)
}

func deltaText(n ledger.Number) string { return strconv.FormatFloat(float64(n), 'g', -1, 64) }

// marked says of a data set that seeded runs mark it, or "".
func marked(runs []ledger.SeededRun) string { return report.SeededMark(len(runs)) }

// andMarked is marked as a clause.
func andMarked(s *figures.Statement) string {
	if text := marked(s.SeededRuns); text != "" {
		return ", " + text
	}
	return ""
}

// writeSeeded writes what marks a data set and who cleared what did.
func writeSeeded(w io.Writer, s *figures.Statement) {
	for _, r := range s.SeededRuns {
		fmt.Fprintf(w, "SEEDED\tentry %s, run by %s at %s\n", r.Entry, r.By, when(r.At))
	}
	if len(s.SeededRuns) > 0 {
		fmt.Fprintln(w, "\tremove this mark once it is certain that nobody received the outputs: pawl ledger clear-seeded "+usage.Shell(s.Name)+" --reason WHY")
	}
	for _, c := range s.Cleared {
		own := ""
		if c.Own {
			own = ", who also ran it"
			if len(c.Entries) > 1 {
				own = ", who also ran some of them"
			}
		}
		fmt.Fprintf(w, "cleared\tseeded %s, at %s by %s%s: %s\n", strings.Join(c.Entries, ", "), when(c.At), c.By, own, report.Plain(c.Reason))
	}
}

// WriteForecast says how the ledger would decide, and what would be left.
func WriteForecast(w io.Writer, f *figures.Forecast) error {
	if text := marked(f.SeededRuns); text != "" {
		fmt.Fprintln(w, text)
	}
	if f.Admitted {
		fmt.Fprintf(w, "%s: a job of %s would be admitted: it needs epsilon %s, and %s is left\n", f.Name, f.User, amount(f.Need), limited(f.Left))
	} else {
		fmt.Fprintf(w, "%s: a job of %s would be refused: %s\n", f.Name, f.User, f.Refusal)
	}
	after := fmt.Sprintf("spent %s, reserved %s, left %s", amount(f.After.Spent.Epsilon), amount(f.After.Reserved.Epsilon), limited(f.After.Left.Epsilon))
	if f.After.Exceeded {
		after += ", exceeded"
	}
	if !math.IsInf(float64(f.After.Total.Epsilon), 1) {
		after += fmt.Sprintf(" of %s at delta %s", amount(f.After.Total.Epsilon), deltaText(f.After.Total.Delta))
	}
	after += "; nothing was charged"
	if f.Dearer != nil {
		after += "\nnote: " + f.Dearer.String()
	}
	_, err := fmt.Fprintf(w, "after it: epsilon %s\n", after)
	return err
}
