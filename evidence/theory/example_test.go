package theory_test

import (
	"fmt"

	"pawl/evidence/theory"
)

// Five runs of two models at four epsilons.
func ExampleEstimateCrossover() {
	runs := []theory.AccuracyRuns{
		{Epsilon: .1, Simple: []float64{.80, .81, .79, .80, .80}, Complex: []float64{.70, .72, .71, .69, .70}},
		{Epsilon: .5, Simple: []float64{.84, .85, .84, .84, .85}, Complex: []float64{.81, .82, .80, .81, .82}},
		{Epsilon: 2, Simple: []float64{.86, .86, .85, .86, .86}, Complex: []float64{.88, .87, .88, .88, .87}},
		{Epsilon: 8, Simple: []float64{.86, .87, .86, .86, .86}, Complex: []float64{.91, .91, .92, .91, .91}},
	}
	c, err := theory.EstimateCrossover(runs, theory.CrossoverConfig{
		Bootstrap: theory.Bootstrap{Replicates: 2000, Confidence: .95, Seed: 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f [%.2f, %.2f]: %s\n", c.Epsilon.Estimate, c.Epsilon.Lower, c.Epsilon.Upper, c.Verdict)
	fmt.Printf("P(simple better) at epsilon 0.5: %.2f\n", c.Points[1].SimpleBetter)
	// Output:
	// 1.21 [0.98, 1.49]: the curves cross within the interval
	// P(simple better) at epsilon 0.5: 1.00
}
