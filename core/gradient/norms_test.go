package gradient

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/entropy"
	"pawl/internal/stattest"
)

// excess is how much longer than ClippingNorm a contribution may be as it is
// computed: rounding of the factor, of the scaled rows of G (16 times 2⁻²⁴, see
// cancel) and of a product of few terms. Train enlarges its noise by 1e-5.
const excess = 2e-6

// drawRaw draws rows of A and G of one example: of any size, not finite, or
// cancelling almost.
func drawRaw(t *rapid.T, net rawNet) []float32 {
	power := func(name string) float64 { return math.Pow(10, float64(rapid.IntRange(-20, 20).Draw(t, name))) }
	x := append(drawFloats(t, net.t*net.m, power("size of A")), drawFloats(t, net.t*net.n, power("size of G"))...)
	a, g := x[:net.t*net.m], x[net.t*net.m:]
	switch rapid.SampledFrom([]string{"", "", "rows cancel", "rows cancel almost", "special", "zero"}).Draw(t, "kind") {
	case "rows cancel almost":
		a[0] *= 1 + 0x1p-20
		fallthrough
	case "rows cancel":
		for r := range net.t {
			copy(a[r*net.m:(r+1)*net.m], a[:net.m])
			copy(g[r*net.n:(r+1)*net.n], g[:net.n])
			for j := range net.n * (r % 2) {
				g[r*net.n+j] *= -1
			}
		}
		if net.t > 1 {
			g[len(g)-1] *= float32(1 + power("remainder")*1e-20)
		}
	case "special":
		for range rapid.IntRange(1, 3).Draw(t, "places") {
			x[rapid.IntRange(0, len(x)-1).Draw(t, "place")] = rapid.SampledFrom([]float32{float32(math.NaN()), float32(math.Inf(1)),
				float32(math.Inf(-1)), math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 0, 1e-38}).Draw(t, "special")
		}
	case "zero":
		clear(rapid.SampledFrom([][]float32{a, g, x}).Draw(t, "zero"))
	}
	return x
}

// A row's contribution has norm at most C, whatever the network hands out: rows of
// any size, that cancel, NaN, infinite, zero. Where the gradient is an ordinary one
// the contribution is also the clipped gradient. Convicts clipping off, norms in
// float32 (underflow, cancellation), factors that are rounded up and NaN that
// passes.
func TestNetworkContributionNormIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(append(tiny, tiny[2])).Draw(t, "shape")
		net := rawNet{t: s.t, m: s.m, n: s.n, bias: rapid.Bool().Draw(t, "bias")}
		tr := training(net, nil)
		tr.Clipping = rapid.SampledFrom([]Clipping{Flat, Automatic}).Draw(t, "clipping")
		tr.ClippingNorm = rapid.SampledFrom([]float64{LeastNorm, 1e-5, 0.3, 1, 100, GreatestNorm}).Draw(t, "clip")
		x := drawRaw(t, net)
		got := firstSum(t, tr, imageRows(1, true, [][]float32{x}, []float64{1}, nil, len(x)), make([]float32, net.Parameters()), entropy.Seeded(1))
		if norm := stattest.Norm(got); !(norm <= tr.ClippingNorm*(1+excess)) {
			t.Fatalf("%s: contribution of norm %g, want at most %g", s.name, norm, tr.ClippingNorm)
		}
		want := net.gradient(x)
		terms := 0.0
		for r := range net.t {
			a, b := stattest.Norm(widen(x[r*net.m:(r+1)*net.m])), 0.0
			if net.bias {
				b = 1
			}
			terms += math.Hypot(a, b) * stattest.Norm(widen(x[net.t*net.m+r*net.n:net.t*net.m+(r+1)*net.n]))
		}
		if norm := stattest.Norm(want); norm > 1e-15 && norm < 1e15 && terms < 15*norm && stattest.Norm(widen(x[:net.t*net.m])) < 1e19 && tr.ClippingNorm/norm < 1e15 && tr.ClippingNorm/norm > 1e-15 {
			if want := clipped(want, tr.Clipping, tr.ClippingNorm); !(distance(got, want) <= 1e-5*stattest.Norm(want)) {
				t.Fatalf("%s: contribution of norm %g is %g away from the clipped gradient of norm %g", s.name, stattest.Norm(got), distance(got, want), stattest.Norm(want))
			}
		}
	})
}

// The norm of 10⁶ entries of 1e-5 is 0.01, not 0; see C14 of float16 norms. Tiny
// rows of A and huge ones of G multiply to 1.
func TestNormsDoNotUnderflow(t *testing.T) {
	fill := func(n int, v float32) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = v
		}
		return x
	}
	for _, tt := range []struct {
		name string
		net  rawNet
		a, g float32
		norm float64
	}{
		{"a million small entries", rawNet{t: 1, m: 1000, n: 1000}, 1e-5, 1, 0.01},
		{"squares below float32", rawNet{t: 1, m: 4, n: 4}, 1e-30, 1e29, 0.4},
		{"two rows", rawNet{t: 2, m: 12, n: 14}, 1e-30, 1e29, 2 * math.Sqrt(12*14) * 0.1},
		{"formed", rawNet{t: 5, m: 3, n: 2}, 1e-30, 1e29, 5 * math.Sqrt(6) * 0.1},
	} {
		tr := training(tt.net, nil)
		tr.ClippingNorm = tt.norm / 10
		x := append(fill(tt.net.t*tt.net.m, tt.a), fill(tt.net.t*tt.net.n, tt.g)...)
		got := stattest.Norm(firstSum(t, tr, imageRows(1, true, [][]float32{x}, []float64{1}, nil, len(x)), make([]float32, tt.net.Parameters()), entropy.Seeded(1)))
		if math.Abs(got/tr.ClippingNorm-1) > excess {
			t.Errorf("%s: contribution of norm %g, want %g", tt.name, got, tr.ClippingNorm)
		}
	}
}

// Where float32 has not the digits for a factor, or for scaled rows of G beside a
// huge A, rounding must not make a contribution longer: it is left out.
func TestScalesBeyondFloat32ContributeNoMore(t *testing.T) {
	for _, tt := range []struct {
		name string
		net  rawNet
		a, g float64
	}{
		{"factor of one digit", rawNet{t: 1, m: 1, n: 1}, 1e16, 1e17},
		{"factor of one digit, formed", rawNet{t: 5, m: 3, n: 2}, 1e16, 1e16},
		{"rows of few digits", rawNet{t: 1, m: 1, n: 1}, 1e31, 1e-31},
		{"two rows of few digits", rawNet{t: 2, m: 12, n: 14}, 1e31, 1e-31},
	} {
		for i := range 40 {
			x := make([]float32, tt.net.Inputs())
			for j := range x {
				if x[j] = float32(tt.a); j >= tt.net.t*tt.net.m {
					x[j] = float32(tt.g * (1 + float64(i)/20))
				}
			}
			tr := training(tt.net, nil)
			tr.ClippingNorm = LeastNorm
			if got := stattest.Norm(firstSum(t, tr, imageRows(1, true, [][]float32{x}, []float64{1}, nil, len(x)), make([]float32, tt.net.Parameters()), entropy.Seeded(1))); !(got <= LeastNorm*(1+excess)) {
				t.Errorf("%s: contribution of norm %g, want at most %g", tt.name, got, LeastNorm)
			}
		}
	}
}

// Rows that are not finite contribute nothing and leave the others as they are, in
// the same microbatch too.
func TestNonFiniteRowsContributeNothing(t *testing.T) {
	for _, s := range tiny {
		net := rawNet{t: s.t, m: s.m, n: s.n, bias: true}
		src := entropy.Seeded(2)
		fresh := func() []float32 {
			x := make([]float32, net.Inputs())
			for j := range x {
				x[j] = float32(src.Float64() - 0.5)
			}
			return x
		}
		var good, all [][]float32
		for _, special := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32} {
			for _, place := range []int{0, net.t*net.m - 1, net.t * net.m, net.Inputs() - 1} {
				bad := fresh()
				for j := range bad {
					if special == math.MaxFloat32 {
						bad[j] = math.MaxFloat32
					}
				}
				bad[place] = float32(special)
				x := fresh()
				good, all = append(good, x), append(all, bad, x)
			}
		}
		tr := training(net, nil)
		tr.ClippingNorm = 0.1
		sum := func(inputs [][]float32) []float64 {
			return firstSum(t, tr, imageRows(1, true, inputs, make([]float64, len(inputs)), nil, net.Inputs()), make([]float32, net.Parameters()), entropy.Seeded(1))
		}
		a, b := sum(good), sum(all)
		if !(distance(a, b) <= 1e-6*stattest.Norm(a)) {
			t.Errorf("%s: rows that are not finite move the sum of norm %g by %g", s.name, stattest.Norm(a), distance(a, b))
		}
	}
}

// Contributions are bounded, sums of them are rounded: what float32 leaves of the
// sum of n equal contributions, the worst kind, in units of C. README states it.
func TestRoundingOfSums(t *testing.T) {
	for _, n := range []int{100, 1000, 4000} {
		net := rawNet{t: 1, m: 20, n: 20}
		src := entropy.Seeded(3)
		x := make([]float32, net.Inputs())
		for j := range x {
			x[j] = float32(src.Float64() - 0.5)
		}
		tr := training(net, nil)
		tr.ClippingNorm, tr.Microbatch = 1, 500
		var inputs [][]float32
		for range n {
			inputs = append(inputs, x)
		}
		got := firstSum(t, tr, imageRows(1, true, inputs, make([]float64, n), nil, len(x)), make([]float32, net.Parameters()), entropy.Seeded(1))
		want := stattest.Scaled(clipped(net.gradient(x), Flat, 1), float64(n))
		t.Logf("%d equal contributions: off by %.2g C", n, distance(got, want))
		if d := distance(got, want); !(d <= 3e-6*float64(n)) {
			t.Errorf("%d equal contributions of norm 1: the sum is off by %g", n, d)
		}
	}
}
