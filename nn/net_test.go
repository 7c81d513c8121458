package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pawl/core/gradient"
)

// frozenForms are nets of three parametric layers with every way to freeze them.
func frozenForms() []tried {
	var all []tried
	for _, parts := range [][3]Trainable{
		{TrainNone, TrainAll, TrainAll}, {TrainAll, TrainNone, TrainAll}, {TrainAll, TrainAll, TrainNone}, {TrainNone, TrainNone, TrainAll},
		{TrainBias, TrainAll, TrainAll}, {TrainAll, TrainBias, TrainAll}, {TrainAll, TrainNone, TrainBias}, {TrainNone, TrainBias, TrainNone}, {TrainBias, TrainBias, TrainBias},
	} {
		all = append(all, tried{name: fmt.Sprintf("%q", parts), in: Shape{5, 4, 2}, outputs: 3, layers: []Layer{
			{Kind: "conv2d", Filters: 4, Kernel: 3, Groups: 2, Padding: "same", Trainable: parts[0]}, kind("tanh"), {Kind: "max_pool", Size: 2},
			{Kind: "conv2d", Filters: 3, Kernel: 2, Trainable: parts[1]}, kind("relu"),
			{Kind: "dense", Units: 3, Trainable: parts[2]},
		}})
	}
	return all
}

// whole lists, for each parameter of a net with frozen layers, its place in the
// vector of the same net with everything trained.
func (c tried) whole(net *Net) (trained, frozen []int) {
	at := 0
	for _, o := range net.ops {
		var f *affine
		switch o := o.(type) {
		case *denseLayer:
			f = &o.affine
		case *conv2d:
			f = &o.affine
		default:
			continue
		}
		weights := make([]int, 0)
		biases := make([]int, 0)
		for range f.groups {
			for range f.m * f.n {
				weights = append(weights, at)
				if f.part != TrainBias {
					biases = append(biases, at) // both kinds, in order
				}
				at++
			}
			for range f.n {
				biases = append(biases, at)
				at++
			}
		}
		switch f.part {
		case TrainAll:
			trained = append(trained, biases...)
		case TrainBias:
			trained, frozen = append(trained, biases...), append(frozen, weights...)
		default:
			frozen = append(frozen, biases...)
		}
	}
	return trained, frozen
}

// A net with frozen parts starts from the weights of the whole net, has its
// scores, and its gradients are those entries of the whole gradient. Nothing
// frozen is traced.
func TestFrozenPartsAreLeftOut(t *testing.T) {
	for i, c := range frozenForms() {
		t.Run(c.name, func(t *testing.T) {
			free := c
			free.layers = slices.Clone(c.layers)
			for j := range free.layers {
				free.layers[j].Trainable = TrainAll
			}
			net, all := mustCompile(t, c.spec(), c.in, c.outputs), mustCompile(t, free.spec(), c.in, c.outputs)
			trained, frozen := c.whole(net)
			if len(trained) != net.Parameters() || len(frozen) != len(net.Frozen()) || net.AllParameters() != all.Parameters() {
				t.Fatalf("%d trained and %d frozen, want %d and %d", net.Parameters(), len(net.Frozen()), len(trained), len(frozen))
			}
			params, inputs, targets, seeds := free.batch(all, 4, uint64(i))
			start := all.Init(rand.New(rand.NewPCG(5, 5)))
			own := net.Init(rand.New(rand.NewPCG(5, 5)))
			for k, at := range trained {
				if own[k] != start[at] {
					t.Fatalf("parameter %d starts at %g, in the whole net at %g", k, own[k], start[at])
				}
				own[k] = params[at]
			}
			rest := net.Frozen()
			for k, at := range frozen {
				if rest[k] != start[at] {
					t.Fatalf("frozen parameter %d starts at %g, in the whole net at %g", k, rest[k], start[at])
				}
				rest[k] = params[at]
			}
			if err := net.SetFrozen(rest); err != nil {
				t.Fatal(err)
			}
			if net.SetFrozen(rest[:len(rest)-1]) == nil {
				t.Fatal("too few frozen parameters are taken")
			}
			if !slices.Equal(net.Predict(0, own, inputs), all.Predict(0, params, inputs)) {
				t.Fatal("scores differ from the whole net's")
			}
			got, want := gradients(net, own, inputs, targets, seeds), gradients(all, params, inputs, targets, seeds)
			for e := range got {
				for k, at := range trained {
					if math.Abs(got[e][k]-want[e][at]) > 1e-6*(1+math.Abs(want[e][at])) {
						t.Fatalf("example %d, parameter %d: gradient %g, want %g", e, k, got[e][k], want[e][at])
					}
				}
			}
		})
	}
}

// Bias alone trains: the loss falls when its gradient is followed.
func TestBiasAloneTrains(t *testing.T) {
	c := frozenForms()[7]
	net := mustCompile(t, c.spec(), c.in, c.outputs)
	params, inputs, targets, seeds := c.batch(net, 16, 3)
	loss := func() (sum float64) {
		s := net.Predict(0, params, inputs)
		for e, y := range targets {
			sum += net.Loss().Value(s[e*3:(e+1)*3], y)
		}
		return sum
	}
	before := loss()
	for range 30 {
		for _, g := range gradients(net, params, inputs, targets, seeds) {
			for k, v := range g {
				params[k] -= float32(0.01 * v)
			}
		}
	}
	if after := loss(); !(after < before-0.1) {
		t.Fatalf("loss %g before and %g after", before, after)
	}
}

// Training on kept activations is training the net: same traces, same scores, and
// dropout that draws the same masks.
func TestPrefixCanBeKept(t *testing.T) {
	c := tried{in: Shape{6, 6, 1}, outputs: 3, layers: []Layer{
		{Kind: "pool2x2", Mode: "mean"}, {Kind: "dense", Units: 8, Trainable: TrainNone}, kind("relu"), {Kind: "dropout", Rate: 0.5},
		units(6), kind("tanh"), {Kind: "dropout", Rate: 0.4}, {Kind: "dense", Units: 5, Trainable: TrainNone}, units(3),
	}}
	net := mustCompile(t, c.spec(), c.in, c.outputs)
	params, inputs, targets, seeds := c.batch(net, 7, 1)
	if net.FrozenPrefix() != 4 {
		t.Fatalf("the prefix has %d layers, want 4", net.FrozenPrefix())
	}
	rest := net.Rest()
	kept := slices.Clone(net.ForwardPrefix(0, inputs))
	if len(kept) != 7*rest.Inputs() || rest.Inputs() != 8 || rest.Parameters() != net.Parameters() || rest.FrozenPrefix() != 0 {
		t.Fatalf("%d activations, rest takes %d of them and has %d parameters", len(kept), rest.Inputs(), rest.Parameters())
	}
	if !slices.Equal(rest.Predict(0, params, kept), net.Predict(0, params, inputs)) {
		t.Fatal("scores differ")
	}
	a, b := gradients(net, params, inputs, targets, seeds), gradients(rest, params, kept, targets, seeds)
	for e := range a {
		if !slices.Equal(a[e], b[e]) {
			t.Fatalf("example %d: gradients differ", e)
		}
	}
	again := slices.Clone(net.Init(rand.New(rand.NewPCG(8, 8))))
	if !slices.Equal(rest.Frozen(), net.Frozen()) || len(again) != rest.Parameters() {
		t.Fatal("the rest has other frozen parameters")
	}
	whole := mustCompile(t, Spec{Layers: []Layer{units(3)}}, Vector(4), 3)
	if x := []float32{1, 2, 3, 4}; whole.FrozenPrefix() != 0 || !slices.Equal(whole.ForwardPrefix(0, x), x) || whole.Rest().Inputs() != 4 {
		t.Fatal("a net without a prefix is not its own rest")
	}
}

// Inputs are the caller's: no layer writes to them.
func TestInputsAreNotWritten(t *testing.T) {
	c := tried{in: Vector(4), outputs: 2, layers: []Layer{{Kind: "dropout", Rate: 0.5}, kind("flatten"), kind("relu"), kind("tanh"), kind("standardize"), units(2)}}
	net := mustCompile(t, c.spec(), c.in, c.outputs)
	params, inputs, targets, seeds := c.batch(net, 5, 2)
	before := slices.Clone(inputs)
	gradients(net, params, inputs, targets, seeds)
	net.Predict(0, params, inputs)
	net.ForwardPrefix(0, inputs)
	if !slices.Equal(before, inputs) {
		t.Fatal("inputs changed")
	}
}

// With n = 40,000 draws the share of cleared numbers has standard error 0.0025;
// 4.9 of them is a false alarm in a million. Masks depend on the seed, the layer
// and the place, and on nothing else.
func TestDropout(t *testing.T) {
	const d, n, rate = 400, 100, 0.4
	l := &dropout{d, rate}
	seeds, x := make([]uint64, n), make([]float32, n*d)
	for i := range seeds {
		seeds[i] = uint64(i) // seeds may be as alike as this
	}
	for i := range x {
		x[i] = 3
	}
	var s state
	y := slices.Clone(l.forward(&call{n: n, seeds: seeds, layer: 2}, &s, x))
	cleared, pairs := 0, 0
	for i, v := range y {
		switch {
		case v == 0:
			cleared++
			if i%2 == 1 && y[i-1] == 0 {
				pairs++
			}
		case v != float32(3/(1-rate)):
			t.Fatalf("a number became %g", v)
		}
	}
	z := func(count, of int, p float64) float64 {
		return (float64(count) - float64(of)*p) / math.Sqrt(float64(of)*p*(1-p))
	}
	if got := z(cleared, n*d, rate); math.Abs(got) > 4.8916 {
		t.Errorf("%d of %d cleared: %g standard errors", cleared, n*d, got)
	}
	if got := z(pairs, n*d/2, rate*rate); math.Abs(got) > 4.8916 {
		t.Errorf("%d of %d pairs cleared: %g standard errors", pairs, n*d/2, got)
	}
	alone := l.forward(&call{n: 1, seeds: seeds[7:8], layer: 2}, &s, x[:d])
	if !slices.Equal(alone, y[7*d:8*d]) {
		t.Error("a mask depends on the batch")
	}
	if slices.Equal(l.forward(&call{n: 1, seeds: seeds[7:8], layer: 3}, &s, x[:d]), y[7*d:8*d]) || slices.Equal(y[:d], y[d:2*d]) {
		t.Error("two layers or two examples have one mask")
	}
	if !slices.Equal(l.forward(&call{n: n}, &s, x), x) {
		t.Error("dropout is on without seeds")
	}
}

// Dropout of rate 0 is no dropout: the chain rule through masks is checked by
// comparing with the net in which cleared numbers are known.
func TestDropoutBackward(t *testing.T) {
	c := tried{in: Vector(6), outputs: 3, layers: []Layer{units(8), {Kind: "dropout", Rate: 0.5}, units(3)}}
	net := mustCompile(t, c.spec(), c.in, c.outputs)
	params, inputs, targets, seeds := c.batch(net, 5, 9)
	got := gradients(net, params, inputs, targets, seeds)
	plain := mustCompile(t, Spec{Layers: []Layer{units(8), units(3)}}, Vector(6), 3)
	masks := net.workers[0].states[1].part
	for e := range got {
		// The mask as weights: rows of the second matrix are scaled by it.
		scaled := slices.Clone(params)
		for k := range 8 {
			for j := range 3 {
				scaled[56+k*3+j] *= masks[e*8+k]
			}
		}
		want := gradients(plain, scaled, inputs[e*6:(e+1)*6], targets[e:e+1], seeds[e:e+1])[0]
		for k := range 8 {
			for j := range 3 {
				want[56+k*3+j] *= float64(masks[e*8+k])
			}
		}
		for j := range want {
			if math.Abs(got[e][j]-want[j]) > 1e-5 {
				t.Fatalf("example %d, parameter %d: got %g, want %g", e, j, got[e][j], want[j])
			}
		}
	}
}

// Weights have variance gain/inputs (z of the sum of squares, n = 25,600 and more,
// false alarm 1e-6), biases are zero, and a seed gives one net.
func TestInit(t *testing.T) {
	for _, c := range []struct {
		name string
		next []Layer
		gain float64
	}{
		{"relu", []Layer{kind("relu")}, 2}, {"bounded relu", []Layer{{Kind: "dropout", Rate: 0.1}, {Kind: "bounded_relu", Bound: 2}}, 2},
		{"tanh", []Layer{kind("tanh")}, 1}, {"sigmoid", []Layer{kind("sigmoid")}, 1},
		{"tempered", []Layer{{Kind: "tempered_sigmoid", Scale: 2, Temperature: 2, Offset: 1}, kind("relu")}, 1}, {"none", nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := Spec{Layers: append(append([]Layer{units(320)}, c.next...), units(2), kind("relu"))}
			net := mustCompile(t, spec, Vector(80), 2)
			w := net.Init(rand.New(rand.NewPCG(1, 1)))
			if !slices.Equal(w, net.Init(rand.New(rand.NewPCG(1, 1)))) {
				t.Fatal("one seed gives two nets")
			}
			sum, n := 0.0, 80*320
			for _, v := range w[:n] {
				sum += float64(v) * float64(v) * 80 / c.gain
			}
			if z := (sum - float64(n)) / math.Sqrt(2*float64(n)); math.Abs(z) > 4.8916 {
				t.Errorf("variance of the weights is %g, want %g (z = %g)", sum/float64(n)*c.gain/80, c.gain/80, z)
			}
			if slices.ContainsFunc(w[n:n+320], func(v float32) bool { return v != 0 }) {
				t.Error("a bias is not zero")
			}
		})
	}
}

// Workers are independent: under the race detector, and by the result.
func TestWorkersRunSideBySide(t *testing.T) {
	for _, name := range []string{"conv groups", "max pool", "dct"} {
		c := nets[slices.IndexFunc(nets, func(c tried) bool { return c.name == name })]
		net := mustCompile(t, c.spec(), c.in, c.outputs)
		params, inputs, targets, seeds := c.batch(net, 6, 4)
		want := slices.Clone(net.Predict(0, params, inputs))
		var wait sync.WaitGroup
		for w := range 4 {
			wait.Go(func() {
				for range 20 {
					net.Backprop(w, params, inputs, targets, seeds, func(gradient.Trace) {})
					if !slices.Equal(net.Predict(w, params, inputs), want) {
						t.Errorf("%s: worker %d has other scores", name, w)
					}
				}
			})
		}
		wait.Wait()
	}
}

// No memory is taken once a worker has seen the size.
func TestNoAllocations(t *testing.T) {
	for _, c := range withDropout() {
		net := mustCompile(t, c.spec(), c.in, c.outputs)
		params, inputs, targets, seeds := c.batch(net, 8, 6)
		d := net.Inputs()
		record := func(gradient.Trace) {}
		pass := func() {
			net.Backprop(0, params, inputs, targets, seeds, record)
			net.Backprop(0, params, inputs[:3*d], targets[:3], seeds[:3], record)
			net.Predict(0, params, inputs)
			net.ForwardPrefix(0, inputs)
		}
		pass()
		// A pool of the kernel may lose a buffer to the collector: fewer than one is
		// none of ours.
		if n := testing.AllocsPerRun(50, pass); n >= 1 {
			t.Errorf("%s: %g allocations", c.name, n)
		}
	}
}

// The stated memory is what 200 more examples take in the buffers.
func TestMemoryPerExample(t *testing.T) {
	for _, c := range append(withDropout(), frozenForms()...) {
		net := mustCompile(t, c.spec(), c.in, c.outputs)
		held := func(n int) int {
			params, inputs, targets, seeds := c.batch(net, n, 1)
			net.Backprop(0, params, inputs, targets, seeds, func(gradient.Trace) {})
			w := net.workers[0]
			held := len(w.loss)
			for _, s := range w.states {
				held += len(s.y) + len(s.dx) + len(s.a) + len(s.g) + len(s.part) + len(s.index)
			}
			return 4 * held
		}
		got, want := net.MemoryPerExample(), (held(400)-held(200))/200
		if got != want {
			t.Errorf("%s: %d bytes an example stated, %d held", c.name, got, want)
		}
	}
}

// Derivatives at the ends of their pieces, and where x has no sign.
func TestDerivativesAtTheEnds(t *testing.T) {
	tiny, inf := float32(math.SmallestNonzeroFloat32), float32(math.Inf(1))
	negative := float32(math.Copysign(0, -1))
	for _, c := range []struct {
		name             string
		f                activation
		x, y, derivative float32
	}{
		{"relu at 0", relu(), 0, 0, 0}, {"relu at -0", relu(), negative, 0, 0}, {"relu above", relu(), tiny, tiny, 1},
		{"relu below", relu(), -tiny, 0, 0}, {"relu far", relu(), inf, inf, 1}, {"relu far below", relu(), -inf, 0, 0},
		{"bounded at 0", boundedReLU(2), 0, 0, 0}, {"bounded above 0", boundedReLU(2), tiny, tiny, 1},
		{"bounded below 2", boundedReLU(2), math.Nextafter32(2, 0), math.Nextafter32(2, 0), 1},
		{"bounded at 2", boundedReLU(2), 2, 2, 0}, {"bounded above 2", boundedReLU(2), 3, 2, 0}, {"bounded far", boundedReLU(2), inf, 2, 0},
		{"bounded below 0", boundedReLU(2), -1, 0, 0},
		{"tanh at 0", hyperbolicTangent(), 0, 0, 1}, {"tanh far", hyperbolicTangent(), inf, 1, 0},
		{"sigmoid at 0", sigmoid(), 0, 0.5, 0.25}, {"sigmoid far below", sigmoid(), -inf, 0, 0},
		{"tempered at 0", temperedSigmoid(2, 2, 1), 0, 0, 1}, {"tempered far", temperedSigmoid(2, 2, 1), inf, 1, 0},
		{"tempered far below", temperedSigmoid(2, 2, 1), -inf, -1, 0},
	} {
		y, dy := []float32{0}, []float32{-3}
		c.f.apply(y, []float32{c.x})
		c.f.chain(dy, y)
		if y[0] != c.y || dy[0] != -3*c.derivative {
			t.Errorf("%s: f(%g) = %g with derivative %g, want %g with %g", c.name, c.x, y[0], -dy[0]/3, c.y, c.derivative)
		}
	}
}

// Images without contrast have no frequencies or deviation to divide by.
func TestFrontEndsOfFlatImages(t *testing.T) {
	for _, l := range []Layer{{Kind: "dct", Coefficients: 8}, kind("standardize")} {
		net := mustCompile(t, Spec{Layers: []Layer{l, units(2)}}, Shape{4, 4, 2}, 2)
		y := net.ForwardPrefix(0, make([]float32, 32))
		if slices.ContainsFunc(y, func(v float32) bool { return v != 0 }) {
			t.Errorf("%s of zeros: %v", l.Kind, y)
		}
		x := make([]float32, 32)
		for i := range x {
			x[i] = 0.1
		}
		y = net.ForwardPrefix(0, x)
		square := 0.0
		for _, v := range y {
			square += float64(v) * float64(v)
		}
		if want := map[string]float64{"dct": 8, "standardize": 0}[l.Kind]; math.Abs(square-want) > 1e-5 {
			t.Errorf("%s of one grey: squared norm %g, want %g", l.Kind, square, want)
		}
	}
}

func TestMisuseNamesTheSizes(t *testing.T) {
	net := mustCompile(t, Spec{Layers: []Layer{units(2)}}, Vector(3), 2)
	p, x := make([]float32, 8), make([]float32, 6)
	for name, f := range map[string]func(){
		"parameters": func() { net.Predict(0, p[:7], x) },
		"inputs":     func() { net.Predict(0, p, x[:5]) },
		"prefix":     func() { net.ForwardPrefix(0, x[:5]) },
		"targets":    func() { net.Backprop(0, p, x, x[:1], make([]uint64, 2), nil) },
		"seeds":      func() { net.Backprop(0, p, x, x[:2], make([]uint64, 1), nil) },
		"worker":     func() { net.Predict(-1, p, x) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(string); !ok {
					t.Errorf("%s: no panic with words", name)
				}
			}()
			f()
		}()
	}
}
