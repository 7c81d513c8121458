package crossover_test

import (
	"fmt"

	"pawl/evidence/crossover"
)

func ExampleParseSpec() {
	spec, err := crossover.ParseSpec("features:6+model:ebm")
	fmt.Println(spec.Count, spec.Model, err)
	_, err = crossover.ParseSpec("features:6+model:best")
	fmt.Println(err)
	// Output:
	// 6 ebm <nil>
	// features:6+model:best: unknown term "best" in a configuration
}
