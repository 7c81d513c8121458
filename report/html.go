package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"sort"
	"strings"
	"sync"
)

//go:embed page.html.tmpl
var pageSource string

//go:embed page.css
var pageStyle string

// page is parsed when the first report is written: most commands write none.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(strings.Replace(pageSource, "/*STYLE*/", pageStyle, 1)))
})

// HTML writes the report for a privacy officer: one file without scripts and without
// references to anything outside of itself. Page 1 is complete on one sheet of A4 and
// ends in a line to sign on. It returns an error, and writes nothing, when Validate
// does.
func HTML(w io.Writer, s *Statement) error {
	if err := Validate(s); err != nil {
		return err
	}
	// Into memory first: half a report must not look like a report.
	var b bytes.Buffer
	if err := page().Execute(&b, newView(s)); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

type row struct{ Name, Value string }

type adviceRow struct{ Rule, Because, Evidence, Changes string }

type stageRow struct {
	Name, Epsilon, Scope string
	Bar                  float64 // 0 to 100
}

// view is all that the template prints: sentences and positions, no arithmetic.
type view struct {
	Title, Banner, Mark      string
	Name, Target, Date, Made string
	Lead, Claim              string
	Terms                    []row
	Headline, Why            string

	Stages     []stageRow
	StagesMore int
	Budget     []row
	BudgetBar  []segment
	BudgetNote string

	Score     *intervalPlot
	ScoreHow  string
	ScoreNote string
	Groups    *groupTable
	// Curves are of all rows first, then of groups.
	Curves     []*curves
	CurvesNote string
	Shapes     *shapesView

	Risk     []string
	Scale    *riskScale
	Decision []row
	Advice   []adviceRow
	Settings []row

	Benchmark     []row
	BenchmarkNote string

	Touches     []touch
	Limits      []string
	Trust       []string
	Leave, Stay []string

	Exact    []row
	Bounds   []row
	Warnings []string
	Versions []row
	Events   string
}

func newView(s *Statement) view {
	p := s.Privacy
	v := view{
		Banner: banner(s), Mark: wholeMark(s),
		Name: short(or(s.Data.Name, "unnamed data set"), 40), Target: short(Plain(s.Data.Target), 30),
		Date:    s.Time.UTC().Format("2 January 2006, 15:04 UTC"),
		Made:    short(strings.TrimSpace(Plain(s.Software.Name+" "+s.Software.Version)), 40),
		Claim:   claim(p),
		Touches: touches(s), Limits: limits(s), Trust: trust(s),
		Advice: advice(s), Settings: settings(s), Benchmark: benchmark(s),
		Exact: exactRows(s), Bounds: bounds(p), Versions: versions(s),
		Events: events(p),
	}
	v.Lead = "Everything released together satisfies"
	if v.Mark != "" {
		v.Lead = "What this run released, taken alone, satisfies"
	}
	if v.Banner != "" {
		v.Lead = "No claim is made; " + wouldBe(s)
	}
	v.Title = "Privacy report: " + v.Name
	switch {
	case v.Banner != "":
		v.Title = v.Banner + ": " + v.Name
	case v.Mark != "":
		v.Title = v.Mark + ": " + v.Name
	}
	for _, w := range s.Warnings {
		v.Warnings = append(v.Warnings, Plain(w))
	}
	v.Headline, v.Why = verdict(s)
	v.Leave, v.Stay = release(s)
	v.Terms = terms(s)
	v.budget(s)
	v.score(s)
	v.risk(s)
	v.Decision, v.Shapes = decision(s), shapesOf(s)
	v.curves(s)
	v.BenchmarkNote = "The ledger declares this data set public, so exact figures may be shown."
	if !s.Data.Public {
		v.BenchmarkNote = "The test rows were declared public, so their exact score may be shown; the training rows are sensitive."
	}
	return v
}

func terms(s *Statement) []row {
	p := s.Privacy
	out := []row{
		{"Unit", unitWords(p)},
		{"Neighbouring data", neighbourWords(p)},
		{"Budget", short(grantWords(s), 120)},
		{"Run by", runWords(s)},
	}
	if r := s.Budget.Renewal; r != nil {
		out = append(out, row{"Renewal", fmt.Sprintf("the budget is for each %s, and over all of them the releases add up: at most ε %s at δ %s so far; this run is charged to %s",
			r.Per, up2(r.ByAddition.Epsilon), deltaWords(r.ByAddition.Delta), or(r.ChargedTo, r.Period))})
	}
	if text := clearedWords(s); text != "" {
		out = append(out, row{"Seeded runs", text})
	}
	for _, r := range s.Budget.Reconciled {
		out = append(out, row{"Ledger", short(Plain(fmt.Sprintf("%s; %s at %s: %s", r.What, r.By, minute(r.At), r.Reason)), 160)})
	}
	for _, d := range s.Data.Different {
		what := "these data resemble"
		if d.Of != "" {
			what = "the test rows resemble"
		}
		out = append(out, row{"Resemblance", short(Plain(fmt.Sprintf("%s the sensitive data set %q; %s declared that they contain other units: %s", what, d.Other, d.By, d.Reason)), 160)})
	}
	return append(out,
		row{"Trust", "central model: the operator sees raw rows"},
		row{"Accountant", accountantWords(p)},
		row{"Sampling", samplingWords(p)},
	)
}

// stagesOnFront is how many stages page 1 has room for; all are on page 2.
const stagesOnFront = 5

func (v *view) budget(s *Statement) {
	all := stages(s.Privacy)
	largest := 0.0
	for _, st := range all {
		if e := float64(st.Epsilon); !math.IsInf(e, 1) {
			largest = math.Max(largest, e)
		}
	}
	for i, st := range all {
		if i == stagesOnFront {
			v.StagesMore = len(all) - i
			break
		}
		r := stageRow{Name: short(st.Name, 14), Epsilon: up2(st.Epsilon), Scope: short(or(st.Scope, "—"), 16)}
		if e := float64(st.Epsilon); math.IsInf(e, 1) {
			r.Bar = 100
		} else if largest > 0 {
			r.Bar = 100 * e / largest
		}
		v.Stages = append(v.Stages, r)
	}
	b := s.Budget
	if v.BudgetBar = ledgerBar(b, 320); v.BudgetBar == nil {
		v.BudgetNote = "This data set has no limit; the run is recorded."
		if !s.Data.Public {
			v.BudgetNote = "The ledger has no finite budget for this data set."
		}
	}
	if b.Renewal != nil && v.BudgetBar != nil {
		v.BudgetNote = OverPeriods(b.Renewal)
	}
	v.Budget = []row{
		{"Total", amount(b.Total, down2)},
		{"Spent", amount(b.Spent, up2)},
		{"Reserved", amount(b.Reserved, up2)},
		{"Left", amount(b.Left, down2)},
	}
	if v.Mark != "" {
		v.Budget[1].Value += aside(s)
	}
}

func amount(a Amount, round func(Number) string) string {
	if math.IsInf(float64(a.Epsilon), 1) {
		return "not limited"
	}
	return "ε " + round(a.Epsilon) + ", δ " + deltaWords(a.Delta)
}

func (v *view) score(s *Statement) {
	v.Score, v.Groups = scorePlot(s), byGroup(s)
	if s.Score == nil {
		v.ScoreNote = "No score was released, because none was part of the budget. The quality of the model is unknown."
		return
	}
	v.ScoreHow = short(or(s.Score.How, "not stated"), 50)
	if q := qualityLine(s); q != "" {
		v.ScoreNote = q + " "
	}
	if v.Groups != nil {
		v.ScoreNote += "Groups of " + short(v.Groups.Attribute, 20) + ": section 1. "
	}
	if s.NotPrivate && !s.Data.Public {
		v.ScoreNote += "This run makes no claim: do not publish the figures above."
	}
}

func (v *view) risk(s *Statement) {
	p := s.Privacy
	if v.Banner != "" {
		v.Risk = []string{"This run does not bound any risk. Treat every output as if it showed the rows themselves."}
		if !unprotected(p) {
			v.Risk = append(v.Risk, "The crossed-out values are the cost of its events.")
		}
		return
	}
	// A place on the scale would read as one of the data set.
	if v.Mark == "" {
		scale := newRiskScale(float64(p.Epsilon))
		v.Scale = &scale
	}
	v.Risk = []string{"From everything released here, " + riskWords(p) + "."}
	if p.Delta > 0 {
		v.Risk = append(v.Risk, fmt.Sprintf("These limits can fail with probability δ = %s (%s).", deltaWords(p.Delta), oneIn(p.Delta)))
	} else {
		v.Risk = append(v.Risk, "These limits always hold (δ = 0).")
	}
	if v.Mark != "" {
		v.Risk = append(v.Risk, "None of these limits holds for somebody who also has the outputs of the seeded runs.")
	}
}

func decision(s *Statement) []row {
	c := s.Choice
	const most = 80
	model := short(or(c.Model, "none"), most)
	if c.Parameters > 0 {
		model += ", " + group(fmt.Sprint(c.Parameters)) + " parameters"
	}
	features := "none"
	switch n := len(c.Features); {
	case n > 0 && s.Data.Attributes > 0:
		features = fmt.Sprintf("%d of %d attributes", n, s.Data.Attributes)
	case n > 0: // of images, which have no attributes
		features = short(Plain(strings.Join(c.Features, ", ")), most)
	}
	if e := Plain(c.Encoding); e != "" {
		features += "; " + short(e, most)
	}
	out := []row{{"Model", model}, {"Features", features}}
	if k := c.Selection; k != nil {
		out = append(out, row{"Selection", short(or(k.How, "not stated"), most-24) + "; " + selectionCost(k)})
	}
	out = append(out, row{"Search", short(or(c.Search, "none"), most)})
	if len(s.Advice) > 0 {
		names := make([]string, len(s.Advice))
		for i, a := range s.Advice {
			names[i] = Plain(a.Rule)
		}
		out = append(out, row{"Rules", short(strings.Join(names, "; "), most) + " (section 1)"})
	}
	return append(out, row{"Workflow", short(workflowWords(c.Workflow), most)})
}

func advice(s *Statement) []adviceRow {
	var out []adviceRow
	for _, a := range s.Advice {
		out = append(out, adviceRow{Plain(a.Rule), Plain(a.Because), or(a.Evidence, "none stated"), or(a.Changes, "not stated")})
	}
	return out
}

// settings prints features and hyperparameters in full.
func settings(s *Statement) []row {
	out := []row{{"model", or(s.Choice.Model, "none")}, {"encoding", or(s.Choice.Encoding, "none")}, {"search", or(s.Choice.Search, "none")}}
	if s.Search != nil {
		out = append(out, row{"gain from the search", s.Search.Paid})
	}
	if c := s.Counterfactual; c != nil {
		out = append(out, row{"without " + Plain(c.Without), c.words()})
	}
	if len(s.Choice.Features) > 0 {
		names := make([]string, len(s.Choice.Features))
		for i, f := range s.Choice.Features {
			names[i] = Plain(f)
		}
		out = append(out, row{"features selected", strings.Join(names, ", ")})
	}
	out = append(out, selectionRows(s.Choice.Selection)...)
	for _, k := range sorted(s.Choice.Hyperparameters) {
		b, err := json.Marshal(jsonValue(s.Choice.Hyperparameters[k]))
		if err != nil {
			b = []byte("cannot be written")
		}
		out = append(out, row{Plain(k), Plain(strings.Trim(string(b), `"`))})
	}
	if s.Score != nil && s.Score.UsedForChoosing != nil {
		chosen := scoreText(s, *s.Score.UsedForChoosing)
		if s.Search != nil && s.Search.Metric != "" && s.Search.Metric != s.Score.Metric {
			chosen = fmt.Sprintf("%s of %s", s.Search.Metric, quantity(math.Abs(float64(*s.Score.UsedForChoosing))))
		}
		out = append(out, row{"selection score", chosen + " — the maximum over the search, so it is optimistic and not an estimate of quality"})
	}
	return out
}

// benchmark holds exact numbers; it is empty unless the scored rows are public.
func benchmark(s *Statement) []row {
	if !publicScore(s) {
		return nil
	}
	var out []row
	if s.Score != nil {
		if s.Score.Test != nil {
			out = append(out, row{metricWords(s) + ", exact, on the public rows", scoreText(s, *s.Score.Test)})
		}
		if s.Score.TestBaseline != nil {
			out = append(out, row{baselineWords(s) + ", exact, on the same rows", scoreText(s, *s.Score.TestBaseline)})
		}
		if s.Score.AUROC != nil {
			out = append(out, row{"Area under the ROC curve", quantity(float64(*s.Score.AUROC))})
		}
	}
	return append(out, row{"Licence of the data", or(s.Data.Licence, "not stated")})
}

func bounds(p Privacy) []row {
	var out []row
	for _, m := range sorted(p.EpsilonBounds) {
		out = append(out, row{Plain(m), "ε " + exact(p.EpsilonBounds[m])})
	}
	return out
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
