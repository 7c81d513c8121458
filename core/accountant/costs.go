package accountant

import (
	"math"
	"math/big"
	"slices"
	"strconv"
)

// The costs that filters count beside Rényi divergences, each added up for itself. A Filter has the first alone.
const (
	costPure = iota
	costAddEpsilon
	costAddDelta
	costInformation
	costSlack
	costSteps
	costOrdersSlack
	numCosts
)

// costs are what events add up to: exact or rounded up, and never negative.
type costs struct {
	sums   [numCosts]amount
	orders renyi
}

func (c costs) plus(o costs) costs {
	for i := range c.sums {
		c.sums[i] = c.sums[i].plus(o.sums[i])
	}
	c.orders = c.orders.plus(o.orders)
	return c
}

func (c costs) zero() bool {
	return !slices.ContainsFunc(c.sums[:], func(a amount) bool { return !a.zero() }) && c.orders.zero()
}

// most is the larger of each cost.
func (c costs) most(o costs) costs {
	for i := range c.sums {
		c.sums[i] = c.sums[i].most(o.sums[i])
	}
	c.orders = c.orders.most(o.orders)
	return c
}

func noCosts() (c costs) {
	for i := range c.sums {
		c.sums[i] = noAmount()
	}
	return c
}

// renyi is a sum of Rényi divergences at the orders of the grid, rounded up; nil is 0.
type renyi []float64

func (r renyi) plus(o renyi) renyi {
	return r.with(o, func(x, y float64) float64 {
		if x > 0 && y > 0 {
			return math.Nextafter(x+y, inf)
		}
		return x + y
	})
}

// most is the larger at each order.
func (r renyi) most(o renyi) renyi { return r.with(o, math.Max) }

func (r renyi) with(o renyi, join func(x, y float64) float64) renyi {
	switch {
	case r == nil:
		return o
	case o == nil:
		return r
	}
	both := make(renyi, len(r))
	for i := range both {
		both[i] = join(r[i], o[i])
	}
	return both
}

func (r renyi) zero() bool { return !slices.ContainsFunc(r, func(x float64) bool { return x != 0 }) }

// amount is an exact number >= 0 or +Inf.
type amount struct {
	rat *big.Rat
	inf bool
}

func noAmount() amount { return amount{rat: new(big.Rat)} }

// newAmount is x times count: of x as it is, or as its shortest decimal, which is
// what the person who wrote 0.1 meant.
func newAmount(x, count float64, asDecimal bool) amount {
	if !(x >= 0 && x*count <= math.MaxFloat64) {
		return amount{rat: new(big.Rat), inf: true}
	}
	r := new(big.Rat).SetFloat64(x)
	if asDecimal {
		r = decimal(x)
	}
	return amount{rat: r.Mul(r, new(big.Rat).SetFloat64(count))}
}

func decimal(x float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	return r
}

// less is max(0, x − y) of what their shortest decimals stand for, as 1.1 − 0.7 is 0.4. Nothing takes from +Inf.
func less(x, y float64) float64 {
	switch {
	case !(x < inf):
		return inf
	case !(y < inf):
		return 0
	}
	z, _ := new(big.Rat).Sub(decimal(x), decimal(y)).Float64()
	return math.Max(0, z)
}

func (a amount) plus(b amount) amount {
	return amount{rat: new(big.Rat).Add(a.rat, b.rat), inf: a.inf || b.inf}
}

func (a amount) most(b amount) amount {
	if b.above(a) {
		return b
	}
	return a
}

func (a amount) zero() bool { return !a.inf && a.rat.Sign() == 0 }

func (a amount) above(b amount) bool {
	return a.inf && !b.inf || a.inf == b.inf && a.rat.Cmp(b.rat) > 0
}

// float rounds up, except that a decimal comes back as the float it came from.
func (a amount) float() float64 {
	x, _ := a.rat.Float64()
	if a.inf || math.IsInf(x, 1) {
		return inf
	}
	if decimal(x).Cmp(a.rat) < 0 && new(big.Rat).SetFloat64(x).Cmp(a.rat) < 0 {
		return math.Nextafter(x, inf)
	}
	return x
}
