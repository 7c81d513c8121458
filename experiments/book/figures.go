package book

import (
	_ "embed"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pawl/experiments"
	"pawl/report"
)

//go:embed figures.yaml
var figureFile []byte

// figure says which rows of a result are points of a curve.
type figure struct {
	Replay string `yaml:"replay"`
	X      string `yaml:"x"`
	Y      string `yaml:"y"` // empty for the result's unit
	Log    bool   `yaml:"log"`
	Row    string `yaml:"row"`

	row *regexp.Regexp
}

func figures() []figure {
	all := read[figure]("figures", figureFile)
	for i := range all {
		all[i].row = regexp.MustCompile(all[i].Row)
	}
	return all
}

// drawn is a picture of a result while its rows are collected.
type drawn struct {
	title  string
	ours   []report.Series // as published
	honest []report.Series
}

// charts are the pictures of a result, none where it is no curve.
func (r *Result) charts() []report.Chart {
	var all []report.Chart
	for _, f := range figures() {
		if f.Replay != r.Table.Name {
			continue
		}
		for _, d := range f.collect(r.Table) {
			all = append(all, f.split(d, r.Table.Unit)...)
		}
	}
	return all
}

// collect puts every row that is a point into its picture and line.
func (f figure) collect(t *experiments.Table) (pictures []*drawn) {
	several := slices.ContainsFunc(t.Rows, func(row experiments.Row) bool { return f.row.MatchString(row.Name) && row.Data != t.Rows[0].Data })
	for _, row := range t.Rows {
		m := f.row.FindStringSubmatch(row.Name)
		if m == nil {
			continue
		}
		group := func(name string) string {
			if i := f.row.SubexpIndex(name); i >= 0 {
				return m[i]
			}
			return ""
		}
		x, err := strconv.ParseFloat(group("x"), 64)
		if err != nil {
			continue
		}
		var parts []string
		for _, p := range []string{group("facet"), group("facet2")} {
			if p != "" {
				parts = append(parts, p)
			}
		}
		if several {
			parts = append(parts, row.Data)
		}
		title := strings.Join(parts, ", ")
		i := slices.IndexFunc(pictures, func(d *drawn) bool { return d.title == title })
		if i < 0 {
			i, pictures = len(pictures), append(pictures, &drawn{title: title})
		}
		d := pictures[i]
		if row.AsPublished != nil {
			d.ours = put(d.ours, group("series"), x, row.AsPublished, row.Published)
		}
		if row.Honest != nil {
			compare := row.Published
			if row.AsPublished != nil {
				compare = nil
			}
			d.honest = put(d.honest, group("series"), x, row.Honest, compare)
		}
	}
	return pictures
}

func put(lines []report.Series, name string, x float64, e *experiments.Estimate, published *float64) []report.Series {
	i := slices.IndexFunc(lines, func(s report.Series) bool { return s.Name == name })
	if i < 0 {
		i, lines = len(lines), append(lines, report.Series{Name: name})
	}
	p := report.ChartPoint{X: x, Y: e.Mean, Low: e.Low, High: e.High, Compare: published}
	if math.IsInf(e.Low, 0) || math.IsInf(e.High, 0) {
		p.Low, p.High = math.NaN(), math.NaN()
	}
	lines[i].Points = append(lines[i].Points, p)
	return lines
}

// split makes charts of a picture, each of as many lines as differ. A line of one point is none.
func (f figure) split(d *drawn, unit string) (all []report.Chart) {
	lone := func(s report.Series) bool { return len(s.Points) < 2 }
	for _, part := range []struct {
		lines []report.Series
		how   string
	}{{slices.DeleteFunc(d.ours, lone), "as published"}, {slices.DeleteFunc(d.honest, lone), "honest"}} {
		for chunk := range slices.Chunk(part.lines, report.MaxSeries) {
			c := report.Chart{Title: part.how, XAxis: f.X, YAxis: f.Y, Log: f.Log, Series: chunk}
			if d.title != "" {
				c.Title = d.title + ", " + part.how
			}
			if c.YAxis == "" {
				c.YAxis = unit
			}
			all = append(all, c)
		}
	}
	return all
}

// pictures draws them.
func (r *Result) pictures() (template.HTML, error) {
	all := r.charts()
	if len(all) == 0 {
		return "", nil
	}
	return report.Charts(all)
}
