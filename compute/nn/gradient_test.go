package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pawl/core/gradient"
)

type tried struct {
	name    string
	in      Shape
	outputs int
	layers  []Layer
	loss    Loss
	// vocabulary is above 0 for texts: inputs are tokens below it.
	vocabulary int
}

func units(n int) Layer   { return Layer{Kind: "dense", Units: n} }
func kind(k string) Layer { return Layer{Kind: k} }

// nets has each layer behind a trained one, so that the gradients of that one
// check the gradient at the layer's input.
var nets = []tried{
	{name: "dense", in: Vector(5), outputs: 3, layers: []Layer{units(3)}},
	{name: "two dense", in: Vector(5), outputs: 3, layers: []Layer{units(4), units(3)}},
	{name: "relu", in: Vector(5), outputs: 3, layers: []Layer{units(7), kind("relu"), units(3)}},
	{name: "tanh", in: Vector(5), outputs: 3, layers: []Layer{units(7), kind("tanh"), units(3)}},
	{name: "sigmoid", in: Vector(5), outputs: 3, layers: []Layer{units(7), kind("sigmoid"), units(3)}},
	{name: "bounded relu", in: Vector(5), outputs: 3, layers: []Layer{units(9), {Kind: "bounded_relu", Bound: 0.7}, units(3)}},
	{name: "leaky relu", in: Vector(5), outputs: 3, layers: []Layer{units(9), {Kind: "leaky_relu", Slope: 0.2}, units(3)}},
	{name: "tempered sigmoid", in: Vector(5), outputs: 3, layers: []Layer{units(7), {Kind: "tempered_sigmoid", Scale: 1.6, Temperature: 3, Offset: 0.7}, units(3)}},
	{name: "identity", in: Vector(5), outputs: 3, layers: []Layer{units(7), kind("identity"), units(3)}},
	{name: "activation at the ends", in: Vector(5), outputs: 3, layers: []Layer{kind("tanh"), units(3), kind("tanh")}},
	{name: "activation after activation", in: Vector(5), outputs: 3, layers: []Layer{units(4), kind("tanh"), kind("flatten"), kind("sigmoid"), kind("relu"), units(3)}},
	{name: "conv valid", in: Shape{6, 5, 2}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 3, Kernel: 3}, {Kind: "conv2d", Filters: 2, Kernel: 2}, units(3)}},
	{name: "conv same", in: Shape{5, 4, 2}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 3, Kernel: 3, Padding: "same"}, {Kind: "conv2d", Filters: 2, Kernel: 4, Padding: "same"}, units(3)}},
	{name: "conv same stride", in: Shape{7, 6, 1}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 3, Kernel: 4, Stride: 2, Padding: "same"}, {Kind: "conv2d", Filters: 2, Kernel: 3, Stride: 3, Padding: "same"}, units(3)}},
	{name: "conv dilated", in: Shape{7, 8, 2}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 3, Kernel: 3, Dilation: Dilation{2, 2}}, {Kind: "conv2d", Filters: 2, Kernel: 2, Dilation: Dilation{1, 3}}, units(3)}},
	{name: "conv dilated same stride", in: Shape{6, 7, 4}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 4, Kernel: 3, Dilation: Dilation{2, 3}, Stride: 2, Groups: 2, Padding: "same"}, {Kind: "conv2d", Filters: 2, Kernel: 3, Dilation: Dilation{3, 2}, Padding: "same"}, units(3)}},
	{name: "conv stride drops", in: Shape{8, 7, 1}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 2, Kernel: 3, Stride: 2}, {Kind: "conv2d", Filters: 2, Kernel: 2, Stride: 3}, units(3)}},
	{name: "conv larger than its image", in: Shape{2, 3, 1}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 2, Kernel: 5, Padding: "same"}, {Kind: "conv2d", Filters: 2, Kernel: 7, Padding: "same"}, units(3)}},
	{name: "conv 1x1", in: Shape{3, 3, 2}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 4, Kernel: 1}, {Kind: "conv2d", Filters: 2, Kernel: 1, Stride: 2}, units(3)}},
	{name: "conv groups", in: Shape{4, 5, 4}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 6, Kernel: 3, Groups: 2, Padding: "same"}, {Kind: "conv2d", Filters: 4, Kernel: 2, Groups: 2}, units(3)}},
	{name: "conv depthwise", in: Shape{4, 4, 3}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 3, Kernel: 2, Groups: 3}, {Kind: "conv2d", Filters: 6, Kernel: 3, Groups: 3, Padding: "same"}, units(3)}},
	{name: "max pool", in: Shape{7, 5, 1}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 3, Kernel: 2}, {Kind: "max_pool", Size: 2}, kind("tanh"), units(3)}},
	{name: "max pool stride 1", in: Shape{5, 5, 1}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 3, Kernel: 2}, {Kind: "max_pool", Size: 3, Stride: 1}, units(3)}},
	{name: "avg pool", in: Shape{7, 5, 1}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 3, Kernel: 2}, {Kind: "avg_pool", Size: 2}, units(3)}},
	{name: "avg pool stride", in: Shape{7, 7, 1}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 3, Kernel: 2}, {Kind: "avg_pool", Size: 3, Stride: 2}, kind("flatten"), units(3)}},
	{name: "global avg pool", in: Shape{4, 5, 2}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 4, Kernel: 2}, kind("global_avg_pool"), kind("tanh"), units(3)}},
	{name: "global avg pool at the end", in: Shape{3, 2, 1}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 3, Kernel: 2, Padding: "same"}, kind("tanh"), kind("global_avg_pool")}},
	{name: "pool2x2", in: Shape{6, 7, 2}, outputs: 3, layers: []Layer{{Kind: "pool2x2", Mode: "mean"}, {Kind: "conv2d", Filters: 2, Kernel: 1}, {Kind: "pool2x2", Mode: "max"}, units(3)}},
	{name: "dct", in: Shape{5, 6, 1}, outputs: 3, layers: []Layer{{Kind: "dct", Coefficients: 11}, units(3)}},
	{name: "dct of channels", in: Shape{6, 3, 2}, outputs: 3, layers: []Layer{{Kind: "dct", Coefficients: 36}, units(3)}},
	{name: "standardize", in: Shape{3, 3, 2}, outputs: 3, layers: []Layer{kind("standardize"), units(3)}},
	{name: "logistic", in: Vector(4), outputs: 1, layers: []Layer{units(3), kind("tanh"), units(1)}, loss: Loss{Kind: Logistic}},
	{name: "squared", in: Vector(4), outputs: 1, layers: []Layer{units(3), kind("tanh"), units(1)}, loss: Loss{Kind: Squared}},
	{name: "absolute", in: Vector(4), outputs: 1, layers: []Layer{units(3), kind("tanh"), units(1)}, loss: Loss{Kind: Absolute}},
	{name: "huber", in: Vector(4), outputs: 1, layers: []Layer{units(3), kind("tanh"), units(1)}, loss: Loss{Kind: Huber, Threshold: 0.6}},
}

func (c tried) spec() Spec { return Spec{Layers: c.layers, Loss: c.loss} }

// batch draws n examples, with targets that suit the loss, and weights with biases
// that are not zero.
func (c tried) batch(net *Net, n int, seed uint64) (params, inputs, targets []float32, seeds []uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	params = net.Init(rng)
	for i := range params {
		params[i] += float32(0.2 * rng.NormFloat64())
	}
	for len(inputs) < n*net.Inputs() {
		if c.vocabulary > 0 {
			inputs = append(inputs, drawTokens(rng, net.Inputs(), c.vocabulary)...)
			continue
		}
		inputs = append(inputs, float32(rng.NormFloat64()))
	}
	for range n {
		t := float32(rng.IntN(max(2, net.Outputs())))
		if k := net.Loss().Kind; k != Softmax && k != Logistic {
			t = float32(1.5 * rng.NormFloat64())
		}
		targets = append(targets, t)
		seeds = append(seeds, rng.Uint64())
	}
	return params, inputs, targets, seeds
}

// listed is tr with its A: of a trace that forms products, each row is a product with 1.
func listed(tr gradient.Trace) gradient.Trace {
	if tr.Form == nil {
		return tr
	}
	w, g := make([]float32, tr.M*tr.N), make([]float32, tr.N)
	g[0] = 1
	for r := range len(tr.G) / tr.N {
		tr.Form(w, g, r, false)
		for i := range tr.M {
			tr.A = append(tr.A, w[i*tr.N])
		}
	}
	tr.Form = nil
	return tr
}

// gradients returns the gradient of each example, from the traces alone.
func gradients(net *Net, params, inputs, targets []float32, seeds []uint64) [][]float64 {
	all := make([][]float64, len(targets))
	for i := range all {
		all[i] = make([]float64, net.Parameters())
	}
	chains := make([]map[int]gradient.Trace, len(targets))
	net.Backprop(0, params, inputs, targets, seeds, func(tr gradient.Trace) {
		tr = listed(tr)
		from := func(i int) int {
			if tr.Starts != nil {
				return int(tr.Starts[i])
			}
			return i * tr.T
		}
		if rows := from(len(targets)); len(tr.G) != rows*tr.N || tr.Index == nil && len(tr.A) != rows*tr.M || tr.Index != nil && len(tr.Index) != rows {
			panic(fmt.Sprintf("trace %d×%d×%d has %d, %d and %d numbers", tr.T, tr.M, tr.N, len(tr.A), len(tr.Index), len(tr.G)))
		}
		for i := range targets {
			w, size := all[i][tr.Offset:], tr.M*tr.N
			if tr.Diagonal {
				size = tr.N
			}
			for t := from(i); t < from(i+1); t++ {
				for j, v := range tr.G[t*tr.N : (t+1)*tr.N] {
					switch {
					case tr.Index != nil:
						w[int(tr.Index[t])*tr.N+j] += float64(v)
					case tr.Diagonal:
						w[j] += float64(tr.A[t*tr.N+j]) * float64(v)
					default:
						for k, u := range tr.A[t*tr.M : (t+1)*tr.M] {
							w[k*tr.N+j] += float64(u) * float64(v)
						}
					}
					if tr.Bias {
						w[size+j] += float64(v)
					}
				}
			}
			if tr.Chain != nil {
				if chains[i] == nil {
					chains[i] = map[int]gradient.Trace{}
				}
				chains[i][tr.Offset] = tr
			}
		}
	})
	for i, each := range chains {
		for at, tr := range each {
			w := narrow(all[i][at : at+tr.M*tr.N])
			tr.Chain(w)
			copy(all[i][at:], widen(w))
		}
	}
	return all
}

// Scores agree with the definitions, and A_iᵀG_i with central differences of the
// float64 loss (step 1e-5, error about 1e-9): within 2e-5 of the largest entry,
// which is what float32 leaves of it. Convicts a wrong layout, transposition,
// padding or derivative anywhere.
func TestGradientsMatchDifferences(t *testing.T) {
	for i, c := range nets {
		t.Run(c.name, func(t *testing.T) {
			net := mustCompile(t, c.spec(), c.in, c.outputs)
			const n = 3
			params, inputs, targets, seeds := c.batch(net, n, uint64(i))
			got := gradients(net, params, inputs, targets, seeds)
			scores := slices.Clone(net.Predict(0, params, inputs))
			p := widen(params)
			for e := range n {
				x := widen(inputs[e*net.Inputs() : (e+1)*net.Inputs()])
				for k, want := range reference(c.spec(), c.in, p, x) {
					if v := float64(scores[e*c.outputs+k]); math.Abs(v-want) > 1e-5*(1+math.Abs(want)) {
						t.Fatalf("example %d, score %d: got %g, want %g", e, k, v, want)
					}
				}
				loss := func() float64 {
					return referenceLoss(c.loss, reference(c.spec(), c.in, p, x), float64(targets[e]))
				}
				if v, want := net.Loss().Value(scores[e*c.outputs:(e+1)*c.outputs], targets[e]), loss(); math.Abs(v-want) > 1e-5*(1+want) {
					t.Fatalf("example %d: loss %g, want %g", e, v, want)
				}
				want, largest := make([]float64, len(p)), 0.0
				for j := range p {
					const h = 1e-5
					old := p[j]
					p[j] = old + h
					up := loss()
					p[j] = old - h
					want[j] = (up - loss()) / (2 * h)
					p[j] = old
					largest = max(largest, math.Abs(want[j]))
				}
				if largest == 0 {
					t.Fatalf("example %d: the gradient vanishes; the case checks nothing", e)
				}
				for j := range p {
					if math.Abs(got[e][j]-want[j]) > 2e-5*largest {
						t.Fatalf("example %d, parameter %d: got %g, want %g", e, j, got[e][j], want[j])
					}
				}
			}
		})
	}
}

// What is computed for an example does not depend on the others, nor on what the
// worker did before: a batch of 8, and each of its examples alone, bit for bit.
func TestExamplesDoNotMix(t *testing.T) {
	for i, c := range withDropout() {
		t.Run(c.name, func(t *testing.T) {
			net := mustCompile(t, c.spec(), c.in, c.outputs)
			params, inputs, targets, seeds := c.batch(net, 8, uint64(100+i))
			all := gradients(net, params, inputs, targets, seeds)
			scores := slices.Clone(net.Predict(0, params, inputs))
			d := net.Inputs()
			for e := range 8 {
				one := gradients(net, params, inputs[e*d:(e+1)*d], targets[e:e+1], seeds[e:e+1])
				if !slices.Equal(one[0], all[e]) {
					t.Fatalf("example %d has another gradient in a batch", e)
				}
				if !slices.Equal(net.Predict(0, params, inputs[e*d:(e+1)*d]), scores[e*c.outputs:(e+1)*c.outputs]) {
					t.Fatalf("example %d has other scores in a batch", e)
				}
			}
			again := gradients(net, params, inputs, targets, seeds)
			for e := range again {
				if !slices.Equal(again[e], all[e]) {
					t.Fatalf("example %d has another gradient the second time", e)
				}
			}
		})
	}
}

func withDropout() []tried {
	return append(slices.Clone(nets), tried{name: "dropout", in: Vector(6), outputs: 3,
		layers: []Layer{units(8), kind("tanh"), {Kind: "dropout", Rate: 0.4}, units(5), {Kind: "dropout", Rate: 0.3}, kind("relu"), units(3)}})
}

// An empty lot is an ordinary input: every trace comes, with no rows.
func TestEmptyBatch(t *testing.T) {
	for _, c := range withDropout() {
		t.Run(c.name, func(t *testing.T) {
			net := mustCompile(t, c.spec(), c.in, c.outputs)
			params, inputs, targets, seeds := c.batch(net, 2, 1)
			count := func(inputs, targets []float32, seeds []uint64) (places []int) {
				net.Backprop(0, params, inputs, targets, seeds, func(tr gradient.Trace) {
					if len(targets) == 0 && len(tr.A)+len(tr.Index)+len(tr.G) > 0 {
						t.Fatalf("trace has %d, %d and %d numbers of no example", len(tr.A), len(tr.Index), len(tr.G))
					}
					places = append(places, tr.Offset)
				})
				return places
			}
			if full, empty := count(inputs, targets, seeds), count(nil, nil, nil); len(full) == 0 || !slices.Equal(full, empty) {
				t.Fatalf("traces at %v of two examples and at %v of none", full, empty)
			}
			if got := net.Predict(0, params, nil); len(got) != 0 {
				t.Fatalf("%d scores of no example", len(got))
			}
			if got := net.ForwardPrefix(0, nil); len(got) != 0 {
				t.Fatalf("%d activations of no example", len(got))
			}
		})
	}
}

// Targets that say nothing give a gradient of zero; a NaN in one example stays in
// that example.
func TestBadExamplesStayAlone(t *testing.T) {
	nan := float32(math.NaN())
	for i, c := range nets {
		t.Run(c.name, func(t *testing.T) {
			net := mustCompile(t, c.spec(), c.in, c.outputs)
			params, inputs, targets, seeds := c.batch(net, 3, uint64(i))
			want := gradients(net, params, inputs, targets, seeds)
			bad := slices.Clone(targets)
			bad[1] = nan
			kinds := []float32{nan}
			if net.Loss().Kind == Softmax {
				kinds = []float32{nan, -1, 3, 0.5, float32(math.Inf(1))}
			}
			for _, b := range kinds {
				bad[1] = b
				got := gradients(net, params, inputs, bad, seeds)
				if slices.ContainsFunc(got[1], func(v float64) bool { return v != 0 }) {
					t.Fatalf("target %g has a gradient", b)
				}
				if !slices.Equal(got[0], want[0]) || !slices.Equal(got[2], want[2]) {
					t.Fatalf("target %g changes the other examples", b)
				}
			}
			x := slices.Clone(inputs)
			for j := range net.Inputs() {
				x[net.Inputs()+j] = nan
			}
			got := gradients(net, params, x, targets, seeds)
			if !slices.Equal(got[0], want[0]) || !slices.Equal(got[2], want[2]) {
				t.Fatal("an example of NaN changes the others")
			}
			// A text of NaN has no tokens.
			if s := net.Predict(0, params, x); s[c.outputs] == s[c.outputs] && c.vocabulary == 0 {
				t.Fatalf("an example of NaN has the score %g", s[c.outputs])
			}
		})
	}
}
