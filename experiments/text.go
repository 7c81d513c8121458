package experiments

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// Text writes a table for a terminal. Where several rows in a row use the same data,
// the data stand once above them.
func Text(w io.Writer, t *Table) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s; scale %s, %.0f s\nvalues in %s: mean ± half of a 95 %% interval (runs)\n%s\n\n", t.Name, t.Title, t.Source, t.Scale, t.Seconds, t.Unit, t.Guarantee)
	tw := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	grouped := groups(t.Rows)*2 <= len(t.Rows)
	if grouped {
		fmt.Fprintln(tw, "\tpublished\tas published, ours\thonest, ours\tbaseline\tverdict")
	} else {
		fmt.Fprintln(tw, "\tdata used\tpublished\tas published, ours\thonest, ours\tbaseline\tverdict")
	}
	for i, r := range t.Rows {
		name := r.Name
		if grouped {
			if i == 0 || t.Rows[i-1].Data != r.Data {
				fmt.Fprintf(tw, "%s\t\t\t\t\t\n", r.Data)
			}
			name = "  " + name
		} else {
			name += "\t" + r.Data
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", name, Figure(r.Published), r.AsPublished, r.Honest, r.Baseline, VerdictText(r))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, c := range t.Claims {
		b.WriteByte('\n')
		wrap(&b, "claim: "+c.Statement)
		wrap(&b, fmt.Sprintf("  %s: %s", c.Verdict, c.Evidence))
	}
	for _, name := range slices.Sorted(maps.Keys(t.PublishedEpsilon)) {
		fmt.Fprintf(&b, "\nepsilon that the published procedure states (%s): %s, NOT a guarantee\n", name, figure(t.PublishedEpsilon[name]))
	}
	for _, n := range t.Notes {
		b.WriteByte('\n')
		wrap(&b, "note: "+n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap breaks a paragraph at blanks into lines of about 100 characters, all but the
// first indented.
func wrap(b *strings.Builder, paragraph string) {
	const width = 100
	column := 0
	for i, word := range strings.Split(paragraph, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i > 0 && column+1+n > width:
			b.WriteString("\n    ")
			column = 4
		case i > 0:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	b.WriteByte('\n')
}

// groups counts the runs of rows with the same data.
func groups(rows []Row) int {
	n := 0
	for i := range rows {
		if i == 0 || rows[i-1].Data != rows[i].Data {
			n++
		}
	}
	return n
}

// VerdictText is a row's verdict with its reason. It leaves out what the column of
// published values says already.
func VerdictText(r Row) string {
	switch {
	case r.Verdict == Unpublished:
		return r.Why
	case r.Why != "":
		return string(r.Verdict) + ": " + r.Why
	}
	return string(r.Verdict)
}

// String is "84.2 ± 3.4 (10)": the interval with two digits, the mean to the same
// place, never more than five digits, and never more than four places. Numbers that
// would vanish so have an exponent.
func (e *Estimate) String() string {
	switch {
	case e == nil:
		return "–"
	case math.IsInf(e.High, 1):
		return figure(e.Mean) + " (1 run)"
	case e.Runs == 1:
		return figure(e.Mean)
	}
	half := (e.High - e.Low) / 2
	largest := max(math.Abs(e.Mean), half)
	if largest > 0 && largest < 1e-3 {
		return fmt.Sprintf("%.2g ± %.2g (%d)", e.Mean, half, e.Runs)
	}
	places := 4 - magnitude(largest)
	if half > 0 {
		places = min(places, 1-magnitude(half))
	}
	places = min(max(places, 0), 4)
	return fmt.Sprintf("%.*f ± %.*f (%d)", places, e.Mean, places, half, e.Runs)
}

// magnitude is the power of ten of the first digit, 0 for 0.
func magnitude(v float64) int {
	if v == 0 {
		return 0
	}
	return int(math.Floor(math.Log10(math.Abs(v))))
}

// Figure is a published value with four digits, “–” for none.
func Figure(v *float64) string {
	if v == nil {
		return "–"
	}
	return figure(*v)
}

// figure writes four digits.
func figure(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
