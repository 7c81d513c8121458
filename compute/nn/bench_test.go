package nn

import (
	"math/rand/v2"
	"testing"

	"pawl/core/gradient"
)

// BenchmarkNet times a microbatch of 250 through nets like those of the papers:
// scores alone, and the pass that training makes.
func BenchmarkNet(b *testing.B) {
	conv := func(filters, kernel, stride int, padding string) Layer {
		return Layer{Kind: "conv2d", Filters: filters, Kernel: kernel, Stride: stride, Padding: padding}
	}
	pool := func(stride int) Layer { return Layer{Kind: "max_pool", Size: 2, Stride: stride} }
	dense := func(n int) Layer { return Layer{Kind: "dense", Units: n} }
	tanh := Layer{Kind: "tanh"}
	for _, c := range []struct {
		name   string
		in     Shape
		layers []Layer
	}{
		{"digits", Shape{28, 28, 1}, []Layer{conv(16, 8, 2, "same"), pool(1), tanh, conv(32, 4, 2, ""), pool(1), tanh, dense(32), tanh, dense(10)}},
		{"photos", Shape{32, 32, 3}, []Layer{conv(32, 3, 1, "same"), pool(2), tanh, conv(64, 3, 1, "same"), pool(2), tanh, dense(64), tanh, dense(10)}},
		{"wide", Vector(784), []Layer{dense(1024), tanh, dense(512), tanh, dense(64), tanh, dense(10)}},
	} {
		const n = 250
		net, err := Compile(Spec{Layers: c.layers}, c.in, 10)
		if err != nil {
			b.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		params, inputs, targets := net.Init(rng), make([]float32, n*net.Inputs()), make([]float32, n)
		for i := range inputs {
			inputs[i] = rng.Float32()
		}
		for i := range targets {
			targets[i] = float32(i % 10)
		}
		b.Run(c.name+"/predict", func(b *testing.B) {
			for b.Loop() {
				net.Predict(0, params, inputs)
			}
		})
		b.Run(c.name+"/backprop", func(b *testing.B) {
			for b.Loop() {
				net.Backprop(0, params, inputs, targets, make([]uint64, n), func(gradient.Trace) {})
			}
		})
	}
}
