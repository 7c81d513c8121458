package noise

import (
	"fmt"
	"math"
	"testing"

	"pawl/core/entropy"
	"pawl/internal/stattest"

	"gonum.org/v1/gonum/stat/distuv"
)

// acceptPowers checks E z, E z², E z³ and E z⁴ of z = (x−μ)/σ (so mean, variance,
// skewness and kurtosis about the true center) with exact standard errors from the
// cumulants κ1..κ8 of x: Var z^k = E z^2k − (E z^k)². The normal approximation of the
// fourth power needs n in the hundreds of thousands.
func acceptPowers(t *testing.T, name string, xs, cumulants []float64) {
	t.Helper()
	for _, v := range powers(name, xs, cumulants) {
		stattest.Accept(t, v)
	}
}

func powers(name string, xs, cumulants []float64) []stattest.Verdict {
	sigma := math.Sqrt(cumulants[1])
	// central[n] = Σ_j C(n−1, j−1) κ_j central[n−j], κ_1 replaced by 0.
	central := make([]float64, 9)
	central[0] = 1
	for n := 2; n <= 8; n++ {
		choose := 1.0 // C(n−1, j−1)
		for j := 1; j <= n; j++ {
			if j > 1 {
				central[n] += choose * cumulants[j-1] / math.Pow(sigma, float64(j)) * central[n-j]
			}
			choose *= float64(n-j) / float64(j)
		}
	}
	var verdicts []stattest.Verdict
	var sums [5]float64
	for _, x := range xs {
		z, power := (x-cumulants[0])/sigma, 1.0
		for k := 1; k <= 4; k++ {
			power *= z
			sums[k] += power
		}
	}
	n := float64(len(xs))
	for k := 1; k <= 4; k++ {
		verdicts = append(verdicts, stattest.Z(fmt.Sprintf("%s power %d", name, k), sums[k]/n, central[k],
			math.Sqrt((central[2*k]-central[k]*central[k])/n)))
	}
	return verdicts
}

// gammaCumulants are κ_n = shape·(n−1)!·scale^n.
func gammaCumulants(shape, scale float64) []float64 {
	c := make([]float64, 8)
	for i := range c {
		c[i] = shape * math.Gamma(float64(i+1)) * math.Pow(scale, float64(i+1))
	}
	return c
}

// laplaceCumulants: Laplace is the difference of two exponentials.
func laplaceCumulants(scale float64) []float64 {
	c := gammaCumulants(1, scale)
	for i := range c {
		if i%2 == 0 {
			c[i] = 0
		} else {
			c[i] *= 2
		}
	}
	return c
}

func TestContinuousDistributions(t *testing.T) {
	const n = 400_000
	gamma := func(shape float64) func(float64) float64 {
		return distuv.Gamma{Alpha: shape, Beta: 1}.CDF
	}
	src := entropy.Seeded(60)
	for _, c := range []struct {
		name      string
		draw      func() float64
		cdf       func(float64) float64
		cumulants []float64
	}{
		{"exponential", func() float64 { return Exponential(src) }, func(x float64) float64 { return -math.Expm1(-x) }, gammaCumulants(1, 1)},
		{"laplace 1", func() float64 { return laplace(src, 1) }, distuv.Laplace{Scale: 1}.CDF, laplaceCumulants(1)},
		{"laplace 0.37", func() float64 { return laplace(src, 0.37) }, distuv.Laplace{Scale: 0.37}.CDF, laplaceCumulants(0.37)},
		{"gamma 0.3", func() float64 { return Gamma(src, 0.3) }, gamma(0.3), gammaCumulants(0.3, 1)},
		{"gamma 1", func() float64 { return Gamma(src, 1) }, gamma(1), gammaCumulants(1, 1)},
		{"gamma 2.5", func() float64 { return Gamma(src, 2.5) }, gamma(2.5), gammaCumulants(2.5, 1)},
		{"gamma 109", func() float64 { return Gamma(src, 109) }, gamma(109), gammaCumulants(109, 1)},
		{"gamma 1e6", func() float64 { return Gamma(src, 1e6) }, gamma(1e6), gammaCumulants(1e6, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			xs := sample(n, c.draw)
			acceptPowers(t, c.name, xs, c.cumulants)
			stattest.Accept(t, stattest.KS(c.name, sorted(xs), c.cdf))
			stattest.Accept(t, stattest.Correlation(c.name+" neighbors", xs[1:], xs[:n-1]))
		})
	}
}

// TestContinuousMutants: a scale or shape 1 % off is convicted at n = 4·10⁵.
func TestContinuousMutants(t *testing.T) {
	const n = 400_000
	src := entropy.Seeded(61)
	laplace := sample(n, func() float64 { return laplace(src, 1.01) })
	stattest.Convict(t, powers("laplace scale 1.01", laplace, laplaceCumulants(1))[1])
	gamma := sample(n, func() float64 { return Gamma(src, 20*1.01) })
	stattest.Convict(t, powers("gamma shape 20.2", gamma, gammaCumulants(20, 1))[0])
}

func TestContinuousRefuseScales(t *testing.T) {
	src := entropy.Seeded(62)
	for _, s := range append([]float64{0}, notScales...) {
		mustPanic(t, fmt.Sprint("Gamma ", s), func() { Gamma(src, s) })
		mustPanic(t, fmt.Sprint("L2Laplace ", s), func() { L2Laplace(src, []float64{0}, s) })
		mustPanic(t, fmt.Sprint("L2Laplace of nothing ", s), func() { L2Laplace(src, nil, s) })
	}
}

// TestL2Laplace: null "norm is Gamma(d)·scale, direction uniform". It would catch a
// norm drawn as Gaussian or as Laplace per coordinate, which have the wrong radius.
func TestL2Laplace(t *testing.T) {
	for _, d := range []int{1, 2, 10, 109} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			n := min(100_000, 2_000_000/d)
			const scale = 0.7
			src := entropy.Seeded(63).Split("l2laplace", uint64(d))
			norms := make([]float64, n)
			first, last, product := make([]float64, n), make([]float64, n), make([]float64, n)
			b := make([]float64, d)
			for i := range n {
				for j := range b {
					b[j] = 5 // L2Laplace adds
				}
				L2Laplace(src, b, scale)
				var squares float64
				for j := range b {
					b[j] -= 5
					squares += b[j] * b[j]
				}
				norms[i] = math.Sqrt(squares)
				first[i], last[i] = b[0]/norms[i], b[d-1]/norms[i]
				product[i] = first[i] * last[i]
			}
			acceptPowers(t, "norm", norms, gammaCumulants(float64(d), scale))
			radius := distuv.Gamma{Alpha: float64(d), Beta: 1 / scale}.CDF
			stattest.Accept(t, stattest.KS("norm", sorted(norms), radius))
			dim := float64(d)
			direction := stattest.Moments{Variance: 1 / dim, Kurtosis: 3 * dim / (dim + 2)}
			for _, x := range [][]float64{first, last} {
				stattest.Accept(t, stattest.Mean("direction", x, direction))
				if d > 1 { // with one coordinate the direction is ±1 and its square is no statistic
					stattest.Accept(t, stattest.Variance("direction", x, direction))
				}
			}
			if d > 1 {
				stattest.Accept(t, stattest.Correlation("norm and direction", norms, first))
				stattest.Accept(t, stattest.Z("coordinates", stattest.Sample(product).Mean, 0, 1/math.Sqrt(dim*(dim+2)*float64(n))))
			}
			stattest.Convict(t, stattest.Mean("scale 5 % off", norms, stattest.Moments{
				Mean: 1.05 * scale * dim, Variance: 1.05 * 1.05 * scale * scale * dim}))
		})
	}
	L2Laplace(entropy.Seeded(64), nil, 1)
}

// laplace is the law by which Exponential is tried: a sign, and its value.
func laplace(src *entropy.Source, scale float64) float64 {
	x := scale * Exponential(src)
	if src.Uint64()>>63 == 1 {
		return -x
	}
	return x
}
