package feature_test

import (
	"context"
	"fmt"

	"pawl/search/evolve"
	"pawl/search/feature"
)

// Eight rows: the label follows smoking, the second column is a copy of the first.
func Example() {
	d := feature.Domain{
		Attributes: []feature.Attribute{{Name: "smokes", Levels: 2}, {Name: "buys lighters", Levels: 2}, {Name: "ward", Levels: 2}},
		Classes:    2,
	}
	codes := [][]uint16{{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 0, 0, 1, 1, 1, 1}, {0, 1, 0, 1, 0, 1, 0, 1}}
	label := []uint16{0, 0, 0, 1, 1, 1, 1, 0}

	q, _ := feature.NeedPairTables.Quote(&d)
	fmt.Printf("%d tables; one row changes them by %.3g\n", q.Tables, q.Sensitivity)

	s, err := feature.Tally(d, codes, label, feature.NeedPairTables) // public rows: exact tables
	if err != nil {
		fmt.Println(err)
		return
	}
	chosen, err := feature.Greedy{}.Select(context.Background(), s, feature.Auto)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range chosen.Chosen {
		fmt.Printf("%s: %s\n", c.Column.Name, c.Reason)
	}
	// Output:
	// 6 tables; one row changes them by 2.45
	// smokes: merit 0.1887 with it, 0 without; uncertainty 0.1887 with the label
}

func ExampleNeed_CheckSignal() {
	d := feature.Domain{Attributes: []feature.Attribute{{Name: "age", Levels: 10}, {Name: "ward", Levels: 8}}, Classes: 2, Rows: 191}
	fmt.Println(feature.NeedPairTables.CheckSignal(&d, 27))
	// Output: the noise exceeds the counts: do not select privately: noise of standard deviation 27 per cell against 4.94 rows in an average cell (191 rows in each of 3 tables with 116 cells)
}

// A privacy-aware search scores subsets of attributes by the accuracy of a private model
// on each; here a formula stands in for training. The first argument of the fitness numbers the
// training, so that its noise can be its own.
func ExampleSubsets() {
	worth := []float64{.02, .10, .00, .01, .07, .00, .03, .00} // what each attribute adds to accuracy
	p := feature.Subsets{Features: len(worth)}.Problem()
	p.Fitness = func(_ context.Context, _ int, s feature.Set) (float64, error) {
		accuracy := 0.7
		for _, i := range s.Indices() {
			accuracy += worth[i] - 0.025 // the noise that one attribute more brings
		}
		return accuracy, nil
	}
	r, err := evolve.Run(context.Background(), p, evolve.Tournaments(60, 10))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Best.Genome.Indices(), r.Trials < r.Proposed)
	// Output: [1 4 6] true
}
