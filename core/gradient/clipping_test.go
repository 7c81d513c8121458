package gradient

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/entropy"
	"pawl/internal/stattest"
)

// perLayer is the definition: the part of each weight of a net, found by its offset, is
// clipped to C over the root of the number of weights.
func (k *kindNet) perLayer(g []float64, c float64) []float64 {
	sizes := map[int]int{}
	for _, u := range k.uses {
		tr := u.trace()
		sizes[u.offset] = max(sizes[u.offset], tr.size())
	}
	out := make([]float64, len(g))
	for at, size := range sizes {
		copy(out[at:], clipped(g[at:at+size], Flat, c/math.Sqrt(float64(len(sizes)))))
	}
	return out
}

// The sum of a step with a bound for each weight equals that of the definition, one
// example at a time, for every kind of trace; and no example contributes more than C, nor
// more than its bound to any weight. Convicts one norm for all weights, bounds that do not
// add up to C, factors of one weight or example on another.
func TestPerLayerMatchesOneExampleAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		net := drawKinds(t)
		tr := training(net, nil)
		tr.ClippingNorm = rapid.SampledFrom([]float64{0.02, 3, 1000}).Draw(t, "clip")
		tr.Clipping, tr.Microbatch = PerLayer, rapid.SampledFrom([]int{1, 3, 50}).Draw(t, "microbatch")
		var inputs [][]float32
		want, most := make([]float64, net.size), 0.0
		for range rapid.SampledFrom([]int{0, 1, 2, 7}).Draw(t, "rows") {
			x := net.draw(t)
			inputs = append(inputs, x)
			contribution := net.perLayer(net.gradient(x), tr.ClippingNorm)
			most += stattest.Norm(contribution)
			for j, v := range contribution {
				want[j] += v
			}
		}
		rows := imageRows(1, true, inputs, make([]float64, len(inputs)), nil, net.Inputs())
		got := firstSum(t, tr, rows, make([]float32, net.size), entropy.Seeded(1))
		if d := distance(got, want); !(d <= 2e-5*most) {
			t.Fatalf("%+v: the sum of norm %g is %g away from that of one example at a time", net.uses, stattest.Norm(want), d)
		}
		if len(inputs) == 1 && !(stattest.Norm(got) <= tr.ClippingNorm*(1+2e-6)) {
			t.Fatalf("%+v: one row contributes a vector of norm %g, want at most %g", net.uses, stattest.Norm(got), tr.ClippingNorm)
		}
	})
}

// The bound of the whole is reached, so that a sensitivity that is too small would be
// seen; one weight alone reaches its own and no more. Variants and rows of the neighbour
// change nothing.
func TestPerLayerReachesTheBound(t *testing.T) {
	net := &kindNet{uses: []use{{t: 1, m: 1, n: 2}, {offset: 2, t: 1, m: 2, n: 1, token: true}, {offset: 4, t: 2, m: 1, n: 1, diagonal: true}}, size: 5}
	long, small := []float32{0, 1, 3, 4, 0, 1, 7, 0, 2, 2, 3, 3}, []float32{0, 1, 3, 4, 0, 1, 0, 0, 0, 0, 0, 0}
	for _, tt := range []struct {
		name string
		x    []float32
		want float64
	}{{"all weights", long, 1}, {"one of three", small, 1 / math.Sqrt(3)}} {
		tr := training(net, nil)
		tr.ClippingNorm, tr.Clipping = 1, PerLayer
		got := firstSum(t, tr, imageRows(1, true, [][]float32{tt.x}, []float64{1}, nil, net.Inputs()), make([]float32, 5), entropy.Seeded(1))
		if n := stattest.Norm(got); math.Abs(n-tt.want) > 1e-6 {
			t.Errorf("%s: a vector of norm %g, want %g", tt.name, n, tt.want)
		}
	}
}

// An example that is not finite in one weight contributes to none.
func TestPerLayerLeavesOutWhatIsNotFinite(t *testing.T) {
	net := &kindNet{uses: []use{{t: 1, m: 2, n: 2}, {offset: 4, t: 1, m: 1, n: 2}}, size: 6}
	good := []float32{0, 1, 1, 1, 1, 0, 1, 1, 1}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		spoilt := append([]float32{}, good...)
		spoilt[len(spoilt)-1] = float32(bad)
		tr := training(net, nil)
		tr.Clipping = PerLayer
		sum := func(x ...[]float32) []float64 {
			return firstSum(t, tr, imageRows(1, true, x, make([]float64, len(x)), nil, net.Inputs()), make([]float32, net.size), entropy.Seeded(1))
		}
		if d := distance(sum(good, spoilt, good), sum(good, good)); d != 0 {
			t.Errorf("a row of %g in one weight moves the sum by %g", bad, d)
		}
	}
}
