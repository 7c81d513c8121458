package nn

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pawl/core/gradient"
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

// referenceSequence is the layers of sequences, one number at a time.
func referenceSequence(l Layer, take func(int) []float64, x []float64, in *Shape, steps *int) ([]float64, bool) {
	d := in.Channels
	row := func(t int) []float64 { return x[t*d : (t+1)*d] }
	apply := func(w, b, v []float64) []float64 {
		y := slices.Clone(b)
		for i, u := range v {
			for j := range y {
				y[j] += u * w[i*len(y)+j]
			}
		}
		return y
	}
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	var states [][]float64
	h := l.Units
	switch {
	case l.Kind == "embedding":
		w := take(l.Vocabulary * h)
		var y []float64
		for _, token := range x[1 : 1+int(x[0])] {
			y = append(y, w[int(token)*h:int(token+1)*h]...)
		}
		*in, *steps = Shape{len(x) - 1, 1, h}, int(x[0])
		return y, true
	case *steps == 0:
		return nil, false
	case l.Kind == "lstm":
		w, b := take((d+h)*4*h), take(4*h)
		state, cell := make([]float64, h), make([]float64, h)
		for t := range *steps {
			g := apply(w, b, append(slices.Clone(row(t)), state...))
			state = make([]float64, h)
			for j := range state {
				cell[j] = sigmoid(g[h+j])*cell[j] + sigmoid(g[j])*math.Tanh(g[2*h+j])
				state[j] = sigmoid(g[3*h+j]) * math.Tanh(cell[j])
			}
			states = append(states, state)
		}
	case l.Kind == "gru":
		wx, bx, wh, bh := take(d*3*h), take(3*h), take(h*3*h), take(3*h)
		state := make([]float64, h)
		for t := range *steps {
			p, q := apply(wx, bx, row(t)), apply(wh, bh, state)
			next := make([]float64, h)
			for j := range next {
				z := sigmoid(p[h+j] + q[h+j])
				next[j] = (1-z)*math.Tanh(p[2*h+j]+sigmoid(p[j]+q[j])*q[2*h+j]) + z*state[j]
			}
			state = next
			states = append(states, state)
		}
	case l.Kind == "mean_over_time":
		for t := range *steps {
			states = append(states, row(t))
		}
		l.Mode = "mean"
	case l.Kind == "dense":
		w, b := take(d*h), take(h)
		for t := range *steps {
			states = append(states, apply(w, b, row(t)))
		}
		l.Mode = "sequence"
	case l.Kind == "layer_norm":
		g := take(2 * d)
		for t := range *steps {
			states = append(states, referenceNorm(1, d, func(int) []float64 { return g }, row(t)))
		}
		l.Mode = "sequence"
	default:
		return nil, false
	}
	switch l.Mode {
	case "sequence":
		*in = Shape{in.Height, 1, len(states[0])}
		return slices.Concat(states...), true
	case "mean":
		y := make([]float64, len(states[0]))
		for _, state := range states {
			for j, v := range state {
				y[j] += v / float64(*steps)
			}
		}
		*in, *steps = Vector(len(y)), 0
		return y, true
	}
	*in, *steps = Vector(h), 0
	return states[len(states)-1], true
}

func referenceNorm(groups, channels int, take func(int) []float64, x []float64) []float64 {
	p := take(2 * channels)
	y := make([]float64, len(x))
	for g := range groups {
		var mean, square, n float64
		each := func(do func(i int)) {
			for i := range x {
				if i%channels/(channels/groups) == g {
					do(i)
				}
			}
		}
		each(func(i int) { mean, n = mean+x[i], n+1 })
		mean /= n
		each(func(i int) { square += (x[i] - mean) * (x[i] - mean) / n })
		each(func(i int) { y[i] = p[i%channels]*(x[i]-mean)/math.Sqrt(square+1e-5) + p[channels+i%channels] })
	}
	return y
}

func referenceStandard(w []float64, filters int) []float64 {
	y := make([]float64, len(w))
	for f := range filters {
		var mean, square float64
		for i := f; i < len(w); i += filters {
			mean += w[i] / float64(len(w)/filters)
		}
		for i := f; i < len(w); i += filters {
			square += (w[i] - mean) * (w[i] - mean)
		}
		for i := f; i < len(w); i += filters {
			y[i] = (w[i] - mean) / math.Sqrt(square+1e-4)
		}
	}
	return y
}

func narrow(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

// What lies beyond the end of a text changes nothing, nor does the largest length that
// a net takes: scores and gradients are the same, bit for bit.
func TestPaddingChangesNothing(t *testing.T) {
	for i, c := range nets {
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

// Batch normalization: the gradient of the sum of losses, by differences, statistics
// of the batch included; running statistics for predictions, from all workers and
// kept with the frozen parameters; and its name where examples must stay apart.
func TestBatchNorm(t *testing.T) {
	c := tried{in: Shape{3, 2, 2}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 2, Kernel: 2}, kind("batch_norm"), kind("tanh"), units(3)}}
	net := mustCompile(t, c.spec(), c.in, 3)
	params, inputs, targets, seeds := c.batch(net, 6, 4)
	sum := func(p []float32) []float64 {
		total := make([]float64, len(p))
		for _, g := range gradients(net, p, inputs, targets, seeds) {
			for j, v := range g {
				total[j] += v
			}
		}
		return total
	}
	got := sum(params)
	loss := func(p []float64) (total float64) {
		hidden := make([][]float64, len(targets)) // behind the convolution
		conv := Spec{Layers: c.layers[:1]}
		for e := range targets {
			hidden[e] = reference(conv, c.in, p, widen(inputs[e*12:(e+1)*12]))
		}
		flat := slices.Concat(hidden...)
		even := referenceNorm(2, 2, func(int) []float64 { return p[18:22] }, flat)
		for e, y := range targets {
			s := reference(Spec{Layers: c.layers[2:]}, Vector(4), p[22:], even[e*4:(e+1)*4])
			total += referenceLoss(Loss{}, s, float64(y))
		}
		return total
	}
	p := widen(params)
	for j := range p {
		const h = 1e-5
		old := p[j]
		p[j] = old + h
		up := loss(p)
		p[j] = old - h
		want := (up - loss(p)) / (2 * h)
		p[j] = old
		if math.Abs(got[j]-want) > 1e-4 {
			t.Errorf("parameter %d: got %g, want %g", j, got[j], want)
		}
	}
	for range 200 {
		sum(params)
		net.Backprop(1, params, inputs, targets, seeds, func(gradient.Trace) {})
	}
	scores := slices.Clone(net.Predict(0, params, inputs))
	// Statistics of the one batch that there was: scores are those of training.
	var trained float64
	for e, y := range targets {
		trained += net.Loss().Value(scores[e*3:(e+1)*3], y)
	}
	if want := loss(p); math.Abs(trained-want) > 1e-3 {
		t.Errorf("loss %g with running statistics, %g with those of the batch", trained, want)
	}
	again := mustCompile(t, c.spec(), c.in, 3)
	if err := again.SetFrozen(net.Frozen()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Predict(0, params, inputs), scores) {
		t.Error("the frozen parameters do not hold the statistics")
	}
	err := net.PerExample()
	var l *LayerError
	if !errors.As(err, &l) || l.Layer != 2 || !strings.Contains(err.Error(), "mixes the examples") {
		t.Errorf("batch normalization is not named: %v", err)
	}
	wide := mustCompile(t, Spec{Layers: []Layer{{Kind: "conv2d", Filters: 72, Kernel: 1}, kind("batch_norm"), units(2)}}, Shape{2, 2, 1}, 2)
	if err := wide.PerExample(); err == nil || !strings.Contains(err.Error(), "group_norm") || !strings.Contains(err.Error(), "such as 24") {
		t.Errorf("72 channels: %v does not offer group_norm with 24 groups", err)
	}
	for _, c := range nets {
		if err := mustCompile(t, c.spec(), c.in, c.outputs).PerExample(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestSequenceRefusals(t *testing.T) {
	text, image := Tokens(4), Shape{4, 4, 6}
	e := embed(5, 3)
	for _, c := range []struct {
		name   string
		in     Shape
		layers []Layer
		layer  int
		key    string
		words  string
	}{
		{"embedding of an image", image, []Layer{e, units(2)}, 1, "", "no sequence of tokens"},
		{"late embedding", text, []Layer{units(5), e}, 2, "", "put it first"},
		{"no vocabulary", text, []Layer{{Kind: "embedding", Units: 2}}, 1, "vocabulary", "must lie in 1 to"},
		{"no units", text, []Layer{{Kind: "embedding", Vocabulary: 2}}, 1, "units", "at least 1"},
		{"vast embedding", text, []Layer{embed(1<<20, 1<<10)}, 1, "units", "more than"},
		{"sequence at the end", text, []Layer{e, units(2)}, 2, "", "put lstm, gru or mean_over_time"},
		{"flatten over time", text, []Layer{e, kind("flatten"), units(2)}, 2, "", "time steps"},
		{"convolution over time", text, []Layer{e, {Kind: "conv2d", Filters: 2, Kernel: 3}}, 2, "", "time steps"},
		{"group norm over time", text, []Layer{e, {Kind: "group_norm", Groups: 3}}, 2, "", "time steps"},
		{"lstm of a vector", Vector(4), []Layer{{Kind: "lstm", Units: 2}}, 1, "", "embedding before it"},
		{"mean of a vector", Vector(4), []Layer{kind("mean_over_time")}, 1, "", "embedding before it"},
		{"no state", text, []Layer{e, kind("gru")}, 2, "units", "at least 1"},
		{"vast state", text, []Layer{e, {Kind: "gru", Units: 1 << 15}}, 2, "units", "1 GiB"},
		{"mode", text, []Layer{e, {Kind: "lstm", Units: 2, Mode: "first"}}, 2, "mode", "last, mean or sequence"},
		{"bias of an lstm", text, []Layer{e, {Kind: "lstm", Units: 2, Trainable: TrainBias}}, 2, "trainable", "true or false"},
		{"bias of a norm", Vector(4), []Layer{{Kind: "layer_norm", Trainable: TrainBias}}, 1, "trainable", "true or false"},
		{"no groups", image, []Layer{kind("group_norm")}, 1, "groups", "such as 3"},
		{"uneven groups", image, []Layer{{Kind: "group_norm", Groups: 4}}, 1, "groups", "do not divide 6 channels"},
		{"instance norm of a vector", Vector(4), []Layer{kind("instance_norm")}, 1, "", "layer_norm"},
		{"residual of another shape", Vector(4), []Layer{units(3), {Kind: "residual"}, units(2)}, 2, "from", "a vector of 4 to a vector of 3"},
		{"residual of itself", Vector(4), []Layer{units(4), {Kind: "residual", From: 1}, units(2)}, 2, "from", "earlier layer"},
		{"residual from the future", Vector(4), []Layer{units(4), {Kind: "residual", From: 7}, units(2)}, 2, "from", "earlier layer"},
		{"shares with itself", Vector(4), []Layer{{Kind: "dense", Units: 4, Share: 1}}, 1, "share", "earlier layer"},
		{"shares other sizes", Vector(4), []Layer{units(3), {Kind: "dense", Units: 4, Share: 1}}, 2, "share", "does not have the weights"},
		{"shares with tanh", Vector(4), []Layer{kind("tanh"), {Kind: "dense", Units: 4, Share: 1}}, 2, "share", "does not have the weights"},
		{"shares and freezes", Vector(4), []Layer{units(4), {Kind: "dense", Units: 4, Share: 1, Trainable: TrainNone}}, 2, "trainable", "layer 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(Spec{Layers: c.layers}, c.in, 2)
			var l *LayerError
			if !errors.As(err, &l) || l.Layer != c.layer || l.Key != c.key || l.Instead == "" || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v: want layer %d, key %q, %q", err, c.layer, c.key, c.words)
			}
		})
	}
}

// Layers are left out, and put in front, without moving what others refer to.
func TestReferencesFollowTheirLayers(t *testing.T) {
	dropout := Layer{Kind: "dropout", Rate: 0.5}
	spec := Spec{Layers: []Layer{{Kind: "pool2x2", Mode: "mean"}, units(4), kind("tanh"), dropout, {Kind: "dense", Units: 4}, dropout, {Kind: "residual", From: 4},
		dropout, {Kind: "dense", Units: 4, Share: 5}, units(2)}}
	got := spec.Without(func(l Layer) bool { return l.Kind == "dropout" })
	want := []Layer{spec.Layers[0], units(4), kind("tanh"), units(4), {Kind: "residual", From: 3}, {Kind: "dense", Units: 4, Share: 4}, units(2)}
	if !slices.Equal(got.Layers, want) || spec.Layers[6].From != 4 {
		t.Errorf("without dropout %+v", got.Layers)
	}
	got = spec.Behind(1, kind("standardize"), kind("identity"))
	if l := got.Layers; len(l) != 11 || l[7].From != 5 || l[9].Share != 6 {
		t.Errorf("behind another front end %+v", got.Layers)
	}
	input := Spec{Layers: []Layer{units(4), {Kind: "residual"}, units(2)}}
	if l := input.Behind(0, kind("standardize")).Layers; l[2].From != 1 {
		t.Errorf("a residual from the input skips the front end: %+v", l)
	}
	odd := Spec{Layers: []Layer{units(4), {Kind: "residual", From: 9}, {Kind: "residual", From: -1}}}
	if l := odd.Without(func(Layer) bool { return false }).Layers; l[1].From != 9 || l[2].From != -1 {
		t.Errorf("references that make no sense are mended: %+v", l)
	}
}
