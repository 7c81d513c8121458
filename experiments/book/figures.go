package book

import (
	"cmp"
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

// charts are the pictures of a result, none where it is no curve.
func (r *Result) charts() (all []report.Chart) {
	for _, f := range figures() {
		if f.Replay == r.Table.Name {
			all = append(all, f.charts(r.Table)...)
		}
	}
	return all
}

// charts puts every row that is a point into its line. A picture has as many lines as differ; a line of one point is none.
func (f figure) charts(t *experiments.Table) (all []report.Chart) {
	var pictures []*report.Chart // as published and honest in turn
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
		parts := []string{group("facet"), group("facet2"), ""}
		if several {
			parts[2] = row.Data
		}
		titled := func(how string) string {
			return strings.Join(slices.DeleteFunc(append(slices.Clone(parts), how), func(part string) bool { return part == "" }), ", ")
		}
		i := slices.IndexFunc(pictures, func(c *report.Chart) bool { return c.Title == titled("as published") })
		if i < 0 {
			i = len(pictures)
			for _, how := range []string{"as published", "honest"} {
				pictures = append(pictures, &report.Chart{Title: titled(how), XAxis: f.X, YAxis: cmp.Or(f.Y, t.Unit), Log: f.Log})
			}
		}
		if row.AsPublished != nil {
			put(pictures[i], group("series"), x, row.AsPublished, row.Published)
			row.Published = nil
		}
		if row.Honest != nil {
			put(pictures[i+1], group("series"), x, row.Honest, row.Published)
		}
	}
	for _, c := range pictures {
		lines := slices.DeleteFunc(c.Series, func(s report.Series) bool { return len(s.Points) < 2 })
		for chunk := range slices.Chunk(lines, report.MaxSeries) {
			one := *c
			one.Series = chunk
			all = append(all, one)
		}
	}
	return all
}

func put(c *report.Chart, name string, x float64, e *experiments.Estimate, published *float64) {
	i := slices.IndexFunc(c.Series, func(s report.Series) bool { return s.Name == name })
	if i < 0 {
		i, c.Series = len(c.Series), append(c.Series, report.Series{Name: name})
	}
	p := report.ChartPoint{X: x, Y: e.Mean, Low: e.Low, High: e.High, Compare: published}
	if math.IsInf(e.Low, 0) || math.IsInf(e.High, 0) {
		p.Low, p.High = math.NaN(), math.NaN()
	}
	c.Series[i].Points = append(c.Series[i].Points, p)
}

// pictures draws them.
func (r *Result) pictures() (template.HTML, error) {
	all := r.charts()
	if len(all) == 0 {
		return "", nil
	}
	return report.Charts(all)
}
