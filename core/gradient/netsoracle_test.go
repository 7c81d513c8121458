package gradient_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"pawl/compute/nn"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
)

// drawNet draws a text net or an image net of a few layers, and its input.
func drawNet(t *rapid.T) (nn.Shape, []nn.Layer) {
	dense := func(n int) nn.Layer { return nn.Layer{Kind: "dense", Units: n} }
	small := func(name string) int { return rapid.IntRange(1, 6).Draw(t, name) }
	var layers []nn.Layer
	if rapid.Bool().Draw(t, "text") {
		layers = append(layers, nn.Layer{Kind: "embedding", Vocabulary: small("vocabulary"), Units: small("width")})
		if rapid.Bool().Draw(t, "dense over time") {
			n := 1 + small("units")
			layers = append(layers, dense(n), nn.Layer{Kind: "layer_norm"}, dense(n), nn.Layer{Kind: "residual", From: len(layers) + 1},
				nn.Layer{Kind: "dense", Units: n, Share: len(layers) + 3})
		}
		cell := func() string { return rapid.SampledFrom([]string{"lstm", "gru"}).Draw(t, "cell") }
		if rapid.Bool().Draw(t, "two cells") {
			layers = append(layers, nn.Layer{Kind: cell(), Units: small("state"), Mode: "sequence"})
		}
		if rapid.Bool().Draw(t, "mean of steps") {
			layers = append(layers, nn.Layer{Kind: "mean_over_time"})
		} else {
			layers = append(layers, nn.Layer{Kind: cell(), Units: small("state"), Mode: rapid.SampledFrom([]string{"last", "mean"}).Draw(t, "mode")})
		}
		return nn.Tokens(small("length")), append(layers, dense(3))
	}
	standard := rapid.Bool().Draw(t, "standard")
	filters := 2 * small("filters")
	conv := nn.Layer{Kind: "conv2d", Filters: filters, Kernel: 3, Padding: "same", StandardizeWeights: standard}
	layers = append(layers, conv, rapid.SampledFrom([]nn.Layer{{Kind: "group_norm", Groups: 2}, {Kind: "instance_norm"}, {Kind: "layer_norm"}}).Draw(t, "norm"),
		nn.Layer{Kind: "tanh"}, conv, nn.Layer{Kind: "residual", From: 3})
	if rapid.Bool().Draw(t, "shared") {
		conv.Share = 4
		layers = append(layers, conv)
	}
	return nn.Shape{Height: 4, Width: 3, Channels: small("channels")}, append(layers, dense(3))
}

// The step of a compiled net equals the loop over its examples: each goes through the
// net alone, its gradient is written out from its traces in float64, tokens and uses
// added, clipped over all parameters together, and added: within 2e-5 of the sum of
// norms.
func TestStepsOfCompiledNetsMatchOneExampleAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape, layers := drawNet(t)
		net, err := nn.Compile(nn.Spec{Layers: layers}, shape, 3)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "numbers"), 1))
		params := net.Init(rng)
		n, d := rapid.SampledFrom([]int{0, 1, 2, 9}).Draw(t, "rows"), shape.Size()
		in := sealed.Inputs{Dim: d, Floats: make([]float32, n*d)}
		for i := range in.Floats {
			in.Floats[i] = float32(rng.NormFloat64())
			if layers[0].Kind == "embedding" {
				in.Floats[i] = float32(rng.IntN(8)) // lengths from 0, tokens that repeat or are none
			}
		}
		cells, hash := make([]float64, n), make([]uint64, n)
		for i := range cells {
			cells[i], hash[i] = float64(i%3), uint64(i)<<40
		}
		s := &schema.Schema{Version: 1, Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1},
			Columns: []schema.Column{{Name: "class", Type: schema.Categorical, Categories: []string{"a", "b", "c"}}}}
		c := rapid.SampledFrom([]float64{0.01, 0.5, 1000}).Draw(t, "clip")
		var got []float32
		training := gradient.Training{
			Privacy:  gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: c, Steps: 1, SamplingRate: 1},
			Clipping: gradient.Flat, Network: net, Target: func(cells []float64) float64 { return cells[0] },
			ExpectedRows: 1, Microbatch: rapid.SampledFrom([]int{1, 2, 50}).Draw(t, "microbatch"), Multiplicity: 1,
			Update: func(_ int, _, v []float32) { got = append(got, v...) },
		}
		if err := gradient.TrainPublic(context.Background(), sealed.NewWithInputs("d", s, cells, hash, in), training, params, entropy.Seeded(1)); err != nil {
			t.Fatal(err)
		}
		want, most := make([]float64, len(params)), 0.0
		for i := range n {
			one := alone(net, params, in.Floats[i*d:(i+1)*d], float32(cells[i]))
			norm := 0.0
			for _, v := range one {
				norm += v * v
			}
			norm = math.Sqrt(norm)
			most += min(norm, c)
			for j, v := range one {
				want[j] += v * min(1, c/max(norm, 1e-300))
			}
		}
		far := 0.0
		for j, v := range want {
			far += (float64(got[j]) - v) * (float64(got[j]) - v)
		}
		if far = math.Sqrt(far); !(far <= 2e-5*most) {
			t.Fatalf("%+v: the sum is %g away from that of one example at a time, of norms %g together", layers, far, most)
		}
	})
}

// alone is the gradient of one example, written out from its traces.
func alone(net *nn.Net, params, x []float32, target float32) []float64 {
	g := make([]float64, len(params))
	type chain struct {
		at, size int
		of       func([]float32)
	}
	var chains []chain
	net.Backprop(0, params, x, []float32{target}, []uint64{0}, func(tr gradient.Trace) {
		rows, size := len(tr.G)/tr.N, tr.M*tr.N
		for r := 0; tr.Form != nil && r < rows; r++ { // each row of A is a product with 1
			one, w := make([]float32, tr.N), make([]float32, size)
			one[0] = 1
			tr.Form(w, one, r, false)
			for i := range tr.M {
				tr.A = append(tr.A, w[i*tr.N])
			}
		}
		if tr.Diagonal {
			size = tr.N
		}
		w := g[tr.Offset:]
		for r := range rows {
			for j, v := range tr.G[r*tr.N : (r+1)*tr.N] {
				for i := range tr.M {
					switch {
					case tr.Index != nil && int(tr.Index[r]) == i:
						w[i*tr.N+j] += float64(v)
					case tr.Diagonal && i == j:
						w[j] += float64(tr.A[r*tr.M+j]) * float64(v)
					case tr.Index == nil && !tr.Diagonal:
						w[i*tr.N+j] += float64(tr.A[r*tr.M+i]) * float64(v)
					}
				}
				if tr.Bias {
					w[size+j] += float64(v)
				}
			}
		}
		for _, c := range chains {
			if c.at == tr.Offset {
				return
			}
		}
		if tr.Chain != nil {
			chains = append(chains, chain{tr.Offset, size, tr.Chain})
		}
	})
	for _, c := range chains {
		w := make([]float32, c.size)
		for j := range w {
			w[j] = float32(g[c.at+j])
		}
		c.of(w)
		for j, v := range w {
			g[c.at+j] = float64(v)
		}
	}
	return g
}
