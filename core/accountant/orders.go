package accountant

import (
	"math"
	"sort"

	"pawl/core/dp"
)

// The orders door. For a share d of delta and c = ln(1/d) it has, for each order α = 1+λ
// with λ < e^c − 1, the filter of that one order with
//
//	limit   R*(α) = α·(c − ln α)/λ²
//	epsilon ε(α)  = R*(α) + ln(1−1/α) + (c − ln α)/λ
//
// that is, of the order that suits zCDP of ρ = (c − ln α)/λ² best. ε(α) falls in α from
// +Inf to below 0, so a budget of ε has one order; R* falls as well, and Rényi divergence
// grows with the order, so what fits a budget fits each larger one, and there is a least.

// orderGrid are the λ at which events are priced. Between two of them λ·R, which is
// convex, is taken on the chord. From 4 on orders are whole, which are cheapest to price.
var orderGrid = func() (grid []float64) {
	for l := 1.0 / 4; l < 4; l *= math.Pow(2, 1.0/4) {
		grid = append(grid, l)
	}
	for l := 4.0; l < 1<<16; {
		grid = append(grid, l)
		ratio := 1.0 / 6
		if l > 128 {
			ratio = 1.0 / 3
		}
		l = math.Max(l+1, math.Floor(l*math.Pow(2, ratio)))
	}
	return grid
}()

// ordersOf prices count uses of a part, but for a mass of slack in all. What is (ε, δ)-DP
// only is ε-DP but for δ. A divergence at one order bounds those at lower ones, so the
// prices never fall along the grid.
func (d Doors) ordersOf(p part, rel dp.Relation) (r renyi, slack amount, err error) {
	slack = noAmount()
	var c curve
	if e, ok, failed := d.approximate(p, rel); ok {
		c, slack, err = pureCurve(e.Epsilon), newAmount(e.Delta, p.count, true), failed
	} else {
		c, err = eventCurve(p.event, rel)
	}
	if err != nil {
		return nil, slack, err
	}
	r = make(renyi, len(orderGrid))
	least := inf
	for i := len(r) - 1; i >= 0; i-- {
		alpha := 1 + orderGrid[i]
		if alpha > maxSumOrder && !isClosed(p.event) {
			r[i] = inf // orders of budgets below .02, for the price of all others
			continue
		}
		if x := c(alpha) * p.count * (1 + 1e-15); x < least {
			least = math.Max(x, 0)
		}
		r[i] = least
	}
	return r, slack, nil
}

// isClosed reports whether the Rényi curve of an event is a formula.
func isClosed(e dp.Event) bool {
	switch e.(type) {
	case dp.Gaussian, dp.DiscreteGaussian, dp.ZCDP, dp.Laplace, dp.DiscreteLaplace, dp.Pure, dp.RandomizedResponse, dp.Approximate:
		return true
	}
	return false
}

// orderFilter is the door with c = ln(1/δ) of its share of delta.
type orderFilter struct{ c float64 }

// room is c − ln α, > 0 where there is a filter of that order.
func (f orderFilter) room(lambda float64) float64 { return f.c - math.Log1p(lambda) }

func (f orderFilter) limit(lambda float64) float64 {
	return (1 + lambda) * f.room(lambda) / lambda / lambda
}

func (f orderFilter) epsilon(lambda float64) float64 {
	return f.limit(lambda) - math.Log1p(1/lambda) + f.room(lambda)/lambda
}

// needs is the smallest epsilon that the sum fits: that of the largest order at which it
// does not exceed the limit. 0 for nothing, +Inf where there is no divergence; no less than
// what the last order of the grid is for.
func (f orderFilter) needs(sum renyi) float64 {
	if sum.zero() {
		return 0
	}
	fits := func(i int) bool { return f.room(orderGrid[i]) > 0 && sum[i] <= f.limit(orderGrid[i]) }
	next := sort.Search(len(orderGrid), func(i int) bool { return !fits(i) })
	lo, below := 0.0, sum[0] // below the grid the divergence is at most the first
	if next > 0 {
		lo, below = orderGrid[next-1], sum[next-1]
	}
	lambda := lo
	if next < len(orderGrid) && !math.IsInf(sum[next], 1) {
		hi := orderGrid[next]
		slope := (hi*sum[next] - lo*below) / (hi - lo)
		lambda = -bisect(-hi, -lo, func(x float64) bool {
			chord := (lo*below + (-x-lo)*slope) * (1 + 1e-14)
			return f.room(-x) > 0 && chord <= -x*f.limit(-x)
		})
	}
	if lambda == 0 {
		return inf
	}
	return math.Max(0, f.epsilon(lambda)*(1+1e-14))
}
