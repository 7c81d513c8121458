package request

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"pawl/core/ledger"
	"pawl/report"
)

// WriteText shows the price list. Everything in it is public.
func (j *Job) WriteText(to io.Writer, s *report.Statement) error {
	w := new(bytes.Buffer)
	switch {
	case j.Plan.AsPublished():
		fmt.Fprintln(w, "NOT PRIVATE: as published, a choice uses rows without charge; NOT a privacy guarantee")
	case s.NotPrivate:
		fmt.Fprintln(w, "NOT PRIVATE: simulation with a seed")
	}
	if n := len(s.SeededRuns); n > 0 {
		fmt.Fprintf(w, "NOT PRIVATE as a whole: no epsilon bounds the outputs of %s on these data\n", report.SeededRuns(n))
	}
	target := ""
	if s.Data.Target != "" {
		target = fmt.Sprintf(", target %s (%s)", s.Data.Target, s.Data.Task)
	}
	fmt.Fprintf(w, "Plan for %s%s, rows %s\n", s.Data.Name, target, s.Data.Rows)
	fmt.Fprintf(w, "Total: epsilon %s at delta %s, %s, unit %s, by %s\n",
		number(float64(s.Privacy.Epsilon)), s.Privacy.DeltaAsked, s.Privacy.Relation, s.Privacy.Unit, s.Privacy.Accountant)
	names := make([]string, 0, len(s.Privacy.ByStage))
	for n := range s.Privacy.ByStage {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return s.Privacy.ByStage[a].Order - s.Privacy.ByStage[b].Order })
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "  stage\tepsilon\tshare of units\twhat")
	for _, n := range names {
		st := s.Privacy.ByStage[n]
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", n, number(float64(st.Epsilon)), st.Scope, st.What)
	}
	t.Flush()
	for _, m := range s.Warnings {
		fmt.Fprintf(w, "note: %s\n", m)
	}
	if d := j.Plan.Expected().Round(time.Second); d >= time.Second {
		fmt.Fprintf(w, "Expected time: about %s\n", d)
	}
	_, err := w.WriteTo(to)
	return err
}

func number(x float64) string { return fmt.Sprintf("%.6g", x) }

// Refusal is why the ledger would refuse the job now and how to go on, in one line, or "" where
// it would not. Other faults stay errors.
func (j *Job) Refusal(ctx context.Context) (string, error) {
	_, err := j.Foretell(ctx, false)
	if !errors.Is(err, ledger.ErrRefused) {
		return "", err
	}
	text := "the ledger would refuse this job now: " + err.Error()
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) && hinted.Hint() != "" {
		text += "; " + hinted.Hint()
	}
	return strings.Join(strings.Fields(text), " "), nil
}

// Report writes all about the plan before its run: whether the ledger would refuse it now,
// its stages with their prices, and the reasons for what was chosen.
func (j *Job) Report(ctx context.Context, w io.Writer, asJSON bool) error {
	refusal, err := j.Refusal(ctx)
	if err != nil {
		return err
	}
	s, err := j.Quote(time.Now())
	if err != nil {
		return err
	}
	told := *s
	if refusal != "" {
		told.Warnings = append([]string{refusal}, s.Warnings...)
	}
	if err := j.Plan.MarkPlan(ctx, j.desk.Ledger, &told); err != nil {
		return err
	}
	if asJSON {
		return report.WriteJSON(w, &told)
	}
	if err := j.WriteText(w, &told); err != nil {
		return err
	}
	for _, r := range told.Advice {
		fmt.Fprintf(w, "\n• %s\n    because %s\n    evidence: %s\n    what would change it: %s\n", r.Rule, r.Because, r.Evidence, r.Changes)
	}
	return nil
}
