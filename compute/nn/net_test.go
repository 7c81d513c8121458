package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
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

// A predictor gives the same bits as Predict, for the first inputs and for others after them, also while workers of the
// same net train.
func TestPredictorKeepsItsWeights(t *testing.T) {
	for _, c := range append(withDropout(), frozenForms()...) {
		net := mustCompile(t, c.spec(), c.in, c.outputs)
		params, inputs, targets, seeds := c.batch(net, 6, 4)
		want, d := slices.Clone(net.Predict(0, params, inputs)), net.Inputs()
		predict, others := net.Predictor(params), make([]float32, net.trainable)
		for i := range 6 {
			net.Backprop(0, others, inputs, targets, seeds, func(gradient.Trace) {})
			one := len(want) / 6
			if got := predict(inputs[i*d : (i+1)*d]); !slices.Equal(got, want[i*one:(i+1)*one]) {
				t.Errorf("%s: example %d scores %v, want %v", c.name, i, got, want[i*one:(i+1)*one])
			}
		}
		if got := predict(inputs); !slices.Equal(got, want) {
			t.Errorf("%s: all at once %v, want %v", c.name, got, want)
		}
	}
}

// Weights that were packed once for all workers, in parts side by side, give the traces of weights that each worker packs,
// also after other parameters. Nets behind a frozen prefix have weights of their own.
func TestPreparedStepsAreTheSame(t *testing.T) {
	wide := tried{name: "wide", in: Vector(30), outputs: 4, layers: []Layer{{Kind: "dense", Units: 270}, kind("relu"), {Kind: "dense", Units: 100}, kind("tanh"), {Kind: "dense", Units: 4}}}
	for _, c := range append(append(withDropout(), frozenForms()...), wide) {
		whole := mustCompile(t, c.spec(), c.in, c.outputs)
		params, inputs, targets, seeds := c.batch(whole, 6, 4)
		net := whole.Rest()
		inputs = slices.Clone(whole.ForwardPrefix(0, inputs))
		var traces []gradient.Trace
		record := func(tr gradient.Trace) {
			tr = listed(tr)
			tr.A, tr.G, tr.Index, tr.Chain = slices.Clone(tr.A), slices.Clone(tr.G), slices.Clone(tr.Index), nil
			traces = append(traces, tr)
		}
		net.Backprop(0, params, inputs, targets, seeds, record)
		want := traces
		for parts := 1; parts <= 3; parts++ {
			for _, with := range [][]float32{make([]float32, len(params)), params} {
				var wait sync.WaitGroup
				for part := range parts {
					wait.Go(func() { net.Prepare(with, part, parts) })
				}
				wait.Wait()
			}
			traces = nil
			net.BackpropPrepared(1, params, inputs, targets, seeds, record)
			if !reflect.DeepEqual(traces, want) {
				t.Errorf("%s: prepared in %d parts, the traces are others", c.name, parts)
			}
		}
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
			net.Prepare(params, 0, 1)
			net.BackpropPrepared(0, params, inputs, targets, seeds, record)
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

// The stated memory is what 200 more examples take in the buffers, rows of traces that are formed included.
func TestMemoryPerExample(t *testing.T) {
	for _, c := range append(withDropout(), frozenForms()...) {
		net := mustCompile(t, c.spec(), c.in, c.outputs)
		held := func(n int) int {
			params, inputs, targets, seeds := c.batch(net, n, 1)
			for e := 0; c.vocabulary > 0 && e < len(inputs); e += net.Inputs() {
				inputs[e] = float32(net.Inputs() - 1) // texts as long as they get
			}
			held := 0
			net.Backprop(0, params, inputs, targets, seeds, func(tr gradient.Trace) {
				if tr.Form != nil {
					held += len(tr.G) / tr.N * tr.M // as if they were kept
				}
			})
			w := net.workers[0]
			held += len(w.loss)
			if c.vocabulary > 0 {
				held += len(w.steps.starts) + len(w.steps.order)
			}
			for _, s := range w.states {
				held += len(s.y) + len(s.dx) + len(s.a) + len(s.g) + len(s.part) + len(s.index) + len(s.lengths) + len(s.h) + len(s.c) + len(s.wide)
			}
			return 4 * held
		}
		got, want := net.MemoryPerExample(), (held(400)-held(200))/200
		if got != want {
			t.Errorf("%s: %d bytes an example stated, %d held", c.name, got, want)
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
