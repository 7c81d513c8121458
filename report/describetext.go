package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// DescriptionText writes what pawl describe released for a terminal: columns, the target by level,
// the strongest correlations, and what it cost. It returns an error, and writes nothing, when
// Validate does or there is no description.
func DescriptionText(w io.Writer, s *Statement) error {
	if err := validDescription(s); err != nil {
		return err
	}
	d := s.Description
	var b strings.Builder
	if n := banner(s); n != "" {
		fmt.Fprintln(&b, n)
	}
	if n := wholeMark(s); n != "" {
		fmt.Fprintln(&b, n)
	}
	fmt.Fprintf(&b, "%s\n%s\n\n", headlineOf(s), accuracyOf(d))
	t := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "column\ttype\tmissing\tvalues")
	for i := range d.Columns {
		c := &d.Columns[i]
		missing := "none"
		if c.Missing != nil {
			missing = figurePercent(&c.Missing.Share)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", Plain(c.Name), c.Type, missing, valuesOf(c))
	}
	t.Flush()
	if d.Target != "" && len(d.Columns) > 1 {
		fmt.Fprintf(&b, "\n%s, where it differs most (95%% intervals)\n", d.targetWords())
		for _, l := range d.contrasts() {
			fmt.Fprintf(t, "  %s\t%s\t%s\n", l[0], l[1], l[2])
		}
		t.Flush()
	}
	if pairs := d.strongest(6); len(pairs) > 0 {
		fmt.Fprintln(&b, "\nStrongest rank correlations (95% intervals)")
		for _, p := range pairs {
			fmt.Fprintf(t, "  %s, %s\t%s\n", Plain(p.a), Plain(p.b), figureText(p.f, func(x float64) string { return minus(fmt.Sprintf("%.2f", x)) }))
		}
		t.Flush()
	}
	fmt.Fprintln(&b)
	for _, n := range d.Notes {
		fmt.Fprintln(&b, Plain(n))
	}
	for _, l := range costLines(s) {
		fmt.Fprintln(&b, l)
	}
	for _, warning := range s.Warnings {
		if !strings.HasPrefix(warning, "forecast: ") { // of the plan
			fmt.Fprintf(&b, "note: %s\n", Plain(warning))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func validDescription(s *Statement) error {
	if err := Validate(s); err != nil {
		return err
	}
	if s.Description == nil {
		return errors.New("the statement contains no description")
	}
	if v := s.Description.Version; v != DescriptionVersion {
		return invalid("description.version is %d, this program writes %d", v, DescriptionVersion)
	}
	if s.Description.Exact && !s.Data.Public {
		return invalid("the description is exact and the data set is not public")
	}
	return nil
}

func headlineOf(s *Statement) string {
	d := s.Description
	rows := wholeNumber(d.Rows.Value) + " rows"
	switch {
	case d.Exact:
		rows += " (exact: the data set is public)"
	case d.RowsDeclared:
		rows += " (as declared)"
	default:
		rows += fmt.Sprintf(" (%s to %s)", wholeNumber(d.Rows.Interval[0]), wholeNumber(d.Rows.Interval[1]))
	}
	return fmt.Sprintf("%s: %s, %d columns", Plain(s.Data.Name), rows, len(d.Columns))
}

// accuracyOf says how far off the figures are.
func accuracyOf(d *Description) string {
	if d.Exact {
		return "Intervals cover only the sampling of units."
	}
	text := fmt.Sprintf("Noise changes a count by up to about ±%s rows", wholeNumber(Number(math.Ceil(1.96*float64(d.Noise.Count)))))
	if n := float64(d.Rows.Value); n > 0 {
		text += fmt.Sprintf(", %s%% of all rows", quantity(196*float64(d.Noise.Count)/n))
	}
	return text + ". Intervals contain the true value in 95 of 100 cases: for counts, that of these rows; for everything else, that of the population they come from."
}

// wholeNumber writes a number of rows.
func wholeNumber(n Number) string { return group(fmt.Sprintf("%.0f", math.Max(float64(n), 0))) }

func minus(s string) string { return strings.Replace(s, "-", "−", 1) }

// figureText is "12 [10, 14]", or a dash where the noise leaves it open.
func figureText(f *Figure, text func(float64) string) string {
	if f == nil || math.IsNaN(float64(f.Value)) {
		return "not known"
	}
	return fmt.Sprintf("%s [%s, %s]", text(float64(f.Value)), text(float64(f.Interval[0])), text(float64(f.Interval[1])))
}

func figurePercent(f *Figure) string { return figureText(f, percent) }

// valueText writes a value of a column: four digits, and no decimals of whole numbers.
func valueText(x float64) string { return mark(fourDigits(x)) }

func fourDigits(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	return y
}

// valuesOf is a column in one line: its largest categories, or its middle and ends.
func valuesOf(c *DescribedColumn) string {
	if c.Mean == nil {
		const most = 4
		order := byCount(c)
		var out []string
		for _, i := range order[:min(len(order), most)] {
			out = append(out, short(Plain(c.Levels[i].Name), 24)+" "+percent(float64(c.Levels[i].Share.Value)))
		}
		if more := len(order) - most; more > 0 {
			out = append(out, fmt.Sprintf("%d more", more))
		}
		return strings.Join(out, ", ")
	}
	out := []string{"mean " + figureText(c.Mean, valueText)}
	if c.StdDev != nil && !math.IsNaN(float64(c.StdDev.Value)) {
		out = append(out, "sd "+valueText(float64(c.StdDev.Value)))
	}
	for _, q := range c.Quantiles {
		name := fmt.Sprintf("%.0f%%", 100*float64(q.Share))
		if q.Share == 0.5 {
			name = "median"
		}
		value := "not known"
		if !math.IsNaN(float64(q.Value)) {
			value = valueText(float64(q.Value))
		}
		out = append(out, name+" "+value)
	}
	return strings.Join(out, ", ")
}

// byCount are the levels by their counts, the largest first.
func byCount(c *DescribedColumn) []int {
	order := make([]int, len(c.Levels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.Levels[b].Count.Value, c.Levels[a].Count.Value) })
	return order
}

// focus is the class of two whose rate is shown: the last one. −1 stands for a number, and for more
// classes, of which all are shown.
func (d *Description) focus() (class string, at int) {
	if t := d.targetColumn(); t != nil && t.Mean == nil && t.Missing == nil && len(t.Levels) == 2 {
		return t.Levels[1].Name, 1
	}
	return "", -1
}

func (d *Description) targetColumn() *DescribedColumn {
	for i := range d.Columns {
		if d.Columns[i].Name == d.Target {
			return &d.Columns[i]
		}
	}
	return nil
}

// classed says that the target is a class.
func (d *Description) classed() bool {
	t := d.targetColumn()
	return t != nil && t.Mean == nil
}

func (d *Description) targetWords() string {
	class, at := d.focus()
	switch {
	case at >= 0:
		return fmt.Sprintf("Rate of %s = %s", Plain(d.Target), Plain(class))
	case d.classed():
		return "Classes of " + Plain(d.Target)
	}
	return "Mean of " + Plain(d.Target)
}

// shownFigure is the target of a group as it is shown.
func (d *Description) shownFigure(g *TargetGroup) *Figure {
	if _, at := d.focus(); at >= 0 && at < len(g.Rates) {
		return g.Rates[at]
	}
	return g.Mean
}

// targetText writes a target's figure.
func (d *Description) targetText(x float64) string {
	if d.classed() {
		return percent(x)
	}
	return valueText(x)
}

// contrasts has a line for each column: the groups with the lowest and the highest target whose
// intervals are apart, of several classes that where they are furthest apart.
func (d *Description) contrasts() (lines [][3]string) {
	type line struct {
		text [3]string
		gap  float64
	}
	var all []line
	for i := range d.Columns {
		c := &d.Columns[i]
		if len(c.Target) == 0 {
			continue
		}
		best := line{[3]string{Plain(c.Name), "no clear difference", ""}, 0}
		try := func(prefix string, of func(g *TargetGroup) *Figure) {
			low, high := -1, -1
			for k := range c.Target {
				f := of(&c.Target[k])
				if f == nil || math.IsNaN(float64(f.Value)) {
					continue
				}
				if low < 0 || f.Interval[1] < of(&c.Target[low]).Interval[1] {
					low = k
				}
				if high < 0 || f.Interval[0] > of(&c.Target[high]).Interval[0] {
					high = k
				}
			}
			if low < 0 {
				return
			}
			text := func(k int) string {
				return short(Plain(c.Target[k].Name), 24) + ": " + figureText(of(&c.Target[k]), d.targetText)
			}
			if gap := float64(of(&c.Target[high]).Interval[0] - of(&c.Target[low]).Interval[1]); gap > best.gap {
				best = line{[3]string{Plain(c.Name), prefix + text(low), text(high)}, gap}
			}
		}
		switch _, at := d.focus(); {
		case at >= 0 || !d.classed():
			try("", d.shownFigure)
		default:
			for k, class := range c.Target[0].Classes {
				try(short(Plain(class), 20)+" for ", func(g *TargetGroup) *Figure { return g.Rates[k] })
			}
		}
		all = append(all, best)
	}
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Compare(b.gap, a.gap) })
	for _, l := range all {
		lines = append(lines, l.text)
	}
	return lines
}

type pair struct {
	a, b string
	f    *Figure
}

// strongest are the pairs with the largest correlations whose intervals do not hold 0.
func (d *Description) strongest(most int) (pairs []pair) {
	if d.Ranks == nil {
		return nil
	}
	for i := range d.Ranks.Columns {
		for j := i + 1; j < len(d.Ranks.Columns); j++ {
			f := d.Ranks.Matrix[i][j]
			if f != nil && !math.IsNaN(float64(f.Value)) && (f.Interval[0] > 0 || f.Interval[1] < 0) {
				pairs = append(pairs, pair{d.Ranks.Columns[i], d.Ranks.Columns[j], f})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Compare(math.Abs(float64(b.f.Value)), math.Abs(float64(a.f.Value)))
	})
	return pairs[:min(len(pairs), most)]
}

// costLines say what it cost, and where it lies.
func costLines(s *Statement) (lines []string) {
	line := func(name, format string, args ...any) {
		lines = append(lines, fmt.Sprintf("%-11s %s", name, fmt.Sprintf(format, args...)))
	}
	if s.Description.Exact {
		line("cost", "none: the data set is public")
	} else {
		pair := fmt.Sprintf("(epsilon, delta) = (%s, %s)", up2(s.Privacy.Epsilon), deltaPlain(s.Privacy.Delta))
		if banner(s) != "" {
			line("claim", "none; %s %s", wouldBe(s), pair)
		} else {
			line("cost", "%s, %s", pair, accountantWords(s.Privacy))
		}
		line("neighbour", "%s", neighbourWords(s.Privacy))
		if e := s.Budget.Entry; e != "" {
			line("entry", "%s of data set %s; epsilon left %s", e, Plain(s.Budget.Dataset), down2(s.Budget.Left.Epsilon))
		}
	}
	if s.Outputs.Report != "" {
		line("page", "%s", Plain(s.Outputs.Report))
		line("again", "pawl describe --show %s, at no cost", Plain(strings.TrimSuffix(strings.TrimSuffix(s.Outputs.Statement, "statement.json"), "/")))
	}
	return lines
}
