package accountant

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
)

// pair is what a mechanism gives out with a unit, p, and without, q: masses of outcomes.
type pair struct{ p, q []float64 }

func (x pair) swapped() pair { return pair{x.q, x.p} }

// hockey is H_x(P ‖ Q).
func (x pair) hockey(at float64) float64 {
	sum := 0.0
	for i := range x.p {
		sum += math.Max(0, x.p[i]-math.Exp(at)*x.q[i])
	}
	return sum
}

// uses is count independent uses; outcomes of one loss are one.
func (x pair) uses(count int) pair {
	out := pair{[]float64{1}, []float64{1}}
	for range count {
		at := map[int64]int{}
		var next pair
		for i := range out.p {
			for j := range x.p {
				p, q := out.p[i]*x.p[j], out.q[i]*x.q[j]
				if p == 0 && q == 0 {
					continue
				}
				key := int64(math.MaxInt64)
				if p == 0 {
					key = math.MinInt64
				} else if q > 0 {
					key = int64(math.Round(math.Log(p/q) * 1e9))
				}
				k, ok := at[key]
				if !ok {
					k = len(next.p)
					at[key] = k
					next.p, next.q = append(next.p, 0), append(next.q, 0)
				}
				next.p[k] += p
				next.q[k] += q
			}
		}
		out = next
	}
	return out
}

// sampled is the pair of a mechanism that a unit joins with chance rate.
func (x pair) sampled(rate float64) pair {
	out := pair{slices.Clone(x.q), x.q}
	for i := range out.p {
		out.p[i] += rate * (x.p[i] - x.q[i])
	}
	return out
}

// best is the largest outcome of a random number of runs, whose generating function is g;
// the last outcome is that there was no run.
func (x pair) best(g func(float64) float64) pair {
	of := func(mass []float64) (out []float64) {
		below, last := 0.0, g(0)
		for _, m := range mass {
			below = math.Min(1, below+m)
			out = append(out, math.Max(0, g(below)-last))
			last = g(below)
		}
		return append(out, g(0))
	}
	return pair{of(x.p), of(x.q)}
}

// response is randomised response at epsilon, but for a mass of delta.
func response(epsilon, delta float64) pair {
	p := (1 - delta) / (1 + math.Exp(-epsilon))
	o := p * math.Exp(-epsilon)
	return pair{[]float64{delta, p, o, 0}, []float64{0, o, p, delta}}
}

// runsLaw draws a law of the number of runs with its generating function.
func runsLaw(t *rapid.T) (dp.Runs, func(float64) float64) {
	switch rapid.IntRange(0, 2).Draw(t, "law") {
	case 0:
		runs := dp.TruncatedNegativeBinomial{Eta: rapid.SampledFrom([]float64{-0.5, 0, 0.5, 1, 2}).Draw(t, "eta"), Mean: rapid.Float64Range(1.1, 40).Draw(t, "mean")}
		gamma, err := TNBGamma(runs)
		if err != nil {
			t.Fatal(err)
		}
		g := func(x float64) float64 {
			if runs.Eta == 0 {
				return math.Log1p((gamma-1)*x) / math.Log(gamma)
			}
			return (math.Pow(1+(gamma-1)*x, -runs.Eta) - 1) / (math.Pow(gamma, -runs.Eta) - 1)
		}
		if mean := (g(1) - g(1-1e-6)) / 1e-6; math.Abs(mean-runs.Mean) > 1e-2*runs.Mean {
			t.Fatalf("%+v has a mean of %v", runs, mean)
		}
		return runs, g
	case 1:
		mean := rapid.Float64Range(0.5, 20).Draw(t, "mean")
		return dp.PoissonRuns{Mean: mean}, func(x float64) float64 { return math.Exp(mean * (x - 1)) }
	}
	stop := dp.RandomStopping{Gamma: rapid.Float64Range(0.05, 0.5).Draw(t, "gamma"), Delta2: math.Pow(10, rapid.Float64Range(-9, -6).Draw(t, "log10 delta2"))}
	return stop, func(x float64) float64 {
		sum, chance, power := 0.0, 1.0, x
		for k := 1.0; k < mostRuns(stop); k++ {
			sum += chance * stop.Gamma * power
			chance *= 1 - stop.Gamma
			power *= x
		}
		return sum + chance*power
	}
}

// What an event costs in each door covers the law of a mechanism that the event names,
// outcome by outcome, in both directions: no accountant is asked.
func TestDoorCostsCoverLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delta := math.Pow(10, rapid.Float64Range(-8, -3).Draw(t, "log10 delta"))
		rel := addRemove
		epsilon := math.Pow(10, rapid.Float64Range(-2, 0.5).Draw(t, "log10 epsilon"))
		rate := math.Pow(10, rapid.Float64Range(-2, 0).Draw(t, "log10 rate"))
		var e dp.Event = dp.Pure{Epsilon: epsilon}
		law := response(epsilon, 0)
		onlyPair := false // what is known of it is (ε, δ)
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
		case 1:
			mass := delta * rapid.Float64Range(0, 1.0/16).Draw(t, "mass")
			e, law = dp.Approximate{Epsilon: epsilon, Delta: mass}, response(epsilon, mass)
			if onlyPair = rapid.Bool().Draw(t, "sampled"); onlyPair {
				e, law = dp.PoissonSampled{Rate: rate, Event: e}, law.sampled(rate)
			}
		case 2:
			e, law = dp.PoissonSampled{Rate: rate, Event: e}, law.sampled(rate)
		case 3:
			runs, g := runsLaw(t)
			if rapid.Bool().Draw(t, "sampled") {
				e, law = dp.PoissonSampled{Rate: rate, Event: e}, law.sampled(rate)
			}
			e, law = dp.Select{Runs: runs, Event: e}, law.best(g)
			_, onlyPair = runs.(dp.RandomStopping)
		case 4:
			rel = dp.ReplaceOne
			e = dp.RandomizedResponse{NoiseProbability: rate, Categories: 3}
			law = pair{[]float64{1 - rate + rate/3, rate / 3, rate / 3}, []float64{rate / 3, 1 - rate + rate/3, rate / 3}}
		case 5:
			// Without the unit: p, p and the rest; one unit moves the first up, the other the second.
			rel = dp.ReplaceOne
			p := rapid.Float64Range(0.01, 0.4).Draw(t, "p") / (1 + math.Exp(epsilon))
			up, down := p*math.Exp(epsilon), p*math.Exp(-epsilon)
			without, rest := []float64{p, p, 1 - 2*p}, 1-up-down
			one, other := pair{[]float64{up, down, rest}, without}.sampled(rate), pair{[]float64{down, up, rest}, without}.sampled(rate)
			e = dp.PoissonSampled{Rate: rate, Event: dp.Pure{Epsilon: 2 * epsilon}, OneSided: dp.Pure{Epsilon: math.Max(epsilon, math.Log((1-2*p)/rest))}}
			law = pair{one.p, other.p}
		}
		count := rapid.SampledFrom([]int{1, 1, 2, 7}).Draw(t, "uses")
		e, law = dp.Repeat{Count: int64(count), Event: e}, law.uses(count)

		d, err := NewDoors(1, delta, e, rel)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := flatten(e, rel)
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.cheap(parts, rel)
		if err != nil {
			t.Fatal(err)
		}
		dear, err := d.dearly(parts, rel, true)
		if err != nil {
			t.Fatal(err)
		}
		c = c.plus(dear)
		sum := func(i int) float64 { return c.sums[i].float() }
		if !c.sums[costSteps].inf {
			t.Fatalf("%v counts as steps of a Gaussian", e)
		}
		const tiny = 1e-14 // of the masses here
		for _, x := range []pair{law, law.swapped()} {
			if pure := sum(costPure); !math.IsInf(pure, 1) && x.hockey(pure) > tiny {
				t.Fatalf("%#v: pure %v, beyond it %v", e, pure, x.hockey(pure))
			}
			if each := sum(costAddEpsilon); !math.IsInf(each, 1) && x.hockey(each) > sum(costAddDelta)*(1+1e-9)+tiny {
				t.Fatalf("%#v: (%v, %v) by addition, beyond it %v", e, each, sum(costAddDelta), x.hockey(each))
			}
			if mu2 := sum(costInformation); !math.IsInf(mu2, 1) {
				for at := 0.0; at < float64(count)*epsilon+1; at += 0.01 {
					if most := AnalyticGaussianDelta(1/math.Sqrt(mu2), at) + sum(costSlack); x.hockey(at) > most*(1+1e-9)+tiny {
						t.Fatalf("%#v at %v: %v, the Gaussian of %v has %v", e, at, x.hockey(at), mu2, most)
					}
				}
			}
			if onlyPair {
				continue // the orders door counts the pair that the addition door counts
			}
			lost := 0.0
			for i, r := range c.orders {
				if math.IsInf(r, 1) {
					continue
				}
				moment := newLogSum()
				lost = 0
				for j, p := range x.p {
					if q := x.q[j]; q > 0 && p > 0 {
						moment.add(math.Log(p) + orderGrid[i]*math.Log(p/q))
					} else {
						lost += p
					}
				}
				if moment.value() > orderGrid[i]*(r*(1+1e-9)+1e-14)+1e-12 {
					t.Fatalf("%#v at order %v: %v of %v", e, 1+orderGrid[i], moment.value()/orderGrid[i], r)
				}
			}
			if lost > sum(costOrdersSlack)*(1+1e-9)+tiny {
				t.Fatalf("%#v: %v has no divergence, slack %v", e, lost, sum(costOrdersSlack))
			}
		}
	})
}
