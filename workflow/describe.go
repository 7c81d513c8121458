package workflow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/learn/describe"
	"pawl/model"
	"pawl/report"
)

// DescribeInput asks for a description of a table. Target breaks the other columns down, "" for
// none; Features are the columns to describe, nil for all. Without Epsilon the figures are exact,
// which a public data set allows alone.
type DescribeInput struct {
	Input
	// Replaced says that malformed cells become the default of their column.
	Replaced bool
	// Anyway runs what the forecast calls hopeless.
	Anyway bool
}

// describing is the job of a description.
type describing struct {
	DescribeInput
	plan    *Plan
	release describe.Release
}

// hopeless is how large the deviation of the noise on a count may be, as a part of the rows in a
// mean cell.
const hopeless = 0.6

// NewDescribePlan validates the input and prices the description. Errors are *UsageError, or the
// accountant's.
func NewDescribePlan(in DescribeInput) (*Plan, error) {
	exact := in.Epsilon == ""
	if exact && !in.Public {
		return nil, usage("example: --epsilon 0.5", "missing --epsilon: a description of sensitive rows costs privacy")
	}
	in.Test, in.Preset, in.Workflow = HeldOut, advise.Balanced, PAW // nothing is scored
	p := &problem{Input: in.Input, relation: dp.AddOrRemoveOne}
	if p.Accountant == "" {
		p.Accountant = accountant.MethodMin
	}
	d := &describing{DescribeInput: in, plan: &Plan{problem: p, trainScope: dp.WholeScope, SignalRatio: math.NaN()}}
	d.plan.job = d
	if err := d.checkColumns(); err != nil {
		return nil, err
	}
	if exact {
		p.Epsilon, p.Delta = "1", "0"
	}
	for _, step := range []func() error{p.checkEpsilon, p.checkDelta} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	p.warnings = append(p.warnings, in.Schema.Warnings...)
	if exact {
		p.Epsilon = ""
		return d.plan, d.layOut(describe.MostBins, d.priceExact)
	}
	return d.plan, d.price()
}

// checkColumns refuses columns and a target that cannot be described, by public facts.
func (d *describing) checkColumns() error {
	p := d.plan.problem
	var names []string
	for i := range p.Schema.Columns {
		if describe.Unusable(p.Schema, i) == "" {
			names = append(names, p.Schema.Columns[i].Name)
		}
	}
	if len(names) == 0 {
		return usage("give the schema columns with types and bounds", "the schema has no column that can be described: numbers, booleans and categories can")
	}
	hint := "columns that can be described: " + strings.Join(names, ", ")
	for i, f := range p.Features {
		switch c := p.Schema.Column(f); {
		case slices.Contains(p.Features[:i], f):
			return usage("list every column once", "--columns lists %q twice", f)
		case c < 0:
			return usage(schema.Meant(f, names, hint), "--columns: %q is not a column of the schema", f)
		case !slices.Contains(names, f):
			return usage(hint, "--columns: column %q %s", f, describe.Unusable(p.Schema, c))
		}
	}
	if p.Target == "" {
		return nil
	}
	p.targetColumn = p.Schema.Column(p.Target)
	if p.targetColumn < 0 {
		return usage(schema.Meant(p.Target, names, hint), "target %q is not a column of the schema", p.Target)
	}
	c := &p.Schema.Columns[p.targetColumn]
	if why := describe.Unusable(p.Schema, p.targetColumn); why != "" {
		return usage("leave out --target, or name another: "+strings.Join(names, ", "), "target %q %s", p.Target, why)
	}
	if n := len(c.Levels()); n > describe.MostClasses {
		return usage("leave out --target, or name another", "target %q has %d classes, and at most %d can be described", p.Target, n, describe.MostClasses)
	}
	p.task, p.scale = model.Classification, model.TargetScale{}
	if c.Type == schema.Numeric || c.Type == schema.Integer {
		p.task, p.scale = model.Regression, model.TargetScale{Lower: c.Lower, Upper: c.Upper}
	}
	return nil
}

// layOut lays out the columns with so many bins a number, and goes on.
func (d *describing) layOut(bins int, next func() error) (err error) {
	p := d.plan.problem
	d.release.Layout, err = describe.NewLayout(p.Schema, p.Features, p.Target, d.Replaced, p.Rows, bins)
	if err != nil {
		return usage("give the schema columns with types and bounds", "%v", err)
	}
	return next()
}

// price finds the noise, which does not depend on bins, and then the bins, so that a count of one
// in a mean bin is twice its noise where that is possible.
func (d *describing) price() error {
	p := d.plan.problem
	bins := describe.MostBins / 2 // the number of rows may be private
	if err := d.layOut(bins, d.calibrate); err != nil {
		return err
	}
	apart := p.Schema.Unit.MaxRows
	if p.Rows > 0 {
		noise := d.release.CountStdDev(apart)
		bins = min(max(int(float64(p.Rows)/(2*noise)), describe.FewestBins), describe.MostBins)
	}
	return d.layOut(bins, func() error {
		if err := d.forecast(d.release.CountStdDev(apart)); err != nil {
			return err
		}
		for i, e := range d.release.Events() {
			what := []string{fmt.Sprintf("counts of %d columns%s", d.release.Layout.Width(), d.beside()), "rank correlations of ordered columns"}[i]
			d.plan.add([]string{"counts", "correlations"}[i], dp.WholeScope, what, e)
		}
		return d.plan.priceAll()
	})
}

func (d *describing) beside() string {
	if d.Target == "" {
		return ""
	}
	return ", and with the target"
}

// calibrate divides the precision between the two events by a public share.
func (d *describing) calibrate() error {
	r := &d.release
	r.Pure = d.plan.problem.delta == 0
	split := func(x float64) (counts, ranks float64) {
		if r.Pure || !r.Layout.Correlated() {
			return x, 0
		}
		return x / math.Sqrt(1-describe.RankShare), x / math.Sqrt(describe.RankShare)
	}
	x, err := d.plan.smallest(func(x float64) dp.Event {
		var s describe.Release = *r
		s.CountNoise, s.RankNoise = split(x)
		return dp.Compose{Events: s.Events()}
	})
	if err != nil {
		return err
	}
	r.CountNoise, r.RankNoise = split(x)
	return nil
}

// forecast says what to expect, by public facts, and refuses a description of noise.
func (d *describing) forecast(noise float64) error {
	p := d.plan.problem
	off := 1.96 * noise
	text := fmt.Sprintf("forecast: counts are off by at most %s rows (in 95 of 100 cases)", rough(off))
	if p.Rows > 0 {
		share := fmt.Sprintf(" of %d, which is %s %%", p.Rows, rough(100*off/float64(p.Rows)))
		text = strings.Replace(text, " rows", " rows"+share, 1)
		if mean := float64(p.Rows) / d.release.Layout.Cells(); noise > hopeless*mean {
			why := fmt.Sprintf("the description would show little but noise: counts would be off by %s rows%s, and an average cell has %s", rough(off), share, rough(mean))
			if !d.Anyway {
				return usage("a larger --epsilon, fewer --columns, or no --target; --anyway runs it nevertheless", "%s", why)
			}
			p.warnings = append(p.warnings, why+" (allowed by --anyway)")
		}
	}
	if d.release.Pure && d.release.Layout.Correlated() {
		p.warnings = append(p.warnings, "no correlations at delta 0: the noise would hide them")
	}
	p.warnings = append(p.warnings, text)
	return nil
}

// rough is a number of rows to two digits.
func rough(x float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(max(x, 1)))-1)
	return fmt.Sprintf("%.4g", math.Round(x/max(unit, 0.1))*max(unit, 0.1))
}

// priceExact is the price of exact figures of a public data set: nothing is claimed and nothing
// is booked.
func (d *describing) priceExact() error {
	d.plan.free = true
	d.plan.add("counts", dp.Scope{}, "exact counts: the data set is public")
	d.plan.priceNothing("exact figures of a public data set: no noise, no cost, no claim")
	return nil
}

func (d *describing) describe() description {
	search := "none: one release, the rest is post-processing"
	return description{
		choice: report.Choice{Workflow: string(PAW), Model: "none: a description", Features: d.release.Layout.Names(), Hyperparameters: map[string]any{},
			Search: search, UsefulModel: true},
		features: features{none: true}, unprotected: d.plan.free,
	}
}

func (d *describing) key() any {
	in := d.DescribeInput
	in.Input = Input{}
	return in
}

// expected: counts take seconds.
func (d *describing) expected() time.Duration { return 0 }

func (d *describing) preflight(context.Context) error { return nil }

// Described is what a description released.
type Described struct {
	Plan        *Plan
	Description *report.Description
	Booking
}

// Describe runs a description: it reserves the plan and releases the figures. It fails as Run does.
func (plan *Plan) Describe(ctx context.Context, env Env) (out *Described, err error) {
	d, out := plan.job.(*describing), &Described{Plan: plan}
	if plan.free {
		out.Description, err = d.release.Public(env.Rows)
		out.Seeded = plan.problem.Seed != nil
		return out, err
	}
	err = plan.charge(ctx, env, &out.Booking, func(permit *ledger.Permit) (err error) {
		env.Progress.step("counts", 0, 0)
		out.Description, err = d.release.Release(ctx, permit, env.Rows)
		return err
	})
	return out, err
}

// Statement is the plan's, completed by what was released and what the ledger says.
func (out *Described) Statement(ctx context.Context, env Env, version string, now time.Time) (*report.Statement, error) {
	s, _, err := out.stated(out.Plan, env, version, now)
	if err != nil {
		return nil, err
	}
	s.Command, s.Description = "describe", out.Description
	return s, out.account(ctx, out.Plan, env, s)
}

// Files are those of a run that is held back.
func (out *Described) Files(_ string, s *report.Statement) (map[string][]byte, error) {
	var page, text bytes.Buffer
	err := errors.Join(report.DescriptionHTML(&page, s), report.WriteJSON(&text, s))
	return map[string][]byte{DescribeFile: page.Bytes(), StatementFile: text.Bytes()}, err
}
