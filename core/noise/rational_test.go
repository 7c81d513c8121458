package noise

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pawl/core/entropy"
	"pawl/internal/stattest"

	"pgregory.net/rapid"
)

func TestDyadicIsExact(t *testing.T) {
	check := func(x float64) error {
		odd, exponent := dyadic(x)
		if odd%2 != 1 {
			return fmt.Errorf("%v: %d is even", x, odd)
		}
		want := new(big.Rat)
		if want.SetFloat64(x) == nil {
			return fmt.Errorf("%v is not finite", x)
		}
		got := new(big.Rat).SetInt(new(big.Int).SetUint64(odd))
		power := new(big.Int).Lsh(big.NewInt(1), uint(max(exponent, -exponent)))
		if exponent >= 0 {
			got.Mul(got, new(big.Rat).SetInt(power))
		} else {
			got.Quo(got, new(big.Rat).SetInt(power))
		}
		if got.Cmp(want) != 0 {
			return fmt.Errorf("%v became %d·2^%d", x, odd, exponent)
		}
		return nil
	}
	for _, x := range []float64{1, 0.5, 3, 0.1, 0x1p55, math.SmallestNonzeroFloat64, 0x1p-1022, math.MaxFloat64} {
		if err := check(x); err != nil {
			t.Error(err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if err := check(math.Abs(rapid.Float64Range(1e-310, 1e300).Draw(t, "x"))); err != nil {
			t.Fatal(err)
		}
	})
}

// TestDigitOfSmallerFraction is the identity that lets one division serve all k:
// floor(2^64·f/k) = floor(floor(2^64·f)/k).
func TestDigitOfSmallerFraction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.Uint64Range(1, math.MaxUint64).Draw(t, "b")
		a := rapid.Uint64Range(0, b-1).Draw(t, "a")
		k := rapid.Uint64Range(1, 50).Draw(t, "k")
		f := ratio(a, b)
		numerator, denominator := f.exact()
		want := new(big.Int).Lsh(numerator, 64)
		want.Quo(want, new(big.Int).Mul(denominator, new(big.Int).SetUint64(k)))
		if f.digit/k != want.Uint64() {
			t.Fatalf("%d/%d/%d: digit %d, want %v", a, b, k, f.digit/k, want)
		}
	})
}

// TestBernoulliRest draws the branch that a word decides with probability 1 − 2^-64:
// the chance must be the fractional part of 2^64·f/k.
func TestBernoulliRest(t *testing.T) {
	const n = 20_000
	src := entropy.Seeded(80)
	for _, c := range []struct{ a, b, k uint64 }{{1, 3, 1}, {2, 3, 1}, {1, 3, 2}, {5, 7, 3}, {1, 1 << 63, 3}, {0, 5, 1}, {1, 2, 1}} {
		f := ratio(c.a, c.b)
		word := f.digit / c.k
		exact := new(big.Rat).SetFrac(new(big.Int).Lsh(new(big.Int).SetUint64(c.a), 64),
			new(big.Int).Mul(new(big.Int).SetUint64(c.b), new(big.Int).SetUint64(c.k)))
		p, _ := exact.Sub(exact, new(big.Rat).SetInt(new(big.Int).SetUint64(word))).Float64()
		count := 0
		for range n {
			if bernoulliRest(src, f, c.k, word) {
				count++
			}
		}
		name := fmt.Sprintf("%d/%d/%d", c.a, c.b, c.k)
		if p == 0 {
			if count != 0 {
				t.Errorf("%s: %d successes of probability 0", name, count)
			}
			continue
		}
		stattest.Accept(t, stattest.Proportion(name, count, n, p))
	}
}

func TestBernoulliExp(t *testing.T) {
	const n = 200_000
	src := entropy.Seeded(81)
	for _, c := range []struct{ a, b uint64 }{{0, 1}, {1, 1000}, {1, 3}, {1, 2}, {9, 10}, {math.MaxUint64 - 1, math.MaxUint64}} {
		count := 0
		for range n {
			if bernoulliExp(src, ratio(c.a, c.b)) {
				count++
			}
		}
		p := math.Exp(-float64(c.a) / float64(c.b))
		if c.a == 0 {
			if count != n {
				t.Errorf("exp(0) failed %d times", n-count)
			}
			continue
		}
		stattest.Accept(t, stattest.Proportion(fmt.Sprintf("exp(-%d/%d)", c.a, c.b), count, n, p))
	}
	count := 0
	for range n {
		if bernoulliExpOne(src) {
			count++
		}
	}
	stattest.Accept(t, stattest.Proportion("exp(-1)", count, n, math.Exp(-1)))
}

// TestKeepProbability compares the acceptance of single proposals with exp(−γ).
func TestKeepProbability(t *testing.T) {
	const n = 20_000
	src := entropy.Seeded(82)
	for _, stdDev := range []float64{0.8, 1, 3.7, 1e5} {
		g := newGaussianSampler(stdDev)
		scale := math.Floor(stdDev) + 1
		for _, multiple := range []float64{0, 1, -1, 2} {
			y := math.Trunc(multiple * scale)
			gamma := math.Pow(math.Abs(y)-stdDev*stdDev/scale, 2) / (2 * stdDev * stdDev)
			count := 0
			for range n {
				if g.keep(src, int64(y)) {
					count++
				}
			}
			stattest.Accept(t, stattest.Proportion(fmt.Sprintf("σ=%v y=%v", stdDev, y), count, n, math.Exp(-gamma)))
		}
		for _, y := range []int64{math.MaxInt64, -math.MaxInt64} {
			if g.keep(src, y) {
				t.Errorf("σ=%v: kept %d", stdDev, y)
			}
		}
	}
}
