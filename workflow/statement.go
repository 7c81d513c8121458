package workflow

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/model"
	"pawl/report"
	"pawl/search"
)

// Statement is what may be said in public about the plan before it runs: its
// price by stage, the choice and its reasons.
func (plan *Plan) Statement(version string, now time.Time) (*report.Statement, error) {
	p := plan.problem
	claim, stated := plan.published(plan.Epsilon)
	s := &report.Statement{
		Version: report.StatementVersion, Command: "plan", Time: now.UTC(), NotPrivate: plan.claimsNothing(),
		Software: report.Software{Name: "pawl", Version: version, Go: runtime.Version()},
		Data: report.Data{
			Name: p.Dataset, Target: p.Target, Task: string(p.task), Public: p.Public, Rows: rowsInWords(p),
			Attributes: len(attributes(p)), Licence: p.Licence,
		},
		Privacy: report.Privacy{
			Epsilon: report.Number(claim), Delta: report.Number(p.delta), Relation: p.relation.String(),
			Unit: p.Schema.Unit.Name, RowsPerUnit: p.Schema.Unit.MaxRows, Accountant: plan.Price.Method,
			EpsilonBounds: plan.bounds(), EpsilonAsked: p.Epsilon, DeltaAsked: p.deltaText, Sampling: "full batch",
			ByStage: map[string]report.Stage{}, NotCovered: plan.notCovered(),
		},
		Choice:   plan.choice(),
		Warnings: append([]string{}, plan.Warnings...),
		Advice:   []report.Advice{},
	}
	if _, ok := s.Privacy.EpsilonBounds["best_per_scope"]; ok {
		// No single bound gives this epsilon: each scope is bounded best by its own.
		s.Privacy.Accountant = "best_per_scope"
	}
	if n := plan.network; plan.perStep > 0 || n != nil && n.rate < 1 {
		s.Privacy.Sampling = "Poisson"
	}
	if p.task == model.Classification {
		s.Data.Classes = p.Schema.Columns[p.targetColumn].Levels()
	}
	for _, r := range plan.Recipe.Rules {
		s.Advice = append(s.Advice, report.Advice(r))
	}
	if plan.hunt != nil {
		s.Search = plan.hunt.statement(plan)
	}
	for i, stage := range plan.Stages {
		alone, err := plan.alone(stage)
		if err != nil {
			return nil, err
		}
		for _, e := range stage.Events {
			raw, err := dp.Stated{Event: dp.Scoped{Scope: stage.Scope, Event: e}, Relation: p.relation, Unit: p.Schema.Unit.Name}.Encode()
			if err != nil {
				return nil, err
			}
			s.Privacy.Events = append(s.Privacy.Events, raw)
		}
		scope := "no sensitive row"
		if stage.Scope.Valid() {
			scope = fmt.Sprintf("[%.4g, %.4g)", stage.Scope.Lower, stage.Scope.Upper)
		}
		s.Privacy.ByStage[stage.Name] = report.Stage{Order: i + 1, Epsilon: report.Number(upward(alone)), Scope: scope, What: stage.What}
	}
	s.Choice.Selection = plan.kept(s)
	if stated != nil {
		e := report.Number(*stated)
		s.PublishedEpsilon = &e
		if plan.hunt == nil {
			s.Warnings = append([]string{"NOT a privacy guarantee: as published, principal components look at rows without paying"}, s.Warnings...)
		}
	}
	if p.Seed != nil {
		s.Warnings = append([]string{"NOT PRIVATE: a seed makes the noise predictable; this is a simulation"}, s.Warnings...)
	}
	return s, nil
}

// AsPublished says that the plan replays a published procedure that leaves choices
// unpaid; what it claims is no guarantee.
func (plan *Plan) AsPublished() bool {
	return plan.hunt != nil && plan.hunt.AsPublished || plan.network != nil && plan.network.Published || plan.choosing != nil && plan.choosing.AsPublished
}

// claimsNothing says that no noise protects, or none that is unpredictable.
func (plan *Plan) claimsNothing() bool {
	return plan.problem.Seed != nil || plan.hunt != nil && plan.hunt.Strategy.Kind == search.STW || plan.network != nil && plan.network.NonPrivate || plan.AsPublished()
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

func (plan *Plan) notCovered() []string {
	p := plan.problem
	var out []string
	if p.Test != HeldOut {
		out = append(out, "The rows of the test set: they are declared public and their score is exact.")
	}
	if n := plan.network; n != nil && n.Vocabulary != nil {
		out = append(out, "The vocabulary: the list of tokens is declared public (--vocabulary).")
	}
	if c := plan.choosing; c != nil && c.Mode == Local && c.Labels == PublicLabels && !c.AsPublished {
		out = append(out, "The classes of the rows: they are declared public (--labels public) and leave as they are.")
	}
	if by := p.Chosen; by != nil && by.Unpaid {
		out = append(out, fmt.Sprintf("The choice of features: method %s looked at the rows of data set %s without paying.", by.Method, by.Dataset))
	} else if by != nil && by.Entry != "" {
		out = append(out, fmt.Sprintf("The choice of features: it is booked as entry %s of data set %s.", by.Entry, by.Dataset))
	}
	if p.Workflow == STW {
		out = append(out, "The choice among candidates: the drop-in workflow looks at rows without paying. The whole is not private.")
	}
	if p.Public {
		out = append(out, "Numbers under “public benchmark”: they are exact, because the data set is declared public.")
	}
	return out
}

func (plan *Plan) choice() report.Choice {
	switch {
	case plan.hunt != nil:
		return plan.searchChoice()
	case plan.network != nil:
		return plan.networkChoice()
	case plan.choosing != nil:
		return plan.choosing.choice()
	}
	p, r := plan.problem, plan.Recipe
	c := report.Choice{
		Workflow: string(p.Workflow), Model: string(r.Learner), Features: []string{}, UsefulModel: r.Useful,
		Hyperparameters: map[string]any{}, Search: "none: the rule decides from public facts",
	}
	switch {
	case p.Workflow == STW:
		c.Search = fmt.Sprintf("exact accuracy on public rows over %d candidates, not paid for", len(plan.candidates))
	}
	if p.Rows == 0 {
		return c
	}
	if enc, err := encode.New(p.Schema, p.Target, r.Encoding); err == nil {
		c.Features, c.Encoding, c.Parameters = enc.Features(), describe(r.Learner, r.Encoding, enc.Kept()), enc.Dim
	}
	if c.Features == nil {
		c.Features = []string{}
	}
	hyperparameters(c.Hyperparameters, plan, r)
	return c
}

func hyperparameters(h map[string]any, plan *Plan, r advise.Recipe) {
	if !math.IsNaN(plan.SignalRatio) {
		h["signal_ratio"] = plan.SignalRatio
	}
	if r.Steps > 0 {
		h["clipping_norm"], h["steps"], h["learning_rate"], h["momentum"] = r.ClippingNorm, r.Steps, r.LearningRate, r.Momentum
		h["sampling_rate"] = r.SamplingRate
		h["noise_multiplier"] = learn.StepNoise(plan.noise, r.Steps)
		if plan.perStep > 0 {
			h["noise_multiplier"] = plan.perStep
		}
	}
	if r.LogTarget {
		h["target_scale"] = "logarithmic"
	}
}

// describe says how rows become vectors; kept are the single levels in use.
func describe(l advise.Learner, o encode.Options, kept []string) string {
	if len(kept) > 0 {
		return describe(l, o, nil) + "; of their columns only the levels " + strings.Join(kept, ", ")
	}
	switch {
	case learn.KindOf(string(l)).Binned:
		return fmt.Sprintf("%d public bins of a numeric column, one value for each category", max(o.Bins, 2))
	case o.InterceptOnly:
		return "no attribute"
	case o.Linear:
		return "numeric columns affine, categories one-hot, blocks of norm 1"
	case o.Crosses:
		return fmt.Sprintf("thermometer of %d bins, categories one-hot, products with two-level columns, blocks of norm 1", max(o.Bins, 2))
	}
	return fmt.Sprintf("thermometer of %d bins, categories one-hot, blocks of norm 1", o.Bins)
}

// Statement is the plan's statement completed by what the run released and by
// what the ledger says after it.
func (out *Outcome) Statement(ctx context.Context, env Env, version string, now time.Time) (*report.Statement, error) {
	plan, p := out.Plan, out.Plan.problem
	s, err := plan.Statement(version, now)
	if err != nil {
		return nil, err
	}
	s.Command, s.NotPrivate = "fit", out.Seeded || p.Workflow == STW || plan.claimsNothing()
	if plan.network != nil {
		s.Command = "train"
		s.Warnings = append(append(s.Warnings, out.Components.warnings()...), out.diverged()...)
		if c := out.Components; c != nil {
			s.Choice.Hyperparameters["components_kept"] = c.Kept
		}
	}
	if out.Rows != nil {
		s.Data.Rows = fmt.Sprintf("private; released by a paid count: %d", *out.Rows)
	}
	if len(env.Digest) >= 8 {
		s.Data.Fingerprint = hex.EncodeToString(env.Digest[:8])
	}
	if plan.network == nil {
		out.fillChoice(&s.Choice)
	}
	s.Advice = nil
	for _, r := range out.Recipe.Rules {
		s.Advice = append(s.Advice, report.Advice(r))
	}
	s.Choice.Selection = plan.kept(s)
	out.fillScore(s)
	if plan.hunt != nil {
		s.Command = "search"
		out.fillSearch(s)
	}
	s.Shapes = out.shapes()
	if p.Workflow == STW || plan.hunt != nil && plan.hunt.Strategy.Kind == search.STW {
		s.Warnings = append([]string{"NOT PRIVATE as a whole: the choice looked at rows and was not paid for"}, s.Warnings...)
	}
	if !out.Recipe.Useful && plan.network == nil {
		s.Warnings = append(s.Warnings, "no useful model: at this budget a constant prediction is as good as any")
	}
	return s, plan.fillBudget(ctx, env, s, out.Receipt)
}

func (out *Outcome) fillChoice(c *report.Choice) {
	c.Model, c.UsefulModel, c.Parameters = out.Learner.Name(), out.Recipe.Useful, out.Model.Parameters()
	c.Features, c.Encoding = []string{}, "no attribute"
	if out.Model.Encoding != nil {
		if f := out.Model.Encoding.Features(); f != nil {
			c.Features = f
		}
		c.Encoding = describe(out.Recipe.Learner, out.Model.Encoding.Options, out.Model.Encoding.Kept())
	}
	c.Hyperparameters = map[string]any{}
	hyperparameters(c.Hyperparameters, out.Plan, out.Recipe)
	if out.Winner != "" {
		c.Hyperparameters["winner"] = out.Winner
	}
}

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
		s.Score.Test, s.Score.TestBaseline, s.Score.AUROC = number(v.Exact), number(v.ExactBaseline), number(v.AUROC)
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

func (plan *Plan) fillBudget(ctx context.Context, env Env, s *report.Statement, receipt ledger.Receipt) error {
	return fillBudget(ctx, env.Ledger, plan.problem.Dataset, s, receipt)
}

func fillBudget(ctx context.Context, l *ledger.Ledger, dataset string, s *report.Statement, receipt ledger.Receipt) error {
	view, err := l.Show(ctx, dataset)
	if err != nil {
		return err
	}
	amount := func(a ledger.Spend) report.Amount {
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
	fillPeople(s, &view, l.User())
	for _, d := range receipt.Different {
		s.Data.Different = append(s.Data.Different, report.Different(d))
		what := "the data resemble"
		if d.Of != "" {
			what = "the rows of the test file resemble"
		}
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s the sensitive data set %q; %s says that they hold other units: %s", what, d.Other, d.By, d.Reason))
	}
	s.Budget.Reconciled = reconciled(&view, receipt.ID)
	for _, r := range s.Budget.Reconciled {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s; %s went on with it: %s", r.What, r.By, r.Reason))
	}
	return nil
}

// Privacy is the claim as JSON, for the model's own files.
func privacyJSON(s *report.Statement) (json.RawMessage, error) { return json.Marshal(s.Privacy) }
