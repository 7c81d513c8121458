package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"pawl/data/source"
	"pawl/evidence/advise"
	"pawl/evidence/advise/query"
	"pawl/internal/request"
	"pawl/internal/usage"
	"pawl/report"
)

// asked is a fit as a page or a program asks for it.
type asked struct {
	Data    string `json:"data"`
	Target  string `json:"target,omitempty"`
	Epsilon string `json:"epsilon"`
	Delta   string `json:"delta,omitempty"`
	// Search pays for a private search too. An interrupted one can be gone on with.
	Search bool `json:"search,omitempty"`
}

// trimmed has no space around its words.
func (a asked) trimmed() asked {
	return asked{strings.TrimSpace(a.Data), strings.TrimSpace(a.Target), strings.TrimSpace(a.Epsilon), strings.TrimSpace(a.Delta), a.Search}
}

// table is one of those that the server was started with.
func (s *Server) ownTable(name string) (Table, bool) {
	i := slices.IndexFunc(s.o.Tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return Table{}, false
	}
	return s.o.Tables[i], true
}

// offered are the names of the data that can be planned for.
func (s *Server) offered() (own, builtin []string) {
	for _, t := range s.o.Tables {
		own = append(own, t.Name)
	}
	return own, source.Names()
}

// open opens data by a name that the server offers, and nothing else: a page names no files.
func (s *Server) open(name string) (*source.Data, error) {
	o := source.Options{DataDir: s.o.DataDir}
	if t, ok := s.ownTable(name); ok {
		o.Schema = t.Schema
		return source.Open(t.Data, o)
	}
	if !slices.Contains(source.Names(), name) {
		return nil, refuse(http.StatusNotFound, "This server does not have this data set", "Plans are available for built-in data sets and for the tables named when the server was started.", "pawl serve --table FILE=SCHEMA adds a table.")
	}
	return source.Open(name, o)
}

// prepare prices a fit. Nothing is charged, and the plan that it returns can be run.
func (s *Server) prepare(ctx context.Context, user string, a asked, anyway bool) (*request.Job, error) {
	data, err := s.open(a.Data)
	if err != nil {
		return nil, err
	}
	if a.Epsilon == "" {
		return nil, usage.New("give an epsilon", "example: 1")
	}
	desk := &request.Desk{Ledger: s.as(user), Note: func(string) {}, Safe: s.o.Safe}
	return desk.Fit(ctx, data, &request.Fit{Terms: request.Terms{Epsilon: a.Epsilon, Delta: a.Delta, Anyway: anyway}, Target: a.Target, Search: a.Search})
}

// price is the statement of a plan, with a warning first if the ledger would refuse it.
func (s *Server) price(ctx context.Context, user string, a asked) (*report.Statement, time.Duration, error) {
	job, err := s.prepare(ctx, user, a, true)
	if err != nil {
		return nil, 0, err
	}
	var text bytes.Buffer
	if err := job.Report(ctx, &text, true); err != nil {
		return nil, 0, err
	}
	var out report.Statement
	return &out, job.Plan.Expected(), json.Unmarshal(text.Bytes(), &out)
}

// facts asks the rules, of public facts alone.
func (s *Server) facts(a asked) (*advise.Answer, error) {
	of := a.Data
	if t, ok := s.ownTable(a.Data); ok {
		of = t.Schema
	}
	f := query.Facts{Epsilon: a.Epsilon, Delta: a.Delta, Target: a.Target, Model: "auto", Features: "auto", Preset: "balanced", Classes: 2, Given: map[string]bool{"epsilon": true, "target": a.Target != ""}}
	return f.Answer([]string{of})
}

// expected is what a model may be worth; nil where the rules cannot say.
func (s *Server) expected(a asked) *advise.Answer {
	answer, err := s.facts(a)
	if err != nil {
		return nil
	}
	return answer
}

// command is what to type for the same.
func (s *Server) command(a asked) string {
	words := []string{"pawl fit"}
	if t, ok := s.ownTable(a.Data); ok {
		words = append(words, usage.Shell(t.Data), "--schema", usage.Shell(t.Schema))
	} else {
		words = append(words, usage.Shell(a.Data))
	}
	for _, x := range []struct{ flag, value string }{{"--target", a.Target}, {"--epsilon", a.Epsilon}, {"--delta", a.Delta}} {
		if x.value != "" {
			words = append(words, x.flag, usage.Shell(x.value))
		}
	}
	if a.Search {
		words = append(words, "--search")
	}
	return strings.Join(words, " ")
}

// stage is one stage of a plan, with its price as a bar of 100.
type stage struct {
	Name string
	report.Stage
	Bar float64
}

func stagesOf(p report.Privacy) (all []stage) {
	most := 0.0
	for name, st := range p.ByStage {
		all = append(all, stage{Name: name, Stage: st})
		if e := float64(st.Epsilon); !math.IsInf(e, 1) {
			most = max(most, e)
		}
	}
	slices.SortFunc(all, func(a, b stage) int { return a.Order - b.Order })
	for i := range all {
		all[i].Bar = 100
		if e := float64(all[i].Epsilon); most > 0 && e <= most {
			all[i].Bar = math.Round(1000*e/most) / 10
		}
	}
	return all
}

// belief is the most that somebody who gave even odds can come to believe, rounded up.
func belief(epsilon float64) string {
	p := 100 / (1 + math.Exp(-epsilon))
	if p > 99.9 {
		return "more than 99.9 %"
	}
	return fmt.Sprintf("%.1f %%", math.Ceil(10*p)/10)
}

func (v *visit) askedInQuery() asked {
	return asked{v.query("data"), v.query("target"), v.query("epsilon"), v.query("delta"), v.query("search") == "yes"}
}

func (v *visit) plan() error {
	a := v.askedInQuery()
	own, builtin := v.s.offered()
	view := map[string]any{"Asked": a, "Own": own, "Builtin": builtin, "Epsilon": a.Epsilon}
	if a.Data == "" {
		view["Epsilon"] = "1"
		return v.page("plan", "Plan", view)
	}
	return v.compute(func() error {
		st, takes, err := v.s.price(v.r.Context(), v.person().Name, a)
		if err != nil {
			return v.fault("plan", "Plan", view, err)
		}
		b := report.NewBrief(st)
		e := float64(st.Privacy.Epsilon)
		view["S"], view["B"], view["Stages"], view["Command"], view["Belief"] = st, b, stagesOf(st.Privacy), v.s.command(a), belief(e)
		view["Expect"], view["Key"] = v.s.expected(a), newSecret()
		if takes >= time.Second {
			view["Takes"] = takes.Round(time.Second).String()
		}
		view["Runs"] = v.s.o.AllowJobs && v.person().Role.runs()
		return v.page("plan", "Plan", view)
	})
}

func (v *visit) apiPlan() error {
	return v.compute(func() error {
		st, _, err := v.s.price(v.r.Context(), v.person().Name, v.askedInQuery())
		if err != nil {
			return err
		}
		return v.json(http.StatusOK, st)
	})
}
