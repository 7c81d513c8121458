package gradient_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"pawl/compute/nn"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
)

// benchNets are nets of the sizes that this work trains.
var benchNets = []struct {
	name   string
	input  nn.Shape
	layers []nn.Layer
}{
	{"dense", nn.Vector(300), []nn.Layer{{Kind: "dense", Units: 64}, {Kind: "relu"}, {Kind: "dense", Units: 10}}},
	{"wide", nn.Vector(300), []nn.Layer{{Kind: "dense", Units: 256}, {Kind: "relu"}, {Kind: "dense", Units: 10}}}, // steps of which are prepared
	{"conv", nn.Shape{Height: 28, Width: 28, Channels: 1}, []nn.Layer{
		{Kind: "conv2d", Filters: 16, Kernel: 8, Stride: 2, Padding: "same"}, {Kind: "max_pool", Size: 2, Stride: 1}, {Kind: "bounded_relu", Bound: 2},
		{Kind: "conv2d", Filters: 32, Kernel: 4, Stride: 2}, {Kind: "max_pool", Size: 2, Stride: 1}, {Kind: "tanh"},
		{Kind: "flatten"}, {Kind: "dense", Units: 32}, {Kind: "dropout", Rate: 0.3}, {Kind: "dense", Units: 10},
	}},
	{"lstm", nn.Tokens(40), []nn.Layer{{Kind: "embedding", Vocabulary: 200, Units: 20}, {Kind: "lstm", Units: 48}, {Kind: "dense", Units: 10}}},
	{"gru", nn.Tokens(40), []nn.Layer{{Kind: "embedding", Vocabulary: 200, Units: 20}, {Kind: "gru", Units: 48, Mode: "mean"}, {Kind: "dense", Units: 10}}},
	{"norm", nn.Shape{Height: 14, Width: 14, Channels: 1}, []nn.Layer{
		{Kind: "conv2d", Filters: 16, Kernel: 3, Padding: "same", StandardizeWeights: true}, {Kind: "group_norm", Groups: 4}, {Kind: "tanh"},
		{Kind: "conv2d", Filters: 16, Kernel: 3, Padding: "same"}, {Kind: "residual", From: 3}, {Kind: "max_pool", Size: 2},
		{Kind: "conv2d", Filters: 16, Kernel: 3, Padding: "same"}, {Kind: "conv2d", Filters: 16, Kernel: 3, Padding: "same", Share: 7}, {Kind: "dense", Units: 10},
	}},
}

// trainSteps trains a net on lots of about rows/2 examples and calls after with the
// number of each step that is done.
func trainSteps(t testing.TB, input nn.Shape, layers []nn.Layer, rows, steps int, private bool, after func(step int)) {
	trainedBy(t, input, layers, rows, steps, private, true, after)
}

// trainedBy is trainSteps for a net that may prepare steps or not; it returns the parameters.
func trainedBy(t testing.TB, input nn.Shape, layers []nn.Layer, rows, steps int, private, prepared bool, after func(step int)) []float32 {
	net, err := nn.Compile(nn.Spec{Layers: layers}, input, 10)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	params := net.Init(rng)
	in := sealed.Inputs{Dim: input.Size(), Floats: make([]float32, rows*input.Size())}
	for i := range in.Floats {
		in.Floats[i] = rng.Float32()
		if layers[0].Kind == "embedding" {
			in.Floats[i] = float32(rng.IntN(200)) // most lengths are the largest
		}
	}
	cells, hash := make([]float64, rows), make([]uint64, rows)
	for i := range cells {
		cells[i], hash[i] = float64(i%10), uint64(i)<<32
	}
	s := &schema.Schema{Version: 1, Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1},
		Columns: []schema.Column{{Name: "class", Type: schema.Numeric, Lower: 0, Upper: 9}}}
	training := gradient.Training{
		Privacy:  gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: 0.5, NoiseMultiplier: 1, Steps: steps, SamplingRate: 0.5},
		Clipping: gradient.Flat, Network: net, Target: func(cells []float64) float64 { return cells[0] },
		ExpectedRows: float64(rows), Microbatch: 256, Multiplicity: 1,
		Update: func(step int, params, g []float32) {
			for i, v := range g {
				params[i] -= 0.1 * v
			}
			after(step)
		},
	}
	if !prepared {
		training.Network = struct{ gradient.Network }{net}
	}
	rowsOf := sealed.NewWithInputs("d", s, cells, hash, in)
	if !private {
		training.Clipping = gradient.Unclipped
		err = gradient.TrainPublic(context.Background(), rowsOf, training, params, entropy.Seeded(1))
	} else {
		var permit *sealed.Permit
		if permit, err = sealed.NewPermit("id", "d", dp.AddOrRemoveOne, 1, training.Event(), entropy.Seeded(1)); err == nil {
			err = gradient.Train(context.Background(), permit, rowsOf, training, params)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return params
}

// A net whose weights are packed once a step is trained to the same bits.
func TestPreparedStepsAreTheSame(t *testing.T) {
	wide := benchNets[1]
	for _, private := range []bool{false, true} {
		train := func(prepared bool) []float32 {
			return trainedBy(t, wide.input, wide.layers, 1200, 3, private, prepared, func(int) {})
		}
		if got, want := train(true), train(false); !slices.Equal(got, want) {
			t.Errorf("private %v: other parameters where steps are prepared", private)
		}
	}
}

// A step of a compiled net allocates nothing, in the network, the products, the
// clipping and the noise together, once lots have been as large as they get.
func TestStepsOfCompiledNetsAllocateNothing(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("pools lose buffers by design under the race detector")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector empties pools
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))  // as testing.AllocsPerRun
	for _, net := range benchNets {
		for _, private := range []bool{false, true} {
			const warm, steps = 30, 30
			var before, now runtime.MemStats
			trainSteps(t, net.input, net.layers, 120, warm+steps, private, func(step int) {
				if step == warm-1 {
					runtime.ReadMemStats(&before)
				}
				if step == warm+steps-1 {
					runtime.ReadMemStats(&now)
				}
			})
			// Less than one a step, as testing.AllocsPerRun counts: the runtime has a few of
			// its own.
			if n := now.Mallocs - before.Mallocs; n >= steps {
				t.Errorf("%s, private %v: %d allocations in %d steps", net.name, private, n, steps)
			}
		}
	}
}

// BenchmarkNet is one step on a lot of about 1000 examples.
func BenchmarkNet(b *testing.B) {
	for _, net := range benchNets {
		for _, private := range []bool{false, true} {
			name := net.name + "/plain"
			if private {
				name = net.name + "/private"
			}
			b.Run(name, func(b *testing.B) {
				const warm = 10
				b.ReportAllocs()
				trainSteps(b, net.input, net.layers, 2000, warm+b.N, private, func(step int) {
					switch step {
					case warm - 1:
						b.ResetTimer()
					case warm + b.N - 1:
						b.StopTimer()
					}
				})
			})
		}
	}
}
