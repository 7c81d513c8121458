package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func embed(tokens, d int) Layer { return Layer{Kind: "embedding", Vocabulary: tokens, Units: d} }

func init() {
	text := Tokens(5)
	conv := func(filters int, l Layer) Layer {
		l.Kind, l.Filters, l.Kernel, l.Padding = "conv2d", filters, 3, "same"
		return l
	}
	for _, c := range []tried{
		{name: "embedding", layers: []Layer{embed(4, 3), kind("mean_over_time"), units(3)}},
		{name: "lstm", layers: []Layer{embed(4, 3), {Kind: "lstm", Units: 4}, units(3)}},
		{name: "lstm mean", layers: []Layer{embed(4, 3), {Kind: "lstm", Units: 4, Mode: "mean"}, kind("tanh"), units(3)}},
		{name: "lstm on lstm", layers: []Layer{embed(4, 3), {Kind: "lstm", Units: 4, Mode: "sequence"}, kind("tanh"), {Kind: "lstm", Units: 2, Mode: "last"}, units(3)}},
		{name: "gru", layers: []Layer{embed(4, 3), {Kind: "gru", Units: 4}, units(3)}},
		{name: "gru mean", layers: []Layer{embed(4, 3), {Kind: "gru", Units: 4, Mode: "mean"}, units(3)}},
		{name: "gru on gru", layers: []Layer{embed(4, 3), {Kind: "gru", Units: 4, Mode: "sequence"}, {Kind: "gru", Units: 2}, units(3)}},
		{name: "dense over time", layers: []Layer{embed(4, 3), units(4), kind("tanh"), units(3), {Kind: "residual", From: 1}, {Kind: "gru", Units: 3}, units(3)}},
		{name: "layer norm over time", layers: []Layer{embed(4, 3), kind("layer_norm"), {Kind: "lstm", Units: 4, Mode: "sequence"}, kind("layer_norm"), kind("mean_over_time"), units(3)}},
		{name: "one token", layers: []Layer{embed(1, 2), {Kind: "lstm", Units: 2}, units(3)}},
		{name: "layer norm", in: Vector(6), layers: []Layer{units(5), kind("layer_norm"), kind("tanh"), units(3)}},
		{name: "layer norm of an image", in: Shape{4, 3, 2}, layers: []Layer{conv(4, Layer{}), kind("layer_norm"), kind("relu"), units(3)}},
		{name: "group norm", in: Shape{4, 3, 2}, layers: []Layer{conv(6, Layer{}), {Kind: "group_norm", Groups: 3}, kind("tanh"), {Kind: "max_pool", Size: 2}, units(3)}},
		{name: "group norm of a vector", in: Vector(5), layers: []Layer{units(6), {Kind: "group_norm", Groups: 2}, units(3)}},
		{name: "group norm first", in: Shape{4, 3, 2}, layers: []Layer{{Kind: "group_norm", Groups: 2}, units(3)}},
		{name: "instance norm", in: Shape{4, 3, 2}, layers: []Layer{conv(4, Layer{}), kind("instance_norm"), kind("tanh"), conv(2, Layer{}), units(3)}},
		{name: "residual", in: Vector(5), layers: []Layer{units(4), kind("tanh"), units(4), kind("tanh"), {Kind: "residual", From: 2}, kind("relu"), units(3)}},
		{name: "residual from the input", in: Vector(5), layers: []Layer{units(5), kind("tanh"), {Kind: "residual"}, kind("tanh"), units(3)}},
		{name: "residual of an activation", in: Vector(5), layers: []Layer{units(4), kind("tanh"), kind("identity"), kind("sigmoid"), {Kind: "residual", From: 1}, units(3)}},
		{name: "two residuals", in: Shape{4, 3, 2}, layers: []Layer{conv(2, Layer{}), kind("tanh"), conv(2, Layer{}), {Kind: "residual", From: 2}, kind("tanh"), conv(2, Layer{}), {Kind: "residual", From: 2}, {Kind: "residual", From: 5}, units(3)}},
		{name: "standardized weights", in: Shape{4, 3, 2}, layers: []Layer{conv(4, Layer{StandardizeWeights: true}), kind("tanh"), conv(2, Layer{StandardizeWeights: true, Groups: 2}), units(3)}},
		{name: "shared dense", in: Vector(4), layers: []Layer{units(4), kind("tanh"), {Kind: "dense", Units: 4, Share: 1}, kind("tanh"), {Kind: "dense", Units: 4, Share: 1}, units(3)}},
		{name: "shared convolution", in: Shape{4, 3, 2}, layers: []Layer{conv(2, Layer{Groups: 2}), kind("tanh"), conv(2, Layer{Groups: 2, Share: 1}), units(3)}},
		{name: "shared standardized", in: Shape{4, 3, 2}, layers: []Layer{conv(2, Layer{StandardizeWeights: true}), kind("tanh"), {Kind: "max_pool", Size: 2}, conv(2, Layer{StandardizeWeights: true, Share: 1}), units(3)}},
		{name: "shared over time", layers: []Layer{embed(4, 3), units(3), kind("tanh"), {Kind: "dense", Units: 3, Share: 2}, kind("mean_over_time"), {Kind: "dense", Units: 3, Share: 2}}},
	} {
		c.outputs = 3
		if c.layers[0].Kind == "embedding" {
			c.in, c.vocabulary = text, c.layers[0].Vocabulary
		}
		nets = append(nets, c)
	}
}

// drawTokens draws a text of size−1 tokens at most, with repeats; what lies beyond its
// end is anything.
func drawTokens(rng *rand.Rand, size, tokens int) []float32 {
	x := []float32{float32(1 + rng.IntN(size-1))}
	for range size - 1 {
		x = append(x, float32(rng.IntN(tokens)))
	}
	return x
}

// What lies beyond the end of a text changes nothing, nor does the largest length that
// a net takes: scores and gradients are the same, bit for bit.
func TestPaddingChangesNothing(t *testing.T) {
	dropout := tried{name: "dropout", in: Tokens(5), outputs: 3, vocabulary: 4, layers: []Layer{embed(4, 3), {Kind: "dropout", Rate: 0.4},
		{Kind: "lstm", Units: 4, Mode: "sequence"}, {Kind: "dropout", Rate: 0.4}, kind("mean_over_time"), units(3)}}
	for i, c := range append(slices.Clone(nets), dropout) {
		if c.vocabulary == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			net, long := mustCompile(t, c.spec(), c.in, c.outputs), mustCompile(t, c.spec(), Tokens(9), c.outputs)
			params, inputs, targets, seeds := c.batch(net, 6, uint64(i))
			padded := make([]float32, 6*10)
			rng := rand.New(rand.NewPCG(1, 1))
			for e := range 6 {
				from, to := inputs[e*6:(e+1)*6], padded[e*10:(e+1)*10]
				copy(to, from[:1+int(from[0])])
				for j := 1 + int(from[0]); j < 10; j++ {
					to[j] = []float32{0, 3, -1, float32(math.NaN()), 1e30}[rng.IntN(5)]
				}
			}
			if !slices.Equal(net.Predict(0, params, inputs), long.Predict(0, params, padded)) {
				t.Error("scores change")
			}
			a, b := gradients(net, params, inputs, targets, seeds), gradients(long, params, padded, targets, seeds)
			for e := range a {
				if !slices.Equal(a[e], b[e]) {
					t.Errorf("the gradient of example %d changes", e)
				}
			}
		})
	}
}

// Lengths and tokens that are none are read by a fixed rule, and a text without
// tokens is an ordinary input.
func TestOddTexts(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, l := range []Layer{{Kind: "lstm", Units: 3}, {Kind: "gru", Units: 3, Mode: "mean"}, kind("mean_over_time")} {
		net := mustCompile(t, Spec{Layers: []Layer{embed(4, 2), l, units(2)}}, Tokens(3), 2)
		params := net.Init(rand.New(rand.NewPCG(1, 1)))
		score := func(x ...float32) []float32 {
			for _, g := range gradients(net, params, x, []float32{1}, []uint64{1}) {
				if slices.ContainsFunc(g, func(v float64) bool { return v != v || math.IsInf(v, 0) }) {
					t.Errorf("%s: %v has a gradient of %v", l.Kind, x, g)
				}
			}
			return slices.Clone(net.Predict(0, params, x))
		}
		for _, c := range [][2][]float32{
			{{-1, 1, 2, 3}, {0, 0, 0, 0}}, {{nan, 1, 2, 3}, {0, 0, 0, 0}}, {{7, 1, 2, 3}, {3, 1, 2, 3}}, {{inf, 1, 2, 3}, {3, 1, 2, 3}},
			{{2.9, 1, 2, 3}, {2, 1, 2, 3}}, {{2, nan, 2, 3}, {2, 0, 2, 3}}, {{2, 4, -2, 3}, {2, 0, 0, 3}}, {{2, inf, 2.5, 3}, {2, 0, 2, 3}},
		} {
			if got, want := score(c[0]...), score(c[1]...); !slices.Equal(got, want) {
				t.Errorf("%s: %v has scores %v, %v has %v", l.Kind, c[0], got, c[1], want)
			}
		}
	}
	x := []float32{9, 9, 9, 9}
	if PutTokens(x, []int{5, 6}); !slices.Equal(x, []float32{2, 5, 6, 0}) {
		t.Errorf("two tokens are %v", x)
	}
	if PutTokens(x, []int{5, 6, 7, 8}); !slices.Equal(x, []float32{3, 5, 6, 7}) {
		t.Errorf("four tokens are %v", x)
	}
}

// Steps are sorted and counted.
func TestSteps(t *testing.T) {
	var p steps
	for _, c := range []struct{ lengths, starts, order, active []int32 }{
		{[]int32{2, 0, 3, 2, 1}, []int32{0, 2, 2, 5, 7, 8}, []int32{2, 0, 3, 4, 1}, []int32{4, 3, 1, 0}},
		{[]int32{4}, []int32{0, 4}, []int32{0}, []int32{1, 1, 1, 1}},
		{nil, []int32{0}, nil, []int32{0, 0, 0, 0}},
		{[]int32{0, 0}, []int32{0, 0, 0}, []int32{0, 1}, []int32{0, 0, 0, 0}},
	} {
		p.set(c.lengths, 4)
		if !slices.Equal(p.starts, c.starts) || !slices.Equal(p.order, c.order) || !slices.Equal(p.active, c.active) {
			t.Errorf("lengths %v: %v, %v, %v", c.lengths, p.starts, p.order, p.active)
		}
	}
}

// Frozen embeddings and recurrences train what is above or below them: gradients are
// those entries of the whole net's.
func TestFrozenSequences(t *testing.T) {
	layers := func(parts ...Trainable) []Layer {
		return []Layer{{Kind: "embedding", Vocabulary: 4, Units: 3, Trainable: parts[0]}, {Kind: "lstm", Units: 3, Mode: "sequence", Trainable: parts[1]},
			{Kind: "gru", Units: 2, Trainable: parts[2]}, {Kind: "layer_norm", Trainable: parts[3]}, {Kind: "dense", Units: 3, Trainable: parts[4]}}
	}
	whole := tried{in: Tokens(4), outputs: 3, vocabulary: 4, layers: layers("", "", "", "", "")}
	all := mustCompile(t, whole.spec(), whole.in, 3)
	params, inputs, targets, seeds := whole.batch(all, 5, 2)
	want := gradients(all, params, inputs, targets, seeds)
	no := TrainNone
	for _, c := range []struct {
		parts  []Trainable
		prefix int
	}{
		{[]Trainable{no, "", "", "", ""}, 0}, {[]Trainable{"", no, "", "", ""}, 0}, {[]Trainable{no, no, "", "", ""}, 0}, {[]Trainable{no, no, no, "", ""}, 3},
		{[]Trainable{"", "", no, no, ""}, 0}, {[]Trainable{no, no, no, no, ""}, 4}, {[]Trainable{"", no, no, no, no}, 0}, {[]Trainable{no, "", no, no, no}, 0},
	} {
		net := mustCompile(t, Spec{Layers: layers(c.parts...)}, whole.in, 3)
		var trained, frozen []float32
		var places []int
		at := 0
		for i, l := range all.Layers() {
			if c.parts[i] == no {
				frozen = append(frozen, params[at:at+l.Parameters]...)
			} else {
				trained = append(trained, params[at:at+l.Parameters]...)
				for j := range l.Parameters {
					places = append(places, at+j)
				}
			}
			at += l.Parameters
		}
		if err := net.SetFrozen(frozen); err != nil {
			t.Fatal(err)
		}
		if net.FrozenPrefix() != c.prefix {
			t.Errorf("%q: a prefix of %d layers, want %d", c.parts, net.FrozenPrefix(), c.prefix)
		}
		for _, rest := range []bool{false, true} {
			x, n := inputs, net
			if rest {
				x, n = slices.Clone(net.ForwardPrefix(0, inputs)), net.Rest()
			}
			if !slices.Equal(n.Predict(0, trained, x), all.Predict(0, params, inputs)) {
				t.Errorf("%q: other scores", c.parts)
			}
			for e, g := range gradients(n, trained, x, targets, seeds) {
				for k, v := range g {
					if math.Abs(v-want[e][places[k]]) > 1e-6 {
						t.Fatalf("%q, example %d, parameter %d: gradient %g, want %g", c.parts, e, k, v, want[e][places[k]])
					}
				}
			}
		}
	}
}

// A prefix ends before what later layers want of its inside.
func TestPrefixAndResiduals(t *testing.T) {
	frozen := func(n int) Layer { return Layer{Kind: "dense", Units: n, Trainable: TrainNone} }
	for _, c := range []struct {
		layers []Layer
		prefix int
	}{
		{[]Layer{frozen(4), kind("tanh"), frozen(4), {Kind: "residual", From: 2}, units(3)}, 4},
		{[]Layer{frozen(4), kind("tanh"), frozen(4), units(4), {Kind: "residual", From: 2}, units(3)}, 2},
		{[]Layer{frozen(4), frozen(4), units(4), {Kind: "residual"}, units(3)}, 0},
		{[]Layer{frozen(4), {Kind: "batch_norm", Trainable: TrainNone}, frozen(4), units(3)}, 1},
	} {
		net := mustCompile(t, Spec{Layers: c.layers}, Vector(4), 3)
		if net.FrozenPrefix() != c.prefix {
			t.Errorf("%v: a prefix of %d layers, want %d", c.layers, net.FrozenPrefix(), c.prefix)
		}
		case1 := tried{in: Vector(4), outputs: 3, layers: c.layers}
		params, inputs, targets, seeds := case1.batch(net, 3, 1)
		a := gradients(net, params, inputs, targets, seeds)
		b := gradients(net.Rest(), params, slices.Clone(net.ForwardPrefix(0, inputs)), targets, seeds)
		for e := range a {
			if !slices.Equal(a[e], b[e]) {
				t.Errorf("%v: the rest has other gradients", c.layers)
			}
		}
	}
}
