package dfs

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"pawl/experiments/formulas"
)

// The noise of class sums, and of nothing else, has the deviation that a replaced row
// asks for. Null: the variance of 6,000 normals is right; |z| <= 4.8916 is a false alarm
// in 1e-6. It would see noise that is missing, halved, for the wrong norm or shared by
// the classes.
func TestClassSumsCarryTheirNoise(t *testing.T) {
	data := formulas.SparseMixture()
	h := Honest{Procedure: ClassSums, Data: data, Rows: 30}
	var rows [2][][]float64
	for k := range rows {
		for range h.Rows {
			rows[k] = append(rows[k], make([]float64, data.Features))
		}
	}
	const multiplier = .8
	sums := h.sums(rows, data.Features, multiplier, rand.New(rand.NewPCG(1, 1)))
	want := 2 * PublicNorm(data, data.Features) * multiplier / float64(h.Rows)
	n, squares, products := 0., 0., 0.
	for j, a := range sums[0][0] {
		b := sums[1][0][j]
		n += 2
		squares += (a*a + b*b) / want / want
		products += a * b / want / want
	}
	if z := (squares - n) / math.Sqrt(2*n); math.Abs(z) > 4.8916 {
		t.Errorf("variance is %.3f of what it should be (z = %.1f)", squares/n, z)
	}
	if z := products / math.Sqrt(n/2); math.Abs(z) > 4.8916 {
		t.Errorf("both classes share noise (z = %.1f)", z)
	}
}

// Whatever the rows, none is longer than the norm, and short ones stay as they are.
func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 8).Draw(t, "x")
		norm := rapid.Float64Range(1e-3, 1e6).Draw(t, "norm")
		length := func(x []float64) float64 {
			sum := 0.0
			for _, v := range x {
				sum += v * v
			}
			return math.Sqrt(sum)
		}
		y := Clip([2][][]float64{{x}, nil}, norm)[0][0]
		if l := length(y); !(l <= norm*(1+1e-12)) {
			t.Errorf("norm %v after clipping to %v", l, norm)
		}
		if length(x) <= norm && length(y) != length(x) {
			t.Errorf("a row within the norm was changed: %v, %v", x, y)
		}
	})
}

// All releases of a procedure together are one of the given multiplier, no less noise.
func TestReleasesSpendTheBudget(t *testing.T) {
	for _, c := range []struct {
		procedure Procedure
		ranking   formulas.Ranking
		ok        bool
	}{
		{ClassSums, formulas.Distance, true}, {ClassSums, formulas.InOrder, true}, {ClassSums, formulas.TStatistic, false},
		{NoisyRows, formulas.Distance, true}, {NoisyRows, formulas.TStatistic, true}, {"other", formulas.Distance, false},
	} {
		a, b, err := c.procedure.multipliers(c.ranking, .8)
		if (err == nil) != c.ok {
			t.Errorf("%s by %s: error %v", c.procedure, c.ranking, err)
		}
		spent := 0.0
		for _, m := range []float64{a, b} {
			if m > 0 {
				spent += 1 / (m * m)
			}
		}
		if c.ok && math.Abs(1/math.Sqrt(spent)-.8) > 1e-12 {
			t.Errorf("%s by %s: multipliers %v and %v are %v together, want 0.8", c.procedure, c.ranking, a, b, 1/math.Sqrt(spent))
		}
	}
}

// Less noise, less error: on data where the classes can be told apart the procedures go
// from chance to nearly none.
func TestHonestLearnsWithoutNoise(t *testing.T) {
	data := formulas.DenseMixture()
	data.MeanVariance, data.Features = .1, 200
	h := Honest{Data: data, Rows: 30, Delta: 1e-4, Replicates: 10, Seed: 1}
	for _, p := range []Procedure{ClassSums, NoisyRows} {
		h.Procedure = p
		h.Arms = []formulas.Arm{{Ranking: formulas.Distance, Count: 20, Epsilon: .001}, {Ranking: formulas.Distance, Count: 20, Epsilon: math.Inf(1)}}
		errors, err := h.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if drowned, clear := 100*stat.Mean(errors[:h.Replicates], nil), 100*stat.Mean(errors[h.Replicates:], nil); drowned < 40 || clear > 1 {
			t.Errorf("%s: error %v at ε = 0.001, %v without noise", p, drowned, clear)
		}
	}
}
