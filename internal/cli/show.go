package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pawl/core/ledger"
	"pawl/internal/request"
	"pawl/report"
	"pawl/workflow"
)

func ledgerShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show what was granted, spent, reserved and is left",
		Long: `Show the account of a data set: its budget and who granted it, what is spent, reserved
and left, and every entry. Without NAME, list all data sets.`,
		Example: "  pawl ledger show\n  pawl ledger show clinic\n  pawl ledger show clinic --json",
		Args:    atMostOneArg,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listLedger(c.Context(), a)
			}
			return showLedger(c.Context(), a, args[0])
		},
	}
}

func showLedger(ctx context.Context, a *app, name string) error {
	l, store, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	s, err := l.Show(ctx, name)
	if err != nil {
		return nearName(ctx, a, l, name, err)
	}
	outlook, err := l.Outlook(ctx, name)
	if err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, request.BudgetAccount{Statement: s, Outlook: outlook})
	}
	if err := printStatement(a.out, &s); err != nil {
		return err
	}
	printOutlook(a.out, outlook)
	return nil
}

// printOutlook says in plain units what is left.
func printOutlook(w io.Writer, o *ledger.Outlook) {
	if o == nil {
		return
	}
	text := "another job like the last would be refused"
	switch {
	case o.More >= ledger.MostMore:
		text = fmt.Sprintf("%d or more jobs like the last would fit", ledger.MostMore)
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

func listLedger(ctx context.Context, a *app) error {
	where, err := a.ledgerAddress()
	if err != nil {
		return err
	}
	out := request.Budgets{Ledger: where.String(), Datasets: []request.BudgetLine{}}
	l, store, err := a.openExisting(ctx)
	var none *usageError
	if err != nil && !errors.As(err, &none) {
		return err
	}
	if err == nil { // an empty list is an answer; it needs no new ledger
		defer store.Close()
		names, err := l.Names(ctx)
		if err != nil {
			return err
		}
		for _, name := range names {
			s, err := l.Show(ctx, name)
			if err != nil {
				return err
			}
			out.Datasets = append(out.Datasets, request.NewBudgetLine(&s))
		}
	}
	if a.json {
		return writeJSON(a.out, out)
	}
	if len(out.Datasets) == 0 {
		fmt.Fprintf(a.out, "The ledger has no data sets yet (%s).\n", out.Ledger)
		return nil
	}
	t := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "data set\tkind\tepsilon\tspent\treserved\tleft\tdelta\tentries")
	for _, d := range out.Datasets {
		spent := amount(d.Spent.Epsilon)
		if d.Seeded > 0 {
			spent += fmt.Sprintf(", no bound (%d seeded)", d.Seeded)
		}
		total := limit(d.Total.Epsilon)
		if d.Per != ledger.Once {
			total += " per " + string(d.Per)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\n", d.Name, kindOf(d.Public), total, spent,
			amount(d.Reserved.Epsilon), limit(d.Left.Epsilon), deltaText(d.Total.Delta), d.Entries)
	}
	return t.Flush()
}

func kindOf(public bool) string {
	if public {
		return "public"
	}
	return "sensitive"
}

// standing is one clause about the budget.
func standing(s *ledger.Statement) string {
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

// printStatement writes what the ledger says about one data set. All of it is
// public: events and amounts are fixed before rows are read.
func printStatement(w io.Writer, s *ledger.Statement) error {
	if text := marked(s.SeededRuns); text != "" {
		fmt.Fprintln(w, text+", and no figure here bounds what their outputs reveal")
	} else if slices.ContainsFunc(s.Entries, func(e ledger.Entry) bool { return e.NotPrivate }) {
		fmt.Fprintln(w, "NOT PRIVATE: entries with this mark used a seed; no figure here bounds what their outputs reveal")
	}
	if s.Exceeded {
		until := ""
		if s.Renewal != nil {
			until = " until the budget renews"
		}
		fmt.Fprintf(w, "EXCEEDED: more was spent than granted, by a run charged after the fact; every new job is refused%s\n", until)
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "data set\t%s (%s)\n", s.Name, kindOf(s.Public))
	if f := s.Frozen; f != nil {
		fmt.Fprintf(t, "FROZEN\tby %s at %s: %s\n", f.By, when(f.At), report.Plain(f.Reason))
	}
	printSeeded(t, s)
	fmt.Fprintf(t, "protects\t%s\n", protects(s))
	fmt.Fprintf(t, "granted\t%s\n", granted(s))
	if r := s.Renewal; r != nil {
		fmt.Fprintf(t, "period\t%s, since %s; the budget renews on %s, as in each %s\n", r.Period, day(r.Began), day(r.Renews), r.Per)
	}
	for _, r := range s.Reconciled {
		fmt.Fprintf(t, "RECONCILED\tby %s at %s: %s\n", r.By, when(r.At), report.Plain(r.Reason))
	}
	for _, d := range s.Different {
		what := "its rows resemble"
		if d.Of == "test" {
			what = "rows of a test file resemble"
		}
		fmt.Fprintf(t, "resembles\t%s those of %q; %s declared at %s that the units differ: %s\n", what, d.Other, d.By, when(d.At), report.Plain(d.Reason))
	}
	for _, part := range []struct{ name, epsilon string }{
		{"total", limit(s.Total.Epsilon)}, {"spent", amount(s.Spent.Epsilon)}, {"reserved", amount(s.Reserved.Epsilon)}, {"left", limit(s.Left.Epsilon)},
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
	if err := printAnalysts(w, s.Analysts); err != nil {
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

func printAnalysts(w io.Writer, shares []ledger.Analyst) error {
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

func state(e *ledger.Entry) string {
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

func protects(s *ledger.Statement) string {
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

func granted(s *ledger.Statement) string {
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
func odometer(s *ledger.Statement) string {
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
func limit(n ledger.Number) string {
	if math.IsInf(float64(n), 1) {
		return "not limited"
	}
	return amount(n)
}

func deltaText(n ledger.Number) string { return strconv.FormatFloat(float64(n), 'g', -1, 64) }
