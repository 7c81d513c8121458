package runners

import (
	"math/rand/v2"

	"pawl/experiments/formulas"
)

// example is a point at which our copy's condition is false and dropping a feature helps: the error and the feature's
// effect have opposite signs (docs/READING.md, E4).
func example() (m formulas.LinearModel, x []float64, y float64) {
	return formulas.LinearModel{Coefficients: []float64{.7, -.3, .5, .2}, Feature: 3, StdDev: .3, StdDevDropped: .3}, []float64{.4, .9, -.5, .6}, -.4
}

func counterExample() formulas.DropAtPoint {
	m, x, y := example()
	return must(m.AtPoint(x, y))
}

// simulateDropping returns squared errors at the counter-example, with the feature and without it.
func simulateDropping(seed, draws int) []float64 {
	m, x, y := example()
	s := must(m.Simulate(x, y, draws, rand.New(rand.NewPCG(uint64(seed), 1))))
	return []float64{s.Full, s.Dropped}
}

// Kinds of shares of random points, in percent.
const (
	ifThen = iota
	onlyIf
	sameSigns
	corollary
	kinds
)

// judgeDropping compares what the condition says with the expected errors at random points.
func judgeDropping(seed, points int) []float64 {
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	hits, total := make([]float64, kinds), make([]float64, kinds)
	count := func(kind int, hit bool) {
		total[kind]++
		if hit {
			hits[kind]++
		}
	}
	for i := range points {
		m := formulas.LinearModel{StdDev: rng.Float64()}
		m.StdDevDropped = m.StdDev
		if i%2 == 1 {
			m.StdDevDropped *= rng.Float64()
		}
		x, y, exact := make([]float64, 4), rng.NormFloat64(), 0.
		for j := range x {
			x[j] = rng.NormFloat64()
			m.Coefficients = append(m.Coefficients, rng.NormFloat64())
			exact += m.Coefficients[j] * x[j]
		}
		at := must(m.AtPoint(x, y))
		helps, condition := at.Helps(), at.PrintedRuleHolds()
		if condition {
			count(ifThen, helps)
		}
		if helps {
			count(onlyIf, condition)
			if at.Residual*at.Effect >= 0 {
				count(sameSigns, condition)
			}
		}
		// The same model at the point that it fits, with equal noise.
		m.StdDevDropped = m.StdDev
		count(corollary, m.CorollaryHolds() == must(m.AtPoint(x, exact)).Helps())
	}
	for kind := range hits {
		hits[kind] *= 100 / total[kind]
	}
	return hits
}
