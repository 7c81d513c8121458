package noise_test

import (
	"fmt"

	"pawl/core/entropy"
	"pawl/core/noise"
)

// A count of sensitivity 1 released with epsilon 0.5 takes discrete Laplace noise
// of scale 1/0.5.
func ExampleAddDiscreteLaplace() {
	src := entropy.Seeded(42) // entropy.New() outside an example: Seeded protects nobody
	count := []int64{1000}
	fmt.Println(noise.AddDiscreteLaplace(src, count, 1/0.5), count)
	fmt.Println(noise.AddDiscreteLaplace(src, count, -1))
	// Output:
	// <nil> [1001]
	// scale -1 is not in (0, 2^55]: noise scale out of range
}

// The clipped sum of a lot gets noise of standard deviation multiplier · norm.
func ExampleAddGaussian() {
	sum := []float64{0.25, -1, 3}
	noise.AddGaussian(entropy.Seeded(42), sum, 1.1*0.5)
	fmt.Printf("%.3f\n", sum)
	// Output: [-0.766 -1.095 2.540]
}
