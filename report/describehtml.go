package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"sync"
)

//go:embed describe.html.tmpl
var describeSource string

var describePage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("describe").Parse(strings.Replace(describeSource, "/*STYLE*/", Style(), 1)))
})

// DescriptionHTML writes what pawl describe released as one page without scripts: a picture of
// every column, the target by level, correlations, and what it cost. It returns an error, and
// writes nothing, when Validate does or there is no description.
func DescriptionHTML(w io.Writer, s *Statement) error {
	if err := validDescription(s); err != nil {
		return err
	}
	d := s.Description
	v := describeView{
		Title: "Description: " + short(Plain(s.Data.Name), 40), Banner: banner(s), Mark: wholeMark(s), Name: short(or(s.Data.Name, "unnamed data set"), 40),
		Date: s.Time.UTC().Format("2 January 2006, 15:04 UTC"), Made: short(strings.TrimSpace(Plain(s.Software.Name+" "+s.Software.Version)), 40),
		Claim: claim(s.Privacy), Headline: headlineOf(s), Accuracy: accuracyOf(d), Exact: d.Exact, Lead: "Everything on this page together satisfies",
		Terms: terms(s), Notes: d.Notes, ExactRows: exactRows(s), Versions: versions(s), Events: events(s.Privacy),
	}
	if v.Banner != "" {
		v.Lead = "No claim is made; " + wouldBe(s)
	} else if v.Mark != "" {
		v.Lead = "What this run released, taken alone, satisfies"
	}
	for _, w := range s.Warnings {
		v.Warnings = append(v.Warnings, Plain(w))
	}
	for i := range d.Columns {
		v.Columns = append(v.Columns, newColumnFigure(d, &d.Columns[i]))
	}
	if d.Target != "" && len(d.Columns) > 1 {
		v.TargetWords = d.targetWords()
		v.Targets = targetFigures(d)
	}
	v.Heat = newHeatMap(d.Ranks)
	for _, l := range d.Left {
		v.Left = append(v.Left, row{Plain(l.Name), Plain(l.Why)})
	}
	var b bytes.Buffer
	if err := describePage().Execute(&b, v); err != nil {
		return fmt.Errorf("write description: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// describeView is all that the template prints.
type describeView struct {
	Title, Banner, Mark, Name, Date, Made string
	Claim, Lead, Headline, Accuracy       string
	Exact                                 bool
	Terms, Left, ExactRows, Versions      []row
	Notes, Warnings                       []string
	Columns                               []columnFigure
	TargetWords                           string
	Targets                               []targetFigure
	Heat                                  *heatMap
	Events                                string
}

// columnFigure is the picture of a column: lying bars of categories, or standing ones of bins.
type columnFigure struct {
	Name, Type    string
	Target        bool
	Label         string // read out in place of the picture
	Facts         []row
	Quantiles     []quantileCell
	Width, Height float64
	Lying         []lyingBar
	Standing      []standingBar
	YTicks        []yTick
	XTicks        []xTick
	Left, Right   float64
	Floor         float64
	Box           *boxMark
	More          string
}

type quantileCell struct{ Name, Value, Interval string }

type lyingBar struct {
	Y, TextY, X, Width, X1, X2, Middle float64
	Name, Value                        string
	Missing                            bool
}

type standingBar struct {
	X, Y, Width, Height, Middle, Y1, Y2 float64
}

// boxMark is a line from the 5 % to the 95 % quantile with a box from quartile to quartile.
type boxMark struct{ Y, Low, Q1, Median, Q3, High float64 }

const (
	describeWidth = 320.0
	nameRoom      = 112.0
	valueRoom     = 46.0
	lyingHeight   = 15.0
	mostLying     = 16
)

func newColumnFigure(d *Description, c *DescribedColumn) columnFigure {
	f := columnFigure{Name: Plain(c.Name), Type: c.Type, Target: c.Name == d.Target, Width: describeWidth}
	if c.Logarithmic {
		f.Type += ", bins grow in proportion"
	}
	n := float64(d.Rows.Value)
	if c.Mean == nil {
		f.lying(c)
	} else {
		f.standing(c, n, float64(d.Noise.Count))
		f.Facts = append(f.Facts, row{"Mean", figureText(c.Mean, valueText)}, row{"Standard deviation", figureText(c.StdDev, valueText)})
		for _, q := range c.Quantiles {
			cell := quantileCell{Name: fmt.Sprintf("%.0f%%", 100*float64(q.Share)), Value: "?", Interval: valueText(float64(q.Interval[0]))}
			if high := valueText(float64(q.Interval[1])); high != cell.Interval {
				cell.Interval += " – " + high
			}
			if q.Share == 0.5 {
				cell.Name = "median"
			}
			if !math.IsNaN(float64(q.Value)) {
				cell.Value = valueText(float64(q.Value))
			}
			f.Quantiles = append(f.Quantiles, cell)
		}
		if c.Missing != nil {
			f.Facts = append(f.Facts, row{"Missing", figurePercent(&c.Missing.Share)})
		}
	}
	f.Label = f.Name + ": " + valuesOf(c)
	return f
}

// lying places the bars of categories: in their order where there are few, else the commonest.
func (f *columnFigure) lying(c *DescribedColumn) {
	order := byCount(c)
	if len(order) > mostLying {
		rest := 0.0
		for _, i := range order[mostLying:] {
			rest += math.Max(float64(c.Levels[i].Share.Value), 0)
		}
		f.More = fmt.Sprintf("and %d more categories, together %s", len(order)-mostLying, percent(rest))
		order = order[:mostLying]
	}
	levels := make([]DescribedLevel, 0, len(order)+1)
	for _, i := range order {
		levels = append(levels, c.Levels[i])
	}
	if c.Missing != nil {
		levels = append(levels, *c.Missing)
	}
	most := 0.0
	for _, l := range levels {
		most = math.Max(most, float64(l.Share.Interval[1]))
	}
	left, right := nameRoom, describeWidth-valueRoom
	at := func(x Number) float64 { return tenth(left + math.Max(float64(x), 0)/math.Max(most, 1e-9)*(right-left)) }
	for i, l := range levels {
		y := 2 + lyingHeight*float64(i)
		share := l.Share.Value
		if math.IsNaN(float64(share)) {
			share = 0
		}
		f.Lying = append(f.Lying, lyingBar{Y: y, TextY: y + 9.5, X: left, Width: tenth(at(share) - left), X1: at(l.Share.Interval[0]), X2: at(l.Share.Interval[1]), Middle: y + 6,
			Name: short(Plain(l.Name), 21), Value: percent(float64(share)), Missing: c.Missing != nil && i == len(levels)-1})
	}
	f.Left, f.Right, f.Height = left, right, 6+lyingHeight*float64(len(levels))
	f.Floor = f.Height - 4
}

// standing places the bars of bins side by side, equally wide.
func (f *columnFigure) standing(c *DescribedColumn, rows, noise float64) {
	f.Left, f.Right, f.Floor, f.Height = 40, describeWidth-8, 104, 134
	const top = 6.0
	levels := mergedBars(c.Levels, noise)
	edges := make([]Number, 0, len(c.Levels)+1)
	shift := Number(0)
	if c.Type == "integer" {
		shift = 0.5
	}
	most, apart := 0.0, 0.0 // bars of one number alone, left of the others
	for i, l := range levels {
		if i == 0 && *l.Lower == *l.Upper && c.Type != "integer" {
			apart = 1
		} else {
			edges = append(edges, *l.Lower-shift)
		}
		most = math.Max(most, float64(l.Count.Interval[1])/math.Max(rows, 1))
	}
	edges = append(edges, *levels[len(levels)-1].Upper+shift)
	_, high, step := axis(0, math.Max(most, 1e-6)/1.05)
	y := func(share float64) float64 { return tenth(f.Floor - math.Min(share/high, 1)*(f.Floor-top)) }
	for v := 0.0; v <= high+step/1e6; v += step {
		f.YTicks = append(f.YTicks, yTick{y(v), rounded(100*v, 100*step) + "%"})
	}
	n := float64(len(levels))
	at := func(bins float64) float64 { return f.Left + bins/n*(f.Right-f.Left) }
	place := func(v float64) float64 {
		if apart > 0 && v <= float64(edges[0]) {
			return tenth(at(0.5))
		}
		return tenth(at(apart + position(edges, v)))
	}
	for i, l := range levels {
		share := func(x Number) float64 { return float64(x) / math.Max(rows, 1) }
		x, next := at(float64(i)), at(float64(i+1))
		gap := math.Min(1, (next-x)/6)
		f.Standing = append(f.Standing, standingBar{X: tenth(x + gap/2), Y: y(share(l.Count.Value)), Width: tenth(next - x - gap), Height: tenth(f.Floor - y(share(l.Count.Value))),
			Middle: tenth((x + next) / 2), Y1: y(share(l.Count.Interval[0])), Y2: y(share(l.Count.Interval[1]))})
	}
	last := math.Inf(-1)
	for _, e := range edgeTicks(edges) {
		x := place(e)
		label := mark(e)
		half := letter * float64(len([]rune(label))) / 2
		anchor, start := "middle", x-half
		if x+half > describeWidth {
			anchor, start = "end", x-2*half
		}
		if start < last+4 {
			continue
		}
		f.XTicks = append(f.XTicks, xTick{X: x, Y: f.Floor + 12, Label: label, Anchor: anchor})
		last = x + half
	}
	q := map[float64]float64{}
	for _, one := range c.Quantiles {
		if !math.IsNaN(float64(one.Value)) {
			q[float64(one.Share)] = place(float64(one.Value))
		}
	}
	if len(q) == 5 {
		f.Box = &boxMark{f.Floor + 24, q[0.05], q[0.25], q[0.5], q[0.75], q[0.95]}
	}
}

// mostStanding bars are drawn of a histogram.
const mostStanding = 64

// mergedBars are the bins, or of many of them the sums of neighbours, with an interval for the noise
// on the sum: each bin has its own, of one deviation.
func mergedBars(levels []DescribedLevel, noise float64) (out []DescribedLevel) {
	by := (len(levels) + mostStanding - 1) / mostStanding
	if by < 2 {
		return levels
	}
	half := Number(1.96 * noise * math.Sqrt(float64(by)))
	for i := 0; i < len(levels); i += by {
		l := DescribedLevel{Lower: levels[i].Lower}
		for _, one := range levels[i:min(i+by, len(levels))] {
			l.Upper = one.Upper
			l.Count.Value += one.Count.Value
			l.Count.Estimate += one.Count.Estimate
		}
		l.Count.Interval = [2]Number{max(l.Count.Estimate-half, 0), max(l.Count.Estimate+half, 0)}
		out = append(out, l)
	}
	return out
}

// targetFigure is the target by level of one column: points with intervals, or with three classes
// and more a table of rates.
type targetFigure struct {
	Name, Label   string
	Width, Height float64
	Points        []targetPoint
	Ticks         []tick
	Floor         float64
	All           float64 // of all rows, where HasAll
	HasAll        bool
	Classes       []string
	Table         []rateRow
	More          string
}

type targetPoint struct {
	Y, TextY, X, X1, X2 float64
	Name, Value         string
	Known               bool
}

type rateRow struct {
	Name  string
	Rates []rateCell
}

type rateCell struct {
	Text, Interval string
	Shade          int // in tenths
}

func targetFigures(d *Description) (out []targetFigure) {
	_, focus := d.focus()
	for i := range d.Columns {
		c := &d.Columns[i]
		if len(c.Target) == 0 {
			continue
		}
		if focus < 0 && d.classed() {
			out = append(out, rateTable(c))
		} else {
			out = append(out, d.targetPoints(c))
		}
	}
	return out
}

// mostTargetRows are shown of a column.
const mostTargetRows = 24

func shownGroups(c *DescribedColumn) (groups []TargetGroup, more string) {
	groups = c.Target
	if len(groups) <= mostTargetRows {
		return groups, ""
	}
	common := map[int]bool{}
	for _, i := range byCount(c)[:mostTargetRows] {
		common[i] = true
	}
	var kept []TargetGroup
	for _, g := range groups {
		if len(g.Levels) != 1 || common[g.Levels[0]] {
			kept = append(kept, g)
		}
	}
	return kept, fmt.Sprintf("The %d most common of %d; all are in the JSON file.", len(kept), len(groups))
}

func (d *Description) targetPoints(c *DescribedColumn) targetFigure {
	groups, more := shownGroups(c)
	f := targetFigure{Name: Plain(c.Name), Width: describeWidth, More: more}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range groups {
		if x := d.shownFigure(&groups[i]); x != nil && !math.IsNaN(float64(x.Value)) {
			low, high = math.Min(low, float64(x.Interval[0])), math.Max(high, float64(x.Interval[1]))
		}
	}
	all := d.overall()
	if all != nil && !math.IsNaN(float64(all.Value)) {
		low, high = math.Min(low, float64(all.Value)), math.Max(high, float64(all.Value))
	}
	if low > high {
		low, high = 0, 1
	}
	_, class := d.focus()
	low, high, step := axis(low, high)
	if class >= 0 {
		low, high = math.Max(low, 0), math.Min(high, 1)
	}
	left, right := nameRoom, describeWidth-valueRoom
	at := func(x Number) float64 {
		return tenth(left + (math.Min(math.Max(float64(x), low), high)-low)/(high-low)*(right-left))
	}
	for i := range groups {
		g := &groups[i]
		y := 8 + lyingHeight*float64(i)
		p := targetPoint{Y: y, TextY: y + 3.5, Name: short(Plain(g.Name), 21), Value: "not known"}
		if x := d.shownFigure(g); x != nil && !math.IsNaN(float64(x.Value)) {
			p.Known, p.X, p.X1, p.X2, p.Value = true, at(x.Value), at(x.Interval[0]), at(x.Interval[1]), d.targetText(float64(x.Value))
		}
		f.Points = append(f.Points, p)
		f.Label += g.Name + ": " + figureText(d.shownFigure(g), d.targetText) + ". "
	}
	f.Label = Plain(f.Label)
	f.Floor = 4 + lyingHeight*float64(len(groups))
	f.Height = f.Floor + 16
	last := math.Inf(-1)
	for v := low; v <= high+step/1e6; v += step {
		x := at(Number(v))
		label := mark(v)
		if class >= 0 {
			label = rounded(100*v, 100*step) + "%"
		}
		half := letter * float64(len([]rune(label))) / 2
		if x-half < last+4 {
			continue
		}
		f.Ticks = append(f.Ticks, tick{X: x, Label: label})
		last = x + half
	}
	if all != nil && !math.IsNaN(float64(all.Value)) {
		f.HasAll, f.All = true, at(all.Value)
	}
	return f
}

// overall is the target among all rows.
func (d *Description) overall() *Figure {
	t := d.targetColumn()
	if t == nil {
		return nil
	}
	if _, at := d.focus(); at >= 0 {
		return &t.Levels[at].Share
	}
	return t.Mean
}

func rateTable(c *DescribedColumn) targetFigure {
	groups, more := shownGroups(c)
	f := targetFigure{Name: Plain(c.Name), More: more}
	for _, class := range groups[0].Classes {
		f.Classes = append(f.Classes, short(Plain(class), 18))
	}
	for i := range groups {
		r := rateRow{Name: short(Plain(groups[i].Name), 28)}
		for _, x := range groups[i].Rates {
			cell := rateCell{Text: "?", Interval: figurePercent(x)}
			if !math.IsNaN(float64(x.Value)) {
				cell.Text, cell.Shade = percent(float64(x.Value)), int(math.Round(10*math.Min(math.Max(float64(x.Value), 0), 1)))
			}
			r.Rates = append(r.Rates, cell)
		}
		f.Table = append(f.Table, r)
	}
	return f
}

// heatMap is the matrix of correlations.
type heatMap struct {
	Width, Height float64
	Cells         []heatCell
	Names         []heatName
	Label         string
	Wide          bool
}

type heatCell struct {
	X, Y, Size, TextX, TextY float64
	Text, Title              string
	Shade                    float64
	Negative, Unknown, Own   bool
}

type heatName struct {
	X, Y, TopX, TopY float64
	Name             string
}

func newHeatMap(r *Correlations) *heatMap {
	if r == nil {
		return nil
	}
	const left, top = 118.0, 84.0
	n := float64(len(r.Columns))
	size := math.Min(math.Max(480/n, 18), 44)
	h := &heatMap{Width: left + n*size + 60, Height: top + n*size + 4, Wide: n > 6}
	for i, name := range r.Columns {
		x := heatName{X: left - 6, Y: tenth(top + (float64(i)+0.5)*size + 3.5), TopX: tenth(left + (float64(i)+0.5)*size - 2), TopY: top - 6, Name: short(Plain(name), 19)}
		h.Names = append(h.Names, x)
		for j := range r.Columns {
			f := r.Matrix[i][j]
			c := heatCell{X: tenth(left + float64(j)*size), Y: tenth(top + float64(i)*size), Size: tenth(size - 1.5), Own: i == j}
			c.TextX, c.TextY = tenth(c.X+size/2-0.75), tenth(c.Y+size/2+2.5)
			if f == nil || math.IsNaN(float64(f.Value)) {
				c.Unknown, c.Text, c.Title = true, "?", "not known"
			} else {
				v := float64(f.Value)
				c.Shade, c.Negative = math.Round(math.Abs(v)*85)/100, v < 0
				text := func(x float64) string { return minus(fmt.Sprintf("%.2f", x)) }
				c.Title = figureText(f, text)
				if c.Text = text(v); size < 26 {
					c.Text = ""
				}
				if i < j && math.Abs(v) >= 0.1 {
					h.Label += fmt.Sprintf("%s and %s %s. ", Plain(name), Plain(r.Columns[j]), c.Title)
				}
			}
			if c.Own {
				c.Text = ""
			}
			c.Title = Plain(name) + ", " + Plain(r.Columns[j]) + ": " + c.Title
			h.Cells = append(h.Cells, c)
		}
	}
	return h
}
