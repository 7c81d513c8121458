package kernel_test

import (
	"fmt"

	"pawl/compute/kernel"
)

// One dense layer: forward, both gradients, with the weights packed once.
func Example() {
	x := kernel.Dense([]float32{1, 2, 3, 4}, 2, 2)   // batch × in
	w := kernel.Dense([]float32{1, 0, -1, 2}, 2, 2)  // in × out
	g := kernel.Dense([]float32{1, 1, 0.5, 0}, 2, 2) // batch × out
	y := kernel.Dense(make([]float32, 4), 2, 2)
	dw := kernel.Dense(make([]float32, 4), 2, 2)
	dx := kernel.Dense(make([]float32, 4), 2, 2)

	kernel.MatMulPacked(y, x, kernel.Pack(w), false)
	kernel.MatMul(dw, x.T(), g, false)
	kernel.MatMulPacked(dx, g, kernel.Pack(w.T()), false)
	fmt.Println(y.Data, dw.Data, dx.Data)
	// Output: [-1 4 -1 8] [2.5 1 4 2] [1 1 0.5 -0.5]
}

// Two halves of a batch, on as many workers as there are; the bits are the same for any number of
// them.
func ExampleParallel() {
	var sums [2]float32
	batch := []float32{1, 2, 3, 4, 5}
	kernel.Parallel(2, 2, func(part int) {
		for _, v := range batch[part*len(batch)/2 : (part+1)*len(batch)/2] {
			sums[part] += v
		}
	})
	fmt.Println(sums[0] + sums[1])
	// Output: 15
}

func ExampleNewConv() {
	c, err := kernel.NewConv(kernel.ConvShape{
		Height: 28, Width: 28, Channels: 1, KernelHeight: 8, KernelWidth: 8, Filters: 16, Stride: 2, Groups: 1, Same: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.OutHeight(), c.OutWidth(), c.PatchSize(), c.WeightSize())
	// Output: 14 14 64 1024
}
