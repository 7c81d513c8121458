package gradient_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pawl/compute/nn"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
)

// A compiled net of every kind of layer: the step of many rows is
// the sum of the steps of each row alone, and each of those has norm C at most. So
// nothing of one example reaches another, in the network or in the sum.
func TestCompiledNetsTreatRowsApart(t *testing.T) {
	dense := func(n int) nn.Layer { return nn.Layer{Kind: "dense", Units: n} }
	conv := func(n, groups int) nn.Layer {
		return nn.Layer{Kind: "conv2d", Filters: n, Kernel: 3, Groups: groups, Padding: "same"}
	}
	relu, dropout := nn.Layer{Kind: "relu"}, nn.Layer{Kind: "dropout", Rate: 0.3}
	const rows, c = 23, 0.5
	shape := nn.Shape{Height: 6, Width: 6, Channels: 2}
	norm := func(kind string, groups int) nn.Layer { return nn.Layer{Kind: kind, Groups: groups} }
	standard := nn.Layer{Kind: "conv2d", Filters: 6, Kernel: 3, Padding: "same", StandardizeWeights: true}
	again := func(l nn.Layer, share int) nn.Layer { l.Share = share; return l }
	text := func(layers ...nn.Layer) []nn.Layer {
		return append([]nn.Layer{{Kind: "embedding", Vocabulary: 5, Units: 6}}, append(layers, dense(3))...)
	}
	for _, tt := range []struct {
		name   string
		layers []nn.Layer
	}{
		{"normalized", []nn.Layer{conv(4, 1), norm("group_norm", 2), relu, conv(4, 1), norm("instance_norm", 0), dropout, norm("layer_norm", 0), dense(3)}},
		{"standardized and shared", []nn.Layer{standard, relu, again(standard, 0), relu, again(standard, 3), {Kind: "residual", From: 2}, dense(9), relu, again(dense(9), 0), again(dense(9), 9), dense(3)}},
		{"embedding", text(nn.Layer{Kind: "mean_over_time"})},
		{"lstm", text(nn.Layer{Kind: "lstm", Units: 7, Mode: "sequence"}, dropout, nn.Layer{Kind: "lstm", Units: 20})},
		{"gru", text(dense(6), nn.Layer{Kind: "gru", Units: 20, Mode: "mean"}, norm("layer_norm", 0))},
		{"dense", []nn.Layer{dense(9), relu, dropout, dense(3)}},
		{"convolutions", []nn.Layer{conv(4, 1), relu, {Kind: "max_pool", Size: 3}, conv(40, 1), relu, conv(8, 2), dropout, dense(3)}},
		{"dilated convolutions", []nn.Layer{{Kind: "conv2d", Filters: 8, Kernel: 3, Padding: "same", Dilation: nn.Dilation{Height: 2, Width: 3}}, relu,
			{Kind: "conv2d", Filters: 8, Kernel: 3, Groups: 2, Dilation: nn.Dilation{Height: 2, Width: 1}}, relu, dense(3)}},
		{"globally pooled", []nn.Layer{conv(8, 1), relu, {Kind: "global_avg_pool"}, dense(3)}},
		{"leaky", []nn.Layer{dense(9), {Kind: "leaky_relu", Slope: 0.1}, dense(3)}},
		{"parts", []nn.Layer{{Kind: "dense", Units: 9, Trainable: nn.TrainBias}, relu, {Kind: "dense", Units: 6, Trainable: nn.TrainNone}, relu, dense(3)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shape := shape
			if tt.layers[0].Kind == "embedding" {
				shape = nn.Tokens(12)
			}
			net, err := nn.Compile(nn.Spec{Layers: tt.layers}, shape, 3)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(3, 4))
			params := net.Init(rng)
			in := sealed.Inputs{Dim: shape.Size(), Floats: make([]float32, rows*shape.Size())}
			for i := range in.Floats {
				in.Floats[i] = rng.Float32()
				if shape == nn.Tokens(12) {
					in.Floats[i] = float32(rng.IntN(13)) // lengths, and tokens that repeat or are none
				}
			}
			s := &schema.Schema{Version: 1, Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1},
				Columns: []schema.Column{{Name: "class", Type: schema.Categorical, Categories: []string{"a", "b", "c"}}}}
			sum := func(from, to int) []float64 {
				part := sealed.Inputs{Dim: in.Dim, Floats: in.Floats[from*in.Dim : to*in.Dim]}
				cells, hash := make([]float64, to-from), make([]uint64, to-from)
				for i := range cells {
					cells[i], hash[i] = float64((from+i)%3), uint64(from+i)<<40
				}
				g := make([]float64, len(params))
				training := gradient.Training{
					Privacy:  gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: c, Steps: 1, SamplingRate: 1},
					Clipping: gradient.Flat, Network: net, Target: func(cells []float64) float64 { return cells[0] },
					ExpectedRows: 1, Microbatch: 5, Multiplicity: 1,
					Update: func(_ int, _, v []float32) {
						for j := range v {
							g[j] = float64(v[j])
						}
					},
				}
				if err := gradient.TrainPublic(context.Background(), sealed.NewWithInputs("d", s, cells, hash, part), training, params, entropy.Seeded(1)); err != nil {
					t.Fatal(err)
				}
				return g
			}
			norm := func(v []float64) float64 {
				s := 0.0
				for _, x := range v {
					s += x * x
				}
				return math.Sqrt(s)
			}
			all, most := sum(0, rows), 0.0
			for i := range rows {
				one := sum(i, i+1)
				if n := norm(one); n > c*(1+2e-6) || n == 0 {
					t.Errorf("row %d contributes a vector of norm %g, want one of at most %g", i, n, c)
				}
				most += norm(one)
				for j, v := range one {
					all[j] -= v
				}
			}
			if d := norm(all); !(d <= 1e-6*most) {
				t.Errorf("the sum of %d rows is %g away from that of one row at a time", rows, d)
			}
		})
	}
}
