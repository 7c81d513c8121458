package stattest

import (
	"math"
	"math/rand/v2"
	"os"
	"sort"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestLimitIsTheQuantile(t *testing.T) {
	if want := distuv.UnitNormal.Quantile(1 - FalseAlarm/2); math.Abs(Limit-want) > 1e-6 {
		t.Errorf("Limit is %v, want %v", Limit, want)
	}
}

// TestSoundSamplesGoFree and the convictions beside them use math/rand, whose
// samplers are independent of the code that this package usually judges.
func TestSoundSamplesGoFree(t *testing.T) {
	const n = 100_000
	r := rand.New(rand.NewPCG(1, 2))
	xs, ys, us := make([]float64, n), make([]float64, n), make([]float64, n)
	counts, expected := make([]int, 8), make([]float64, 8)
	heads := 0
	for i := range xs {
		xs[i], ys[i], us[i] = r.NormFloat64(), r.NormFloat64(), r.Float64()
		counts[r.IntN(8)]++
		if r.Float64() < 0.3 {
			heads++
		}
	}
	for i := range expected {
		expected[i] = n / 8
	}
	sort.Float64s(us)
	normal := Moments{Variance: 1, Kurtosis: 3}
	uniform := func(x float64) float64 { return x }
	Accept(t, Mean("normal", xs, normal))
	Accept(t, Variance("normal", xs, normal))
	Accept(t, Correlation("pairs", xs, ys))
	Accept(t, KS("uniform", us, uniform))
	Accept(t, ChiSquare("die", counts, expected))
	Accept(t, Proportion("heads", heads, n, 0.3))

	Convict(t, Mean("mean off by 0.02", xs, Moments{Mean: 0.02, Variance: 1, Kurtosis: 3}))
	Convict(t, Variance("variance off by 5 %", xs, Moments{Variance: 1.05, Kurtosis: 3}))
	Convict(t, Correlation("self", xs, xs))
	Convict(t, KS("square", us, func(x float64) float64 { return x * x }))
	Convict(t, Proportion("heads", heads, n, 0.31))
	counts[0], counts[1] = counts[0]-900, counts[1]+900
	Convict(t, ChiSquare("loaded die", counts, expected))
}

// TestFalseAlarmRate measures the rates at a level that can be measured: at the
// 4.6 % level of |z| > 2 and its equivalent for KS, on 2,000 samples.
func TestFalseAlarmRate(t *testing.T) {
	const samples, n = 2000, 200
	r := rand.New(rand.NewPCG(3, 4))
	us := make([]float64, n)
	var z, ks int
	level := math.Erfc(2 / math.Sqrt2)
	for range samples {
		for i := range us {
			us[i] = r.Float64()
		}
		if Mean("uniform", us, Moments{Mean: 0.5, Variance: 1.0 / 12}).Statistic > 2 {
			z++
		}
		sort.Float64s(us)
		if KS("uniform", us, func(x float64) float64 { return x }).Statistic > math.Sqrt(-math.Log(level/2)/2) {
			ks++
		}
	}
	Accept(t, Proportion("z", z, samples, level))
	// Massart's bound is an upper bound: fewer alarms are right, more are not.
	if limit := samples*level + Limit*math.Sqrt(samples*level); float64(ks) > limit {
		t.Errorf("%d false alarms of KS, at most %.0f allowed", ks, limit)
	}
	if ks == 0 {
		t.Error("KS never convicts")
	}
}

func TestNaNConvicts(t *testing.T) {
	nan := math.NaN()
	Convict(t, Z("nan", nan, 0, 1))
	Convict(t, Z("no spread", 0, 0, 0))
	Convict(t, Mean("nan", []float64{1, nan}, Moments{Variance: 1}))
	Convict(t, KS("nan", []float64{nan, 0.5}, func(x float64) float64 { return x }))
	Convict(t, Correlation("constant", []float64{1, 1}, []float64{1, 2}))
}

func TestChiSquareRefusesThinCells(t *testing.T) {
	for name, f := range map[string]func(){
		"thin":    func() { ChiSquare("", []int{5, 20}, []float64{5, 20}) },
		"lengths": func() { ChiSquare("", []int{20}, []float64{20, 20}) },
		"sums":    func() { ChiSquare("", []int{20, 20}, []float64{20, 30}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
