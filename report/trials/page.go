package trials

import (
	"bytes"
	"fmt"
	htmltemplate "html/template"
	"math"
	"slices"
	"strconv"
	"sync"

	"pawl/report"
	"pawl/search/study"
)

// page is a study as one self-contained page: what it brought, parallel coordinates of
// its trials, and a table.
func (t *table) page(r *study.Record, s *report.Statement) ([]byte, error) {
	var b bytes.Buffer
	err := studyPage().Execute(&b, map[string]any{
		"Name": r.Name, "Data": r.Dataset, "Space": r.Space, "Strategy": r.Strategy, "NotPrivate": s.NotPrivate,
		"Paid": s.Search.Paid, "Public": r.Public, "Plot": htmltemplate.HTML(t.parallel()), "Sizes": htmltemplate.HTML(t.sizes()), "Columns": t.columns, "Rows": t.cells(), "Trials": len(r.Trials) > 0,
	})
	return b.Bytes(), err
}

func (t *table) cells() (all [][]string) {
	rows := slices.Clone(t.rows)
	slices.SortStableFunc(rows, func(a, b trial) int {
		switch {
		case a.failed != b.failed && a.failed:
			return 1
		case a.failed != b.failed:
			return -1
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.number - b.number
	})
	for _, row := range rows {
		score := fmt.Sprintf("%.4f", row.score)
		if row.failed {
			score = "failed"
		}
		line := []string{strconv.Itoa(row.number), score}
		for _, c := range t.columns {
			line = append(line, row.values[c])
		}
		all = append(all, line)
	}
	return all
}

// axis places values of a dimension: numbers by size, words in order.
type axis struct {
	name   string
	labels []string
	at     map[string]float64 // 0 at the bottom, 1 at the top
}

func (t *table) axis(name string) axis {
	a := axis{name: name, at: map[string]float64{}}
	for _, row := range t.rows {
		if v, ok := row.values[name]; ok && !slices.Contains(a.labels, v) {
			a.labels = append(a.labels, v)
		}
	}
	slices.SortFunc(a.labels, func(x, y string) int {
		p, errP := strconv.ParseFloat(x, 64)
		q, errQ := strconv.ParseFloat(y, 64)
		if errP == nil && errQ == nil {
			return int(math.Copysign(1, p-q))
		}
		return bytes.Compare([]byte(x), []byte(y))
	})
	for i, l := range a.labels {
		a.at[l] = 0.5
		if len(a.labels) > 1 {
			a.at[l] = float64(i) / float64(len(a.labels)-1)
		}
	}
	return a
}

// parallel draws one line for each trial, darker and wider for a better score; the last
// axis is the score.
func (t *table) parallel() string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, row := range t.rows {
		if !row.failed {
			low, high = min(low, row.score), max(high, row.score)
		}
	}
	if high == low {
		low, high = low-0.5, high+0.5
	}
	const top, height, gap, left = 40.0, 260.0, 130.0, 60.0
	width := 2*left + gap*float64(len(t.columns))
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="parallel coordinates of the trials">`, width, top+height+40)
	y := func(v float64) float64 { return top + height*(1-v) }
	axes := make([]axis, len(t.columns))
	for i, c := range t.columns {
		axes[i] = t.axis(c)
	}
	order := slices.Clone(t.rows)
	slices.SortStableFunc(order, func(p, q trial) int { return int(math.Copysign(1, p.score-q.score)) })
	for _, row := range order {
		if row.failed {
			continue
		}
		v := (row.score - low) / (high - low)
		fmt.Fprint(&b, `<polyline fill="none" points="`)
		for i, a := range axes {
			if at, ok := a.at[row.values[a.name]]; ok && row.values[a.name] != "" {
				fmt.Fprintf(&b, "%g,%.1f ", left+gap*float64(i), y(at))
			}
		}
		fmt.Fprintf(&b, `%g,%.1f" stroke="hsl(%.0f 70%% 45%%)" stroke-width="%.1f" opacity="%.2f"/>`, left+gap*float64(len(axes)), y(v), 30+170*v, 1+1.5*v, 0.35+0.6*v)
	}
	for i, a := range axes {
		x := left + gap*float64(i)
		fmt.Fprintf(&b, `<line x1="%g" x2="%g" y1="%g" y2="%g" class="axis"/><text x="%g" y="%g" class="name">%s</text>`, x, x, top, top+height, x, top-14, htmltemplate.HTMLEscapeString(a.name))
		every := max(1, (len(a.labels)+11)/12)
		for j, l := range a.labels {
			if j%every == 0 {
				fmt.Fprintf(&b, `<text x="%g" y="%.1f" class="tick">%s</text>`, x+5, y(a.at[l])+4, htmltemplate.HTMLEscapeString(shortLabel(l)))
			}
		}
	}
	x := left + gap*float64(len(axes))
	fmt.Fprintf(&b, `<line x1="%g" x2="%g" y1="%g" y2="%g" class="axis"/><text x="%g" y="%g" class="name">score</text><text x="%g" y="%g" class="tick">%.4f</text><text x="%g" y="%g" class="tick">%.4f</text></svg>`,
		x, x, top, top+height, x, top-14, x+5, y(1)+4, high, x+5, y(0)+4, low)
	return b.String()
}

func shortLabel(s string) string {
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	if len(s) > 16 {
		return s[:15] + "…"
	}
	return s
}

var studyPage = sync.OnceValue(func() *htmltemplate.Template { return htmltemplate.Must(htmltemplate.New("study").Parse(studySource)) })

const studySource = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Name}}</title>
<style>body{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#1c2530}h1{font-size:1.5em}h2{font-size:1.1em;margin-top:1.8em}
table{border-collapse:collapse;font-size:13px}td,th{padding:3px 10px;border-bottom:1px solid #dde3ea;text-align:left}.wide{overflow-x:auto}
svg{width:100%;height:auto;min-width:640px}.axis{stroke:#8793a2}.name{font-size:12px;text-anchor:middle;font-weight:600}.tick{font-size:10px;fill:#445;paint-order:stroke;stroke:#fff;stroke-width:3px}
.banner{background:#b3261e;color:#fff;padding:.5em 1em;font-weight:600}</style></head><body>
{{if .NotPrivate}}<p class="banner">NOT PRIVATE</p>{{end}}
<h1>Study {{.Name}}</h1>
<p>Data <b>{{.Data}}</b>, space <b>{{.Space}}</b>, strategy <b>{{.Strategy}}</b>.</p>
<p>{{.Paid}}.</p>
{{if .Trials}}<p>All trials are shown because the data are public; on sensitive data, only the winner is stored.</p>
{{else}}<p>Only the winner is stored: the scores of the other candidates were never released.</p>{{end}}
<h2>Choices and scores</h2><div class="wide">{{.Plot}}</div>
{{with .Sizes}}<h2>Score by number of trained parameters</h2><div class="wide">{{.}}</div>{{end}}
<div class="wide"><table><tr><th>trial</th><th>score</th>{{range .Columns}}<th>{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</table></div></body></html>
`
