package gradient_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/internal/sealed"
	"pawl/nn"
	"pawl/schema"
)

// A compiled net with convolutions, pooling and dropout: the step of many rows is
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
	for _, tt := range []struct {
		name   string
		layers []nn.Layer
	}{
		{"dense", []nn.Layer{dense(9), relu, dropout, dense(3)}},
		{"convolutions", []nn.Layer{conv(4, 1), relu, {Kind: "max_pool", Size: 3}, conv(40, 1), relu, conv(8, 2), dropout, dense(3)}},
		{"parts", []nn.Layer{{Kind: "dense", Units: 9, Trainable: nn.TrainBias}, relu, {Kind: "dense", Units: 6, Trainable: nn.TrainNone}, relu, dense(3)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			net, err := nn.Compile(nn.Spec{Layers: tt.layers}, shape, 3)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(3, 4))
			params := net.Init(rng)
			in := sealed.Inputs{Dim: shape.Size(), Bytes: make([]uint8, rows*shape.Size())}
			for i := range in.Bytes {
				in.Bytes[i] = uint8(rng.IntN(256))
			}
			s := &schema.Schema{Version: 1, Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1},
				Columns: []schema.Column{{Name: "class", Type: schema.Categorical, Categories: []string{"a", "b", "c"}}}}
			sum := func(from, to int) []float64 {
				part := sealed.Inputs{Dim: in.Dim, Bytes: in.Bytes[from*in.Dim : to*in.Dim]}
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
