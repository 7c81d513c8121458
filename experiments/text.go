package experiments

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Text writes a table for a terminal.
func Text(w io.Writer, t *Table) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s; scale %s, %.0f s; values in %s\n%s\n\n", t.Name, t.Title, t.Source, t.Scale, t.Seconds, t.Unit, t.Guarantee)
	tw := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "\tdata used\tpublished\tas published, ours\thonest, ours\tbaseline\tverdict")
	for _, r := range t.Rows {
		published := "–"
		if r.Published != nil {
			published = figure(*r.Published)
		}
		verdict := string(r.Verdict)
		if r.Why != "" {
			verdict += ": " + r.Why
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, r.Data, published, r.AsPublished, r.Honest, r.Baseline, verdict)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, c := range t.Claims {
		fmt.Fprintf(&b, "\nclaim: %s\n  %s: %s\n", c.Statement, c.Verdict, c.Evidence)
	}
	for name, e := range t.PublishedEpsilon {
		fmt.Fprintf(&b, "\nepsilon that the published procedure states (%s): %s, NOT a guarantee\n", name, figure(e))
	}
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "\nnote: %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String is "84.2 ± 0.3 (10)".
func (e *Estimate) String() string {
	switch {
	case e == nil:
		return "–"
	case math.IsInf(e.High, 1):
		return figure(e.Mean) + " (1 run)"
	case e.Runs == 1:
		return figure(e.Mean)
	}
	return fmt.Sprintf("%s ± %s (%d)", figure(e.Mean), figure((e.High-e.Low)/2), e.Runs)
}

// figure writes four digits.
func figure(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
