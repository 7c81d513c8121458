package nn_test

import (
	"fmt"
	"math/rand/v2"

	"pawl/compute/nn"
	"pawl/core/gradient"
)

func ExampleCompile() {
	net, err := nn.Compile(nn.Spec{Layers: []nn.Layer{
		{Kind: "conv2d", Filters: 4, Kernel: 3, Padding: "same"},
		{Kind: "max_pool", Size: 2},
		{Kind: "tanh"},
		{Kind: "dense", Units: 10},
	}}, nn.Shape{Height: 8, Width: 8, Channels: 1}, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, l := range net.Layers() {
		fmt.Printf("%d %s: %v, %d parameters\n", i+1, l.Kind, l.Output, l.Parameters)
	}
	params := net.Init(rand.New(rand.NewPCG(1, 2)))
	images, labels, seeds := make([]float32, 3*net.Inputs()), []float32{7, 0, 4}, make([]uint64, 3)
	net.Backprop(0, params, images, labels, seeds, func(t gradient.Trace) {
		fmt.Printf("gradient of each example at %d: %d rows of %d×%d\n", t.Offset, t.T, t.M, t.N)
	})
	// Output:
	// 1 conv2d: 8×8×4, 40 parameters
	// 2 max_pool: 4×4×4, 0 parameters
	// 3 tanh: 4×4×4, 0 parameters
	// 4 dense: a vector of 10, 650 parameters
	// gradient of each example at 40: 1 rows of 64×10
	// gradient of each example at 0: 64 rows of 9×4
}

func ExampleNet_PerExample() {
	net, err := nn.Compile(nn.Spec{Layers: []nn.Layer{
		{Kind: "dense", Units: 64}, {Kind: "batch_norm"}, {Kind: "tanh"}, {Kind: "dense", Units: 2},
	}}, nn.Vector(30), 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	// It compiles, for training on public data. Whatever clips asks first:
	fmt.Println(net.PerExample())
	// Output:
	// network: layer 2 (batch_norm): batch normalization mixes the examples of a batch, so there is no gradient per example to clip; use layer_norm, which treats each example separately
}
