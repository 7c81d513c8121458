package audit

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"pawl/core/entropy"
)

// Specification holds one function of core to what its guarantee stands on, at rows that
// are known: what it released, less what the rows add, must be noise of the stated law,
// drawn anew for every number; lots, masks and bounds must be as stated. It says nothing
// about ε. A fault of a factor √2 shows in one run of a second, whatever the claim, where
// a test of the claim itself may need more runs than anybody has.
type Specification struct {
	Name, Entry string
	// Rows says in words which rows it runs on.
	Rows string
	// observe runs it and tests what came out.
	observe func(ctx context.Context, src *entropy.Source) ([]Check, error)
}

// Slug is the name as one word.
func (s Specification) Slug() string { return slug(s.Name) }

// Check is one test of a specification.
type Check struct {
	// What is tested, in words.
	What string `json:"test"`
	// Statistic is what was seen and Expected what it is for an honest mechanism. What is
	// not a finite number convicts, and is written as the largest one.
	Statistic float64 `json:"statistic"`
	Expected  float64 `json:"expected"`
	Count     int     `json:"observations"`
	// PValue bounds the chance that an honest mechanism shows this or worse: 0 for what it
	// never shows.
	PValue float64 `json:"p_value"`
	// Limit is the share of the error that the command spends on this test: a p-value
	// below it convicts.
	Limit     float64 `json:"convicts_below"`
	Convicted bool    `json:"convicted"`
}

// Conformity is what a specification's tests found.
type Conformity struct {
	Name      string  `json:"name"`
	Entry     string  `json:"entry"`
	Rows      string  `json:"rows"`
	Checks    []Check `json:"tests"`
	Convicted bool    `json:"convicted"`
}

// Worst is the test with the least p-value.
func (c Conformity) Worst() Check {
	return slices.MinFunc(c.Checks, func(a, b Check) int { return compare(a.PValue, b.PValue) })
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Conform runs a specification. An honest mechanism is convicted with probability alpha at
// most, over all its tests together (Bonferroni: each has an equal share).
//
// A mechanism that fails, or panics inside, is an error and not a conviction.
func Conform(ctx context.Context, s Specification, alpha float64, src *entropy.Source) (Conformity, error) {
	if src == nil {
		return Conformity{}, errors.New("audit: a source of randomness is required")
	}
	checks, err := s.observe(ctx, src.Split(s.Name))
	if err != nil {
		return Conformity{}, failed(ctx, s.Name, err)
	}
	c := Conformity{Name: s.Name, Entry: s.Entry, Rows: s.Rows}
	c.Checks, c.Convicted = Settle(checks, alpha)
	return c, nil
}

// Settle gives each of the checks an equal share of alpha and says whether one convicts.
func Settle(checks []Check, alpha float64) ([]Check, bool) {
	convicted := false
	for i := range checks {
		c := &checks[i]
		c.Limit = alpha / float64(len(checks))
		if math.IsNaN(c.Statistic) || math.IsInf(c.Statistic, 0) {
			// A score that is not a number was never one of an honest mechanism, and JSON has none.
			c.Statistic, c.PValue = math.MaxFloat64, 0
		}
		c.Convicted = !(c.PValue >= c.Limit) // NaN convicts
		convicted = convicted || c.Convicted
	}
	return checks, convicted
}

// ScaleCheck tests that residuals have mean square 1, by χ². Rounding of noise to a grid of
// σ/4096 and factors such as 1+10⁻⁵ are far below what it can see.
func ScaleCheck(what string, z []float64) Check {
	sum := 0.0
	for _, v := range z {
		sum += v * v
	}
	n := float64(len(z))
	return Check{What: what, Statistic: sum / n, Expected: 1, Count: len(z), PValue: chiSquare(sum, n)}
}

// chiSquare is two-sided.
func chiSquare(sum, n float64) float64 {
	if !(sum > 0) || math.IsInf(sum, 0) {
		return 0
	}
	law := distuv.ChiSquared{K: n}
	return min(1, 2*min(law.CDF(sum), law.Survival(sum)))
}

// laplaceCheck tests that residuals in units of the scale have mean size 1.
func laplaceCheck(what string, z []float64) Check {
	sum := 0.0
	for _, v := range z {
		sum += math.Abs(v)
	}
	n := float64(len(z))
	return Check{What: what, Statistic: sum / n, Expected: 1, Count: len(z), PValue: chiSquare(2*sum, 2*n)}
}

// MeanCheck tests that residuals have mean 0: what a row adds is not longer than stated.
func MeanCheck(what string, z []float64) Check {
	sum := 0.0
	for _, v := range z {
		sum += v
	}
	n := float64(len(z))
	p := math.Erfc(math.Abs(sum) / math.Sqrt(n) / math.Sqrt2)
	return Check{What: what, Statistic: sum / n, Expected: 0, Count: len(z), PValue: p}
}

// ReuseCheck tests that no two of several vectors of residuals, nor two stretches of one,
// share noise: the largest correlation over all shifts. The bound is Chernoff's for sums of
// products of normal numbers, times the number of shifts.
func ReuseCheck(what string, steps [][]float64) Check {
	const shortest, most = 64, 4096
	worst, tried, at, used := 1.0, 0, 0.0, 0
	for i, a := range steps {
		a = a[:min(len(a), most)]
		for _, b := range steps[i:] {
			b = b[:min(len(b), most)]
			same := &a[0] == &b[0]
			for lag := 1 - len(b); lag < len(a); lag++ {
				lo, hi := max(lag, 0), min(len(a), len(b)+lag)
				if hi-lo < shortest || same && lag <= 0 {
					continue
				}
				tried++
				x, y := a[lo:hi], b[lo-lag:hi-lag]
				sum := 0.0
				for k, v := range x {
					sum += v * y[k]
				}
				if p := products(math.Abs(sum), float64(hi-lo)); p < worst {
					worst, at, used = p, sum/float64(hi-lo), hi-lo
				}
			}
		}
	}
	return Check{What: what, Statistic: at, Expected: 0, Count: used, PValue: min(1, worst*float64(tried))}
}

// products bounds the chance that n products of independent normal numbers add up to t or
// more in size: 2·min over s of e^(−st)(1−s²)^(−n/2).
func products(t, n float64) float64 {
	if !(t > 0) {
		return 1
	}
	s := (math.Sqrt(n*n+4*t*t) - n) / (2 * t)
	return min(1, 2*math.Exp(-s*t-n/2*math.Log1p(-s*s)))
}

// ShareCheck tests k of n against a chance, exactly and on both sides.
func ShareCheck(what string, k, n int, chance float64) Check {
	law := distuv.Binomial{N: float64(n), P: chance}
	below, above := law.CDF(float64(k)), 1.0
	if k > 0 {
		above = distuv.Beta{Alpha: float64(k), Beta: float64(n-k) + 1}.CDF(chance)
	}
	return Check{What: what, Statistic: float64(k) / float64(n), Expected: chance, Count: n, PValue: min(1, 2*min(below, above))}
}

// NeverCheck convicts where something happened that never happens: bad of n.
func NeverCheck(what string, bad, n int) Check {
	c := Check{What: what, Statistic: float64(bad), Count: n, PValue: 1}
	if bad > 0 {
		c.PValue = 0
	}
	return c
}

// lawCheck tests that two samples have one law, by the bound of Dvoretzky, Kiefer and
// Wolfowitz on the two-sample statistic of Kolmogorov and Smirnov.
func lawCheck(what string, got, want []float64) Check {
	a, b := slices.Clone(got), slices.Clone(want)
	slices.Sort(a)
	slices.Sort(b)
	i, j, most := 0, 0, 0.0
	for i < len(a) && j < len(b) {
		v := min(a[i], b[j])
		for i < len(a) && a[i] == v {
			i++
		}
		for j < len(b) && b[j] == v {
			j++
		}
		most = max(most, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	n, m := float64(len(a)), float64(len(b))
	return Check{What: what, Statistic: most, Expected: 0, Count: len(a), PValue: min(1, math.E*math.Exp(-2*most*most*n*m/(n+m)))}
}

func slug(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name, ",", ""), " ", "-"))
}

// Specifications returns those of core. One keeps what it saw while it runs: run each in
// one goroutine at a time.
func Specifications() []Specification { return specifications() }
