package entropy_test

import (
	"fmt"

	"pawl/core/entropy"
)

// A trial key is drawn once, bound to what it computes, and gives the same
// stream to every worker that runs the trial again.
func Example() {
	study := [32]byte{1, 2, 3} // entropy.NewKey() outside an example
	trial := entropy.Derive(study, "trial", []byte("spec digest"), []byte("data digest"))

	first := entropy.FromKey(trial).Split("noise", 17) // step 17
	again := entropy.FromKey(trial).Split("noise", 17)
	fmt.Println(first.Uint64() == again.Uint64())

	simulated := entropy.Seeded(42).Split("noise", 17)
	fmt.Println(first, simulated, simulated.Seeded())
	// Output:
	// true
	// entropy.Source(redacted) entropy.Source(seeded, NOT PRIVATE) true
}

func ExampleSource_Subset() {
	lots := entropy.Seeded(42).Split("lot", 1)
	fmt.Println(lots.Subset(nil, 100, 0.05))
	// Output: [5]
}
