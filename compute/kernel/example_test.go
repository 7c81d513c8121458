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

// Two halves of a batch and the step's noise, on as many workers as there are;
// the bits are the same for any number of them.
func ExampleParallel() {
	key := [32]byte{1} // 32 secret bytes, new for each step
	noise := make([]float32, 3)
	var sums [2]float32
	batch := []float32{1, 2, 3, 4, 5}
	kernel.Parallel(2, 3, func(part int) {
		if part == 2 {
			kernel.NewNormal(key).Fill(noise, 0, 0.5)
			return
		}
		lo, hi := kernel.Part(len(batch), 2, part)
		for _, v := range batch[lo:hi] {
			sums[part] += v
		}
	})
	fmt.Println(sums[0]+sums[1], len(noise))
	// Output: 15 3
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

func ExampleSoftmax() {
	rows := []float32{0, 0, 1e9, -1e9}
	kernel.Softmax(rows, 2)
	fmt.Println(rows)
	// Output: [0.5 0.5 1 0]
}
