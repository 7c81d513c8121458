package workflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/data/schema"
	"pawl/report"
	"pawl/search/feature"
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

// choosing is the job of a selection by statistics with noise.
type choosing struct {
	SelectInput
	plan     *Plan
	selector feature.Selector
	layout   *feature.Layout
	// schema is that of the columns to choose from.
	schema *schema.Schema
	from   statistic
	noise  float64 // multiplier of the statistic's
}

// selectJob is a job that selects features.
type selectJob interface {
	job
	price() error
	// choose fills the outcome. permit is nil where nothing is booked.
	choose(ctx context.Context, env Env, permit *ledger.Permit, out *Selected) error
}

// Selected is what a selection released.
type Selected struct {
	Plan      *Plan
	Selection *feature.Selection
	Booking
	// Table is what mode Local releases, else nil.
	Table *NoisyTable
	// Search is what method pafs as published did, else nil.
	Search *PublishedSearch
	// PublishedEpsilon is what the paper states for the whole procedure where it is replayed
	// and states something, 0 else. It is no guarantee: the figure is for noisy entropies, and
	// what is replayed reads exact ones.
	PublishedEpsilon float64
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
	p.relation = in.Relation
	c := &choosing{SelectInput: in, plan: &Plan{problem: p, trainScope: dp.WholeScope, SignalRatio: math.NaN()}}
	if err := c.check(); err != nil {
		return nil, err
	}
	j := c.job()
	c.plan.job = j
	return c.plan, j.price()
}

// job is the kind of selection that was asked for.
func (c *choosing) job() selectJob {
	switch {
	case c.AsPublished && c.Method == "pafs":
		return &publishedPAFS{published{c}}
	case c.AsPublished && c.Mode == Local:
		return &publishedLocal{published{c}}
	case c.AsPublished:
		return &published{c}
	case c.Method == "pafs":
		return &pafs{choosing: c}
	case c.selector.Need() == feature.NeedNothing:
		return &unseen{c}
	case c.Mode == Local:
		return &local{choosing: c, sums: c.from.(*classColumns)}
	}
	return c
}

// ready refuses what no statistic with noise serves.
func (c *choosing) ready() error {
	if c.plan.problem.delta == 0 {
		return usage("give a delta above 0", "features are chosen with Gaussian noise, which has no pure epsilon")
	}
	if c.plan.problem.Rows == 0 {
		return usage("declare rows: about N in the schema", "whether a table can be trusted follows from a public number of rows")
	}
	return nil
}

func (c *choosing) price() (err error) {
	if err := c.ready(); err != nil {
		return err
	}
	if c.noise, err = c.plan.smallest(c.from.event); err != nil {
		return err
	}
	if err := c.from.checkSignal(c.noise); err != nil {
		return err
	}
	c.plan.add("select", c.plan.trainScope, fmt.Sprintf("%s from noisy %s", c.Method, c.selector.Need()), c.from.event(c.noise))
	return c.plan.priceAll()
}

// Choose runs a selection: it reserves the plan, releases the statistics and selects. It
// fails as Run does.
func (plan *Plan) Choose(ctx context.Context, env Env) (*Selected, error) {
	j, out := plan.job.(selectJob), &Selected{Plan: plan}
	if plan.free {
		out.Seeded = plan.problem.Seed != nil
		return out, j.choose(ctx, env, nil, out)
	}
	return out, plan.charge(ctx, env, &out.Booking, func(permit *ledger.Permit) error { return j.choose(ctx, env, permit, out) })
}

func (c *choosing) choose(ctx context.Context, env Env, permit *ledger.Permit, out *Selected) error {
	env.Progress.step("select", 0, 0)
	s, err := c.from.noisy(ctx, permit, env.Rows, c.noise)
	if err != nil {
		return err
	}
	out.Selection, err = c.pick(ctx, s)
	if errors.Is(err, feature.ErrOneClass) {
		// What noise left of the tables shows one class. That was paid for, and is
		// an outcome.
		out.Selection = &feature.Selection{Selector: c.Method, Level: c.Level, Merit: math.NaN(),
			Note: "nothing was chosen: the noisy tables show one class of the label only"}
		return nil
	}
	if err == nil && out.Selection.Note == "" {
		out.Selection.Note = c.from.note(c.noise)
	}
	return err
}

// pick selects from statistics.
func (c *choosing) pick(ctx context.Context, s *feature.Statistics) (*feature.Selection, error) {
	sel, err := c.selector.Select(ctx, s, c.from.ranked(c.Level, c.Count))
	if err != nil {
		return nil, err
	}
	sel = c.from.named(sel, c.Level, c.Count)
	sel.Selector = c.Method // the name that was asked for
	return sel, nil
}

func (c *choosing) key() any {
	in := c.SelectInput
	in.Input = Input{}
	return in
}

// expected: a selection takes seconds, or for pafs a secret number of trainings.
func (c *choosing) expected() time.Duration { return 0 }

func (c *choosing) preflight(context.Context) error { return nil }

func (c *choosing) describe() description {
	return c.described("none: one release of statistics, the rest is post-processing")
}

// described states the method, and in words how it searches; Selected.Statement adds what
// was chosen.
func (c *choosing) described(search string) description {
	h := map[string]any{"method": c.Method, "level": string(c.Level)}
	if c.Count != feature.Auto {
		h["k"] = c.Count
	}
	if c.Mode == Local {
		h["mode"], h["labels"] = string(c.Mode), string(c.Labels)
	}
	return description{
		choice:   report.Choice{Workflow: string(PAW), Model: "none: features only", Features: []string{}, Hyperparameters: h, Search: search, UsefulModel: true},
		features: features{how: c.plan.Stages[0].What, stages: []string{"select"}, among: c.Features, columns: c.Level != feature.AttributeLevel},
	}
}

// unseen is the job of a selection that looks at no row.
type unseen struct{ *choosing }

func (c *unseen) price() error {
	plan := c.plan
	plan.free = true
	plan.add("select", dp.Scope{}, c.Method+": uses no row")
	plan.Event, plan.Warnings = dp.NoOp{}, plan.problem.warnings
	plan.Price.Method, plan.Price.Bounds = "none", map[string]float64{"none": 0}
	return nil
}

func (c *unseen) choose(ctx context.Context, _ Env, _ *ledger.Permit, out *Selected) (err error) {
	out.Selection, err = c.pick(ctx, &feature.Statistics{Domain: c.layout.Domain})
	return err
}

func (c *unseen) describe() description { return c.described("none: no row is used") }

// Statement is the plan's, completed by what was chosen and what the ledger says.
func (out *Selected) Statement(ctx context.Context, env Env, version string, now time.Time) (*report.Statement, error) {
	s, d, err := out.stated(out.Plan, env, version, now)
	if err != nil {
		return nil, err
	}
	s.Command = "select"
	for _, c := range out.Selection.Chosen {
		s.Choice.Features = append(s.Choice.Features, c.Column.Name)
	}
	s.Choice.Selection = out.Plan.kept(&d, s)
	return s, out.account(ctx, out.Plan, env, s)
}
