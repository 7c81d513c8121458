package entropy_test

import (
	"fmt"

	"pawl/core/entropy"
)

// A secret is drawn once and kept. Bound to what it computes, it gives the same stream to
// every process that runs the computation again.
func Example() {
	secret, err := entropy.NewSecret()
	if err != nil {
		fmt.Println(err)
		return
	}
	kept, err := entropy.RestoreSecret(secret.Save())
	if err != nil {
		fmt.Println(err)
		return
	}
	first := secret.Source("training", []byte("settings"), []byte("data digest")).Split("noise", 17) // step 17
	again := kept.Source("training", []byte("settings"), []byte("data digest")).Split("noise", 17)
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
