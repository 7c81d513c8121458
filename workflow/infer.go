package workflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"

	"pawl/core/accountant"
	"pawl/core/accountant/calibrate"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/sum"
	"pawl/data/infer"
	"pawl/data/schema"
)

// InferInput asks for what a schema says of columns: levels and missing rates of those whose levels are
// asked for, and bounds of those that turn out to hold numbers. Its schema ignores every column.
type InferInput struct {
	Dataset string
	Schema  *schema.Schema
	Columns []infer.Asked
	// Epsilon and Delta are decimals as typed; Delta is above 0.
	Epsilon, Delta string
	// Granted is the delta of the budget, 0 where there is none.
	Granted float64
	// Seed makes a simulation, which is NOT PRIVATE.
	Seed *uint64
}

// InferPlan is a priced release.
type InferPlan struct {
	Event    dp.Event
	Price    accountant.Result
	Forecast infer.Forecast

	problem *problem
	columns []infer.Asked
	levels  sum.Levels
	bins    sum.Levels
}

// The precision of the release goes in equal parts to levels and to bounds. Levels are released first, of
// all columns that are asked for; bounds then of those columns alone that hold numbers by what was
// released, so that their noise is for few columns.
const levelsShare = 0.5

// failureOf is τ, the chance that the level of one unit alone is selected. More of it lowers the
// threshold: .3 of delta is best for one release. But τ is a mass that nothing composes away, and the
// doors of a budget have room for 1/64 of its delta (accountant.Doors): half of that leaves room for
// another release, and costs 8 % of the threshold.
func failureOf(delta, granted float64) float64 {
	tau := .3 * delta
	if granted > 0 {
		tau = math.Min(tau, granted/128)
	}
	return tau
}

// NewInferPlan prices the release. Nothing is read.
func NewInferPlan(in InferInput) (*InferPlan, error) {
	p := &problem{Input: Input{Dataset: in.Dataset, Schema: in.Schema, Epsilon: in.Epsilon, Delta: in.Delta, Seed: in.Seed, Accountant: accountant.MethodMin, Rows: in.Schema.Rows.N}, relation: dp.AddOrRemoveOne}
	for _, step := range []func() error{p.checkEpsilon, p.checkDelta} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if p.delta == 0 {
		return nil, usage("a level that only one person has may be released with a probability below delta: give --delta above 0", "levels cannot be released at delta 0")
	}
	plan := &InferPlan{problem: p, columns: in.Columns}
	plan.levels = sum.Levels{Scope: dp.WholeScope, Failure: dp.Approximate{Delta: failureOf(p.delta, in.Granted)}, Known: 1, Most: 1}
	plan.bins = sum.Levels{Scope: dp.WholeScope, Known: infer.Size(), Most: infer.Histograms}
	numbers := 0
	for c, column := range in.Columns {
		if column.Levels {
			plan.levels.Columns = append(plan.levels.Columns, c)
		}
		if column.Numbers {
			numbers++
		}
	}
	if len(plan.levels.Columns)+numbers == 0 {
		return nil, usage("", "no column is left")
	}
	share := levelsShare
	switch {
	case numbers == 0:
		share = 1
	case len(plan.levels.Columns) == 0:
		share = 0
	}
	x, result, err := calibrate.To(calibrate.Target{Epsilon: p.target(), Delta: p.delta}, p.relation, p.Accountant,
		calibrate.Search{Decreasing: true, Event: func(x float64) dp.Event { return plan.at(x, share) }})
	if err != nil {
		return nil, err
	}
	plan.Event, plan.Price = plan.at(x, share), result
	k := in.Schema.Unit.MaxRows
	plan.Forecast = infer.Forecast{Rows: in.Schema.Rows.N, RowsPerUnit: int64(k), Levels: len(plan.levels.Columns), Numbers: numbers}
	if share > 0 {
		plan.Forecast.LevelDev, plan.Forecast.Threshold = plan.levels.StdDev(k), plan.levels.Threshold(k)
	}
	if share < 1 {
		plan.bins.Columns = []int{0}
		plan.Forecast.BinDev = plan.bins.StdDev(k)
	}
	return plan, nil
}

// at is the event of a noise multiplier x for all: the precisions of both parts add up to 1/x².
func (p *InferPlan) at(x, share float64) dp.Event {
	var events []dp.Event
	if share > 0 {
		p.levels.Noise.NoiseMultiplier = x / math.Sqrt(share)
		events = append(events, p.levels.Noise, p.levels.Failure)
	}
	if share < 1 {
		p.bins.Noise.NoiseMultiplier = x / math.Sqrt(1-share)
		events = append(events, p.bins.Noise)
	}
	if len(events) == 1 {
		return events[0]
	}
	return dp.Compose{Events: events}
}

// Delta is the failure chance that the plan was priced at.
func (p *InferPlan) Delta() float64 { return p.problem.delta }

// Warnings are public remarks on the plan.
func (p *InferPlan) Warnings() []string { return p.problem.warnings }

// InferOutcome is what was released, and the booking.
type InferOutcome struct {
	Released infer.Released
	Booking
}

// Release books the plan, and only then opens rows, whose texts were kept for the columns of the plan in
// their order (intake.Builder.KeepTexts). When it fails after that the budget stays charged. An
// *UnconfirmedError comes with the outcome, to be held back.
func (p *InferPlan) Release(ctx context.Context, env Env) (*InferOutcome, error) {
	if env.Rows == nil || env.Ledger == nil {
		return nil, errors.New("buying a schema needs rows and a ledger")
	}
	out := &InferOutcome{}
	err := out.charge(ctx, env, p.request(env), func(permit *ledger.Permit) error { return p.release(ctx, permit, env, &out.Released) })
	if err != nil && !unconfirmed(err) {
		return nil, err
	}
	return out, err
}

func (p *InferPlan) release(ctx context.Context, permit *ledger.Permit, env Env, out *infer.Released) error {
	declared := p.problem.Schema
	*out = infer.Released{Schema: declared, Forecast: p.Forecast, Columns: make([]infer.Column, len(p.columns))}
	for c, asked := range p.columns {
		out.Columns[c] = infer.Column{Name: asked.Name, Asked: asked}
	}
	if asked := p.levels.Columns; len(asked) > 0 {
		levels := p.levels
		levels.Mark = func(_ int, text string, null bool) (known []int, level string) {
			return infer.LevelOf(declared, text, null)
		}
		found, err := levels.Release(ctx, permit, env.Rows)
		if err != nil {
			return err
		}
		for i, c := range asked {
			out.Columns[c].Missing = &found[i].Known[0]
			for _, l := range found[i].Levels {
				out.Columns[c].Levels = append(out.Columns[c].Levels, infer.Level{Text: l.Text, Units: l.Units})
			}
		}
	}
	bins := p.bins
	bins.Columns = nil
	for c := range out.Columns {
		if p.columns[c].Numbers && out.MayBeNumbers(c) {
			bins.Columns = append(bins.Columns, c)
		}
	}
	if len(bins.Columns) == 0 {
		return nil // what is booked for bounds stays booked
	}
	bins.Mark = func(_ int, text string, null bool) (known []int, level string) {
		return infer.CellsOf(declared, text, null), ""
	}
	// Levels that are paid for are not lost because somebody interrupts now.
	counts, err := bins.Release(context.WithoutCancel(ctx), permit, env.Rows)
	if err != nil {
		return err
	}
	out.Forecast.BinDev = bins.StdDev(permit.RowsApart())
	for i, c := range bins.Columns {
		out.Columns[c].Bins = counts[i].Known
	}
	return nil
}

// Foretell says how the ledger would decide on the release now, and books nothing.
func (p *InferPlan) Foretell(ctx context.Context, env Env) (figures.Verdict, error) {
	return figures.Foretell(ctx, env.Ledger, p.request(env))
}

// request is what the ledger is asked for.
func (p *InferPlan) request(env Env) ledger.Request {
	in := p.problem
	declared, err := json.Marshal([]any{"infer", in.Dataset, in.Epsilon, in.Delta, in.Schema, p.columns, env.Digest})
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	name := sha256.Sum256(declared)
	return ledger.Request{
		Dataset: in.Dataset, Plan: hex.EncodeToString(name[:8]), Event: p.Event, Stages: []string{"infer"}, Relation: in.relation,
		Unit: in.Schema.Unit.Name, RowsPerUnit: in.Schema.Unit.MaxRows, UnitColumn: in.Schema.Unit.Column,
		Epsilon: in.Epsilon, Delta: in.Delta, Rows: env.Rows, Digest: env.Digest, Updated: env.Updated, Seed: in.Seed,
		Different: env.Different,
	}
}
