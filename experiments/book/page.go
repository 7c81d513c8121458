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
type tally struct{ reproduced, same, not, near int }

func (t *tally) add(v experiments.Verdict) {
	switch v {
	case experiments.Reproduced:
		t.reproduced++
	case experiments.SameSign:
		t.same++
	case experiments.Not:
		t.not++
	}
}

func (t tally) String() string {
	if t == (tally{}) {
		return "–"
	}
	return fmt.Sprintf("%d / %d / %d", t.reproduced, t.same, t.not)
}

// verdicts counts those of rows and of claims.
func (r *Result) verdicts() (rows, claims tally) {
	for _, row := range r.Table.Rows {
		rows.add(row.Verdict)
		if row.Verdict == experiments.SameSign && strings.HasPrefix(row.Why, agrees) {
			rows.near++
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
	"sentence": func(text string) string { return strings.ToUpper(text[:1]) + text[1:] },
}

var markdown = texttemplate.Must(texttemplate.New("").Funcs(functions).Parse(resultsPage))

// Markdown writes docs/RESULTS.md.
func Markdown(w io.Writer, all []*Result, replays []experiments.Experiment) error {
	v, err := viewOf(all, replays)
	if err != nil {
		return err
	}
	return markdown.Execute(w, v)
}

// overview is what a reader should know first, in sentences.
type overview struct{ Ran, Machines, Verdicts, Missing string }

func overviewOf(all []*Result, replays []experiments.Experiment) *overview {
	var rows, claims tally
	names, scales, machines := map[string]bool{}, map[experiments.Scale]int{}, []string{}
	minutes, first, last := 0.0, all[0].Date, all[0].Date
	whole := map[string]bool{} // at scale paper: a replay counts once
	for _, r := range all {
		whole[r.Table.Name] = whole[r.Table.Name] || r.Table.Scale == experiments.Paper
	}
	for _, r := range all {
		x, y := r.verdicts()
		if whole[r.Table.Name] && r.Table.Scale != experiments.Paper {
			x, y = tally{}, tally{}
		}
		rows = tally{rows.reproduced + x.reproduced, rows.same + x.same, rows.not + x.not, rows.near + x.near}
		claims = tally{claims.reproduced + y.reproduced, claims.same + y.same, claims.not + y.not, 0}
		minutes += r.Minutes
		first, last = min(first, r.Date), max(last, r.Date)
		scales[r.Table.Scale]++
		names[r.Table.Name] = true
		m := fmt.Sprintf("%s, kernel %s, %d cores, %s", r.Machine.System, r.Machine.Kernel, r.Machine.Cores, r.Go)
		if !slices.Contains(machines, m) {
			machines = append(machines, m)
		}
	}
	when := "on " + first
	if first != last {
		when = "from " + first + " to " + last
	}
	var parts, missing []string
	for _, s := range experiments.Scales {
		if n := scales[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d at scale %s", n, s))
		}
	}
	for _, e := range replays {
		if !names[e.Name] {
			missing = append(missing, e.Name)
		}
	}
	if len(missing) == 0 {
		missing = append(missing, "nothing")
	}
	return &overview{
		Ran:      fmt.Sprintf("%d of %d replays (%s), %s, in %.0f minutes of measurement", len(names), len(replays), strings.Join(parts, ", "), when, minutes),
		Machines: strings.Join(machines, "; "),
		Verdicts: fmt.Sprintf("of %d rows with a published value %d are reproduced, %d have the same sign, %d are not reproduced; of %d claims of the papers %d, %d and %d. "+
			"Of the rows of the same sign, %d are within their tolerance or have an interval that holds the published value; only scale or data keep them from counting as reproduced. "+
			"These are counts of rows, not of results: where our copy leaves a setting open, each reading of it is a row; a replay at both scales counts at scale paper.",
			rows.reproduced+rows.same+rows.not, rows.reproduced, rows.same, rows.not, claims.reproduced+claims.same+claims.not, claims.reproduced, claims.same, claims.not, rows.near),
		Missing: strings.Join(missing, ", "),
	}
}

var pages = template.Must(template.New("").Funcs(functions).Parse(`{{define "head"}}<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.}}</title><style>{{style}} a { color: var(--accent); } th, td { overflow-wrap: break-word; } td { font-variant-numeric: tabular-nums; } .numbers { min-width: 640px; }</style></head>
<body><main><section class="sheet">{{end}}
{{define "index"}}{{template "head" "Results of pawl reproduce"}}
<h1>Results of pawl reproduce</h1>
<p>Tables and figures of four papers beside our own numbers. Columns “as published” run on public data and have no privacy guarantee.</p>
{{with .Aims}}<h2>Does the privacy-aware workflow win?</h2>
<p>Four workflows at one total ε on the same rows, everything paid but for the last column. Accuracy on test rows in %, or what the row says; differences run by run.</p>
<div class="scroll" tabindex="0" role="group" aria-label="Workflows, may be scrolled"><table class="numbers"><thead><tr><th>data</th><th>ε</th><th>pawl fit</th><th>drop-in DP-SGD</th><th>usual choices, paid</th><th>fit − drop-in</th><th>fit − paid choices</th><th>usual choices, unpaid: no guarantee</th></tr></thead><tbody>
{{range .}}<tr><td>{{.Data}}{{with .Metric}} ({{.}}){{end}}</td><td>{{.Epsilon}}</td><td>{{estimate .Fit}}</td><td>{{estimate .DropIn}}</td><td>{{estimate .Paid}}</td><td>{{.OverDropIn}}</td><td>{{or .OverPaid "–"}}</td><td>{{estimate .Unpaid}}</td></tr>
{{end}}</tbody></table></div>
{{end}}
{{with .Overview}}<h2>What of the papers is reproduced</h2>
<p><strong>What was run:</strong> {{.Ran}}. <strong>Machine:</strong> {{.Machines}}. <strong>Not run yet:</strong> {{.Missing}}.</p>
<p><strong>Verdicts:</strong> {{.Verdicts}}</p>{{end}}
{{with .Notes}}<h2>Where we do not reproduce</h2>
<p>Our copies of the papers are transcriptions, and leave settings open. This is where our numbers differ, with the measurement that shows it.</p>
<ul>{{range .}}<li><strong>{{.Title}}</strong> ({{range $i, $name := .Results}}{{if $i}}, {{end}}<a href="{{$name}}.html">{{$name}}</a>{{end}}). {{.Text}}</li>
{{end}}</ul>{{end}}
<h2>Tables and figures</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Results, may be scrolled"><table class="numbers"><thead><tr><th>name</th><th>shows</th><th>scale</th><th>date</th><th>rows: reproduced / same sign / not</th><th>claims</th><th>took</th></tr></thead><tbody>
{{range .Results}}<tr><td><a href="{{.ID}}.html">{{.ID}}</a></td><td>{{.Table.Title}}</td><td>{{.Table.Scale}}</td><td>{{.Date}}</td><td>{{rows .}}</td><td>{{claims .}}</td><td>{{length .}}</td></tr>
{{end}}</tbody></table></div></section></main></body></html>
{{end}}
{{define "result"}}{{template "head" .ID}}
<p><a href="index.html">all results</a></p>
<h1>{{.ID}}: {{.Table.Title}}</h1>
<p>{{.Table.Source}}; scale {{.Table.Scale}}; values in {{.Table.Unit}}: mean ± half of a 95 % interval (runs). {{.Table.Guarantee}}.</p>
{{with pictures .}}<h2>Figures</h2>{{.}}
<p class="note">Lines are ours with 95 % bands; rings are published values.</p>
{{end}}<h2>Numbers</h2><div class="scroll" tabindex="0" role="group" aria-label="Numbers, may be scrolled"><table class="numbers"><thead><tr><th></th><th>data used</th><th>published</th><th>as published, ours</th><th>honest, ours</th><th>baseline</th><th>verdict</th></tr></thead><tbody>
{{range .Table.Rows}}<tr><td>{{.Name}}</td><td>{{.Data}}</td><td>{{figure .Published}}</td><td>{{estimate .AsPublished}}</td><td>{{estimate .Honest}}</td><td>{{estimate .Baseline}}</td><td>{{verdict .}}</td></tr>
{{end}}</tbody></table></div>
{{with .Table.Claims}}<h2>Claims</h2><table><thead><tr><th>claim</th><th>verdict</th><th>evidence</th></tr></thead><tbody>
{{range .}}<tr><td>{{.Statement}}</td><td>{{.Verdict}}</td><td>{{.Evidence}}</td></tr>
{{end}}</tbody></table>{{end}}
{{with .Table.Notes}}<h2>Notes</h2><ul>{{range .}}<li>{{.}}</li>
{{end}}</ul>{{end}}
<p>Stored {{.On}}; {{len .Cells}} cells in {{length .}}.</p><pre>{{data .}}</pre></section></main></body></html>
{{end}}`))

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
