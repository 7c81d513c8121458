package workflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"pawl/core/accountant"
	"pawl/core/accountant/calibrate"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/data/schema"
)

// BoundsInput asks for bounds of numeric columns. Its schema declares them as wide as
// any number can be; every other column is ignored.
type BoundsInput struct {
	Dataset string
	Schema  *schema.Schema
	// Epsilon and Delta are decimals as typed; Delta "0" asks for pure epsilon.
	Epsilon, Delta string
	// Seed makes a simulation, which is NOT PRIVATE.
	Seed *uint64
}

// BoundsPlan is a priced release of the distributions of the columns.
type BoundsPlan struct {
	Event dp.Event
	Price accountant.Result

	problem   *problem
	quantiles release.Quantiles
}

// roundEdges are 0 and ±1, 2 and 5 times the powers of ten from a thousandth to the
// largest bound of a schema: a bound that is bought is as round as one that is declared.
func roundEdges() []float64 {
	var positive []float64
	for k := -3; k < 15; k++ {
		for _, digit := range []string{"1", "2", "5"} {
			// Parsed, so that 0.02 is the number that a person would write.
			v, err := strconv.ParseFloat(fmt.Sprintf("%se%d", digit, k), 64)
			if err != nil {
				panic(err)
			}
			positive = append(positive, v)
		}
	}
	positive = append(positive, 1e15)
	var edges []float64
	for i := range positive {
		edges = append(edges, -positive[len(positive)-1-i])
	}
	return append(append(edges, 0), positive...)
}

// NewBoundsPlan prices the release. Nothing is read.
func NewBoundsPlan(in BoundsInput) (*BoundsPlan, error) {
	p := &problem{Input: Input{Dataset: in.Dataset, Schema: in.Schema, Epsilon: in.Epsilon, Delta: in.Delta, Seed: in.Seed, Accountant: accountant.MethodMin}, relation: dp.AddOrRemoveOne}
	for _, step := range []func() error{p.checkEpsilon, p.checkDelta} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	plan := &BoundsPlan{problem: p, quantiles: release.Quantiles{Scope: dp.WholeScope, Pure: p.delta == 0}}
	for i := range in.Schema.Columns {
		if in.Schema.Columns[i].Type == schema.Numeric {
			plan.quantiles.Columns = append(plan.quantiles.Columns, release.QuantileColumn{Column: i, Edges: roundEdges()})
		}
	}
	if len(plan.quantiles.Columns) == 0 {
		return nil, usage("", "no column is left to buy bounds for")
	}
	x, result, err := calibrate.To(calibrate.Target{Epsilon: p.target(), Delta: p.delta}, p.relation, p.Accountant,
		calibrate.Search{Decreasing: true, Event: func(x float64) dp.Event {
			q := plan.quantiles
			q.NoiseMultiplier = x
			return q.Event()
		}})
	if err != nil {
		return nil, err
	}
	plan.quantiles.NoiseMultiplier, plan.Price = x, result
	plan.Event = plan.quantiles.Event()
	return plan, nil
}

// Delta is the failure chance that the plan was priced at.
func (p *BoundsPlan) Delta() float64 { return p.problem.delta }

// Warnings are public remarks on the plan.
func (p *BoundsPlan) Warnings() []string { return p.problem.warnings }

// Bounds of a column as they were released. Low and High are the shares of the values
// between which they were looked for. Found is false where most cells are no numbers,
// nearly all are one number, or the noise hides them.
type Bounds struct {
	Name         string
	Found        bool
	Lower, Upper float64
	Low, High    float64
	// HeavyTailed says that the quarter above the median reaches far beyond it.
	HeavyTailed bool
}

// BoundsOutcome is what was released, and the booking.
type BoundsOutcome struct {
	Columns []Bounds
	Booking
}

// Release books the plan, and only then opens rows. When it fails after that the budget
// stays charged. An *UnconfirmedError comes with the outcome, to be held back.
func (p *BoundsPlan) Release(ctx context.Context, env Env) (*BoundsOutcome, error) {
	if env.Rows == nil || env.Ledger == nil {
		return nil, errors.New("bounds need rows and a ledger")
	}
	out := &BoundsOutcome{}
	err := out.charge(ctx, env, p.request(env), func(permit *ledger.Permit) error {
		found, err := p.quantiles.Release(ctx, permit, env.Rows)
		if err != nil {
			return err
		}
		out.Columns = p.bounds(found)
		return nil
	})
	if err != nil && !unconfirmed(err) {
		return nil, err
	}
	return out, err
}

// Foretell says how the ledger would decide on the release now, and books nothing.
func (p *BoundsPlan) Foretell(ctx context.Context, env Env) (ledger.Verdict, error) {
	return env.Ledger.Foretell(ctx, p.request(env))
}

// request is what the ledger is asked for.
func (p *BoundsPlan) request(env Env) ledger.Request {
	in := p.problem
	declared, err := json.Marshal([]any{"bounds", in.Dataset, in.Epsilon, in.Delta, in.Schema, env.Digest})
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	name := sha256.Sum256(declared)
	return ledger.Request{
		Dataset: in.Dataset, Plan: hex.EncodeToString(name[:8]), Event: p.Event, Stages: []string{"bounds"}, Relation: in.relation,
		Unit: in.Schema.Unit.Name, RowsPerUnit: in.Schema.Unit.MaxRows, UnitColumn: in.Schema.Unit.Column,
		Epsilon: in.Epsilon, Delta: in.Delta, Rows: env.Rows, Digest: env.Digest, Updated: env.Updated, Seed: in.Seed,
		Different: env.Different,
	}
}

// oneBin reports whether nothing lies between two edges: nearly all values are the same
// number, or nearly, and bounds of it would clip the others to it.
func oneBin(edges []float64, lower, upper float64) bool {
	return slices.Index(edges, upper)-slices.Index(edges, lower) <= 1
}

// bounds reads the released histograms; whatever is done here costs nothing more.
func (p *BoundsPlan) bounds(found []release.Distribution) []Bounds {
	out := make([]Bounds, len(found))
	totals := make([]float64, len(found))
	most := 0.0
	for i := range found {
		for _, c := range found[i].Counts {
			totals[i] += float64(c)
		}
		most = max(most, totals[i])
	}
	for i := range found {
		out[i].Name = p.problem.Schema.Columns[p.quantiles.Columns[i].Column].Name
		// A column few of whose cells are numbers is no numeric column.
		if totals[i] < most/2 {
			continue
		}
		// As little as the noise allows is cut off on either side.
		for _, tail := range []float64{0.005, 0.01, 0.02, 0.05, 0.1} {
			lower, upper, err := found[i].Bounds(tail, 1-tail)
			if err != nil {
				continue
			}
			if oneBin(found[i].Edges, lower, upper) {
				break
			}
			out[i].Found, out[i].Lower, out[i].Upper, out[i].Low, out[i].High = true, lower, upper, tail, 1-tail
			if _, middle, err := found[i].Bounds(0.25, 0.5); err == nil {
				out[i].HeavyTailed = lower >= 0 && upper >= 100*math.Max(middle, 0.001)
			}
			break
		}
	}
	return out
}
