package feature_test

import (
	"context"
	"fmt"

	"pawl/feature"
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
	// Output: the noise exceeds the counts: do not select privately: noise of deviation 27 a cell against 4.94 rows in a mean cell (191 rows in each of 3 tables with 116 cells)
}
