package workflow

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/feature"
	"pawl/model"
	"pawl/report"
	"pawl/schema"
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
}

// SelectMethods are the names of the selectors, with what each does.
var SelectMethods = []struct{ Name, What string }{
	{"cfs-greedy", "correlation-based set, one feature after another; from noisy tables of all pairs"},
	{"cfs-ga", "correlation-based set by a genetic search; from noisy tables of all pairs"},
	{"mutual-information", "largest information about the label; from noisy tables with the label"},
	{"symmetrical-uncertainty", "the same, normalised"},
	{"dfs", "largest distance of class means; from noisy sums by class"},
	{"t-statistic", "largest t-statistic of class means; from noisy sums and squares by class"},
	{"threshold", "distances beyond the threshold of DFS' Theorem 8; from noisy sums by class"},
	{"pafs", "the set whose private model scores best on rows of its own: a private selection over sets drawn without looking at data"},
	{"random", "at random; looks at nothing"},
	{"all", "all; looks at nothing"},
}

// NeedsCount says that a method ranks features and cannot choose their number.
func NeedsCount(method string) bool {
	switch method {
	case "cfs-greedy", "cfs-ga", "threshold", "pafs", "all":
		return false
	}
	return true
}

func (in *SelectInput) checkMethod() error {
	names := make([]string, len(SelectMethods))
	for i, m := range SelectMethods {
		names[i] = m.Name
	}
	hint := "methods: " + strings.Join(names, ", ")
	if in.Method == "" {
		return usage(hint, "no method: say how features are chosen")
	}
	if slices.Contains(names, in.Method) {
		return nil
	}
	if near := schema.Nearest(in.Method, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return usage(hint, "unknown method %q", in.Method)
}

// choosing is the part of a plan that selects features.
type choosing struct {
	SelectInput
	selector feature.Selector
	layout   *feature.Layout
	// sums describes the columns of sums by class, nil where tables are used.
	sums *classColumns
}

// Selected is what a selection released.
type Selected struct {
	Plan      *Plan
	Selection *feature.Selection
	Receipt   ledger.Receipt
	Seeded    bool
	occurring int // columns that are not the same in all public rows
}

// NewSelectPlan validates the input and prices the statistics that the method looks
// at. Errors are *UsageError, those of package feature, or the accountant's.
func NewSelectPlan(in SelectInput) (*Plan, error) {
	if err := in.checkMethod(); err != nil {
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
	if in.AsPublished {
		plan.add("select", plan.trainScope, c.Method+" on exact statistics, not paid for", dp.NonPrivate{})
		plan.Event = dp.NonPrivate{}
		plan.Price.Epsilon, plan.Price.Method = math.Inf(1), "none"
		plan.Epsilon = math.Inf(1)
		plan.Warnings = append(p.warnings, "NOT a privacy guarantee: as published, the choice looks at rows without paying")
		return plan, nil
	}
	return plan, plan.planSelect()
}

// free says that nothing is paid: as published, or no row is looked at.
func (in *SelectInput) free() bool {
	return in.AsPublished || in.Method == "random" || in.Method == "all"
}

// checkInput validates what every plan needs. A free choice needs no budget; one that
// was named stays in the statement as asked.
func (in *SelectInput) checkInput() (*problem, error) {
	switch {
	case in.Epsilon != "":
		return in.Input.check()
	case !in.free():
		return nil, usage("example: --epsilon 1", "no epsilon: say how much privacy the choice may cost")
	}
	input := in.Input
	input.Epsilon, input.Accountant = "1", ""
	if input.Delta == "" {
		input.Delta = "0"
	}
	p, err := input.check()
	if err == nil {
		p.Epsilon = ""
	}
	return p, err
}

func (c *choosing) check(p *problem) error {
	if p.task != model.Classification && c.Method != "random" && c.Method != "all" {
		return usage("--method all, or a target that is a class", "method %q compares classes, and the target %q is a number", c.Method, p.Target)
	}
	if c.AsPublished && !p.Public {
		return usage("leave out --as-published", "procedures as published look at rows without paying; they run on public data only")
	}
	if c.Level == "" {
		c.Level = feature.AttributeLevel
		if c.AsPublished {
			c.Level = feature.ColumnLevel
		}
	}
	if c.Level != feature.AttributeLevel && c.Level != feature.ColumnLevel {
		return usage("levels: attribute, column", "unknown level %q", c.Level)
	}
	if c.Bins != 0 && (c.Bins < 2 || c.Bins > 1000) {
		return usage(fmt.Sprintf("leave it out for %d", feature.DefaultBins), "%d bins: want 2 to 1000", c.Bins)
	}
	s := c.restricted(p)
	var err error
	if c.layout, err = feature.NewLayout(s, p.Target, c.Bins); err != nil {
		return usage("give the schema columns with at least two levels", "%v", err)
	}
	c.layout.Domain.Rows = float64(p.Rows)
	if c.AsPublished {
		c.everyLevelAColumn(s)
	}
	options := feature.MatrixOptions{Seed: rand.Uint64()} // simulates the noise's bias; protects nobody
	if p.Seed != nil {
		options.Seed = *p.Seed
	}
	switch c.Method {
	case "cfs-greedy":
		c.selector = feature.Greedy{At: c.Level, Options: options}
	case "cfs-ga":
		g := feature.Genetic{At: c.Level, Options: options}
		g.Search.Seed = options.Seed
		c.selector = g
	case "mutual-information":
		c.selector = feature.Relevance{At: c.Level, By: feature.MutualInformation, Options: options}
	case "symmetrical-uncertainty":
		c.selector = feature.Relevance{At: c.Level, By: feature.Uncertainty, Options: options}
	case "dfs":
		c.selector = feature.Distance{}
	case "t-statistic":
		c.selector = feature.TStatistic{}
	case "threshold":
		c.selector = feature.Threshold{C: 1, Variance: 1, Gamma: 0.25}
	case "pafs":
		return c.checkPAFS(p)
	case "random":
		c.selector = feature.Random{At: c.Level, Seed: options.Seed}
	case "all":
		c.selector = feature.All{At: c.Level}
	}
	switch c.selector.Need() {
	case feature.NeedClassSums, feature.NeedClassMoments:
		c.sums = newClassColumns(s, p.Target, c.layout)
		fallthrough
	case feature.NeedNothing:
		if c.Bins != 0 {
			return usage("leave out --bins", "method %s counts no bins", c.Method)
		}
	}
	return c.checkCount()
}

// restricted is the schema with the columns that the operator did not name ignored.
func (c *choosing) restricted(p *problem) *schema.Schema {
	s := *p.Schema
	if p.Features == nil {
		return &s
	}
	s.Columns = slices.Clone(s.Columns)
	for i := range s.Columns {
		if col := &s.Columns[i]; col.Name != p.Target && col.Name != s.Unit.Column && !slices.Contains(p.Features, col.Name) {
			col.Type = schema.Ignore
		}
	}
	return &s
}

// checkCount refuses before anything is charged what Select would refuse after.
func (c *choosing) checkCount() error {
	most := len(c.layout.Domain.Columns(c.Level))
	switch {
	case c.Count == feature.Auto && !NeedsCount(c.Method):
		return nil
	case c.Method == "all" && c.Count != most:
		return usage("leave out --k, or choose another method", "method all takes all %d features, not %d", most, c.Count)
	case c.Count == feature.Auto:
		return usage(fmt.Sprintf("give --k, 1 to %d", most), "method %s ranks features and cannot choose their number", c.Method)
	case c.Count < 1 || c.Count > most:
		return usage(fmt.Sprintf("give --k from 1 to %d", most), "k is %d, and there are %d features to choose from (%s level)", c.Count, most, c.Level)
	}
	return nil
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

// checkSignal refuses, by public facts alone, to pay for statistics that noise drowns.
func (c *choosing) checkSignal(plan *Plan) error {
	const instead = "a larger epsilon, fewer columns (--features), or no selection at all: use all features or a list from domain knowledge"
	p := plan.problem
	if c.sums != nil {
		// Numbers lie in [0, 1], so no distance of means exceeds 1. About √(2 ln 2m)
		// deviations is the largest of m distances that are noise alone.
		mean := float64(p.Rows) / float64(c.sums.classes)
		noise := math.Sqrt2 * c.sums.noise(plan, c.selector.Need()) * c.sums.domain.Norm / mean
		if m := float64(len(c.sums.columns)); !(noise*math.Sqrt(2*math.Log(2*m)) <= 1) {
			return usage(instead, "the noise exceeds the sums: do not select privately: noise of deviation %.3g on each of %d distances that are at most 1 (%.6g rows in a mean class)",
				noise, len(c.sums.columns), mean)
		}
		return nil
	}
	err := c.selector.Need().CheckSignal(&c.layout.Domain, c.tables(plan).StdDev(p.Schema.Unit.MaxRows))
	var noisy *feature.NoiseError
	if errors.As(err, &noisy) {
		hint := "--bins 4, " + instead
		if c.selector.Need() == feature.NeedPairTables {
			hint = "--method mutual-information (tables with the label alone), " + hint
		}
		return usage(hint, "%v", err)
	}
	return err
}

// everyLevelAColumn is the published encoding: each level of each category, ordered,
// two-level and unknown ones included.
func (c *choosing) everyLevelAColumn(s *schema.Schema) {
	for i := range c.layout.Domain.Attributes {
		a := &c.layout.Domain.Attributes[i]
		// A grade of few values is a category there.
		col := &s.Columns[s.Column(a.Name)]
		if col.Type != schema.Numeric && (col.Type != schema.Integer || col.Upper-col.Lower < 5) {
			nameGrades(a, col)
			a.OneHot, a.Unknown = true, false
		}
	}
}

// nameGrades names the levels of an integer by its values rather than by their places.
func nameGrades(a *feature.Attribute, col *schema.Column) {
	if col.Type != schema.Integer {
		return
	}
	var names []string
	for v := col.Lower; v <= col.Upper; v++ {
		names = append(names, strconv.FormatFloat(v, 'f', -1, 64))
	}
	if a.Unknown {
		names = append(names, "(unknown)")
	}
	if len(names) == a.Levels { // as many bins as values
		a.LevelNames = names
	}
}

// occurring counts the columns that are not the same in all rows: the published
// encoding has only these.
func (c *choosing) occurring(s *feature.Statistics) int {
	n := 0
	for _, col := range s.Domain.Columns(c.Level) {
		if col.Level < 0 || len(s.LabelTables) == 0 {
			n++
			continue
		}
		t := s.LabelTables[col.Attribute]
		rows := 0.0
		for y := range t.Cols {
			rows += t.Counts[col.Level*t.Cols+y]
		}
		if rows > 0 && rows < t.Total() {
			n++
		}
	}
	return n
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
	if c.Method == "pafs" {
		return plan.choosePAFS(ctx, env)
	}
	if c.AsPublished || c.selector.Need() == feature.NeedNothing {
		s, err := c.exact(plan, env.Rows)
		if err != nil {
			return nil, err
		}
		out.Seeded, out.occurring = plan.problem.Seed != nil, c.occurring(s)
		out.Selection, err = c.pick(ctx, s)
		return out, err
	}
	receipt, seeded, err := plan.charged(ctx, env, func(permit *ledger.Permit, src *entropy.Source) error {
		env.Progress.step("select", 0, 0)
		s, err := c.noisy(ctx, plan, env.Rows, permit, src.Split("select"))
		if err != nil {
			return err
		}
		out.Selection, err = c.pick(ctx, s)
		if errors.Is(err, feature.ErrOneClass) {
			// What noise left of the tables shows one class. That was paid for, and is
			// an outcome.
			out.Selection, err = &feature.Selection{Selector: c.Method, Level: c.Level, Merit: math.NaN(),
				Note: "nothing was chosen: the noisy tables show one class of the label only"}, nil
		}
		return err
	})
	out.Receipt, out.Seeded = receipt, seeded
	return out, err
}

// noisy releases what the selector needs.
func (c *choosing) noisy(ctx context.Context, plan *Plan, rows *intake.Rows, permit *ledger.Permit, src *entropy.Source) (*feature.Statistics, error) {
	if c.sums != nil {
		sums, err := c.sums.release(plan, c.selector.Need()).Release(ctx, permit, rows, src)
		if err != nil {
			return nil, err
		}
		return c.sums.statistics(sums, c.sums.noise(plan, c.selector.Need())), nil
	}
	t := c.tables(plan)
	tables, err := t.Release(ctx, permit, rows, src)
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
	if out.Receipt.ID == "" {
		return s, nil // nothing was booked
	}
	return s, out.Plan.fillBudget(ctx, env, s, out.Receipt)
}

// PublishedEpsilon is what the paper states for the whole procedure where it states
// something, 0 else. It is no guarantee: the figure is for noisy entropies, and what is
// replayed reads exact ones.
func (out *Selected) PublishedEpsilon() float64 {
	c := out.Plan.choosing
	if !c.AsPublished || c.selector.Need() != feature.NeedPairTables {
		return 0
	}
	return feature.PublishedCompositionEpsilon(out.occurring, 0.01, 1e-5)
}
