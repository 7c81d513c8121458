// Package calibrate finds the parameter of an event that spends a target. It calls the accountant
// and decides nothing: the ledger prices the event again.
package calibrate

import (
	"errors"
	"fmt"
	"math"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// ErrUnreachable is wrapped if no value in the range of a Search meets the target.
var ErrUnreachable = errors.New("target cannot be met")

// Target is the cost that a calibration must not exceed.
type Target struct{ Epsilon, Delta float64 }

// Search is a family of events with one free number x > 0.
type Search struct {
	// Event returns the event at x. It must be valid for all x in the range.
	Event func(x float64) dp.Event
	// Decreasing declares that the cost falls as x grows (a noise multiplier); otherwise it grows with
	// x (steps, a rate, a pure epsilon).
	Decreasing bool
	// Integer restricts x to whole numbers.
	Integer bool
	// Lower and Upper bound x. Zero means 1e-6 (1 for integers) and 1e9.
	Lower, Upper float64
}

// To returns the x that spends as much of the target as it can without exceeding it, with the
// Result at that x: re-accounting by the same method gives at most the target epsilon and, where x
// is continuous and not at the end of its range, at least 0.9995 of it (0.995 where the bound
// itself jumps). If the whole range is affordable, To returns its expensive end. The number of
// evaluations is bounded. ErrUnreachable means that even the cheap end costs too much.
func To(target Target, rel dp.Relation, which accountant.Method, s Search) (float64, accountant.Result, error) {
	if !(target.Epsilon > 0) || math.IsInf(target.Epsilon, 1) {
		return 0, accountant.Result{}, fmt.Errorf("epsilon must be a finite number > 0")
	}
	if !(target.Delta >= 0 && target.Delta < 1) {
		return 0, accountant.Result{}, fmt.Errorf("delta must lie in [0, 1)")
	}
	if s.Lower == 0 {
		s.Lower = 1e-6
		if s.Integer {
			s.Lower = 1
		}
	}
	if s.Upper == 0 {
		s.Upper = 1e9
	}
	if !(s.Lower > 0 && s.Lower <= s.Upper) || math.IsInf(s.Upper, 1) {
		return 0, accountant.Result{}, fmt.Errorf("search range must satisfy 0 < lower <= upper < +Inf")
	}
	c := calibration{target: target, rel: rel, search: s, by: which}
	start := math.Min(math.Max(1, s.Lower), s.Upper)
	if which != accountant.MethodRDP {
		// The distribution is the slow accountant: begin where the others end.
		c.by = accountant.MethodQuick
		if x, _, err := c.solve(start); err == nil {
			start = x
		} else if !errors.Is(err, ErrUnreachable) {
			return 0, accountant.Result{}, err
		}
		c.by = which
	}
	return c.solve(start)
}

type calibration struct {
	target Target
	rel    dp.Relation
	search Search
	by     accountant.Method
}

// side is one end of a bracket.
type side struct {
	u      float64 // ln x
	result accountant.Result
}

func (c *calibration) at(u float64) (side, error) {
	x := math.Min(math.Max(math.Exp(u), c.search.Lower), c.search.Upper)
	if c.search.Integer {
		x = math.Round(x)
	}
	r, err := accountant.Upper(c.search.Event(x), c.rel, c.target.Delta, c.by)
	if math.IsNaN(r.Epsilon) {
		r.Epsilon = math.Inf(1)
	}
	return side{math.Log(x), r}, err
}

func (c *calibration) fits(s side) bool { return s.result.Epsilon <= c.target.Epsilon }

func (c *calibration) x(s side) float64 {
	x := math.Min(math.Max(math.Exp(s.u), c.search.Lower), c.search.Upper)
	if c.search.Integer {
		return math.Round(x)
	}
	return x
}

func (c *calibration) solve(start float64) (float64, accountant.Result, error) {
	good, bad, bracketed, err := c.bracket(start)
	if err != nil {
		return 0, accountant.Result{}, err
	}
	for i := 0; bracketed && i < 80 && good.result.Epsilon < 0.9995*c.target.Epsilon; i++ {
		if math.Abs(good.u-bad.u) < 1e-12 {
			break
		}
		mid, err := c.at(c.guess(good, bad, i))
		if err != nil {
			return 0, accountant.Result{}, err
		}
		if mid.u == good.u || mid.u == bad.u {
			if c.search.Integer && math.Abs(c.x(good)-c.x(bad)) > 1 {
				continue
			}
			break
		}
		if c.fits(mid) {
			good = mid
		} else {
			bad = mid
		}
	}
	// Recompute at the number that is handed out, which has been through exp.
	x := c.x(good)
	r, err := accountant.Upper(c.search.Event(x), c.rel, c.target.Delta, c.by)
	for i := 0; err == nil && r.Epsilon > c.target.Epsilon && i < 60; i++ {
		x *= 1 + c.sign()*math.Ldexp(1e-15, i)
		r, err = accountant.Upper(c.search.Event(x), c.rel, c.target.Delta, c.by)
	}
	if err == nil && !(r.Epsilon <= c.target.Epsilon) {
		err = fmt.Errorf("%w: epsilon %g at delta %g", ErrUnreachable, c.target.Epsilon, c.target.Delta)
	}
	return x, r, err
}

// sign is the direction of x in which the cost falls.
func (c *calibration) sign() float64 {
	if c.search.Decreasing {
		return 1
	}
	return -1
}

// bracket walks from start in growing strides until one end fits and the other
// does not. Not bracketed means that the costly end of the range fits.
func (c *calibration) bracket(start float64) (good, bad side, bracketed bool, err error) {
	s, err := c.at(math.Log(start))
	if err != nil {
		return
	}
	toCheap := c.sign()
	walk, stride := toCheap, 0.2
	if c.fits(s) {
		walk = -toCheap
	}
	lo, hi := math.Log(c.search.Lower), math.Log(c.search.Upper)
	for {
		last := s
		u := math.Min(math.Max(last.u+walk*stride, lo), hi)
		if c.search.Integer && math.Abs(math.Exp(u)-math.Exp(last.u)) < 1 {
			u = math.Log(math.Min(math.Max(math.Exp(last.u)+walk, c.search.Lower), c.search.Upper))
		}
		if math.Abs(u-last.u) < 1e-12 {
			if c.fits(last) {
				return last, last, false, nil
			}
			return good, bad, false, fmt.Errorf("%w: epsilon %g at delta %g needs a value beyond %g",
				ErrUnreachable, c.target.Epsilon, c.target.Delta, c.x(last))
		}
		if s, err = c.at(u); err != nil {
			return
		}
		switch {
		case c.fits(s) && !c.fits(last):
			return s, last, true, nil
		case !c.fits(s) && c.fits(last):
			return last, s, true, nil
		}
		stride *= 2
	}
}

// guess interpolates ln ε over ln x, aiming just below the target; every third
// step, and where a side has no finite logarithm, it bisects.
func (c *calibration) guess(good, bad side, i int) float64 {
	mid := (good.u + bad.u) / 2
	g, b := math.Log(good.result.Epsilon), math.Log(bad.result.Epsilon)
	if i%3 == 2 || math.IsInf(g, 0) || math.IsInf(b, 0) || !(b > g) {
		return mid
	}
	f := (math.Log(c.target.Epsilon*0.9998) - g) / (b - g)
	u := good.u + math.Min(math.Max(f, 0.01), 0.99)*(bad.u-good.u)
	if math.IsNaN(u) {
		return mid
	}
	return u
}
