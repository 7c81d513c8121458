package infer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

type law struct {
	name string
	draw func(*rand.Rand) float64
}

func normal(mean, sd float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return mean + sd*r.NormFloat64() }
}

func clipped(f func(*rand.Rand) float64, lower, upper float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return min(max(f(r), lower), upper) }
}

func rounded(f func(*rand.Rand) float64, step float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return math.Round(f(r)/step) * step }
}

// narrow are ordinary columns of hospitals and offices.
var narrow = []law{
	{"temperature", rounded(func(r *rand.Rand) float64 {
		if r.Float64() < .1 {
			return 38.5 + .7*r.NormFloat64() // fever
		}
		return 36.9 + .4*r.NormFloat64()
	}, .1)},
	{"sodium", rounded(normal(139, 3.5), 1)},
	{"years", func(r *rand.Rand) float64 { return float64(2015 + r.IntN(10)) }},
	{"pH", rounded(normal(7.38, .07), .01)},
	{"debts", func(r *rand.Rand) float64 {
		if r.Float64() < .4 {
			return 0
		}
		return math.Round(math.Exp(8 + 1.2*r.NormFloat64()))
	}},
	{"haemoglobin", rounded(normal(13.5, 1.8), .1)},
	{"charges", func(r *rand.Rand) float64 { return math.Exp(9.1 + .9*r.NormFloat64()) }},
}

// release is what the mechanism gives for n values: exact bins plus noise. NOT PRIVATE: it has a seed.
func release(r *rand.Rand, values []float64, sd float64) []float64 {
	counts := make([]float64, Size())
	for _, v := range values {
		for _, b := range Bins(v) {
			counts[b]++
		}
	}
	for i := range counts {
		counts[i] += sd * r.NormFloat64()
	}
	return counts
}

// good says that bounds cover 99 % of the values, and are at most 4 times as wide as the middle 99 %.
func good(values []float64, b Range) bool {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	inside := 0
	for _, v := range sorted {
		if v >= b.Lower && v <= b.Upper {
			inside++
		}
	}
	return b.Found && float64(inside) >= .99*float64(n) && b.Upper-b.Lower <= 4*(sorted[n-1-n/200]-sorted[n/200])
}

func simulations(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("PAWL_SIMULATIONS")); err == nil {
		return n
	}
	return 30
}

// sd is the noise on a bin of P columns at μ.
func sd(columns int, mu float64) float64 { return math.Sqrt(3*float64(columns)) / mu }

func simulate(runs, n int, laws []law, sd float64) (found []int, by map[string]int) {
	by = map[string]int{}
	for run := range runs {
		r := rand.New(rand.NewPCG(uint64(run), 7))
		good1 := 0
		for _, l := range laws {
			values := make([]float64, n)
			for i := range values {
				values[i] = l.draw(r)
			}
			if b := Read(release(r, values, sd), sd); good(values, b) {
				good1++
				by[l.name]++
			}
		}
		found = append(found, good1)
	}
	return found, by
}

func share(found []int, least int) float64 {
	n := 0
	for _, f := range found {
		if f >= least {
			n++
		}
	}
	return float64(n) / float64(len(found))
}

// gaussianMu is μ(ε, 1e-6) of accountant.AnalyticGaussian.
var gaussianMu = map[float64]float64{.2: .05233, .5: .1244}

// Of seven narrow columns at epsilon .2, six or more get bounds that cover 99 % of their cells and are at most four times
// as wide as the middle 99 %: in 93 % of 400 runs at 5,000 rows (PAWL_SIMULATIONS=400).
func TestBoundsOfNarrowColumns(t *testing.T) {
	runs := simulations(t)
	for _, c := range []struct {
		n     int
		least float64
	}{{2000, 0}, {5000, .9}, {20000, .95}} {
		found, by := simulate(runs, c.n, narrow, sd(len(narrow), gaussianMu[.2]))
		got := share(found, 6)
		t.Logf("NOT PRIVATE simulation, n %d: 6 or more of 7 in %.2f of %d runs %v", c.n, got, runs, by)
		if got < c.least {
			t.Errorf("n %d: 6 or more of 7 in %.2f of runs, want %.2f", c.n, got, c.least)
		}
	}
}

// har are columns of [−1, 1] like those of sensors: some one-sided, many through 0, some of two activities.
func har(columns int) (laws []law) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range columns {
		var f func(*rand.Rand) float64
		switch i % 3 {
		case 0:
			f = normal(2*r.Float64()-1, .05+.3*r.Float64())
		case 1:
			f = normal(.4*r.Float64()-.2, .1+.3*r.Float64())
		default: // two activities
			a, b, s := -.99, .6*r.Float64()-.5, .1+.2*r.Float64()
			f = func(r *rand.Rand) float64 {
				if r.Float64() < .55 {
					return a + .01*math.Abs(r.NormFloat64())
				}
				return b + s*r.NormFloat64()
			}
		}
		laws = append(laws, law{fmt.Sprint("har", i), clipped(f, -1, 1)})
	}
	return laws
}

// Of 52 such columns at epsilon .5 and 7,352 rows, 42 or more get bounds; thin sides beyond 0 are what is lost.
func TestBoundsOfManyColumns(t *testing.T) {
	laws := har(52)
	found, _ := simulate(max(simulations(t)/10, 3), 7352, laws, sd(52, gaussianMu[.5]))
	total := 0
	for _, f := range found {
		total += f
	}
	t.Logf("NOT PRIVATE simulation, bounds of 52 columns: %v", found)
	if total < 42*len(found) {
		t.Errorf("%v of 52 columns get bounds, want 42", found)
	}
}

// A number lies between the edges of each of its bins, bins of a histogram ascend with numbers, and none is beyond the
// release.
func TestBins(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var values []float64
	for range 3000 {
		v := math.Exp(50*r.Float64() - 15)
		if r.IntN(2) == 0 {
			v = -v
		}
		values = append(values, v)
	}
	values = append(values, 0, 1, -1, 2, 1.5, math.Ldexp(1, least), -math.Ldexp(1, least), math.Ldexp(1, most), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Nextafter(2, 0))
	slices.Sort(values)
	before := make([]int, Histograms)
	for _, v := range values {
		got := Bins(v)
		if len(got) != Histograms {
			t.Fatalf("%g marks %v", v, got)
		}
		first := 0
		for k, cut := range cuts {
			i := got[k] - first
			if i < 0 || i >= size(cut) || got[k] < before[k] {
				t.Fatalf("%g is in bin %d of histogram %d, the number before in %d", v, got[k], k, before[k])
			}
			lower, upper := edges(i, cut)
			if inside := math.Abs(v) >= math.Ldexp(1, least) && math.Abs(v) < math.Ldexp(1, most); inside && !(v >= lower && v <= upper) {
				t.Fatalf("%g is in [%g, %g]", v, lower, upper)
			}
			before[k] = got[k]
			first += size(cut)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if Bins(v) != nil {
			t.Errorf("%g is in a bin", v)
		}
	}
}

// What an empty column shows is nothing, and what all hold is read exactly where there is no noise to speak of.
func TestRead(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	if got := Read(release(r, nil, 50), 50); got.Found {
		t.Errorf("bounds of nothing: %+v", got)
	}
	for _, c := range []struct {
		name         string
		values       func() float64
		lower, upper [2]float64
		check        func(Range) bool
	}{
		{"zeros", func() float64 { return 0 }, [2]float64{0, 0}, [2]float64{1, 1}, func(b Range) bool { return b.OnlyZero }},
		{"answers", func() float64 { return float64(r.IntN(2)) }, [2]float64{0, 0}, [2]float64{1, 5}, func(b Range) bool { return b.ZeroOne }},
		{"one number", func() float64 { return 1 }, [2]float64{.99, 1}, [2]float64{1, 1.01}, func(b Range) bool { return b.Point }},
		{"amounts", func() float64 { return math.Exp(8 + 2*r.NormFloat64()) }, [2]float64{0, 100}, [2]float64{1e5, 2e7}, func(b Range) bool { return b.LogLike && b.HeavyTailed }},
		{"negative amounts", func() float64 { return -math.Exp(6 + r.NormFloat64()) }, [2]float64{-5e4, -4000}, [2]float64{-100, 0}, func(b Range) bool { return b.LogLike }},
		{"ages from 0 on", func() float64 { return float64(r.IntN(90)) }, [2]float64{0, 0}, [2]float64{89, 130}, func(b Range) bool { return b.LogLike }},
		{"degrees", func() float64 { return 20 * r.NormFloat64() }, [2]float64{-320, -45}, [2]float64{45, 320}, func(b Range) bool { return !b.LogLike }},
		{"below zero", func() float64 { return -150 + 10*r.NormFloat64() }, [2]float64{-330, -170}, [2]float64{-130, 0}, func(b Range) bool { return !b.LogLike }},
	} {
		var values []float64
		for range 20000 {
			values = append(values, c.values())
		}
		b := Read(release(r, values, 10), 10)
		if !b.Found || b.Lower < c.lower[0] || b.Lower > c.lower[1] || b.Upper < c.upper[0] || b.Upper > c.upper[1] || !c.check(b) {
			t.Errorf("%s: %+v", c.name, b)
		}
		if math.Abs(b.Total-20000) > 1000 {
			t.Errorf("%s: about %g numbers of 20000", c.name, b.Total)
		}
	}
}

// With little noise every ordinary column gets bounds that hold it.
func TestReadWithLittleNoise(t *testing.T) {
	laws := append([]law{
		{"ages", func(r *rand.Rand) float64 { return float64(r.IntN(90)) }},
		{"exponential", func(r *rand.Rand) float64 { return 1000 * r.ExpFloat64() }},
		{"negative", func(r *rand.Rand) float64 { return -math.Exp(5 + r.NormFloat64()) }},
		{"mostly 0", func(r *rand.Rand) float64 { return math.Max(0, 5*r.NormFloat64()) }},
	}, narrow...)
	bad := 0
	for run := range 10 {
		r := rand.New(rand.NewPCG(uint64(run), 3))
		for _, l := range laws {
			values := make([]float64, 50000)
			for i := range values {
				values[i] = l.draw(r)
			}
			if b := Read(release(r, values, 20), 20); !good(values, b) {
				t.Logf("%s: %+v", l.name, b)
				bad++
			}
		}
	}
	// A bin of noise beyond the numbers makes bounds wide now and then.
	if bad > 10*len(laws)/20 {
		t.Errorf("%d of %d are not good", bad, 10*len(laws))
	}
}
