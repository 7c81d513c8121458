package gradient

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/internal/stattest"
)

// shapes of a map, and how its norm is found.
var tiny = []struct {
	name    string
	t, m, n int
	formed  bool
}{
	{"one row", 1, 7, 4, false},
	{"few numbers of many rows", 5, 3, 2, true},
	{"many numbers of few rows", 2, 12, 14, false},
}

func TestShapesTakeBothWays(t *testing.T) {
	for _, s := range tiny {
		if got := Forms(s.t, s.m, s.n); got != s.formed {
			t.Errorf("%s: forms %v, want %v", s.name, got, s.formed)
		}
	}
}

// clipped is the definition of a contribution.
func clipped(g []float64, kind Clipping, c float64) []float64 {
	norm, f := stattest.Norm(g), 1.0
	switch {
	case kind == Automatic:
		f = c / (norm + 0.01*c)
	case kind == Flat && norm > c:
		f = c / norm
	}
	return stattest.Scaled(g, f)
}

// The sum of a step equals the loop over examples: gradients by differences of the
// float64 loss, averaged over variants, then clipped over all parameters together.
// Whatever the shape, the microbatch, the lot and the number of variants: 1e-5 of
// the sum of norms. Convicts a bias left out of the norm, traces clipped one by
// one, averaging after clipping, and examples that leak into each other.
func TestClippedSumMatchesOneExampleAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(tiny).Draw(t, "shape")
		net := &tinyNet{t: s.t, m: s.m, n: s.n, bias: rapid.Bool().Draw(t, "bias"), dropout: rapid.Bool().Draw(t, "dropout")}
		n := rapid.SampledFrom([]int{0, 1, 2, 9}).Draw(t, "rows")
		tr := training(net, nil)
		tr.ClippingNorm = rapid.SampledFrom([]float64{0.02, 0.5, 50}).Draw(t, "clip")
		tr.Clipping = rapid.SampledFrom([]Clipping{Flat, Automatic, Unclipped}).Draw(t, "clipping")
		tr.Microbatch = rapid.SampledFrom([]int{1, 3, 8, 50}).Draw(t, "microbatch")
		tr.SamplingRate = rapid.SampledFrom([]float64{0.5, 1}).Draw(t, "rate")
		tr.ExpectedRows = 40
		if tr.Multiplicity = rapid.SampledFrom([]int{1, 4}).Draw(t, "variants"); tr.Multiplicity > 1 {
			tr.Augment = variant
		}
		var inputs [][]float32
		var targets []float64
		for range n {
			inputs = append(inputs, drawFloats(t, net.Inputs(), 1))
			targets = append(targets, rapid.Float64Range(-2, 2).Draw(t, "target"))
			if rapid.IntRange(0, 9).Draw(t, "unknown") == 0 {
				targets[len(targets)-1] = math.NaN()
			}
		}
		params := drawFloats(t, net.Parameters(), 0.7)
		rows := imageRows(1, true, inputs, targets, nil, net.Inputs())
		seed := rapid.Uint64().Draw(t, "seed")
		got := firstSum(t, tr, rows, params, entropy.Seeded(seed))

		joined := entropy.Seeded(seed).Split("lots").Subset(nil, n, tr.SamplingRate)
		if tr.SamplingRate == 1 {
			joined = joined[:0]
			for i := range n {
				joined = append(joined, int32(i))
			}
		}
		mask, seeds := entropy.Seeded(seed).Split("masks").Uint64(), mustOpen(t, rows).Seeds()
		want, most := make([]float64, len(params)), 0.0
		for _, i := range joined {
			if targets[i] != targets[i] {
				continue
			}
			own, mean := mix(mask, seeds[i]), make([]float64, len(params))
			for c := range tr.Multiplicity {
				x := inputs[i]
				if tr.Augment != nil {
					x = make([]float32, len(x))
					tr.Augment(x, inputs[i], mix(^own, uint64(c)))
				}
				for j, v := range net.gradient(params, x, float64(float32(targets[i])), mix(own, uint64(c))) {
					mean[j] += v / float64(tr.Multiplicity)
				}
			}
			contribution := clipped(mean, tr.Clipping, tr.ClippingNorm)
			most += stattest.Norm(contribution)
			for j, v := range contribution {
				want[j] += v
			}
		}
		if d := distance(got, want); !(d <= 1e-5*most) {
			t.Fatalf("%s: the sum of norm %g is %g away from that of one example at a time", s.name, stattest.Norm(want), d)
		}
	})
}

// variant flips the sign of some inputs.
func variant(dst, input []float32, seed uint64) {
	for i, v := range input {
		if dst[i] = v; mix(seed, uint64(i))&3 == 0 {
			dst[i] = -v
		}
	}
}

// Gradients of variants are averaged, then clipped: two opposite ones cancel, where
// clipping first would leave what their lengths differ by.
func TestVariantsAreAveragedBeforeClipping(t *testing.T) {
	net := rawNet{t: 1, m: 1, n: 1}
	tr := training(net, nil)
	tr.ClippingNorm, tr.Multiplicity = 1, 4
	calls := 0
	tr.Augment = func(dst, _ []float32, _ uint64) { dst[0], dst[1] = 1, []float32{8, -4, 0.5, -2.5}[calls%4]; calls++ }
	got := firstSum(t, tr, imageRows(1, true, [][]float32{{0, 0}}, []float64{1}, nil, 2), make([]float32, 1), entropy.Seeded(1))
	if got[0] != 0.5 {
		t.Fatalf("variants of 8, −4, 0.5 and −2.5 at C = 1 give %g, want their mean 0.5", got[0])
	}
}

// Memory is sized by the microbatch, and results do not depend on it beyond
// rounding.
func TestMicrobatchIsAMatterOfMemory(t *testing.T) {
	net := &tinyNet{t: 5, m: 3, n: 2, bias: true, dropout: true}
	var inputs [][]float32
	var targets []float64
	src := entropy.Seeded(8)
	for i := range 19 {
		x := make([]float32, net.Inputs())
		for j := range x {
			x[j] = float32(src.Float64())
		}
		inputs, targets = append(inputs, x), append(targets, float64(i%3))
	}
	params := make([]float32, net.Parameters())
	for j := range params {
		params[j] = float32(src.Float64() - 0.5)
	}
	rows := imageRows(1, true, inputs, targets, nil, net.Inputs())
	var first []float64
	for _, size := range []int{1, 3, 8, 10, 19, 400} {
		tr := training(net, nil)
		tr.Microbatch, tr.Multiplicity, tr.Augment = size, 2, variant
		net.peek = func(_ []float32, n int) {
			if n > 2*size {
				t.Errorf("microbatch %d: %d variants at once", size, n)
			}
		}
		got := firstSum(t, tr, rows, params, entropy.Seeded(4))
		if first == nil {
			first = got
		}
		if d := distance(got, first); !(d <= 1e-5*stattest.Norm(first)) {
			t.Errorf("microbatch %d moves the sum of norm %g by %g", size, stattest.Norm(first), d)
		}
	}
	for n := range 40 {
		for most := 1; most < 12; most++ {
			if size := microbatch(n, most); size < 1 || size > most {
				t.Fatalf("%d rows in microbatches of at most %d: %d", n, most, size)
			}
		}
	}
}

// A gradient of exactly zero stays zero under either clipping.
func TestZeroGradients(t *testing.T) {
	for _, s := range tiny {
		for _, kind := range []Clipping{Flat, Automatic} {
			net := rawNet{t: s.t, m: s.m, n: s.n, bias: true}
			tr := training(net, nil)
			tr.Clipping = kind
			for _, v := range firstSum(t, tr, imageRows(1, true, [][]float32{make([]float32, net.Inputs())}, []float64{1}, nil, net.Inputs()), make([]float32, net.Parameters()), entropy.Seeded(1)) {
				if v != 0 {
					t.Fatalf("%s, %s: a gradient of zero contributes %g", s.name, kind, v)
				}
			}
		}
	}
}

type brokenNet struct {
	rawNet
	traces func(tr Trace) []Trace
}

func (w brokenNet) Parameters() int { return 2 * w.rawNet.Parameters() }

func (w brokenNet) Backprop(worker int, params, inputs, targets []float32, seeds []uint64, record func(Trace)) {
	w.rawNet.Backprop(worker, params, inputs, targets, seeds, func(tr Trace) {
		for _, one := range w.traces(tr) {
			record(one)
		}
	})
}

// Nothing of a step is left in the sum of the next: where a lot is empty, or has rows for one worker only, and where
// the network uses fewer parameters than before.
func TestSumsOfAStepBeginAnew(t *testing.T) {
	for _, shape := range tiny {
		for _, kind := range []Clipping{Flat, Unclipped} {
			step, seen, used, empty, few := 0, 0, 0, 0, 0
			net := brokenNet{rawNet: rawNet{t: shape.t, m: shape.m, n: shape.n, bias: true}}
			size := net.rawNet.Parameters()
			net.traces = func(tr Trace) []Trace {
				seen += len(tr.G)
				second := tr
				second.Offset, second.G = size, append([]float32(nil), tr.G...)
				return [][]Trace{{tr, second}, {tr}, {second}, {}}[step%4]
			}
			var inputs [][]float32
			for range 8 {
				x := make([]float32, net.Inputs())
				for j := range x {
					x[j] = 1
				}
				inputs = append(inputs, x)
			}
			tr := training(net, nil)
			tr.Clipping, tr.Alone, tr.Microbatch = kind, true, 1
			tr.Steps, tr.SamplingRate = 80, 0.2
			tr.Update = func(_ int, _, g []float32) {
				for half, trained := range [][4]bool{{true, true, false, false}, {true, false, true, false}} {
					want := trained[step%4] && seen > 0
					for _, v := range g[half*size : (half+1)*size] {
						if (v != 0) != want {
							t.Fatalf("%s, %s, step %d with %d numbers: half %d has %g", shape.name, kind, step, seen, half, v)
						}
					}
				}
				switch {
				case seen == 0:
					empty++
				case seen == shape.t*shape.n:
					few++
				default:
					used++
				}
				step, seen = step+1, 0
			}
			if err := tr.run(context.Background(), mustOpen(t, imageRows(1, true, inputs, make([]float64, 8), nil, net.Inputs())), make([]float32, net.Parameters()), 0, entropy.Seeded(9)); err != nil {
				t.Fatal(err)
			}
			if empty < 5 || few < 5 || used < 5 {
				t.Errorf("%d empty lots, %d of one row, %d others: too few to tell", empty, few, used)
			}
		}
	}
}

// Norms of two traces do not add on a shared parameter, and a G that two traces
// share would be scaled twice: both end the run, and nothing leaves.
func TestTracesThatOverlapAreRefused(t *testing.T) {
	fresh := func(tr Trace) Trace { tr.G = append([]float32(nil), tr.G...); return tr }
	for _, tt := range []struct {
		name   string
		traces func(tr Trace) []Trace
		ok     bool
	}{
		{"apart", func(tr Trace) []Trace { b := fresh(tr); b.Offset = tr.size(); return []Trace{b, tr} }, true},
		{"one weight twice", func(tr Trace) []Trace { return []Trace{tr, fresh(tr)} }, true},
		{"one weight in two shapes", func(tr Trace) []Trace {
			b := fresh(tr)
			b.T, b.N, b.M = 3, 1, 6
			b.A = make([]float32, 18)
			return []Trace{tr, b}
		}, false},
		{"one weight chained once", func(tr Trace) []Trace { b := fresh(tr); b.Chain = func([]float32) {}; return []Trace{tr, b} }, false},
		{"bias in a weight", func(tr Trace) []Trace { b := fresh(tr); b.Offset = tr.size() - 1; return []Trace{tr, b} }, false},
		{"weight in a bias", func(tr Trace) []Trace { b := fresh(tr); b.Offset = tr.size() - 1; return []Trace{b, tr} }, false},
		{"one G twice", func(tr Trace) []Trace { b := tr; b.Offset = tr.size(); return []Trace{tr, b} }, false},
		{"an index beyond the weight", func(tr Trace) []Trace { tr.A, tr.Bias, tr.Index = nil, false, []int32{2}; return []Trace{tr} }, false},
		{"an index beyond the weight, between others", func(tr Trace) []Trace {
			large, small, next := fresh(tr), fresh(tr), fresh(tr)
			large.A, large.Bias, large.M, large.Index = nil, false, 3, []int32{2}
			small.A, small.Bias, small.Offset, small.Index = nil, false, 9, []int32{2}
			next.A, next.Bias, next.Offset, next.M, next.Index = nil, false, 15, 1, []int32{0}
			return []Trace{large, small, next}
		}, false},
		{"an index below it", func(tr Trace) []Trace { tr.A, tr.Bias, tr.Index = nil, false, []int32{-1}; return []Trace{tr} }, false},
		{"an index with a bias", func(tr Trace) []Trace { tr.A, tr.Index = nil, []int32{1}; return []Trace{tr} }, false},
		{"an index without a row", func(tr Trace) []Trace { tr.A, tr.Bias, tr.Index = nil, false, []int32{}; return []Trace{tr} }, false},
		{"rows and products", func(tr Trace) []Trace { tr.Form = forming(tr).Form; return []Trace{tr} }, false},
		{"products", func(tr Trace) []Trace { return []Trace{forming(tr)} }, true},
		{"products and an index", func(tr Trace) []Trace {
			tr = forming(tr)
			tr.Bias, tr.Index = false, []int32{0}
			return []Trace{tr}
		}, false},
		{"products of a diagonal", func(tr Trace) []Trace { tr = forming(tr); tr.M, tr.Diagonal = tr.N, true; return []Trace{tr} }, false},
		{"a diagonal that is none", func(tr Trace) []Trace { tr.Diagonal = true; return []Trace{tr} }, false},
		{"starts of others", func(tr Trace) []Trace { tr.Starts = []int32{0, 1, 1}; return []Trace{tr} }, false},
		{"starts that skip a row", func(tr Trace) []Trace { tr.Starts, tr.A, tr.G = []int32{1, 1}, tr.A[:2], tr.G[:3]; return []Trace{tr} }, false},
		{"more rows than it says", func(tr Trace) []Trace { tr.Starts, tr.T = []int32{0, 1}, 0; return []Trace{tr} }, false},
		{"too few rows", func(tr Trace) []Trace { tr.G = tr.G[:len(tr.G)-1]; return []Trace{tr} }, false},
		{"beyond the parameters", func(tr Trace) []Trace { tr.Offset = tr.size() + 1; return []Trace{tr} }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			net := brokenNet{rawNet{t: 1, m: 2, n: 3, bias: true}, tt.traces}
			tr := training(net, nil)
			updates := 0
			tr.Update = func(int, []float32, []float32) { updates++ }
			rows := imageRows(1, false, [][]float32{{1, 2, 3, 4, 5}}, []float64{1}, nil, 5)
			err := Train(context.Background(), permitWith(t, entropy.Seeded(1), dp.AddOrRemoveOne, 1, tr.Event()), rows, tr, make([]float32, net.Parameters()))
			if (err == nil) != tt.ok || (updates == 1) != tt.ok || !tt.ok && !errors.Is(err, sealed.ErrFault) {
				t.Fatalf("error %v after %d updates, want ok %v", err, updates, tt.ok)
			}
		})
	}
}

// A unit of k rows moves the sum by k·C at most, also under replacement, with
// dropout and variants, wherever in the file its rows stand. Convicts masks that
// follow the position of a row: those of all rows behind would change.
func TestNeighboursOfANetworkDifferByTheSensitivity(t *testing.T) {
	for _, s := range tiny {
		rapid.Check(t, func(t *rapid.T) {
			net := &tinyNet{t: s.t, m: s.m, n: s.n, bias: true, dropout: true}
			k := rapid.IntRange(1, 3).Draw(t, "rows of the unit")
			maxRows := rapid.IntRange(k, 3).Draw(t, "rows per unit")
			tr := training(net, nil)
			tr.ClippingNorm, tr.Microbatch = 0.1, rapid.IntRange(1, 5).Draw(t, "microbatch")
			tr.Multiplicity, tr.Augment = 2, variant
			tr.Clipping = rapid.SampledFrom([]Clipping{Flat, Automatic}).Draw(t, "clipping")
			params := drawFloats(t, net.Parameters(), 0.7)
			type row struct {
				x    []float32
				y    float64
				hash uint64
			}
			fresh := func(hash uint64) row { return row{drawFloats(t, net.Inputs(), 1), 1.5, hash} }
			var others []row
			for i := range rapid.IntRange(0, 8).Draw(t, "others") {
				others = append(others, fresh(uint64(i/maxRows)+10))
			}
			with := func(hash uint64) []row {
				all := append([]row(nil), others...)
				for range k {
					at := rapid.IntRange(0, len(all)).Draw(t, "place")
					all = append(all[:at], append([]row{fresh(hash)}, all[at:]...)...)
				}
				return all
			}
			sum := func(all []row) []float64 {
				var inputs [][]float32
				var targets []float64
				var hash []uint64
				for _, r := range all {
					inputs, targets, hash = append(inputs, r.x), append(targets, r.y), append(hash, r.hash)
				}
				return firstSum(t, tr, imageRows(maxRows, true, inputs, targets, hash, net.Inputs()), params, entropy.Seeded(6))
			}
			without, one, another := sum(others), sum(with(1)), sum(with(2))
			most := float64(k) * tr.ClippingNorm
			if d := distance(without, one); !(d <= most*(1+1e-4)) {
				t.Fatalf("adding a unit moves the sum by %g, want at most %g", d, most)
			}
			if d := distance(one, another); !(d <= 2*most*(1+1e-4)) {
				t.Fatalf("replacing a unit moves the sum by %g, want at most %g", d, 2*most)
			}
		})
	}
}
