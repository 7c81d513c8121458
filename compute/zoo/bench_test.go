package zoo

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pawl/core/gradient"
)

// benchmarked are the nets of the speed comparison, in their default forms for
// training under privacy.
var benchmarked = []string{"fcn-300-64-10", "fcn-784-1024-512-64-10", "arous-cnn", "mnist-paw-cnn", "cifar-cnn-32-64-128-256"}

// One forward and backward pass of a microbatch, without clipping, on one
// goroutine: s/60k is seconds for 60,000 examples.
func BenchmarkBackprop(b *testing.B) {
	for _, name := range benchmarked {
		for _, n := range []int{1, 16, 125} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				s, ok := Lookup(name)
				if !ok {
					b.Fatal(name)
				}
				net, err := s.Default().Compile()
				if err != nil {
					b.Fatal(err)
				}
				rng := rand.New(rand.NewPCG(1, 2))
				params := net.Init(rng)
				inputs, targets, seeds := make([]float32, n*net.Inputs()), make([]float32, n), make([]uint64, n)
				for i := range inputs {
					inputs[i] = rng.Float32()
				}
				record := func(gradient.Trace) {}
				net.Backprop(0, params, inputs, targets, seeds, record)
				b.ReportAllocs()
				for b.Loop() {
					net.Backprop(0, params, inputs, targets, seeds, record)
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*n)*60000, "s/60k")
			})
		}
	}
}
