package crossover

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"pawl/internal/cost"
	files "pawl/internal/whole"
)

// View is a comparison as it is shown: as JSON, as text, or as a page with a plot.
type View struct {
	Command    string   `json:"command"`
	NotPrivate string   `json:"not_private,omitempty"`
	Paid       *Paid    `json:"paid,omitempty"`
	Data       DataView `json:"data"`
	Metric     string   `json:"metric"`
	Delta      string   `json:"delta"`
	Seeds      int      `json:"seeds"`
	Confidence float64  `json:"confidence"`
	Tuning     string   `json:"tuning"`
	TuningIs   string   `json:"tuning_words"`
	*Result
	Notes []string          `json:"notes"`
	Paths map[string]string `json:"paths"`
	// Seconds are left out of paid runs: they depend on the number of rows.
	Seconds float64 `json:"seconds,omitempty"`

	setting, plot, axis string
	scale               float64
}

// Shown is what a view shows beside a study and its result.
type Shown struct {
	// Setting says in words what was compared on.
	Setting string
	// StandsFor is the sensitive data set in whose place the data stand, or "".
	StandsFor string
	// Charges are nil on public data.
	Charges *Charges
	Took    time.Duration
	Dir     string // of the page and the plot
}

// Charges are what runs on sensitive rows cost.
type Charges struct {
	// Price is that of all runs, Missing that of those that this call found missing.
	Price, Missing Price
	// Booked are the runs that this call booked: fewer than were missing where another call
	// beside it booked some.
	Booked int
	Unit   string
	// Mark is that of seeded runs on the rows, or "".
	Mark string
}

// Paid is what the runs on sensitive rows cost: what may be claimed of all that
// is shown, and what this call booked of it.
type Paid struct {
	Runs    int         `json:"runs"`
	Epsilon json.Number `json:"epsilon"` // rounded up
	Delta   string      `json:"delta"`
	Unit    string      `json:"unit"`
	Now     int         `json:"runs_booked_now"`
	NowCost json.Number `json:"epsilon_booked_now"`
	Words   string      `json:"words"`
}

func (c *Charges) view(s *Study) *Paid {
	v := &Paid{Runs: c.Price.Runs, Epsilon: json.Number(cost.RoundedUp(c.Price.Epsilon)), Delta: s.Delta, Unit: c.Unit, Now: c.Booked, NowCost: json.Number(cost.RoundedUp(c.Missing.Epsilon))}
	now := "all were charged by this call"
	switch {
	case c.Booked == 0:
		now, v.NowCost = "all were charged by earlier calls, and nothing was charged now", "0"
	case c.Booked < c.Missing.Runs:
		now = fmt.Sprintf("%d of them, at most epsilon %s, were charged by this call and others by a concurrent one", v.Now, v.NowCost)
	case c.Booked < c.Price.Runs:
		now = fmt.Sprintf("%d of them, epsilon %s, were charged by this call", v.Now, v.NowCost)
	}
	v.Words = fmt.Sprintf("CHARGED: %d runs on sensitive rows, epsilon %s in total at delta %s for %s; %s; %s; other charges, such as interrupted runs, come on top (pawl ledger show %s)",
		v.Runs, v.Epsilon, v.Delta, v.Unit, now, s.Data.Scored(), s.Data.Name)
	if c.Mark != "" {
		v.Words = c.Mark + ". " + v.Words
	}
	return v
}

// Scored says how runs on sensitive rows are scored.
func (d *Data) Scored() string {
	if d.Tests() > 0 {
		return "it is scored exactly on a public test file"
	}
	return "every score is released with noise"
}

// Banner says how far what stands below it may be passed on.
func (v *View) Banner() string {
	if v.Paid != nil {
		return v.Paid.Words
	}
	return v.NotPrivate
}

// DataView is what a comparison was made on.
type DataView struct {
	Name      string `json:"name"`
	Rows      int    `json:"rows,omitempty"`      // where it is public
	TestRows  int    `json:"test_rows,omitempty"` // likewise
	Official  bool   `json:"official_test"`
	StandsFor string `json:"stands_in_for,omitempty"`
}

const simulated = "NOT PRIVATE: seeded simulations on public data; epsilon is that of one training run"

var tuningWords = map[Tuning]string{
	Rule:       "learning rates, batch sizes and epochs follow data-free rules that depend on epsilon; nothing was tuned on rows",
	Grid:       "learning rates: the best multiple of the rule's for each configuration and epsilon, by one run on a sixth of the training rows; not charged",
	CommonRate: "learning rates follow data-free rules that depend on epsilon; each common rate is measured too, for all configurations and epsilons",
}

// NewView is a finished comparison as it is shown.
func NewView(s *Study, r *Result, o Shown) *View {
	d := s.Data
	base := filepath.Join(o.Dir, stem(s))
	v := &View{
		Command: "crossover", NotPrivate: simulated,
		Data:   DataView{d.Name, d.Rows(), d.Tests(), d.Official(), o.StandsFor},
		Metric: d.Metric(), Delta: s.Delta, Seeds: s.Seeds, Confidence: s.Confidence,
		Tuning: string(s.Tuning), TuningIs: tuningWords[s.Tuning], Result: r, Notes: notes(s, o.StandsFor), Seconds: o.Took.Seconds(),
		Paths:   map[string]string{"page": base + ".html", "plot": base + ".svg"},
		setting: o.Setting, axis: "accuracy on test rows, %", scale: 100,
	}
	if d.Paid() {
		v.NotPrivate, v.Seconds, v.Paid = "", 0, o.Charges.view(s)
	}
	if v.Metric != "accuracy" {
		v.axis, v.scale = v.Metric, 1
	}
	v.plot = r.Plot(v.axis, v.scale, s.At)
	return v
}

// Write writes the page and the plot.
func (v *View) Write() error {
	var b bytes.Buffer
	if err := page.Execute(&b, map[string]any{"View": v, "Plot": template.HTML(v.plot), "Scale": v.scale, "Words": v.setting}); err != nil {
		return err
	}
	if err := files.Write(v.Paths["plot"], []byte(v.plot), 0o644); err != nil {
		return err
	}
	return files.Write(v.Paths["page"], b.Bytes(), 0o644)
}

// stem names the files of a comparison: others of the same data stand beside it.
func stem(s *Study) string {
	var words []string
	for _, c := range s.Specs {
		words = append(words, strings.Trim(notInNames.ReplaceAllString(c.Text, "-"), "-"))
	}
	name := s.Data.Name + "-" + strings.Join(words, "-against-")
	if len(name) <= longestStem {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return fmt.Sprintf("%s-%x", name[:longestStem], sum[:3])
}

const longestStem = 80

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._]+`)

// notes say what intervals hold and what stands beside the crossover's definition.
func notes(s *Study, standsFor string) []string {
	test := "each seed uses another split, so intervals cover the sampling of rows and the randomness of training"
	if s.Data.Official() {
		test = "all runs are scored on the same official test rows: intervals cover the randomness of training, not the sampling of test rows"
	}
	pairs := "all configurations see the same rows and seeds; the bootstrap resamples their differences"
	if s.Data.Paid() {
		pairs = "no two runs share randomness: the bootstrap resamples the runs of each configuration separately"
		test = "all runs are trained on the same rows and scored exactly on the same public test file: intervals cover the randomness of training, not the sampling of rows"
		if s.Data.Tests() == 0 {
			test = "all runs are scored on the same held-out rows, by noisy counts: intervals cover the randomness of training and of the noise, not the sampling of rows"
		}
	}
	notes := []string{
		"crossover: the largest epsilon at which the simple configuration is better, 0 if there is none (Definition 2 of Bao, Bauer and Bindschaedler has infinity there; their rule would then choose the simple configuration exactly where it never wins)",
		test,
		pairs,
	}
	if s.Plain > 0 {
		notes = append(notes, "without privacy: networks with Adam, without clipping and noise; table models at epsilon 1e5, where the noise is smaller than the sampling error of the rows")
	}
	for _, c := range s.Specs {
		switch {
		case c.Unpaid:
			notes = append(notes, c.Text+": NO GUARANTEE: its features are selected with exact tables, without charge, as published")
		case c.Count > 0 && s.Data.Paid() && s.Data.Tests() == 0:
			notes = append(notes, c.Text+": its feature selection also uses the held-out rows (charged), which may favour it a little")
		}
	}
	if standsFor != "" {
		notes = append(notes, fmt.Sprintf("%s stands in for %s: you must judge how far the result carries over; a crossover falls with the number of rows and rises with the number of inputs and classes", s.Data.Name, standsFor))
	}
	return notes
}

// Text writes the view for a person.
func (v *View) Text(w io.Writer) error {
	scale := v.scale
	fmt.Fprintf(w, "%s\n%s, delta %s, %d seeds; %s\n\n", v.Banner(), v.Data.Name, v.Delta, v.Seeds, v.TuningIs)
	for _, line := range v.Words {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	unit := "accuracy on test rows in %"
	if scale == 1 {
		unit = v.Metric + " on test rows (more is better)"
	}
	fmt.Fprintf(w, "%s:\n", unit)
	for _, c := range v.Curves {
		fmt.Fprintf(w, "  %s  %s\n", c.Name, c.Spec)
	}
	fmt.Fprintln(w)
	plain := v.Curves[0].Plain != nil
	fmt.Fprint(t, "epsilon")
	for _, c := range v.Curves {
		fmt.Fprintf(t, "\t%s", c.Name)
		if plain {
			fmt.Fprint(t, "\tcost of privacy")
		}
	}
	for _, p := range v.Pairs {
		fmt.Fprintf(t, "\t%s better", p.Simple)
		if len(v.Pairs) > 1 {
			fmt.Fprintf(t, " than %s", p.Complex)
		}
	}
	fmt.Fprintln(t)
	for k := range v.Curves[0].Points {
		fmt.Fprintf(t, "%g", v.Curves[0].Points[k].Epsilon)
		for _, c := range v.Curves {
			point := c.Points[k]
			fmt.Fprintf(t, "\t%s", plusMinus(&point.Score, scale))
			if plain {
				fmt.Fprintf(t, "\t%s", plusMinus(point.Cost, scale))
			}
		}
		for _, p := range v.Pairs {
			fmt.Fprintf(t, "\t%.1f %%", 100*p.Points[k].SimpleBetter)
		}
		fmt.Fprintln(t)
	}
	if plain {
		fmt.Fprint(t, "no privacy")
		for _, c := range v.Curves {
			fmt.Fprintf(t, "\t%s\t", plusMinus(c.Plain, scale))
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, n := range v.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	_, err := fmt.Fprintf(w, "\npage %s, plot %s\n", v.Paths["page"], v.Paths["plot"])
	return err
}

// plusMinus writes a mean with half of its interval.
func plusMinus(i *Interval, scale float64) string {
	if i == nil {
		return "–"
	}
	half := float64(i.Interval[1]-i.Interval[0]) / 2 * scale
	if math.IsInf(half, 0) || math.IsNaN(half) {
		return fmt.Sprintf("%.4g", float64(i.Estimate)*scale)
	}
	if scale == 1 {
		return fmt.Sprintf("%.4g ± %.2g", float64(i.Estimate), half)
	}
	return fmt.Sprintf("%.2f ± %.2f", float64(i.Estimate)*scale, half)
}

var page = template.Must(template.New("crossover").Funcs(template.FuncMap{
	"pm": func(i *Interval, scale float64) string { return plusMinus(i, scale) },
	"score": func(p Point, scale float64) string {
		return plusMinus(&p.Score, scale)
	},
	"epsilon": func(i Interval) string { return i.Words() },
	"percent": func(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) },
}).Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Crossover on {{.View.Data.Name}}</title>
<style>body{font:15px/1.5 system-ui,sans-serif;max-width:900px;margin:2em auto;padding:0 1em;color:#1c2530}h1{font-size:1.5em}h2{font-size:1.15em}
p,h2,li{overflow-wrap:anywhere}table{border-collapse:collapse;font-size:13px}td,th{padding:3px 10px;border-bottom:1px solid #dde3ea;text-align:left}.wide{overflow-x:auto}
svg{width:100%;height:auto}.banner{background:#b3261e;color:#fff;padding:.5em 1em;font-weight:600}.banner.paid{background:#1c4f7c}.answer{font-size:1.1em;font-weight:600}</style></head><body>
<p class="banner{{if .View.Paid}} paid{{end}}">{{.View.Banner}}</p>
<h1>Crossover on {{.View.Data.Name}}</h1>
<p>{{.Words}}; δ = {{.View.Delta}}, {{.View.Seeds}} seeds. {{.View.TuningIs}}.</p>
{{range $i, $w := .View.Words}}{{if lt $i 6}}<p class="answer">{{$w}}</p>
{{end}}{{end}}{{if gt (len .View.Words) 6}}<details><summary>all {{len .View.Words}} sentences</summary>{{range .View.Words}}<p>{{.}}</p>
{{end}}</details>
{{end}}<div class="wide">{{.Plot}}</div>
{{$scale := .Scale}}{{range .View.Curves}}<h2>{{.Name}}: {{.Spec}}</h2>
<div class="wide"><table><tr><th>ε</th><th>{{$.View.Metric}}</th>{{if .Plain}}<th>cost of privacy</th>{{end}}</tr>
{{range .Points}}<tr><td>{{.Epsilon}}</td><td>{{score . $scale}}</td>{{if .Cost}}<td>{{pm .Cost $scale}}</td>{{end}}</tr>
{{end}}{{if .Plain}}<tr><td>no privacy</td><td>{{pm .Plain $scale}}</td><td></td></tr>{{end}}</table></div>
{{end}}{{range .View.Pairs}}<h2>{{.Simple}} against {{.Complex}}</h2>
<div class="wide"><table><tr><th>ε</th><th>{{.Simple}} better in</th></tr>
{{range .Points}}<tr><td>{{.Epsilon}}</td><td>{{percent .SimpleBetter}} of bootstrap draws</td></tr>
{{end}}</table></div>
{{end}}{{with .View.Sizes}}<h2>Over rows</h2>
<div class="wide"><table><tr><th>training rows</th>{{range .Pairs}}<th>crossover ε of {{.Simple}} and {{.Complex}}</th>{{end}}</tr>
{{$pairs := .Pairs}}{{range $i, $n := .Rows}}<tr><td>{{$n}}</td>{{range $pairs}}<td>{{epsilon (index .Crossovers $i)}}</td>{{end}}</tr>
{{end}}</table></div>
{{end}}<h2>Notes</h2><ul>{{range .View.Notes}}<li>{{.}}</li>
{{end}}</ul></body></html>
`))
