package accountant

import (
	"math"
	"runtime"
	"sync"
)

var (
	inf      = math.Inf(1)
	invSqrt2 = 1 / math.Sqrt2
)

// leastDelta is the least delta that has a logarithm: math.Log takes what is below for about that on amd64. Bounds at
// such a delta are those at 0.
const leastDelta = 0x1p-1022

// logNormalCDF returns ln Φ(x). The complementary error function underflows at
// x = −38; below −36 the asymptotic series has a relative error under 1e-13.
func logNormalCDF(x float64) float64 {
	if x > -36 {
		return math.Log(0.5 * math.Erfc(-x*invSqrt2))
	}
	if x < -1e150 {
		return math.Inf(-1)
	}
	y := 1 / (x * x)
	series := -y * (1 - 3*y*(1-5*y*(1-7*y)))
	return -0.5*x*x - math.Log(-x) - 0.5*math.Log(2*math.Pi) + math.Log1p(series)
}

// logAdd returns ln(e^a + e^b), NaN if either is NaN.
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, 0) && b <= a {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// logSub returns ln(e^a − e^b) for a >= b, and −Inf where they are equal, up to rounding; NaN if either is NaN or b is +Inf.
func logSub(a, b float64) float64 {
	if b >= a && !math.IsInf(b, 1) {
		return math.Inf(-1)
	}
	return a + math.Log(-math.Expm1(b-a))
}

// softplus returns ln(1 + e^x) without overflow.
func softplus(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

// logSum accumulates ln Σ e^x without overflow.
type logSum struct{ max, sum float64 }

func newLogSum() logSum { return logSum{max: math.Inf(-1)} }

func (s *logSum) add(x float64) {
	switch {
	case math.IsInf(x, -1):
	case x <= s.max:
		s.sum += math.Exp(x - s.max)
	default:
		s.sum = s.sum*math.Exp(s.max-x) + 1
		s.max = x
	}
}

func (s *logSum) value() float64 {
	if s.sum == 0 {
		return math.Inf(-1)
	}
	return s.max + math.Log(s.sum)
}

// atLeastTiny keeps a cost that underflows from reading as no cost.
func atLeastTiny(x float64) float64 {
	if x == 0 {
		return math.SmallestNonzeroFloat64
	}
	return x
}

// product is x·y in [0, 1], rounded up where it underflows: a rate or a δ that reads as 0 would cost nothing. NaN stays NaN.
func product(x, y float64) float64 {
	xy := x * y
	if xy < leastDelta && x != 0 && y != 0 {
		return leastDelta
	}
	return xy
}

// GoldenMin minimises f on [lo, hi] by golden section and returns the best evaluated point and its
// value. f is evaluated steps+2 times.
func GoldenMin(f func(float64) float64, lo, hi float64, steps int) (x, fx float64) {
	const ratio = 0.6180339887498949
	a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fa, fb := f(a), f(b)
	x, fx = a, fa
	for range steps {
		if fb < fx {
			x, fx = b, fb
		}
		if fa < fx {
			x, fx = a, fa
		}
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - ratio*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + ratio*(hi-lo)
			fb = f(b)
		}
	}
	if fa < fx {
		x, fx = a, fa
	}
	if fb < fx {
		x, fx = b, fb
	}
	return x, fx
}

// bisect returns the smallest x in [lo, hi], up to rounding, at which ok holds.
// ok must be false then true and hold at hi; the returned x satisfies it.
func bisect(lo, hi float64, ok func(float64) bool) float64 {
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi || hi-lo <= 4e-16*math.Abs(hi) {
			break
		}
		if ok(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// forEach calls do for 0 to n−1, side by side where these are many.
func forEach(n int, do func(i int)) {
	if n <= manyParts {
		for i := range n {
			do(i)
		}
		return
	}
	inParallel(n, do)
}

// inParallel calls do for 0 to n−1.
func inParallel(n int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	wait.Wait()
}
