package formulas_test

import (
	"context"
	"fmt"
	"math"

	"pawl/experiments/formulas"
)

// Dropping the fourth feature lowers the expected error at this point, though the
// condition as printed in the source does not say so.
func ExampleLinearModel_AtPoint() {
	m := formulas.LinearModel{Coefficients: []float64{.7, -.3, .5, .2}, Feature: 3, StdDev: .3, StdDevDropped: .3}
	d, err := m.AtPoint([]float64{.4, .9, -.5, .6}, -.4)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("full %.4f, dropped %.4f\n", d.Full, d.Dropped)
	fmt.Println("dropping helps:", d.Helps(), "- printed rule:", d.PrintedRuleHolds())
	// Output:
	// full 0.2206, dropped 0.1354
	// dropping helps: true - printed rule: false
}

// The comparison rule looks at private errors: the larger model is better without
// privacy and worse with it.
func ExampleSimplerWins() {
	simple := formulas.Errors{Private: .0506, Plain: .0366}
	larger := formulas.Errors{Private: .0690, Plain: .0246}
	fmt.Printf("cost %.4f and %.4f\n", simple.Cost(), larger.Cost())
	fmt.Println("simple wins:", formulas.SimplerWins(simple, larger))
	// Output:
	// cost 0.0140 and 0.0444
	// simple wins: true
}

// How many rows a fitted curve asks for.
func ExamplePublishedSizeCurve() {
	c := formulas.PublishedSizeCurve()
	fmt.Printf("epsilon 1: %.0f rows\n", c.Rows(1))
	fmt.Printf("13,574 rows: epsilon %.3f\n", c.Epsilon(13574))
	fmt.Println("epsilon 0.05:", c.Rows(.05), "rows")
	// Output:
	// epsilon 1: 5514 rows
	// 13,574 rows: epsilon 0.564
	// epsilon 0.05: +Inf rows
}

// The bound of the private mixture when a tenth of 1,000 features carry signal.
func ExampleMixtureBound() {
	p := new(formulas.Population)
	for k := range 2 {
		p.Mean[k], p.Variance[k] = make([]float64, 1000), make([]float64, 1000)
		for j := range 1000 {
			p.Variance[k][j] = 1
			if k == 1 && j < 100 {
				p.Mean[k][j] = .5
			}
		}
	}
	for _, noise := range []float64{0, 1, 10} {
		b := formulas.MixtureBound{Features: 1000, Rows: 60, Gamma: formulas.Gamma(p, noise)}
		fmt.Printf("noise %2.0f: bound %.3f\n", noise, b.Error())
	}
	// Output:
	// noise  0: bound 0.096
	// noise  1: bound 0.241
	// noise 10: bound 0.494
}

// Ranking by distance against ranking by t-statistic, without noise and with: paired
// replicates and intervals that hold together.
func ExampleSelectionStudy() {
	s := formulas.PublishedGrid()
	s.Data.Features, s.Replicates = 300, 50
	s.Epsilons = []float64{10, math.Inf(1)}
	out, err := s.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	claim, err := out.Below(formulas.Distance, formulas.TStatistic, 20, .95)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range claim.Points {
		fmt.Printf("epsilon %v: %.2f and %.2f\n", p.Epsilon, p.First, p.Second)
	}
	fmt.Println("distance below t-statistic:", claim.Verdict)
	// Output:
	// epsilon 10: 0.50 and 0.50
	// epsilon +Inf: 0.39 and 0.36
	// distance below t-statistic: refuted
}
