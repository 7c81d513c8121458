package book

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	texttemplate "text/template"

	"pawl/experiments"
	"pawl/report"
)

// tally counts verdicts; near are those of the same sign that lie within their tolerance, and that
// scale or data keep from being reproduced.
type tally struct{ Reproduced, Same, Not, Near int }

func (t *tally) add(v experiments.Verdict) {
	switch v {
	case experiments.Reproduced:
		t.Reproduced++
	case experiments.SameSign:
		t.Same++
	case experiments.Not:
		t.Not++
	}
}

func (t *tally) join(o tally) {
	*t = tally{t.Reproduced + o.Reproduced, t.Same + o.Same, t.Not + o.Not, t.Near + o.Near}
}

// All are those with a verdict.
func (t tally) All() int { return t.Reproduced + t.Same + t.Not }

func (t tally) String() string {
	if t == (tally{}) {
		return "–"
	}
	return fmt.Sprintf("%d / %d / %d", t.Reproduced, t.Same, t.Not)
}

// verdicts counts those of rows and of claims.
func (r *Result) verdicts() (rows, claims tally) {
	for _, row := range r.Table.Rows {
		rows.add(row.Verdict)
		if row.Verdict == experiments.SameSign && strings.HasPrefix(row.Why, agrees) {
			rows.Near++
		}
	}
	for _, c := range r.Table.Claims {
		claims.add(c.Verdict)
	}
	return rows, claims
}

// On says where and when a result was measured.
func (r *Result) On() string {
	return fmt.Sprintf("%s, %s, kernel %s, %d cores, %s, pawl %s", r.Date, r.Machine.System, r.Machine.Kernel, r.Machine.Cores, r.Go, r.Pawl)
}

// length is the time of the cells in words.
func (r *Result) length() string {
	if r.Minutes < 1 {
		return fmt.Sprintf("%.0f s", 60*r.Minutes)
	}
	return fmt.Sprintf("%.1f min", r.Minutes)
}

// List writes one line for each result.
func List(w io.Writer, all []*Result) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "name\tscale\tdate\ttook\trows: reproduced / same sign / not\tclaims\tshows")
	for _, r := range all {
		rows, claims := r.verdicts()
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Table.Name, r.Table.Scale, r.Date, r.length(), rows, claims, r.Table.Title)
	}
	return t.Flush()
}

// Text writes a result for a terminal.
func Text(w io.Writer, r *Result) error {
	if err := experiments.Text(w, r.Table); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nstored: %s; %d cells in %s; rules %s\n%s", r.On(), len(r.Cells), r.length(), r.Rule, dataLines(r))
	return err
}

func dataLines(r *Result) string {
	var b strings.Builder
	for _, d := range r.Data {
		fmt.Fprintf(&b, "data: %s, SHA-256 %s\n", d.Name, strings.Join(d.Files, ", "))
	}
	return b.String()
}

// view is what the pages are made of.
type view struct {
	Folder    string
	Results   []*Result
	Aims      []aim
	Overview  *overview
	Notes     []note
	Rest      []string // results with verdicts “not” on which there is no note
	Catalogue []Paper
}

func viewOf(all []*Result, replays []experiments.Experiment) (v view, err error) {
	if v.Folder, v.Results = Folder, all; len(all) == 0 {
		return v, nil
	}
	v.Aims, v.Overview, v.Catalogue = aims(all), overviewOf(all, replays), Catalogue()
	v.Notes, v.Rest, err = differences(all)
	return v, err
}

//go:embed results.md.tmpl
var resultsPage string

// functions are those of both forms of pages.
var functions = map[string]any{
	"figure": experiments.Figure, "verdict": experiments.VerdictText, "data": dataLines,
	"style":    func() template.CSS { return template.CSS(report.Style()) },
	"estimate": func(e *experiments.Estimate) string { return e.String() },
	"rows":     func(r *Result) string { t, _ := r.verdicts(); return t.String() },
	"claims":   func(r *Result) string { _, t := r.verdicts(); return t.String() },
	"length":   (*Result).length, "pictures": (*Result).pictures, "links": links,
	"cell":     func(text string) string { return strings.ReplaceAll(text, "|", "\\|") }, // of a table in Markdown
	"short":    func(title string) string { short, _, _ := strings.Cut(title, ","); return short },
	"join":     strings.Join,
	"sentence": func(text string) string { return strings.ToUpper(text[:1]) + text[1:] },
}

//go:embed overview.tmpl
var sentences string

var markdown = texttemplate.Must(texttemplate.New("").Funcs(functions).Parse(sentences + resultsPage))

// Markdown writes docs/RESULTS.md.
func Markdown(w io.Writer, all []*Result, replays []experiments.Experiment) error {
	v, err := viewOf(all, replays)
	if err != nil {
		return err
	}
	return markdown.Execute(w, v)
}

// overview is what a reader should know first.
type overview struct {
	Results, Replays          int
	Scales, Machines, Missing []string
	First, Last               string // dates
	Minutes                   float64
	Rows, Claims              tally // a replay at both scales counts at scale paper
}

func overviewOf(all []*Result, replays []experiments.Experiment) *overview {
	o := &overview{Replays: len(replays), First: all[0].Date, Last: all[0].Date}
	scales, whole := map[experiments.Scale]int{}, map[string]bool{}
	for _, r := range all {
		whole[r.Table.Name] = whole[r.Table.Name] || r.Table.Scale == experiments.Paper
	}
	for _, r := range all {
		if r.Table.Scale == experiments.Paper || !whole[r.Table.Name] {
			rows, claims := r.verdicts()
			o.Rows.join(rows)
			o.Claims.join(claims)
		}
		o.Minutes += r.Minutes
		o.First, o.Last = min(o.First, r.Date), max(o.Last, r.Date)
		scales[r.Table.Scale]++
		m := fmt.Sprintf("%s, kernel %s, %d cores, %s", r.Machine.System, r.Machine.Kernel, r.Machine.Cores, r.Go)
		if !slices.Contains(o.Machines, m) {
			o.Machines = append(o.Machines, m)
		}
	}
	o.Results = len(whole)
	for _, s := range experiments.Scales {
		if n := scales[s]; n > 0 {
			o.Scales = append(o.Scales, fmt.Sprintf("%d at scale %s", n, s))
		}
	}
	for _, e := range replays {
		if _, ran := whole[e.Name]; !ran {
			o.Missing = append(o.Missing, e.Name)
		}
	}
	return o
}

//go:embed pages.html.tmpl
var pageForms string

var pages = template.Must(template.New("").Funcs(functions).Parse(sentences + pageForms))

// Pages are the pages of HTML by file name: an index, and one for each result.
func Pages(all []*Result, replays []experiments.Experiment) (map[string][]byte, error) {
	out := map[string][]byte{}
	put := func(file, name string, of any) error {
		var b bytes.Buffer
		err := pages.ExecuteTemplate(&b, name, of)
		out[file] = bytes.TrimLeft(b.Bytes(), "\n")
		return err
	}
	for _, r := range all {
		if err := put(r.ID()+".html", "result", r); err != nil {
			return nil, err
		}
	}
	v, err := viewOf(all, replays)
	if err != nil {
		return nil, err
	}
	return out, put("index.html", "index", v)
}
