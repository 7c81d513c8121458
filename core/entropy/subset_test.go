package entropy

import (
	"fmt"
	"math"
	"testing"

	"pawl/internal/stattest"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// lots returns how often each index, and each pair of indices, joined, and the
// lots' sizes.
func lots(draw func() []int32, draws, n int) (single []int, pair [][]int, sizes []float64) {
	single, pair = make([]int, n), make([][]int, n)
	for i := range pair {
		pair[i] = make([]int, n)
	}
	for range draws {
		lot := draw()
		sizes = append(sizes, float64(len(lot)))
		for _, i := range lot {
			single[i]++
			for _, j := range lot {
				pair[i][j]++
			}
		}
	}
	return single, pair, sizes
}

func binomialMoments(n int, q float64) stattest.Moments {
	variance := float64(n) * q * (1 - q)
	return stattest.Moments{Mean: float64(n) * q, Variance: variance, Kurtosis: 3 + (1-6*q*(1-q))/variance}
}

// TestSubsetIsPoisson: null "each index joins independently with probability q"
// (cases B17: pair inclusion q², variance of the lot N·q·(1−q)), on both sides of
// the change of method at q = 1/4.
func TestSubsetIsPoisson(t *testing.T) {
	const n, draws = 10, 40_000
	for _, q := range []float64{0.05, 0.2, 0.24999, 0.25, 0.3, 0.9} {
		t.Run(fmt.Sprint(q), func(t *testing.T) {
			src := Seeded(30).Split("subset", math.Float64bits(q))
			single, pair, sizes := lots(func() []int32 { return src.Subset(nil, n, q) }, draws, n)
			for i := range n {
				stattest.Accept(t, stattest.Proportion("inclusion", single[i], draws, q))
				for j := range i {
					stattest.Accept(t, stattest.Proportion("pair inclusion", pair[i][j], draws, q*q))
				}
			}
			stattest.Accept(t, stattest.Mean("lot size", sizes, binomialMoments(n, q)))
			stattest.Accept(t, stattest.Variance("lot size", sizes, binomialMoments(n, q)))
		})
	}
}

// TestSubsetSizesAreBinomial looks at a realistic lot: 250 of 60,000.
func TestSubsetSizesAreBinomial(t *testing.T) {
	const n, draws, q = 60_000, 20_000, 250.0 / 60_000
	src := Seeded(31)
	binomial := distuv.Binomial{N: n, P: q}
	const low, high = 210, 290
	cells := make([]int, high-low+2)
	expected := make([]float64, len(cells))
	var dst []int32
	thirds := make([]int, 3)
	total := 0
	for range draws {
		dst = src.Subset(dst, n, q)
		cells[min(max(len(dst)-low, 0), high-low+1)]++
		total += len(dst)
		for _, i := range dst {
			thirds[3*int(i)/n]++
		}
	}
	rest := 1.0
	for k := low + 1; k <= high; k++ {
		p := math.Exp(binomial.LogProb(float64(k)))
		expected[k-low] = p * draws
	}
	expected[0] = binomial.CDF(low) * draws
	expected[high-low+1] = (rest - binomial.CDF(high)) * draws
	stattest.Accept(t, stattest.ChiSquare("lot size", cells, expected))
	stattest.Accept(t, stattest.ChiSquare("position", thirds, uniformCells(total, 3)))
}

// TestFixedSizeLotsAreConvicted is the fault of cases B17: a lot of the right mean
// size whose members are not independent.
func TestFixedSizeLotsAreConvicted(t *testing.T) {
	const n, draws, q = 10, 10_000, 0.3
	src := Seeded(32)
	_, pair, sizes := lots(func() []int32 {
		start := int32(src.Uint64n(n))
		return []int32{start, (start + 1) % n, (start + 2) % n}
	}, draws, n)
	stattest.Convict(t, stattest.Variance("lot size", sizes, binomialMoments(n, q)))
	stattest.Convict(t, stattest.Proportion("pair inclusion", pair[1][0], draws, q*q))
}

func TestSubsetShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 3000).Draw(t, "n")
		q := rapid.Float64Range(0, 1).Draw(t, "rate")
		memory := make([]int32, 5, 100)
		lot := Seeded(rapid.Uint64().Draw(t, "seed")).Subset(memory, n, q)
		last := int32(-1)
		for _, i := range lot {
			if i <= last || int(i) >= n {
				t.Fatalf("index %d after %d among %d", i, last, n)
			}
			last = i
		}
	})
	src := Seeded(33)
	for _, c := range []struct {
		n    int
		rate float64
		want int
	}{
		{0, 0.5, 0}, {0, 0.1, 0}, {100, 0, 0}, {100, 1, 100}, {math.MaxInt32, 5e-324, 0}, {1000, 1e-300, 0},
	} {
		if got := len(src.Subset(nil, c.n, c.rate)); got != c.want {
			t.Errorf("n=%d rate=%v: %d members, want %d", c.n, c.rate, got, c.want)
		}
	}
	for _, rate := range []float64{-0.1, 1.0000001, math.NaN(), math.Inf(1)} {
		mustPanic(t, fmt.Sprint("rate ", rate), func() { src.Subset(nil, 10, rate) })
	}
	mustPanic(t, "negative n", func() { src.Subset(nil, -1, 0.5) })
	mustPanic(t, "huge n", func() { src.Subset(nil, math.MaxInt32+1, 0.5) })
}
