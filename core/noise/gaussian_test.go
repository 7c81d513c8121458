package noise

import (
	"fmt"
	"math"
	"os"
	"sort"
	"testing"

	"pawl/core/entropy"
	"pawl/internal/stattest"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }

func mustPanic(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s did not panic", name)
		}
	}()
	f()
}

// notScales never mean "no noise".
var notScales = []float64{-1, -0x1p-60, math.NaN(), math.Inf(1), math.Inf(-1)}

func sample(n int, draw func() float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = draw()
	}
	return xs
}

func sorted(xs []float64) []float64 {
	out := append([]float64(nil), xs...)
	sort.Float64s(out)
	return out
}

var standardNormal = stattest.Moments{Variance: 1, Kurtosis: 3}

// TestZigguratTables: the layers have one area, close at height 1, and cover the
// curve. A wrong tailStart or recurrence shifts mass between layers, which a sample
// of a million would hardly show.
func TestZigguratTables(t *testing.T) {
	z := newZiggurat()
	area := z.edge[0] * z.height[1]
	tail := math.Sqrt(math.Pi/2) * math.Erfc(tailStart/math.Sqrt2)
	if got := tailStart*z.height[1] + tail; math.Abs(got/area-1) > 1e-14 {
		t.Errorf("base strip and tail: area %v, want %v", got, area)
	}
	for i := 1; i < layers; i++ {
		if z.edge[i+1] >= z.edge[i] || z.height[i+1] <= z.height[i] {
			t.Errorf("layer %d does not shrink", i)
		}
		// The top layer closes only if tailStart is right to all its digits.
		if got := z.edge[i] * (z.height[i+1] - z.height[i]); math.Abs(got/area-1) > 1e-11 {
			t.Errorf("layer %d: area %v, want %v", i, got, area)
		}
		if x := float64(z.strips[i].Inside) * z.strips[i].Unit; x > z.edge[i+1] {
			t.Errorf("layer %d: the certain part ends at %v, beyond %v", i, x, z.edge[i+1])
		}
	}
	if z.edge[layers] != 0 || z.height[layers] != 1 {
		t.Errorf("the top is at (%v, %v)", z.edge[layers], z.height[layers])
	}
}

// oneWord is a source of one word.
type oneWord uint64

func (w oneWord) Uint64() uint64 { return uint64(w) }

// TestChordsDecideAsTheCurve: the exponential is left out only where it would decide the
// same. Convicts a chord with too small a gap, or the wrong side of it.
func TestChordsDecideAsTheCurve(t *testing.T) {
	const points = 1000
	for layer := uint64(1); layer < layers; layer++ {
		right, left := normal.edge[layer], normal.edge[layer+1]
		low, high := normal.height[layer], normal.height[layer+1]
		gap := normal.chords[layer].gap
		for i := range points + 1 {
			x := left + (right-left)*float64(i)/points
			chord, curve := (right-x)/(right-left), (math.Exp(-x*x/2)-low)/(high-low)
			if !(math.Abs(curve-chord) <= gap-1e-10) {
				t.Fatalf("layer %d: the curve is %g from its chord at %g, more than %g", layer, curve-chord, x, gap)
			}
			for _, u := range []float64{float64(i) / points, curve, curve - 0x1p-50, curve + 0x1p-50, chord - gap, chord + gap, chord - gap*(1+1e-12), chord + gap*(1+1e-12)} {
				word := oneWord(min(max(u, 0), 1-0x1p-53)*0x1p53) << 11
				u := entropy.Float64(word)
				if _, got := edgeOfLayer(word, layer, x); got != (low+u*(high-low) < math.Exp(-x*x/2)) {
					t.Fatalf("layer %d: height %g at %g is decided otherwise than by the curve", layer, u, x)
				}
			}
		}
	}
}

// TestWedges: a point of a layer that may lie above the curve is kept with
// probability (density − low)/(high − low), and one that lies beyond it never.
func TestWedges(t *testing.T) {
	const n = 20_000
	src := entropy.Seeded(39)
	for _, layer := range []uint64{1, 2, 100, 254, 255} {
		left, right := normal.edge[layer+1], normal.edge[layer]
		low, high := normal.height[layer], normal.height[layer+1]
		for _, share := range []float64{0.1, 0.5, 0.9} {
			x := left + share*(right-left)
			kept := 0
			for range n {
				if got, ok := edgeOfLayer(src, layer, x); ok {
					if got != x {
						t.Fatalf("layer %d moved %v to %v", layer, x, got)
					}
					kept++
				}
			}
			p := (math.Exp(-x*x/2) - low) / (high - low)
			stattest.Accept(t, stattest.Proportion(fmt.Sprintf("layer %d at %v", layer, share), kept, n, p))
		}
	}
}

// TestGaussianDistribution: null "N(0, 1)", n = 10⁶.
func TestGaussianDistribution(t *testing.T) {
	const n = 1_000_000
	src := entropy.Seeded(40)
	xs := sample(n, func() float64 { return Gaussian(src) })
	acceptPowers(t, "Gaussian", xs, []float64{0, 1, 0, 0, 0, 0, 0, 0})
	phi := distuv.UnitNormal.CDF
	order := sorted(xs)
	stattest.Accept(t, stattest.KS("Gaussian", order, phi))
	stattest.Accept(t, stattest.Correlation("neighbors", xs[1:], xs[:n-1]))
	negative := sort.SearchFloat64s(order, 0)
	stattest.Accept(t, stattest.Proportion("negative", negative, n, 0.5))
	// 400 cells of equal probability see a single misplaced layer.
	const cells = 400
	counts, expected := make([]int, cells), make([]float64, cells)
	for _, x := range xs {
		counts[min(int(phi(x)*cells), cells-1)]++
	}
	for i := range expected {
		expected[i] = n / cells
	}
	stattest.Accept(t, stattest.ChiSquare("Gaussian", counts, expected))
}

// TestGaussianMutants: what the checks above convict.
func TestGaussianMutants(t *testing.T) {
	const n = 100_000
	draw := func(seed uint64, stdDev float64, terms int) []float64 {
		src := entropy.Seeded(seed)
		return sample(n, func() float64 {
			var sum float64
			for range terms {
				sum += stdDev * Gaussian(src)
			}
			return sum
		})
	}
	wrong := draw(41, 1.01, 1)
	for range 9 { // 10⁶ draws for the 1 % error
		wrong = append(wrong, draw(uint64(42+len(wrong)), 1.01, 1)...)
	}
	stattest.Convict(t, stattest.Variance("stdDev 1 % too large", wrong, standardNormal))
	stattest.Convict(t, stattest.KS("stdDev 5 % too small", sorted(draw(42, 0.95, 1)), distuv.UnitNormal.CDF))
	stattest.Convict(t, stattest.Variance("noise off", make([]float64, n), standardNormal))
	stattest.Convict(t, stattest.Variance("noise halved", draw(43, 0.5, 1), standardNormal))
	stattest.Convict(t, stattest.Correlation("noise reused", draw(44, 1, 1), draw(44, 1, 1)))
	src := entropy.Seeded(45)
	twelve := sample(1_000_000, func() float64 { // the classic sum of 12 uniforms, which ends at 6
		x := -6.0
		for range 12 {
			x += src.Float64()
		}
		return x
	})
	// Its kurtosis is 2.9: 20 standard errors.
	stattest.Convict(t, stattest.Z("sum of uniforms", stattest.Sample(twelve).Kurtosis, 3, math.Sqrt(24.0/1e6)))
}

// TestGaussianTail looks beyond 5.5 and 5.8 standard deviations, where generators
// built on 32-bit or short 53-bit uniforms end. The tail's code is drawn directly: one
// draw in 3,876 gets there.
func TestGaussianTail(t *testing.T) {
	const n = 1_000_000
	src := entropy.Seeded(46)
	survival := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	xs := sample(n, func() float64 {
		x, ok := edgeOfLayer(src, 0, math.NaN())
		if !ok {
			t.Fatal("the tail refused a draw")
		}
		return x
	})
	order := sorted(xs)
	base := survival(tailStart)
	stattest.Accept(t, stattest.KS("tail", order, func(x float64) float64 { return 1 - survival(x)/base }))
	for _, limit := range []float64{4, 4.5, 5, 5.5, 5.8} {
		beyond := n - sort.SearchFloat64s(order, limit)
		stattest.Accept(t, stattest.Proportion(fmt.Sprint("beyond ", limit), beyond, n, survival(limit)/base))
	}
	if order[n-1] < 6 { // 7.7 expected beyond 6: missing all has probability 5e-4, the seed is fixed
		t.Errorf("largest of %d tail draws is %v", n, order[n-1])
	}
}

// TestGaussianReachesTail draws the whole sampler: P(|x| > 5.5) is 3.8e-8.
func TestGaussianReachesTail(t *testing.T) {
	if testing.Short() {
		t.Skip("10⁸ draws")
	}
	src := entropy.Seeded(47)
	const n = 100_000_000
	var beyondTail, beyond5, beyond55 int
	for range n {
		x := math.Abs(Gaussian(src))
		if x > tailStart {
			beyondTail++
			if x > 5 {
				beyond5++
			}
			if x > 5.5 {
				beyond55++
			}
		}
	}
	stattest.Accept(t, stattest.Proportion("beyond the base strip", beyondTail, n, math.Erfc(tailStart/math.Sqrt2)))
	stattest.Accept(t, stattest.Proportion("beyond 5", beyond5, n, math.Erfc(5/math.Sqrt2)))
	// 3.8 expected: zero has probability 0.022 for a right sampler, the seed is fixed.
	if beyond55 == 0 || beyond55 > 20 {
		t.Errorf("%d of %d beyond 5.5, expected 3.8", beyond55, n)
	}
}

func TestAddGaussianEqualsItsPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 700).Draw(t, "n")
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		stdDev := rapid.Float64Range(1e-3, 1e3).Draw(t, "stdDev")
		seed := rapid.Uint64().Draw(t, "seed")
		whole, pieces := make([]float64, n), make([]float64, n)
		AddGaussian(entropy.Seeded(seed), whole, stdDev)
		src := entropy.Seeded(seed)
		AddGaussian(src, pieces[:cut], stdDev)
		AddGaussian(src, pieces[cut:], stdDev)
		single := entropy.Seeded(seed)
		for i := range whole {
			if whole[i] != pieces[i] || whole[i] != stdDev*Gaussian(single) {
				t.Fatalf("value %d depends on how the vector is cut", i)
			}
		}
	})
}

func TestAddGaussianAdds(t *testing.T) {
	const n = 100_000
	src := entropy.Seeded(48)
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = 1000
	}
	AddGaussian(src, xs, 2.5)
	want := stattest.Moments{Mean: 1000, Variance: 6.25, Kurtosis: 3}
	stattest.Accept(t, stattest.Mean("AddGaussian", xs, want))
	stattest.Accept(t, stattest.Variance("AddGaussian", xs, want))
}

func TestAddGaussianScales(t *testing.T) {
	src, reference := entropy.Seeded(49), entropy.Seeded(49)
	xs := []float64{1, 2}
	AddGaussian(src, xs, 0)
	if xs[0] != 1 || xs[1] != 2 || src.Uint64() != reference.Uint64() {
		t.Error("standard deviation 0 added or drew something")
	}
	for _, s := range notScales {
		mustPanic(t, fmt.Sprint("AddGaussian ", s), func() { AddGaussian(src, xs, s) })
		mustPanic(t, fmt.Sprint("AddGaussian of nothing ", s), func() { AddGaussian(src, nil, s) })
	}
}

// TestStreamsDoNotShareNoise is cases G01: two layers of equal shape at zero
// gradient.
func TestStreamsDoNotShareNoise(t *testing.T) {
	const n = 100_000
	step := entropy.Seeded(50).Split("step", 1)
	a, b := make([]float64, n), make([]float64, n)
	AddGaussian(step.Split("noise", 0), a, 1)
	AddGaussian(step.Split("noise", 1), b, 1)
	stattest.Accept(t, stattest.Correlation("layers", a, b))
	seen := map[float64]bool{}
	for _, x := range a {
		seen[x] = true
	}
	for _, x := range b {
		if seen[x] {
			t.Fatal("two streams gave the same value")
		}
	}
	again := make([]float64, n)
	AddGaussian(entropy.Seeded(50).Split("step", 1).Split("noise", 0), again, 1)
	for i := range a {
		if a[i] != again[i] {
			t.Fatal("a replayed step differs")
		}
	}
}
