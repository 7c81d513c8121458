package workflow

import (
	"fmt"
	"math"
	"math/big"

	"pawl/core/accountant"
	"pawl/core/accountant/calibrate"
	"pawl/core/dp"
	"pawl/data/schema"
	mistake "pawl/internal/usage"
)

// countShare of epsilon pays for the number of rows when it is private: noise
// of 50/ε rows, which moves r = n/σ₁ by a few per cent where a model can be
// trained at all.
const countShare = 0.02

// target is what the plan may cost, a hair below what was asked so that rounding
// in calibration can never pass it.
func (p *problem) target() float64 {
	e, _ := p.epsilon.Float64()
	return e * (1 - 1e-12) * (1 - p.margin)
}

// tooDearError is a plan whose price is above what was asked.
type tooDearError struct {
	epsilon float64
	asked   string
}

func (e *tooDearError) Error() string {
	return fmt.Sprintf("no bound below epsilon %.9g is known for this plan, and %s is requested", e.epsilon, e.asked)
}

func (e *tooDearError) Hint() string    { return "increase --epsilon, or leave out --model" }
func (e *tooDearError) ExitStatus() int { return mistake.Status }

func (plan *Plan) countEvent() dp.Event {
	if plan.countNoise == 0 {
		return dp.NoOp{}
	}
	return dp.DiscreteLaplace{NoiseMultiplier: plan.countNoise}
}

func (plan *Plan) planCount() error {
	if plan.problem.Rows > 0 {
		return nil
	}
	if plan.problem.Schema.Rows.Kind != schema.RowsPrivate {
		return usage("", "the number of rows is declared public but was not given")
	}
	plan.countNoise = 1 / (countShare * plan.problem.target())
	plan.add("count", dp.WholeScope, "number of rows, with discrete Laplace noise; later rules read this number", plan.countEvent())
	return nil
}

func (plan *Plan) add(name string, scope dp.Scope, what string, events ...dp.Event) {
	plan.Stages = append(plan.Stages, Stage{Name: name, Scope: scope, Events: events, What: what})
}

// smallest returns the smallest noise at which the count and event(noise),
// together on one unit, cost at most what was asked.
func (plan *Plan) smallest(event func(noise float64) dp.Event) (float64, error) {
	p := plan.problem
	both := func(x float64) dp.Event {
		if plan.countNoise == 0 {
			return event(x)
		}
		return dp.Compose{Events: []dp.Event{plan.countEvent(), event(x)}}
	}
	x, r, err := calibrate.To(calibrate.Target{Epsilon: p.target(), Delta: p.delta}, p.relation, p.Accountant,
		calibrate.Search{Event: both, Decreasing: true})
	if err != nil {
		return 0, usage("increase --epsilon or --delta", "no amount of noise meets epsilon %s at delta %s: %v", p.Epsilon, p.deltaText, err)
	}
	return plan.refine(x, r.Epsilon, both), nil
}

// refine spends what calibration left: it looks for a smaller noise, at most a
// thousandth below x, that still meets the target; epsilon is the cost at x. So near, the
// cost is all but a straight line, which a few secants follow. Any failure keeps x.
func (plan *Plan) refine(x, epsilon float64, event func(float64) dp.Event) float64 {
	p := plan.problem
	cost := func(x float64) float64 {
		r, err := accountant.Upper(event(x), p.relation, p.delta, p.Accountant)
		if err != nil || math.IsNaN(r.Epsilon) {
			return math.Inf(1)
		}
		return r.Epsilon
	}
	low, high := 0.999*x, x
	above, below := cost(low), epsilon
	if above <= p.target() {
		return low
	}
	for range 4 {
		share := (p.target() - below) / (above - below)
		if !(share > 1e-4) {
			// Nothing worth an evaluation is left, or no line can be drawn.
			break
		}
		// A hundredth short of where the line meets the target, to stay on its good side.
		mid := high - (high-low)*0.99*share
		if e := cost(mid); e <= p.target() {
			high, below = mid, e
		} else {
			low, above = mid, e
		}
	}
	return high
}

func (plan *Plan) remaining() float64 {
	if plan.countNoise == 0 {
		return plan.problem.target()
	}
	return plan.problem.target() * (1 - countShare)
}

func (plan *Plan) priceAll() error {
	p := plan.problem
	var events []dp.Event
	for _, s := range plan.Stages {
		for _, e := range s.Events {
			events = append(events, s.placed(e))
		}
	}
	plan.Event = dp.Compose{Events: events}
	price, err := accountant.Epsilon(plan.Event, p.relation, p.delta, p.Accountant)
	if err != nil {
		return fmt.Errorf("pricing the plan: %w", err)
	}
	shown, ok := roundUp(price.Epsilon, p.epsilon)
	if !ok {
		return &tooDearError{price.Epsilon, p.Epsilon}
	}
	plan.Price, plan.Epsilon, plan.Warnings = price, shown, p.warnings
	return nil
}

// priceNothing states that the plan protects nobody, and why.
func (plan *Plan) priceNothing(why string) {
	plan.Event = dp.NonPrivate{}
	plan.Price = accountant.Result{Epsilon: math.Inf(1), Method: "none"}
	plan.Epsilon = math.Inf(1)
	plan.Warnings = append(plan.problem.warnings, why)
}

// roundUp rounds ε up to six decimals, or to what was asked when that is less
// and still an upper bound. It reports whether the result is at most asked, as
// decimals.
func roundUp(epsilon float64, asked *big.Rat) (float64, bool) {
	exact := new(big.Rat)
	if exact.SetFloat64(epsilon) == nil || exact.Cmp(asked) > 0 {
		return epsilon, false
	}
	million := big.NewRat(1_000_000, 1)
	scaled := new(big.Rat).Mul(exact, million)
	up := new(big.Int).Div(scaled.Num(), scaled.Denom())
	if new(big.Rat).SetInt(up).Cmp(scaled) < 0 {
		up.Add(up, big.NewInt(1))
	}
	rounded := new(big.Rat).Quo(new(big.Rat).SetInt(up), million)
	if rounded.Cmp(asked) > 0 {
		rounded = asked
	}
	f, _ := rounded.Float64()
	return f, true
}

// bestAccountant says that a price is the smallest of all valid bounds.
func (p *problem) bestAccountant() bool { return p.Accountant == accountant.MethodMin }
