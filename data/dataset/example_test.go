package dataset_test

import (
	"fmt"

	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/reader"
)

func ExampleLookup() {
	wdbc, ok := dataset.Lookup("wdbc")
	if !ok {
		panic("not built in")
	}
	s := wdbc.Schema()
	target := s.Column(wdbc.Target)
	levels := s.Columns[target].Levels()
	counts := map[string]int{}
	err := wdbc.Train("", reader.Options{}, func(cells []float64, found schema.Record) error {
		counts[levels[int(cells[target])]]++ // public data: exact numbers may be shown
		return nil
	})
	fmt.Println(wdbc.Title, counts, err)
	// Output: Breast cancer Wisconsin (diagnostic) map[B:357 M:212] <nil>
}
