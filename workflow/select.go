package workflow

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/data/schema"
	"pawl/feature"
	"pawl/report"
)

// SelectInput asks which features to use, and for nothing else.
type SelectInput struct {
	Input
	// Method is one of SelectMethods.
	Method string
	// Count is the number of features, or feature.Auto.
	Count int
	// Level says what is chosen: columns of the schema, or of their encoding.
	Level feature.Level
	// Bins are those of numeric columns; 0 means feature.DefaultBins.
	Bins int
	// AsPublished replays a paper's procedure on exact statistics of public data. What
	// it claims is no guarantee.
	AsPublished bool
	// Search is the size of method pafs as published.
	Search Published
	// Mode says what is released, Labels how the classes of a noisy table leave. Empty is
	// Central and, in mode Local, RandomizedLabels.
	Mode   Mode
	Labels LabelMode
	// Relation, where not 0, has to be the one that the mode is proven for.
	Relation dp.Relation
}

// SelectMethods are the names of the selectors, with what each does.
var SelectMethods = []struct{ Name, What string }{
	{"cfs-greedy", "correlation-based feature set, built greedily; uses noisy tables of all pairs"},
	{"cfs-ga", "correlation-based feature set, by genetic search; uses noisy tables of all pairs"},
	{"mutual-information", "mutual information with the label; uses noisy tables with the label"},
	{"symmetrical-uncertainty", "mutual information with the label, normalised"},
	{"dfs", "distance of class means; uses noisy sums by class"},
	{"t-statistic", "t-statistic of class means; uses noisy sums and squares by class"},
	{"threshold", "distance of class means above a threshold (DFS, Theorem 8); uses noisy sums by class"},
	{"pafs", "feature set whose private model scores best on held-out rows: private selection over data-independent sets"},
	{"random", "random features; does not use the data"},
	{"all", "all features; does not use the data"},
}

// choosing is the part of a plan that selects features.
type choosing struct {
	SelectInput
	selector feature.Selector
	layout   *feature.Layout
	// sums describes the columns of sums by class, nil where tables are used.
	sums *classColumns
	// schema is that of the columns to choose from.
	schema *schema.Schema
	// local describes the rows that leave, nil for none.
	local *local
}

// Selected is what a selection released.
type Selected struct {
	Plan      *Plan
	Selection *feature.Selection
	Receipt   ledger.Receipt
	Seeded    bool
	// Table is what mode Local releases, else nil.
	Table *NoisyTable
	// Search is what method pafs as published did, else nil.
	Search    *PublishedSearch
	occurring int // columns that are not the same in all public rows
	booked    booked
}

// NewSelectPlan validates the input and prices the statistics that the method looks
// at. Errors are *UsageError, those of package feature, or the accountant's.
func NewSelectPlan(in SelectInput) (*Plan, error) {
	if err := in.checkMethod(); err != nil {
		return nil, err
	}
	if err := in.checkUnsearched(); err != nil {
		return nil, err
	}
	if err := in.checkMode(); err != nil {
		return nil, err
	}
	in.Test = HeldOut // nothing is scored
	p, err := in.checkInput()
	if err != nil {
		return nil, err
	}
	c := &choosing{SelectInput: in}
	if err := c.check(p); err != nil {
		return nil, err
	}
	plan := &Plan{problem: p, trainScope: dp.WholeScope, choosing: c, SignalRatio: math.NaN()}
	p.relation = c.Relation
	if in.AsPublished {
		what := c.Method + " on exact statistics, not paid for"
		if c.Method == "pafs" {
			what = fmt.Sprintf("pafs: %d sets of columns, %d rounds of breeding, by the accuracy of %s of each set; not paid for",
				c.Search.Population, c.Search.Generations, c.Search.models())
		}
		plan.add("select", plan.trainScope, what, dp.NonPrivate{})
		if c.Mode == Local {
			plan.add("rows", plan.trainScope, "rows of the chosen features with noise as published; labels as they are; not paid for", dp.NonPrivate{})
		}
		plan.Event = dp.NonPrivate{}
		plan.Price.Epsilon, plan.Price.Method = math.Inf(1), "none"
		plan.Epsilon = math.Inf(1)
		plan.Warnings = append(p.warnings, "NOT a privacy guarantee: as published, the choice looks at rows without paying")
		return plan, nil
	}
	return plan, plan.planSelect()
}

func (plan *Plan) planSelect() (err error) {
	c, p := plan.choosing, plan.problem
	if c.Method == "pafs" {
		return plan.planPAFS()
	}
	need := c.selector.Need()
	if need == feature.NeedNothing {
		plan.add("select", dp.Scope{}, c.Method+": looks at no row")
		plan.Event, plan.Warnings = dp.NoOp{}, p.warnings
		plan.Price.Method, plan.Price.Bounds = "none", map[string]float64{"none": 0}
		return nil
	}
	if p.delta == 0 {
		return usage("give a delta above 0", "features are chosen with Gaussian noise, which has no pure epsilon")
	}
	if p.Rows == 0 {
		return usage("declare rows: about N in the schema", "whether a table can be trusted follows from a public number of rows")
	}
	if c.Mode == Local {
		return plan.planLocal()
	}
	event := func(x float64) dp.Event { return dp.DiscreteGaussian{NoiseMultiplier: x} }
	if c.sums != nil {
		event = func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} }
	}
	if plan.noise, err = plan.smallest(event); err != nil {
		return err
	}
	if err := c.checkSignal(plan); err != nil {
		return err
	}
	plan.add("select", plan.trainScope, fmt.Sprintf("%s from noisy %s", c.Method, need), event(plan.noise))
	return plan.priceAll()
}

// tables is the release that the selector needs.
func (c *choosing) tables(plan *Plan) release.Tables {
	d := &c.layout.Domain
	t := release.Tables{Scope: plan.trainScope, NoiseMultiplier: plan.noise, Codes: c.layout.Codes}
	for _, a := range d.Attributes {
		t.Levels = append(t.Levels, a.Levels)
	}
	t.Levels = append(t.Levels, d.Classes)
	m := len(d.Attributes)
	for j := range m {
		t.Pairs = append(t.Pairs, [2]int{j, m})
	}
	if c.selector.Need() == feature.NeedPairTables {
		for i := range m {
			for j := i + 1; j < m; j++ {
				t.Pairs = append(t.Pairs, [2]int{i, j})
			}
		}
	}
	return t
}

// Choose reserves the plan, releases the statistics and selects. It fails as Run does.
func (plan *Plan) Choose(ctx context.Context, env Env) (*Selected, error) {
	c := plan.choosing
	out := &Selected{Plan: plan}
	if c.Method == "pafs" && !c.AsPublished {
		return plan.choosePAFS(ctx, env)
	}
	look := func() (err error) {
		if c.Method == "pafs" {
			out.Seeded = plan.problem.Seed != nil
			out.Selection, out.Search, err = c.searchAsPublished(ctx, plan, env)
			return err
		}
		s, err := c.exact(plan, env.Rows)
		if err != nil {
			return err
		}
		out.Seeded, out.occurring = plan.problem.Seed != nil, c.occurring(s)
		if out.Selection, err = c.pick(ctx, s); errors.Is(err, feature.ErrOneClass) {
			return usage("look at the file", "target %q: all rows have one class", plan.problem.Target)
		}
		return err
	}
	if !plan.books() {
		return out, look()
	}
	if c.AsPublished {
		receipt, err := plan.asBooked().charged(ctx, env, func(permit *ledger.Permit) (err error) {
			if err := out.booked.keep(env.Ledger, permit); err != nil {
				return err
			}
			if err = look(); err == nil && c.Mode == Local {
				out.Table, err = c.publishedRows(plan, env.Rows, permit.Randomness("rows"), out.Selection.Chosen)
			}
			return err
		})
		out.Receipt, out.Seeded = receipt, receipt.NotPrivate
		return out, err
	}
	receipt, err := plan.charged(ctx, env, func(permit *ledger.Permit) error {
		if err := out.booked.keep(env.Ledger, permit); err != nil {
			return err
		}
		env.Progress.step("select", 0, 0)
		s, err := c.noisy(ctx, plan, env.Rows, permit)
		if err != nil {
			return err
		}
		out.Selection, err = c.pick(ctx, s)
		if err == nil && c.selector.Need() == feature.NeedClassSums && out.Selection.Note == "" {
			out.Selection.Note = fmt.Sprintf("noise of deviation %.3g on each distance, more where a class is small: distances within two of these say little", c.distanceNoise(plan))
		}
		if errors.Is(err, feature.ErrOneClass) {
			// What noise left of the tables shows one class. That was paid for, and is
			// an outcome.
			out.Selection, err = &feature.Selection{Selector: c.Method, Level: c.Level, Merit: math.NaN(),
				Note: "nothing was chosen: the noisy tables show one class of the label only"}, nil
		}
		if err != nil || c.Mode != Local {
			return err
		}
		env.Progress.step("rows", 0, 0)
		out.Table, err = c.releaseRows(ctx, plan, env.Rows, permit, out.Selection.Chosen)
		return err
	})
	out.Receipt, out.Seeded = receipt, receipt.NotPrivate
	return out, err
}

// noisy releases what the selector needs.
func (c *choosing) noisy(ctx context.Context, plan *Plan, rows *intake.Rows, permit *ledger.Permit) (*feature.Statistics, error) {
	if c.sums != nil {
		sums, err := c.sums.release(plan, c.selector.Need()).Release(ctx, permit, rows)
		if err != nil {
			return nil, err
		}
		return c.sums.statistics(sums, c.sums.noise(plan, c.selector.Need())), nil
	}
	t := c.tables(plan)
	tables, err := t.Release(ctx, permit, rows)
	if err != nil {
		return nil, err
	}
	return c.statistics(tables, t, t.StdDev(plan.problem.Schema.Unit.MaxRows))
}

// exact reads the statistics of public rows; a selector that needs none gets none.
func (c *choosing) exact(plan *Plan, rows *intake.Rows) (*feature.Statistics, error) {
	switch {
	case c.selector.Need() == feature.NeedNothing:
		return &feature.Statistics{Domain: c.layout.Domain}, nil
	case c.sums != nil:
		sums, err := c.sums.release(plan, c.selector.Need()).Public(rows)
		if err != nil {
			return nil, err
		}
		return c.sums.statistics(sums, 0), nil
	}
	t := c.tables(plan)
	tables, err := t.Public(rows)
	if err != nil {
		return nil, err
	}
	return c.statistics(tables, t, 0)
}

func (c *choosing) statistics(tables [][]int64, t release.Tables, noise float64) (*feature.Statistics, error) {
	s := &feature.Statistics{Domain: c.layout.Domain, NoiseStdDev: noise}
	m := len(s.Domain.Attributes)
	for k, cells := range tables {
		counts := make([]float64, len(cells))
		for i, v := range cells {
			counts[i] = float64(v)
		}
		table, err := feature.NewTable(t.Levels[t.Pairs[k][0]], t.Levels[t.Pairs[k][1]], counts)
		if err != nil {
			return nil, err
		}
		if k < m {
			s.LabelTables = append(s.LabelTables, table)
		} else {
			s.PairTables = append(s.PairTables, table)
		}
	}
	return s, nil
}

// pick selects. Sums by class rank columns; at attribute level the attributes that
// hold them follow in that order.
func (c *choosing) pick(ctx context.Context, s *feature.Statistics) (*feature.Selection, error) {
	count := c.Count
	if c.sums != nil && c.Level == feature.AttributeLevel && count != feature.Auto {
		count = len(s.Domain.Attributes)
	}
	sel, err := c.selector.Select(ctx, s, count)
	if err != nil {
		return nil, err
	}
	if c.sums != nil {
		sel = c.sums.named(sel, c.Level, c.Count)
	}
	sel.Selector = c.Method // the name that was asked for
	return sel, nil
}

// choice states the method; Selected.Statement adds what was chosen.
func (c *choosing) choice() report.Choice {
	search := "none: one release of statistics, the rest is post-processing"
	switch {
	case c.AsPublished && c.Method == "pafs":
		search = "as published: genetic, by the accuracy of noisy models, not paid for"
	case c.AsPublished:
		search = "as published: exact statistics, not paid for"
	case c.Method == "pafs":
		search = fmt.Sprintf("private selection over sets of attributes; a secret number of trainings, mean %d", meanRuns)
	case c.selector.Need() == feature.NeedNothing:
		search = "none: no row is looked at"
	}
	h := map[string]any{"method": c.Method, "level": string(c.Level)}
	if c.Count != feature.Auto {
		h["k"] = c.Count
	}
	if c.Mode == Local {
		h["mode"], h["labels"] = string(c.Mode), string(c.Labels)
		if search = "none: one release of sums chooses, one of rows is the table"; c.AsPublished {
			search = "as published: exact sums choose, not paid for"
		}
	}
	return report.Choice{Workflow: string(PAW), Model: "none: features only", Features: []string{}, Hyperparameters: h, Search: search, UsefulModel: true}
}

// Statement is the plan's, completed by what was chosen and what the ledger says.
func (out *Selected) Statement(ctx context.Context, env Env, version string, now time.Time) (*report.Statement, error) {
	s, err := out.Plan.Statement(version, now)
	if err != nil {
		return nil, err
	}
	s.Command, s.NotPrivate = "select", s.NotPrivate || out.Seeded
	if len(env.Digest) >= 8 {
		s.Data.Fingerprint = hex.EncodeToString(env.Digest[:8])
	}
	if s.Privacy.Events == nil {
		s.Privacy.Events = []json.RawMessage{} // none, rather than unknown
	}
	for _, c := range out.Selection.Chosen {
		s.Choice.Features = append(s.Choice.Features, c.Column.Name)
	}
	s.Choice.Selection = out.Plan.kept(s)
	if out.Receipt.ID == "" {
		return s, nil // nothing was booked
	}
	return s, out.Plan.fillBudget(ctx, env, s, out.Receipt)
}
