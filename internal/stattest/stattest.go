// Package stattest judges samples in tests. Each check is a pure function that
// returns a Verdict; Accept fails the test when the verdict convicts, Convict
// fails it when a deliberately broken sampler goes free.
//
// Every check has a false-alarm rate of at most FalseAlarm under its null
// hypothesis, seeds are fixed, so a failure means that code changed. Accept adds
// up the rates; Main prints the sum of a package and refuses one above Allowance,
// beyond which "all tests passed by luck" and "one failed by luck" stop being rare.
package stattest

import (
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// FalseAlarm is the chance that one check convicts a correct sampler.
	FalseAlarm = 1e-6
	// Limit is the two-sided normal quantile of FalseAlarm: P(|z| > Limit) = 1e-6.
	Limit = 4.8916384757
	// Allowance bounds the false alarms of all accepted checks of one package.
	Allowance = 1e-3
)

// accepted counts the checks of this test binary; tests may run in parallel.
var accepted atomic.Int64

// Verdict is the outcome of one check: it convicts when Statistic exceeds Limit
// or is NaN.
type Verdict struct {
	Name      string
	Statistic float64
	Limit     float64
	Detail    string
}

// Convicts reports whether the sample contradicts the null hypothesis.
func (v Verdict) Convicts() bool { return !(v.Statistic <= v.Limit) }

func (v Verdict) String() string {
	return fmt.Sprintf("%s: statistic %.4g, limit %.4g (%s)", v.Name, v.Statistic, v.Limit, v.Detail)
}

// Accept fails t when v convicts, and books one FalseAlarm.
func Accept(t testing.TB, v Verdict) {
	t.Helper()
	accepted.Add(1)
	if v.Convicts() {
		t.Errorf("convicted: %v", v)
	}
}

// Convict fails t unless v convicts: the check must be able to see this fault.
func Convict(t testing.TB, v Verdict) {
	t.Helper()
	if !v.Convicts() {
		t.Errorf("a broken sampler went free: %v", v)
	}
}

// Main runs the tests of a package and adds the sum of false-alarm rates:
//
//	func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }
func Main(m *testing.M) int {
	code := m.Run()
	sum := float64(accepted.Load()) * FalseAlarm
	if testing.Verbose() {
		fmt.Printf("stattest: %d checks, false-alarm rate of the suite at most %.2g\n", accepted.Load(), sum)
	}
	if sum > Allowance {
		fmt.Fprintf(os.Stderr, "stattest: false-alarm rate %.2g of the suite exceeds %.2g\n", sum, Allowance)
		return max(code, 1)
	}
	return code
}

// Z checks an estimate whose error is normal with the given standard error.
func Z(name string, got, want, standardError float64) Verdict {
	return Verdict{name, math.Abs(got-want) / standardError, Limit,
		fmt.Sprintf("got %.6g, want %.6g ± %.2g", got, want, standardError)}
}

// Proportion checks a count of independent successes among n by the normal
// approximation; n·p·(1−p) should be at least 25.
func Proportion(name string, count, n int, p float64) Verdict {
	mean := float64(n) * p
	return Z(name, float64(count), mean, math.Sqrt(mean*(1-p)))
}

// Moments is what a distribution's first four central moments are: Skewness is
// E(x−μ)³/σ³, Kurtosis is E(x−μ)⁴/σ⁴ (3 for the normal).
type Moments struct{ Mean, Variance, Skewness, Kurtosis float64 }

// Sample returns the moments of xs (divisor n).
func Sample(xs []float64) Moments {
	n := float64(len(xs))
	var mean, m2, m3, m4 float64
	for _, x := range xs {
		mean += x
	}
	mean /= n
	for _, x := range xs {
		d := x - mean
		m2 += d * d
		m3 += d * d * d
		m4 += d * d * d * d
	}
	m2, m3, m4 = m2/n, m3/n, m4/n
	return Moments{mean, m2, m3 / math.Pow(m2, 1.5), m4 / (m2 * m2)}
}

// Mean checks the mean of xs: standard error sqrt(Variance/n).
func Mean(name string, xs []float64, want Moments) Verdict {
	return Z(name+" mean", Sample(xs).Mean, want.Mean, math.Sqrt(want.Variance/float64(len(xs))))
}

// Variance checks the variance of xs: standard error Variance·sqrt((Kurtosis−1)/n).
// A normal sample of 10⁶ shows a 1 % error of the standard deviation at 14
// standard errors.
func Variance(name string, xs []float64, want Moments) Verdict {
	return Z(name+" variance", Sample(xs).Variance, want.Variance,
		want.Variance*math.Sqrt((want.Kurtosis-1)/float64(len(xs))))
}

// KS checks xs (sorted in increasing order) against a continuous distribution:
// the statistic is sqrt(n)·sup|F_n − F|. The limit rests on the inequality
// P(> c) <= 2exp(−2c²), valid for every n (Massart 1990).
func KS(name string, sorted []float64, cdf func(float64) float64) Verdict {
	n := float64(len(sorted))
	var sup float64
	for i, x := range sorted {
		f := cdf(x)
		// NaN must convict: math.Max carries it, a comparison would drop it.
		sup = math.Max(sup, math.Max(f-float64(i)/n, float64(i+1)/n-f))
	}
	return Verdict{name + " KS", math.Sqrt(n) * sup, math.Sqrt(-math.Log(FalseAlarm/2) / 2),
		fmt.Sprintf("n=%d, sup=%.4g", len(sorted), sup)}
}

// ChiSquare checks counts of disjoint cells that cover everything against their
// expected counts (equal sums, each at least 10, else it panics).
func ChiSquare(name string, observed []int, expected []float64) Verdict {
	if len(observed) != len(expected) || len(observed) < 2 {
		panic(fmt.Sprintf("stattest: %d observed cells, %d expected", len(observed), len(expected)))
	}
	var stat, total, want float64
	for i, o := range observed {
		if !(expected[i] >= 10) {
			panic(fmt.Sprintf("stattest: cell %d expects %v; merge cells below 10", i, expected[i]))
		}
		d := float64(o) - expected[i]
		stat += d * d / expected[i]
		total += float64(o)
		want += expected[i]
	}
	if math.Abs(total-want) > 1e-6*total {
		panic(fmt.Sprintf("stattest: %v observed, %v expected in all", total, want))
	}
	freedom := float64(len(observed) - 1)
	return Verdict{name + " chi-square", stat, distuv.ChiSquared{K: freedom}.Quantile(1 - FalseAlarm),
		fmt.Sprintf("%v degrees of freedom", freedom)}
}

// Correlation checks that two samples, paired by index, are uncorrelated: r·sqrt(n)
// is close to standard normal for n in the hundreds and finite fourth moments.
func Correlation(name string, xs, ys []float64) Verdict {
	mx, my := Sample(xs), Sample(ys)
	var cov float64
	for i := range xs {
		cov += (xs[i] - mx.Mean) * (ys[i] - my.Mean)
	}
	n := float64(len(xs))
	r := cov / n / math.Sqrt(mx.Variance*my.Variance)
	return Verdict{name + " correlation", math.Abs(r) * math.Sqrt(n), Limit, fmt.Sprintf("r=%.4g, n=%d", r, len(xs))}
}
