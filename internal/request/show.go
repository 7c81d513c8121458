package request

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"pawl/report"
)

// WriteText shows the price list. Everything in it is public.
func (j *Job) WriteText(w io.Writer, s *report.Statement) {
	switch {
	case j.Plan.AsPublished():
		fmt.Fprintln(w, "NOT PRIVATE: as published, a choice uses rows without charge; NOT a privacy guarantee")
	case s.NotPrivate:
		fmt.Fprintln(w, "NOT PRIVATE: simulation with a seed")
	}
	if n := len(s.SeededRuns); n > 0 {
		fmt.Fprintf(w, "NOT PRIVATE as a whole: no epsilon bounds the outputs of %s on these data\n", seeded(n))
	}
	fmt.Fprintf(w, "Plan for %s, target %s (%s), rows %s\n", s.Data.Name, s.Data.Target, s.Data.Task, s.Data.Rows)
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
}

func number(x float64) string { return fmt.Sprintf("%.6g", x) }

func seeded(n int) string {
	if n == 1 {
		return "1 seeded run"
	}
	return fmt.Sprintf("%d seeded runs", n)
}
