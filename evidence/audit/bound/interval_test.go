package bound

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// The bounds were found by bisection on binomial sums with 40 digits (mpmath 1.3.0).
func TestClopperPearsonGolden(t *testing.T) {
	for _, c := range []struct {
		k, n                int
		alpha, lower, upper float64
	}{
		{5, 20, 0.025, 0.0865714691014345, 0.491045871707958},
		{0, 100, 0.025, 0, 0.0362166926451764},
		{98, 100, 0.025, 0.92961606752893, 0.997568663176057},
		{1, 1000, 0.0005, 5.0012491661979e-7, 0.00995381434095081},
		{999, 1000, 0.0005, 0.990046185659049, 0.999999499875083},
		{3, 2000, 5e-7, 7.24097580367978e-6, 0.0110213469502398},
		{1000, 2000, 5e-7, 0.445231807600373, 0.554768192399627},
	} {
		if got := Lower(c.k, c.n, c.alpha); math.Abs(got-c.lower) > 1e-9*c.lower {
			t.Errorf("Lower(%d, %d, %g) = %.15g, want %.15g", c.k, c.n, c.alpha, got, c.lower)
		}
		if got := Upper(c.k, c.n, c.alpha); math.Abs(got-c.upper) > 1e-9*c.upper {
			t.Errorf("Upper(%d, %d, %g) = %.15g, want %.15g", c.k, c.n, c.alpha, got, c.upper)
		}
	}
}

func TestClopperPearsonRefuses(t *testing.T) {
	for _, c := range []struct {
		k, n       int
		confidence float64
	}{{0, 0, 0.95}, {-1, 5, 0.95}, {6, 5, 0.95}, {1, 5, 0}, {1, 5, 1}, {1, 5, math.NaN()}} {
		if i, err := ClopperPearson(c.k, c.n, c.confidence); err == nil {
			t.Errorf("%+v: %v and no error", c, i)
		}
	}
	// Bounds without meaning bound nothing.
	for _, alpha := range []float64{0, 1, -1, math.NaN()} {
		if l, u := Lower(3, 5, alpha), Upper(3, 5, alpha); l != 0 || u != 1 {
			t.Errorf("alpha %v: [%v, %v], want [0, 1]", alpha, l, u)
		}
	}
}

// Exact coverage: for every p the chance that an interval misses it on one side is a
// sum over counts, and must not exceed the side's error. This is no statistical test.
func TestClopperPearsonCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		p := rapid.Float64Range(0.001, 0.999).Draw(t, "p")
		alpha := rapid.SampledFrom([]float64{0.025, 0.005, 5e-4}).Draw(t, "alpha")
		law := distuv.Binomial{N: float64(n), P: p}
		var over, under float64
		for k := range n + 1 {
			if Lower(k, n, alpha) > p {
				over += law.Prob(float64(k))
			}
			if Upper(k, n, alpha) < p {
				under += law.Prob(float64(k))
			}
		}
		if over > alpha*(1+1e-6) || under > alpha*(1+1e-6) {
			t.Fatalf("misses with chance %g and %g, at most %g allowed", over, under, alpha)
		}
	})
}

func TestBoundsAreMonotone(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for k := range n {
			if !(Lower(k, n, 0.05) < Lower(k+1, n, 0.05)) || !(Upper(k, n, 0.05) < Upper(k+1, n, 0.05)) {
				t.Errorf("%d of %d: bounds do not rise with the count", k, n)
			}
			if !(Lower(k, n, 0.01) <= Lower(k, n, 0.05)) || !(Upper(k, n, 0.01) >= Upper(k, n, 0.05)) {
				t.Errorf("%d of %d: more confidence must not narrow", k, n)
			}
		}
	}
}

func ExampleClopperPearson() {
	i, _ := ClopperPearson(5, 20, 0.95)
	fmt.Printf("%.2f in [%.4f, %.4f]\n", i.Estimate, i.Lower, i.Upper)
	// Output: 0.25 in [0.0866, 0.4910]
}
