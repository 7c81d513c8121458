// Package quality says how good predictions are, from noisy counts of scored rows: the area
// under the ROC curve, average precision, recall and precision by threshold, losses of
// probabilities, a calibration, and for regressions the errors against the median and the mean.
// Everything is post-processing of counts that were paid for; no function opens a row. Exact
// counts of public rows are counts without noise, for which the same formulas hold.
//
// Intervals are of 95 % and cover the sampling of units, of which the rows may be all alike,
// and the noise. A number that the counts do not determine has no value, and no interval.
package quality

import (
	"math"

	"pawl/core/release"
)

const z95 = 1.959963984540054

// Estimate is a number with its 95 % interval. Both are nil where nothing can be said.
type Estimate struct {
	Value    *float64    `json:"value"`
	Interval *[2]float64 `json:"interval,omitempty"`
}

// Known reports whether there is a value.
func (e Estimate) Known() bool { return e.Value != nil }

// Above reports whether the whole interval lies above x.
func (e Estimate) Above(x float64) bool { return e.Interval != nil && e.Interval[0] > x }

// Below reports whether the whole interval lies below x.
func (e Estimate) Below(x float64) bool { return e.Interval != nil && e.Interval[1] < x }

// of is an estimate within [low, high]. One whose interval excludes nothing is none.
func of(value float64, interval [2]float64, low, high float64) Estimate {
	i := [2]float64{max(interval[0], low), min(interval[1], high)}
	if value != value || i[0] != i[0] || i[1] != i[1] || i[0] <= low && i[1] >= high || math.IsInf(i[1]-i[0], 0) {
		return Estimate{}
	}
	v := min(max(value, i[0]), i[1])
	return Estimate{&v, &i}
}

// Scaled is the estimate in other units: times factor, plus offset. factor may be negative.
func (e Estimate) Scaled(factor, offset float64) Estimate {
	if e.Value == nil {
		return e
	}
	v, i := *e.Value*factor+offset, [2]float64{e.Interval[0]*factor + offset, e.Interval[1]*factor + offset}
	if factor < 0 {
		i[0], i[1] = i[1], i[0]
	}
	return Estimate{&v, &i}
}

func share(s release.Share) Estimate { return of(s.Value(), s.Interval(z95), 0, 1) }

// fraction is the share of part cells among all of them, of disjoint cells with noise std each.
func fraction(part, rest []float64, std, perUnit float64) release.Share {
	p, r, v := total(part), total(rest), std*std
	m := float64(len(part))
	return release.Share{Part: p, Whole: p + r, PartVariance: m * v, Covariance: m * v, WholeVariance: (m + float64(len(rest))) * v, PerUnit: perUnit}
}

func total(xs []float64) (t float64) {
	for _, x := range xs {
		t += x
	}
	return t
}

// between is the mean of two independent shares, their interval joined from those of the two
// (MOVER: Zou and Donner, Statistics in Medicine 27, 2008).
func between(a, b release.Share) Estimate {
	if !(a.Whole > 0 && b.Whole > 0) {
		return Estimate{}
	}
	x, y, i, j := a.Value(), b.Value(), a.Interval(z95), b.Interval(z95)
	nothing := [2]float64{0, 1}
	if i == nothing || j == nothing { // of one nothing is known: it may be anything
		return of((x+y)/2, [2]float64{(i[0] + j[0]) / 2, (i[1] + j[1]) / 2}, 0, 1)
	}
	low := math.Hypot(x-i[0], y-j[0]) / 2
	high := math.Hypot(i[1]-x, j[1]-y) / 2
	mean := (x + y) / 2
	return of(mean, [2]float64{mean - low, mean + high}, 0, 1)
}

// cells are disjoint noisy numbers of rows with a value each.
type cells struct {
	rows, values []float64
	std, perUnit float64
}

// mean is the mean value of a row. Its interval are Fieller's limits: all A with
//
//	(Σ x·(g−A))² <= z²·(s²·Σ(g−A)² + k·Σ x·(g−A)²)
//
// for rows x of value g: the noise's variance and that of sampling, at each A.
func (c cells) mean(low, high float64) Estimate {
	var x0, x1, x2, g1, g2 float64
	for i, x := range c.rows {
		g := c.values[i]
		x0, x1, x2, g1, g2 = x0+x, x1+x*g, x2+x*g*g, g1+g, g2+g*g
	}
	m := float64(len(c.rows))
	return fieller(x1, x0, func(a float64) float64 {
		return c.std*c.std*(g2-2*a*g1+a*a*m) + c.perUnit*max(x2-2*a*x1+a*a*x0, 0)
	}, low, high)
}

// fieller is the ratio numerator/denominator with all ratios A in [low, high] for which
// |numerator − A·denominator| is within 1.96 deviations, of the given variance at A.
func fieller(numerator, denominator float64, variance func(a float64) float64, low, high float64) Estimate {
	return fiellerAt(z95, numerator, denominator, variance, low, high)
}

// fiellerAt is fieller with another number of deviations.
func fiellerAt(z, numerator, denominator float64, variance func(a float64) float64, low, high float64) Estimate {
	if !(denominator > 0) {
		return Estimate{}
	}
	agrees := func(a float64) bool {
		d := numerator - a*denominator
		return d*d <= z*z*variance(a)
	}
	value := min(max(numerator/denominator, low), high)
	return of(value, hull(agrees, value, low, high), low, high)
}

// hull is the smallest interval with every a in [low, high] that agrees, seen on a grid and
// refined at its ends; value is in it.
func hull(agrees func(a float64) bool, value, low, high float64) [2]float64 {
	const steps = 1000
	at := func(i int) float64 { return low + (high-low)*float64(i)/steps }
	first, last := value, value
	for i := 0; i <= steps; i++ {
		if a := at(i); agrees(a) {
			first, last = min(first, a), max(last, a)
		}
	}
	refine := func(in, out float64) float64 {
		for range 40 {
			if mid := (in + out) / 2; agrees(mid) {
				in = mid
			} else {
				out = mid
			}
		}
		return in
	}
	width := (high - low) / steps
	// Without a point of the grid that agrees, value itself does.
	if first > low {
		first = refine(first, max(first-width, low))
	}
	if last < high {
		last = refine(last, min(last+width, high))
	}
	return [2]float64{first, last}
}
