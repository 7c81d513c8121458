package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// With n = 40,000 draws the share of cleared numbers has standard error 0.0025;
// 4.9 of them is a false alarm in a million. Masks depend on the seed, the layer
// and the place, and on nothing else.
func TestDropout(t *testing.T) {
	const d, n, rate = 400, 100, 0.4
	l := &dropout{d: d, rate: rate}
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
