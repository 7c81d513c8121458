package noise

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pawl/core/entropy"
	"pawl/internal/stattest"

	"gonum.org/v1/gonum/stat/distuv"
)

// pmf returns the probabilities of −reach..reach for weights symmetric about 0.
func pmf(reach int, weight func(x float64) float64) []float64 {
	p := make([]float64, 2*reach+1)
	var sum float64
	for i := range p {
		p[i] = weight(float64(i - reach))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// fit merges cells that expect fewer than 10 into the two ends and returns the
// chi-square verdict and the first moments that p implies.
func fit(name string, draws []int64, p []float64) (stattest.Verdict, stattest.Moments) {
	n, reach := float64(len(draws)), len(p)/2
	low := 0
	for mass := 0.0; ; low++ {
		if mass += p[low] * n; mass >= 10 && p[low+1]*n >= 10 {
			break
		}
	}
	high := len(p) - 1 - low
	counts, expected := make([]int, high-low+1), make([]float64, high-low+1)
	var m stattest.Moments
	for i, q := range p {
		x := float64(i - reach)
		m.Variance += q * x * x
		m.Kurtosis += q * x * x * x * x
		expected[min(max(i, low), high)-low] += q * n
	}
	m.Kurtosis /= m.Variance * m.Variance
	for _, x := range draws {
		i := min(max(x+int64(reach), int64(low)), int64(high))
		counts[i-int64(low)]++
	}
	return stattest.ChiSquare(name, counts, expected), m
}

func drawInts(n int, draw func() (int64, error)) []int64 {
	out := make([]int64, n)
	for i := range out {
		x, err := draw()
		if err != nil {
			panic(err)
		}
		out[i] = x
	}
	return out
}

func floats(xs []int64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = float64(x)
	}
	return out
}

func gaussianWeight(stdDev float64) func(float64) float64 {
	return func(x float64) float64 { return math.Exp(-x * x / (2 * stdDev * stdDev)) }
}

func laplaceWeight(scale float64) func(float64) float64 {
	return func(x float64) float64 { return math.Exp(-math.Abs(x) / scale) }
}

// TestDiscreteGaussianOfPublicCase is cases G05: 10⁶ draws at σ = 3.7.
func TestDiscreteGaussianOfPublicCase(t *testing.T) {
	const n = 1_000_000
	draws := make([]int64, n)
	if err := AddDiscreteGaussian(entropy.Seeded(70), draws, 3.7); err != nil {
		t.Fatal(err)
	}
	p := pmf(80, gaussianWeight(3.7))
	verdict, moments := fit("discrete Gaussian 3.7", draws, p)
	stattest.Accept(t, verdict)
	if math.Abs(moments.Variance-13.69) > 1e-9 {
		t.Fatalf("variance of the definition is %v", moments.Variance)
	}
	xs := floats(draws)
	stattest.Accept(t, stattest.Mean("discrete Gaussian 3.7", xs, moments))
	stattest.Accept(t, stattest.Variance("discrete Gaussian 3.7", xs, moments))
	stattest.Accept(t, stattest.Correlation("neighbors", xs[1:], xs[:n-1]))
	beyond := 0
	for _, x := range draws {
		if x >= 15 || x <= -15 {
			beyond++
		}
	}
	stattest.Accept(t, stattest.Proportion("|x| >= 15", beyond, n, 8.466005969665e-5))
	// Mutants: 1 % more or less noise.
	for _, wrong := range []float64{3.7 * 1.01, 3.7 / 1.01} {
		verdict, moments = fit("wrong", draws, pmf(80, gaussianWeight(wrong)))
		stattest.Convict(t, verdict)
		stattest.Convict(t, stattest.Variance("wrong", xs, moments))
	}
}

// TestRoundedGaussianIsConvicted: rounding a continuous draw adds 1/12 to the
// variance and is not the discrete Gaussian.
func TestRoundedGaussianIsConvicted(t *testing.T) {
	src := entropy.Seeded(71)
	draws := drawInts(100_000, func() (int64, error) { return int64(math.Round(Gaussian(src))), nil })
	verdict, moments := fit("rounded", draws, pmf(60, gaussianWeight(1)))
	stattest.Convict(t, verdict)
	stattest.Convict(t, stattest.Variance("rounded", floats(draws), moments))
}

func TestDiscreteDistributions(t *testing.T) {
	const n = 100_000
	for _, scale := range []float64{0.1, 0.3, 0.5, 1, 1.5, 2, math.Pi, 7.25, 40.1} {
		reach := int(60*scale) + 10
		for _, c := range []struct {
			name   string
			draw   func(*entropy.Source, float64) (int64, error)
			weight func(float64) func(float64) float64
		}{
			{"laplace", discreteLaplace, laplaceWeight},
			{"gaussian", discreteGaussian, gaussianWeight},
		} {
			p := pmf(reach, c.weight(scale))
			if p[reach]*n > n-20 {
				continue // nearly all mass at 0: TestTinyScales
			}
			t.Run(fmt.Sprintf("%s %v", c.name, scale), func(t *testing.T) {
				src := entropy.Seeded(72).Split(c.name, math.Float64bits(scale))
				draws := drawInts(n, func() (int64, error) { return c.draw(src, scale) })
				verdict, moments := fit(c.name, draws, p)
				stattest.Accept(t, verdict)
				stattest.Accept(t, stattest.Mean(c.name, floats(draws), moments))
				stattest.Accept(t, stattest.Variance(c.name, floats(draws), moments))
			})
		}
	}
}

// TestHugeScales: at 2^55 a sampler that passes through float64 leaves holes (its
// integers are multiples of 8 and more). Null: the shape is continuous to within
// 2^-50, the low byte uniform.
func TestHugeScales(t *testing.T) {
	const n = 50_000
	for _, scale := range []float64{1e6 + 1.0/3, 0x1p52 + 0.5, 0x1p53 + 2, 0x1p55} {
		for _, c := range []struct {
			name string
			draw func(*entropy.Source, float64) (int64, error)
			cdf  func(float64) float64
		}{
			{"laplace", discreteLaplace, distuv.Laplace{Scale: 1}.CDF},
			{"gaussian", discreteGaussian, distuv.UnitNormal.CDF},
		} {
			t.Run(fmt.Sprintf("%s %v", c.name, scale), func(t *testing.T) {
				src := entropy.Seeded(73).Split(c.name, math.Float64bits(scale))
				draws := drawInts(n, func() (int64, error) { return c.draw(src, scale) })
				xs, low, expected := make([]float64, n), make([]int, 256), make([]float64, 256)
				for i, x := range draws {
					xs[i] = float64(x) / scale
					low[x&255]++
				}
				for i := range expected {
					expected[i] = n / 256.0
				}
				stattest.Accept(t, stattest.KS(c.name, sorted(xs), c.cdf))
				stattest.Accept(t, stattest.ChiSquare("low byte", low, expected))
			})
		}
	}
	src, low, expected := entropy.Seeded(77), make([]int, 256), make([]float64, 256)
	for i := range expected {
		expected[i] = n / 256.0
	}
	for range n {
		low[int64(0x1p55*Gaussian(src))&255]++
	}
	stattest.Convict(t, stattest.ChiSquare("low byte of a rounded float", low, expected))
}

// TestTinyScales: below about 0.02 a draw other than 0 has probability under 1e-20.
func TestTinyScales(t *testing.T) {
	src := entropy.Seeded(74)
	for _, scale := range []float64{0.02, 1e-3, 0x1p-40, 1e-100, 1e-300, math.SmallestNonzeroFloat64} {
		for range 200 {
			x, err := discreteLaplace(src, scale)
			if x != 0 || err != nil {
				t.Fatalf("laplace(%v) = %d, %v", scale, x, err)
			}
			x, err = discreteGaussian(src, scale)
			if x != 0 || err != nil {
				t.Fatalf("DiscreteGaussian(%v) = %d, %v", scale, x, err)
			}
		}
	}
}

func TestDiscreteRefuseScales(t *testing.T) {
	src, reference := entropy.Seeded(75), entropy.Seeded(75)
	for _, s := range append([]float64{0, math.Nextafter(0x1p55, math.Inf(1)), 1e300}, notScales...) {
		dst := []int64{7}
		for name, err := range map[string]error{
			"AddDiscreteLaplace":  AddDiscreteLaplace(src, dst, s),
			"AddDiscreteGaussian": AddDiscreteGaussian(src, dst, s),
		} {
			if !errors.Is(err, ErrScale) {
				t.Errorf("%s(%v): error %v", name, s, err)
			}
		}
		if dst[0] != 7 {
			t.Errorf("a refused scale %v changed the data", s)
		}
	}
	if src.Uint64() != reference.Uint64() {
		t.Error("a refused scale drew randomness")
	}
}

func TestAddDiscreteEqualsSingleDraws(t *testing.T) {
	a, b := []int64{100, -5, 0, 3}, []int64{100, -5, 0, 3}
	many, one := entropy.Seeded(76), entropy.Seeded(76)
	if err := errors.Join(AddDiscreteGaussian(many, a, 9.3), AddDiscreteLaplace(many, a, 9.3)); err != nil {
		t.Fatal(err)
	}
	for i := range b {
		x, _ := discreteGaussian(one, 9.3)
		b[i] += x
	}
	for i := range b {
		x, _ := discreteLaplace(one, 9.3)
		b[i] += x
		if a[i] != b[i] {
			t.Errorf("element %d: %d, one by one %d", i, a[i], b[i])
		}
	}
}

func TestSumsStopAtTheLimits(t *testing.T) {
	for _, c := range []struct{ a, b, want int64 }{
		{1, 2, 3}, {-1, -2, -3}, {math.MaxInt64, 1, math.MaxInt64}, {math.MaxInt64, -1, math.MaxInt64 - 1},
		{math.MinInt64, -1, math.MinInt64}, {math.MinInt64, math.MinInt64, math.MinInt64},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64}, {math.MinInt64, math.MaxInt64, -1}, {0, math.MinInt64, math.MinInt64},
		{-1, 2, 1}, {1, math.MaxInt64, math.MaxInt64}, {math.MaxInt64, math.MinInt64, -1}, {math.MaxInt64, 0, math.MaxInt64},
		{math.MinInt64, 0, math.MinInt64}, {math.MaxInt64 - 1, 1, math.MaxInt64}, {math.MinInt64 + 1, -1, math.MinInt64},
	} {
		if got := saturatingAdd(c.a, c.b); got != c.want {
			t.Errorf("%d + %d = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// discreteLaplace and discreteGaussian are single draws.
func discreteLaplace(src *entropy.Source, scale float64) (int64, error) {
	x := []int64{0}
	err := AddDiscreteLaplace(src, x, scale)
	return x[0], err
}

func discreteGaussian(src *entropy.Source, stdDev float64) (int64, error) {
	x := []int64{0}
	err := AddDiscreteGaussian(src, x, stdDev)
	return x[0], err
}
