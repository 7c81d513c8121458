package gradient

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/compute/kernel"
	"pawl/core/entropy"
	"pawl/internal/stattest"
)

// use is one trace of a kindNet.
type use struct {
	offset, t, m, n       int
	bias, token, diagonal bool
	ragged, chained       bool
	formed                bool // by the net
}

func (u use) trace() Trace {
	return Trace{Offset: u.offset, T: u.t, M: u.m, N: u.n, Bias: u.bias, Diagonal: u.diagonal}
}

// numbers is how many inputs a use reads: the number of rows, A or tokens, and G.
func (u use) numbers() int {
	if u.token {
		return 1 + u.t + u.t*u.n
	}
	return 1 + u.t*u.m + u.t*u.n
}

// split reads them.
func (u use) split(x []float32) (rows int, a, g, rest []float32) {
	rows = u.t
	if u.ragged {
		rows = int(x[0])
	}
	wide := u.m
	if u.token {
		wide = 1
	}
	return rows, x[1 : 1+u.t*wide], x[1+u.t*wide : u.numbers()], x[u.numbers():]
}

// chain is a linear map that mixes neighbours and lengthens: the gradient of weights
// v of which w = 3v + (v one place on) are used.
func chain(w []float32) {
	last := w[0]
	for j := range len(w) - 1 {
		w[j] = 3*w[j] + w[j+1]
	}
	w[len(w)-1] = 3*w[len(w)-1] + last
}

// kindNet hands out traces of every kind, from what its inputs hold.
type kindNet struct {
	uses []use
	size int
}

func (k *kindNet) PerExample() error { return nil }
func (k *kindNet) Parameters() int   { return k.size }

func (k *kindNet) Inputs() int {
	n := 0
	for _, u := range k.uses {
		n += u.numbers()
	}
	return n
}

func (k *kindNet) Backprop(_ int, _, inputs, targets []float32, _ []uint64, record func(Trace)) {
	traces := make([]Trace, len(k.uses))
	for i, u := range k.uses {
		traces[i] = u.trace()
		if u.ragged {
			traces[i].Starts = []int32{0}
		}
		if u.token {
			traces[i].Index = []int32{}
		}
		if u.chained {
			traces[i].Chain = chain
		}
	}
	for e := range targets {
		x := inputs[e*k.Inputs() : (e+1)*k.Inputs()]
		for i, u := range k.uses {
			tr := &traces[i]
			var a, g []float32
			var rows int
			rows, a, g, x = u.split(x)
			tr.G = append(tr.G, g[:rows*u.n]...)
			if u.token {
				for _, v := range a[:rows] {
					tr.Index = append(tr.Index, int32(v))
				}
			} else {
				tr.A = append(tr.A, a[:rows*u.m]...)
			}
			if u.ragged {
				tr.Starts = append(tr.Starts, tr.Starts[e]+int32(rows))
			}
		}
	}
	for i, tr := range traces {
		if k.uses[i].formed {
			tr = forming(tr)
		}
		record(tr)
	}
}

// forming has tr form its products itself, each row once.
func forming(tr Trace) Trace {
	a, asked := tr.A, make([]bool, len(tr.A)/tr.M)
	tr.A, tr.Form = nil, func(w, g []float32, from int, add bool) {
		rows := len(g) / tr.N
		for r := range rows {
			if asked[from+r] {
				panic("a row is asked for twice")
			}
			asked[from+r] = true
		}
		if len(w) != tr.M*tr.N {
			panic("room for another weight")
		}
		kernel.MatMul(kernel.Dense(w, tr.M, tr.N), kernel.Dense(a[from*tr.M:], rows, tr.M).T(), kernel.Dense(g, rows, tr.N), add)
	}
	return tr
}

// gradient is the definition, in float64: one-hot rows written out, diagonals as
// products, uses added, then chained.
func (k *kindNet) gradient(x []float32) []float64 {
	g := make([]float64, k.size)
	chained := map[int]int{}
	for _, u := range k.uses {
		var rows int
		var a, d []float32
		rows, a, d, x = u.split(x)
		w := g[u.offset:]
		tr := u.trace()
		for t := range rows {
			for j, v := range d[t*u.n : (t+1)*u.n] {
				switch {
				case u.token:
					w[int(a[t])*u.n+j] += float64(v)
				case u.diagonal:
					w[j] += float64(a[t*u.m+j]) * float64(v)
				default:
					for i, y := range a[t*u.m : (t+1)*u.m] {
						w[i*u.n+j] += float64(y) * float64(v)
					}
				}
				if u.bias {
					w[tr.size()-u.n+j] += float64(v)
				}
			}
		}
		if u.chained {
			chained[u.offset] = max(chained[u.offset], tr.size())
		}
	}
	for at, size := range chained {
		w := g[at : at+size]
		old := slices.Clone(w)
		for j := range w {
			w[j] = 3*old[j] + old[(j+1)%size]
		}
	}
	return g
}

// drawKinds draws a net of weights of every kind, some of them used twice.
func drawKinds(t *rapid.T) *kindNet {
	k := &kindNet{}
	for range rapid.IntRange(1, 4).Draw(t, "weights") {
		u := use{offset: k.size, t: rapid.IntRange(1, 6).Draw(t, "T"), m: rapid.IntRange(2, 7).Draw(t, "M"), n: rapid.IntRange(1, 5).Draw(t, "N"),
			ragged: rapid.Bool().Draw(t, "ragged"), chained: rapid.IntRange(0, 3).Draw(t, "chained") == 0}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			u.token = true
		case 1:
			u.diagonal, u.m = true, u.n
			u.bias = rapid.Bool().Draw(t, "bias")
		default:
			u.bias, u.formed = rapid.Bool().Draw(t, "bias"), rapid.Bool().Draw(t, "formed")
		}
		k.uses = append(k.uses, u)
		tr := u.trace()
		k.size += tr.size()
		if rapid.IntRange(0, 2).Draw(t, "twice") == 0 {
			again := u
			again.t = rapid.IntRange(1, 4).Draw(t, "T of the second use")
			again.ragged = rapid.Bool().Draw(t, "ragged second use")
			// A second use may be of another kind, as an embedding that is also the last layer.
			if !u.diagonal && !u.bias {
				again.token = rapid.Bool().Draw(t, "token")
				again.formed = again.formed && !again.token
			}
			k.uses = append(k.uses, again)
		}
	}
	return k
}

func (k *kindNet) draw(t *rapid.T) []float32 {
	x := drawFloats(t, k.Inputs(), 2)
	rest := x
	for _, u := range k.uses {
		rest[0] = float32(rapid.IntRange(0, u.t).Draw(t, "rows"))
		_, a, _, next := u.split(rest)
		if u.token {
			for i := range a {
				// Few tokens, so that they repeat.
				a[i] = float32(rapid.IntRange(0, min(u.m, 3)-1).Draw(t, "token"))
			}
		}
		rest = next
	}
	return x
}

// The sum of a step equals that of the definition, one example at a time, for every
// kind of trace: one-hot rows whose tokens repeat, diagonals, ragged rows, weights
// used twice, weights computed from others; with variants and microbatches. And no
// example contributes more than C. Convicts a token's rows whose norms are added up,
// norms of two uses added up, a norm taken before the chain, rows of the neighbour.
func TestKindsOfTracesMatchOneExampleAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		net := drawKinds(t)
		tr := training(net, nil)
		tr.ClippingNorm = rapid.SampledFrom([]float64{0.02, 3, 1000}).Draw(t, "clip")
		tr.Clipping = rapid.SampledFrom([]Clipping{Flat, Automatic, Unclipped}).Draw(t, "clipping")
		tr.Microbatch = rapid.SampledFrom([]int{1, 3, 50}).Draw(t, "microbatch")
		n := rapid.SampledFrom([]int{0, 1, 2, 7}).Draw(t, "rows")
		var inputs [][]float32
		for range n {
			inputs = append(inputs, net.draw(t))
		}
		if tr.Multiplicity = rapid.SampledFrom([]int{1, 2}).Draw(t, "variants"); tr.Multiplicity > 1 {
			// The second variant is another example's input.
			other := net.draw(t)
			tr.Augment = func(dst, input []float32, seed uint64) {
				copy(dst, input)
				if seed&1 == 1 {
					copy(dst, other)
				}
			}
		}
		src := entropy.Seeded(rapid.Uint64().Draw(t, "seed"))
		seed := *src
		rows := imageRows(1, true, inputs, make([]float64, n), nil, net.Inputs())
		params := make([]float32, net.size)
		got := firstSum(t, tr, rows, params, &seed)
		mask, seeds := src.Split("masks").Uint64(), mustOpen(t, rows).Seeds()
		want, most := make([]float64, net.size), 0.0
		for i, x := range inputs {
			mean := make([]float64, net.size)
			for c := range tr.Multiplicity {
				in := slices.Clone(x)
				if tr.Augment != nil {
					tr.Augment(in, x, mix(^mix(mask, seeds[i]), uint64(c)))
				}
				for j, v := range net.gradient(in) {
					mean[j] += v / float64(tr.Multiplicity)
				}
			}
			contribution := clipped(mean, tr.Clipping, tr.ClippingNorm)
			most += stattest.Norm(contribution)
			for j, v := range contribution {
				want[j] += v
			}
		}
		if d := distance(got, want); !(d <= 2e-5*most) {
			t.Fatalf("%+v: the sum of norm %g is %g away from that of one example at a time", net.uses, stattest.Norm(want), d)
		}
		if n == 1 && tr.Clipping != Unclipped && !(stattest.Norm(got) <= tr.ClippingNorm*(1+2e-6)) {
			t.Fatalf("%+v: one row contributes a vector of norm %g, want at most %g", net.uses, stattest.Norm(got), tr.ClippingNorm)
		}
	})
}

// The bound is reached by every kind, so that a sensitivity that is too small, such as
// that of rows whose norms were added up, would be seen; and rows that cancel give
// what is left of them.
func TestKindsOfTracesReachTheBound(t *testing.T) {
	for _, tt := range []struct {
		name  string
		uses  []use
		x     []float32
		after float64 // norm of the gradient
	}{
		{"tokens that repeat", []use{{t: 3, m: 5, n: 1, token: true}}, []float32{0, 2, 2, 2, 3, 3, 3}, 9},
		{"tokens that cancel", []use{{t: 3, m: 5, n: 1, token: true}}, []float32{0, 2, 4, 2, 3, 0, -2}, 1},
		{"tokens apart", []use{{t: 2, m: 5, n: 1, token: true}}, []float32{0, 2, 3, 3, 4}, 5},
		{"used twice", []use{{t: 1, m: 1, n: 1}, {t: 1, m: 1, n: 1}}, []float32{0, 1, 3, 0, 1, 4}, 7},
		{"formed by the net", []use{{t: 2, m: 1, n: 1, formed: true}}, []float32{0, 1, 1, 3, 4}, 7},
		{"formed by the net, of one row", []use{{t: 1, m: 1, n: 1, formed: true}}, []float32{0, 1, 3}, 3},
		{"used twice, cancelling", []use{{t: 1, m: 1, n: 1}, {t: 1, m: 1, n: 1}}, []float32{0, 1, 3, 0, -1, 4}, 1},
		{"token and row", []use{{t: 1, m: 2, n: 1, token: true}, {t: 1, m: 2, n: 1}}, []float32{0, 1, 3, 0, 4, 1, 1}, math.Sqrt(32)},
		{"diagonal", []use{{t: 2, m: 2, n: 2, diagonal: true}}, []float32{0, 1, 2, 1, 2, 3, 1, 3, 1}, math.Sqrt(52)},
		{"chained", []use{{t: 1, m: 1, n: 2, chained: true}}, []float32{0, 1, 1, 1}, math.Sqrt(32)},
		{"ragged", []use{{t: 4, m: 1, n: 1, ragged: true}}, []float32{2, 1, 1, 9, 9, 3, 4, 9, 9}, 7},
		{"no rows", []use{{t: 2, m: 1, n: 1, ragged: true}}, []float32{0, 1, 1, 3, 4}, 0},
	} {
		net := &kindNet{uses: tt.uses}
		tr0 := tt.uses[0].trace()
		net.size = tr0.size()
		for _, c := range []float64{0.5, 100} {
			tr := training(net, nil)
			tr.ClippingNorm = c
			got := firstSum(t, tr, imageRows(1, true, [][]float32{tt.x}, []float64{1}, nil, net.Inputs()), make([]float32, net.size), entropy.Seeded(1))
			if n, want := stattest.Norm(got), min(c, tt.after); math.Abs(n-want) > 1e-6*(want+1e-9) {
				t.Errorf("%s at C = %g: a vector of norm %g, want %g", tt.name, c, n, want)
			}
		}
	}
}

// An example that is not finite contributes nothing, whatever the kind of trace, and
// leaves the others as they are.
func TestKindsOfTracesLeaveOutWhatIsNotFinite(t *testing.T) {
	for _, u := range []use{{t: 2, m: 3, n: 2, token: true}, {t: 2, m: 2, n: 2, diagonal: true, bias: true}, {t: 3, m: 2, n: 2, ragged: true},
		{t: 3, m: 2, n: 2, formed: true}, {t: 1, m: 2, n: 2, formed: true},
		{t: 1, m: 2, n: 2, chained: true}} {
		for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), math.MaxFloat32} {
			tr0 := u.trace()
			net := &kindNet{uses: []use{u}, size: tr0.size()}
			good := make([]float32, net.Inputs())
			for i := range good {
				good[i] = 1
			}
			spoilt := slices.Clone(good)
			spoilt[len(spoilt)-1], spoilt[len(spoilt)-2] = bad, bad
			if u.ragged {
				good[0], spoilt[0] = 3, 3
			}
			sum := func(x ...[]float32) []float64 {
				return firstSum(t, training(net, nil), imageRows(1, true, x, make([]float64, len(x)), nil, net.Inputs()), make([]float32, net.size), entropy.Seeded(1))
			}
			want := sum(good, good)
			got := sum(good, spoilt, good)
			// The largest number has a norm, and is clipped like any other.
			if n := distance(got, want); !(n <= 0.5*(1+2e-6)) || bad != math.MaxFloat32 && n != 0 {
				t.Errorf("%+v: a row of %g moves the sum by %g", u, bad, n)
			}
		}
	}
}

type formingNet struct{ rawNet }

func (w formingNet) Backprop(worker int, params, inputs, targets []float32, seeds []uint64, record func(Trace)) {
	w.rawNet.Backprop(worker, params, inputs, targets, seeds, func(tr Trace) { record(forming(tr)) })
}

// A trace that forms its products gives the bits of one that lists its rows, if those would be formed, and where nothing is
// clipped.
func TestTracesThatFormGiveTheSameBits(t *testing.T) {
	for _, shape := range []rawNet{{t: 5, m: 3, n: 2, bias: true}, {t: 100, m: 7, n: 5}, {t: 300, m: 9, n: 20, bias: true}} {
		for _, clipping := range []Clipping{Flat, Unclipped} {
			rng := entropy.Seeded(5)
			var inputs [][]float32
			for range 9 {
				x := make([]float32, shape.Inputs())
				for j := range x {
					x[j] = float32(rng.Float64() - 0.5)
				}
				inputs = append(inputs, x)
			}
			sum := func(net Network) []float64 {
				tr := training(net, nil)
				tr.Clipping = clipping
				return firstSum(t, tr, imageRows(1, true, inputs, make([]float64, len(inputs)), nil, net.Inputs()), make([]float32, net.Parameters()), entropy.Seeded(1))
			}
			if got, want := sum(formingNet{shape}), sum(shape); !slices.Equal(got, want) {
				t.Errorf("%+v, %s: other bits", shape, clipping)
			}
		}
	}
}

type mixer struct{ rawNet }

func (mixer) PerExample() error { return errMixed }

var errMixed = errMixedLayer{}

type errMixedLayer struct{}

func (errMixedLayer) Error() string { return "layer 2 mixes examples" }

// A network whose examples have no gradient of their own is refused before anything
// is opened, and trained without clipping on public data.
func TestNetworksThatMixExamplesAreRefused(t *testing.T) {
	tr := training(mixer{rawNet{t: 1, m: 1, n: 1}}, nil)
	for _, clipping := range []Clipping{Flat, Automatic} {
		tr.Clipping = clipping
		if err := tr.Validate(); err != errMixed {
			t.Errorf("%s: %v, want the network's own refusal", clipping, err)
		}
	}
	tr.Clipping = Unclipped
	if err := tr.Validate(); err != nil {
		t.Errorf("without clipping: %v", err)
	}
}
