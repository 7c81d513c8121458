package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"time"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/data/schema"
	"pawl/evidence/quality"
	"pawl/model"
	"pawl/report"
)

// Statement is what may be said in public about the plan before it runs: its
// price by stage, the choice and its reasons.
func (plan *Plan) Statement(version string, now time.Time) (*report.Statement, error) {
	s, d, err := plan.statement(version, now)
	if err == nil {
		s.Choice.Selection = plan.kept(&d, s)
	}
	return s, err
}

// statement leaves out how features are chosen, which follows from the others.
func (plan *Plan) statement(version string, now time.Time) (*report.Statement, description, error) {
	p, d := plan.problem, plan.job.describe()
	s := &report.Statement{
		Version: report.StatementVersion, Command: "plan", Time: now.UTC(), NotPrivate: p.Seed != nil || d.unprotected || d.asPublished,
		Software: report.Software{Name: "pawl", Version: version, Go: runtime.Version()},
		Data: report.Data{
			Name: p.Dataset, Target: p.Target, Task: string(p.task), Public: p.Public, Rows: rowsInWords(p),
			Attributes: len(attributes(p)), Licence: p.Licence,
		},
		Privacy: report.Privacy{
			Epsilon: report.Number(plan.Epsilon), Delta: report.Number(p.delta), Relation: p.relation.String(),
			Unit: p.Schema.Unit.Name, RowsPerUnit: p.Schema.Unit.MaxRows, Accountant: plan.Price.Method,
			EpsilonBounds: plan.bounds(), EpsilonAsked: p.Epsilon, DeltaAsked: p.deltaText, Sampling: "full batch",
			ByStage: map[string]report.Stage{}, NotCovered: p.notCovered(d.uncovered),
		},
		Choice:   d.choice,
		Search:   d.search,
		Warnings: append([]string{}, plan.Warnings...),
		Advice:   []report.Advice{},
	}
	if _, ok := s.Privacy.EpsilonBounds["best_per_scope"]; ok {
		// No single bound gives this epsilon: each scope is bounded best by its own.
		s.Privacy.Accountant = "best_per_scope"
	}
	var err error
	if s.Counterfactual, err = plan.counterfactual(); err != nil {
		return nil, d, err
	}
	if d.lots {
		s.Privacy.Sampling = "Poisson"
	}
	if d.sampling != "" {
		s.Privacy.Sampling = d.sampling
	}
	if p.task == model.Classification {
		s.Data.Classes = p.Schema.Columns[p.targetColumn].Levels()
	}
	for _, r := range plan.Recipe.Rules {
		s.Advice = append(s.Advice, report.Advice(r))
	}
	for i, stage := range plan.Stages {
		alone, err := plan.alone(stage)
		if err != nil {
			return nil, d, err
		}
		for _, e := range stage.Events {
			raw, err := dp.Stated{Event: stage.placed(e), Relation: p.relation, Unit: p.Schema.Unit.Name}.Encode()
			if err != nil {
				return nil, d, err
			}
			s.Privacy.Events = append(s.Privacy.Events, raw)
		}
		scope := "no sensitive row"
		if stage.Scope.Valid() {
			scope = fmt.Sprintf("[%.4g, %.4g)", stage.Scope.Lower, stage.Scope.Upper)
		}
		s.Privacy.ByStage[stage.Name] = report.Stage{Order: i + 1, Epsilon: report.Number(upward(alone)), Scope: scope, What: stage.What}
	}
	if d.claimed != nil {
		// What is claimed stands where it is called no guarantee.
		e := report.Number(*d.claimed)
		s.PublishedEpsilon, s.Privacy.Epsilon = &e, report.Number(math.Inf(1))
	}
	if d.warning != "" {
		s.Warnings = append([]string{d.warning}, s.Warnings...)
	}
	if p.Seed != nil {
		s.Warnings = append([]string{"NOT PRIVATE: a seed makes the noise predictable; this is a simulation"}, s.Warnings...)
	}
	return s, d, nil
}

// alone is what a stage would cost by itself.
func (plan *Plan) alone(s Stage) (float64, error) {
	p := plan.problem
	r, err := accountant.Epsilon(dp.Compose{Events: s.Events}, p.relation, p.delta, p.Accountant)
	return r.Epsilon, err
}

// upward rounds to six decimals, or to six significant digits where that is more,
// up.
func upward(x float64) float64 {
	if x <= 0 || math.IsInf(x, 0) || x != x || x > 1e9 {
		return max(x, 0)
	}
	scale := 1e6
	if x < 1 {
		scale = math.Pow(10, 6-math.Floor(math.Log10(x)))
	}
	up := math.Ceil(x*scale) / scale
	if up < x { // the division may round down
		up = math.Nextafter(up, math.Inf(1))
	}
	return up
}

func (plan *Plan) bounds() map[string]report.Number {
	out := map[string]report.Number{}
	smallest := math.Inf(1)
	for method, e := range plan.Price.Bounds {
		out[method] = report.Number(e)
		smallest = min(smallest, e)
	}
	if plan.Price.Epsilon < smallest {
		// Disjoint scopes may each be bounded best by another method.
		out["best_per_scope"] = report.Number(plan.Price.Epsilon)
	}
	return out
}

func attributes(p *problem) []string {
	var out []string
	for i := range p.Schema.Columns {
		if c := &p.Schema.Columns[i]; c.Type != schema.Ignore && c.Name != p.Target && c.Name != p.Schema.Unit.Column {
			out = append(out, c.Name)
		}
	}
	return out
}

func rowsInWords(p *problem) string {
	switch p.Schema.Rows.Kind {
	case schema.RowsPublic:
		return fmt.Sprintf("public: %d", p.Rows)
	case schema.RowsDeclared:
		return fmt.Sprintf("declared: %d", p.Rows)
	case schema.RowsAbout:
		return fmt.Sprintf("declared: about %d", p.Rows)
	}
	return "private: paid for"
}

func (p *problem) notCovered(own []string) []string {
	var out []string
	if p.Test != HeldOut {
		out = append(out, "The rows of the test set: they are declared public and their score is exact.")
	}
	out = append(out, own...)
	if by := p.Chosen; by != nil && by.Unpaid {
		out = append(out, fmt.Sprintf("The choice of features: method %s used the rows of data set %s without charge.", by.Method, by.Dataset))
	} else if by != nil && by.Entry != "" {
		out = append(out, fmt.Sprintf("The choice of features: it is charged as entry %s of data set %s.", by.Entry, by.Dataset))
	}
	if p.Public {
		out = append(out, "Numbers under “public benchmark”: they are exact, because the data set is declared public.")
	}
	return out
}

// Statement is the plan's statement completed by what the run released and by
// what the ledger says after it.
func (out *Outcome) Statement(ctx context.Context, env Env, version string, now time.Time) (*report.Statement, error) {
	plan := out.Plan
	s, d, err := out.stated(plan, env, version, now)
	if err != nil {
		return nil, err
	}
	s.Warnings = append(s.Warnings, out.warnings...)
	if out.Rows != nil {
		s.Data.Rows = fmt.Sprintf("private; released by a paid count: %d", *out.Rows)
	}
	s.Advice = nil
	for _, r := range out.Recipe.Rules {
		s.Advice = append(s.Advice, report.Advice(r))
	}
	out.fillScore(s)
	plan.job.(modelJob).complete(s, out)
	s.Choice.Selection = plan.kept(&d, s)
	s.Shapes = out.shapes()
	return s, out.account(ctx, plan, env, s)
}

// chosenUnpaid is said first of a run whose choice nobody paid for.
const chosenUnpaid = "NOT PRIVATE as a whole: choices used rows without charge"

func (out *Outcome) fillScore(s *report.Statement) {
	metric := "accuracy"
	if out.Model.Task == model.Regression {
		metric = "mean_absolute_error"
	}
	v := out.Score
	s.Score = &report.Score{
		Metric: metric, Value: report.Number(v.Value), How: v.How, Baseline: report.Number(v.Baseline),
		Interval:         [2]report.Number{report.Number(v.Interval[0]), report.Number(v.Interval[1])},
		BaselineInterval: &[2]report.Number{report.Number(v.BaselineInterval[0]), report.Number(v.BaselineInterval[1])},
	}
	number := func(x *float64) *report.Number {
		if x == nil {
			return nil
		}
		n := report.Number(*x)
		return &n
	}
	if s.Score.PublicTest = out.Plan.problem.Public || out.Plan.problem.Test != HeldOut; s.Score.PublicTest {
		s.Score.Test, s.Score.TestBaseline = number(v.Exact), number(v.ExactBaseline)
	}
	auroc := v.AUROC // of public rows
	if s.Score.Classification, s.Score.Regression = v.Classes, v.Numbers; v.Classes != nil && auroc == nil {
		auroc = v.Classes.AUROC
	}
	if auroc != nil && auroc.Known() {
		s.Score.AUROC = number(auroc.Value)
		s.Score.AUROCInterval = &[2]report.Number{report.Number(auroc.Interval[0]), report.Number(auroc.Interval[1])}
	}
	s.Score.Gain = &v.Gain
	s.Score.Verdict, s.Score.UsefulFor = quality.Decide(v.Gain, v.Classes)
	if out.Plan.problem.Decision.Given() {
		s.Score.Decision = &out.Plan.problem.Decision
	}
	if out.Model.Task == model.Regression {
		e := v.Value
		if s.Score.Test != nil {
			e = float64(*s.Score.Test)
		}
		e /= out.Model.Scale.Upper - out.Model.Scale.Lower
		s.Score.OfRange = number(&e)
	}
	s.Score.UsedForChoosing = number(out.Chosen)
	s.Score.ByGroup = out.byGroup(s)
}

func fillBudget(ctx context.Context, l *ledger.Ledger, dataset string, s *report.Statement, receipt ledger.Receipt) error {
	view, err := figures.Show(ctx, l, dataset)
	if err != nil {
		return err
	}
	amount := func(a figures.Spend) report.Amount {
		return report.Amount{Epsilon: report.Number(a.Epsilon), Delta: report.Number(a.Delta)}
	}
	granted := "public data set: not limited"
	if g := view.Granted; g != nil {
		granted = fmt.Sprintf("granted by %s at %s", g.By, g.At)
		if g.Self {
			granted = "self-" + granted
		}
		if g.Reason != "" {
			granted += ": " + g.Reason
		}
	}
	s.Budget = report.Budget{
		Ledger: "per-user", Dataset: view.Name, Granted: granted, SelfGranted: view.Granted != nil && view.Granted.Self,
		Total: amount(view.Total), Spent: amount(view.Spent), Reserved: amount(view.Reserved), Left: amount(view.Left),
		Entry: receipt.ID, Head: fmt.Sprintf("%x", view.Head[:]),
	}
	if !l.PerUser() {
		s.Budget.Ledger = "team"
	}
	if s.Budget.Renewal = Renewal(&view); s.Budget.Renewal != nil {
		for _, e := range view.Entries {
			if e.ID == receipt.ID {
				s.Budget.Renewal.ChargedTo = e.Period
			}
		}
	}
	fillPeople(s, &view, l.User())
	for _, d := range receipt.Different {
		s.Data.Different = append(s.Data.Different, report.Different(d))
		what := "the data resemble"
		if d.Of != "" {
			what = "the rows of the test file resemble"
		}
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s the sensitive data set %q; %s declared that they contain other units: %s", what, d.Other, d.By, d.Reason))
	}
	s.Budget.Reconciled = reconciled(&view, receipt.ID)
	for _, r := range s.Budget.Reconciled {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s; %s continued with it: %s", r.What, r.By, r.Reason))
	}
	return nil
}

// Renewal is what the ledger says of a budget that renews, nil of one that does not.
func Renewal(view *figures.Statement) *report.Renewal {
	r := view.Renewal
	if r == nil {
		return nil
	}
	amount := func(a figures.Spend) report.Amount {
		return report.Amount{Epsilon: report.Number(a.Epsilon), Delta: report.Number(a.Delta)}
	}
	return &report.Renewal{Per: string(r.Per), Period: r.Period, Began: r.Began, Renews: r.Renews, Each: amount(view.Total),
		Periods: r.Periods, ByAddition: amount(r.ByAddition), Overall: amount(r.Overall)}
}

// Privacy is the claim as JSON, for the model's own files.
func privacyJSON(s *report.Statement) (json.RawMessage, error) { return json.Marshal(s.Privacy) }
