package release

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/internal/stattest"
)

// binned has the bin of a row in its first cell and its part in the next one in the second.
func binned(multiplier float64, pure, counted bool) Bins {
	return Bins{Scope: dp.WholeScope, NoiseMultiplier: multiplier, Pure: pure, Counted: counted, Size: 3,
		Bin: func(cells []float64, _ []float32) (int, float64) {
			if cells[0] != cells[0] {
				return -1, 0
			}
			return int(cells[0]), cells[1]
		}}
}

// Null: every bin carries its own discrete noise, of standard deviation k·σ rows, or of scale
// k·σ rows for pure epsilon. Chi-square on each bin and correlations of all pairs, false-alarm
// rate 1e-6 each; convicts noise that is off, halved, shared by bins, or that forgets k.
func TestBinsNoise(t *testing.T) {
	cells := [][2]float64{{0, 0}, {0, 0}, {1, 0}, {2, 0}, {2, 0}, {2, 0}, {math.NaN(), 0}, {7, 0}}
	exact := []float64{2, 1, 3}
	for _, s := range []setting{settings[0], settings[1], settings[3]} {
		for _, pure := range []bool{false, true} {
			b := binned(2.5, pure, true)
			z := make([][]float64, len(exact))
			for i := range draws {
				noisy, std, err := b.Release(background, permitWith(t, source("bins", i), s.rel, s.rows, b.Event()), rowsOf(s.rows, cells...))
				if err != nil {
					t.Fatal(err)
				}
				want := 2.5 * s.apart
				if pure {
					want *= math.Sqrt2
				}
				if math.Abs(std-want) > 1e-9*want {
					t.Fatalf("the noise is stated as %g, want %g", std, want)
				}
				for j, v := range noisy {
					z[j] = append(z[j], v-exact[j])
				}
			}
			l := discreteGaussian(2.5 * s.apart)
			if pure {
				l = discreteLaplace(2.5 * s.apart)
			}
			for j := range z {
				name := fmt.Sprintf("bin %d, pure %v, %v", j, pure, s)
				acceptLaw(t, name, l, z[j])
				for i := range j {
					stattest.Accept(t, stattest.Correlation(name, z[i], z[j]))
				}
			}
		}
	}
}

// Whatever a rule says of a row, the row moves the vector by one row at most in L1, and in L2,
// and by exactly one where it is counted. Convicts a bound that is not enforced.
func TestBinsSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	for i := range 2000 {
		b := binned(1, i%2 == 0, false)
		next := rng.NormFloat64()
		if i%10 == 0 {
			next = math.Inf(1)
		}
		c := b.cells()
		sums := exactly[[]int64](t)(c.Public(publicRowsOf([2]float64{float64(rng.IntN(6) - 1), next})))
		l1, l2 := 0.0, 0.0
		for _, v := range sums {
			x := math.Abs(float64(v)) / grid
			l1, l2 = l1+x, l2+x*x
		}
		if l1 > 1 || l2 > 1 || l1 != 0 && l1 != 1 {
			t.Fatalf("a row with %g in the next bin moves the bins by %g in L1, %g in L2", next, l1, math.Sqrt(l2))
		}
	}
}

// A mean of anything linear between nodes is exact.
func TestBinsBetweenNodesAreExact(t *testing.T) {
	b := binned(1, true, false)
	c := b.cells()
	sums := exactly[[]int64](t)(c.Public(publicRowsOf([2]float64{0, 0.25}, [2]float64{1, 0.5}, [2]float64{2, 0})))
	mean := 0.0
	for i, v := range sums {
		mean += float64(i) * float64(v) / grid
	}
	if math.Abs(mean-(0.25+1.5+2)) > 1e-5 {
		t.Errorf("the sum is %g", mean)
	}
}

// Bins take their event once, on their scope, and not one of more noise.
func TestBinsNeedTheirCharge(t *testing.T) {
	rows := rowsOf(1, [2]float64{0, 0})
	b := binned(2, true, true)
	if _, _, err := b.Release(background, nil, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("without a permit: %v", err)
	}
	permit := permitFor(t, dp.AddOrRemoveOne, 1, b.Event())
	less := b
	less.NoiseMultiplier = 1
	if _, _, err := less.Release(background, permit, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("with less noise: %v", err)
	}
	half := b
	half.Scope = dp.Scope{Lower: 0, Upper: 0.5}
	if _, _, err := half.Release(background, permit, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("on another scope: %v", err)
	}
	if _, _, err := b.Release(background, permit, rows); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Release(background, permit, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("twice: %v", err)
	}
}
