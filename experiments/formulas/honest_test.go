package formulas

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

// The noise of class sums, and of nothing else, has the deviation that a replaced row
// asks for. Null: the variance of 6,000 normals is right; |z| <= 4.8916 is a false alarm
// in 1e-6. It would see noise that is missing, halved, for the wrong norm or shared by
// the classes.
func TestClassSumsCarryTheirNoise(t *testing.T) {
	data := SparseMixture()
	sample := Sample{Norm: data.PublicNorm}
	for k := range sample.Rows {
		for range 30 {
			sample.Rows[k] = append(sample.Rows[k], make([]float64, data.Features))
		}
	}
	const multiplier = .8
	means := sample.means(Identity(data.Features), multiplier, seeded(1))
	want := 2 * data.PublicNorm(data.Features) * multiplier / 30
	n, squares, products := 0., 0., 0.
	for j, a := range means[0] {
		b := means[1][j]
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

// All releases of class sums together are one of the given multiplier, no less noise.
func TestReleasesSpendTheBudget(t *testing.T) {
	for ranking, ok := range map[Ranking]bool{Distance: true, InOrder: true, TStatistic: false} {
		a, b, err := multipliers(ranking, .8)
		if (err == nil) != ok {
			t.Errorf("by %s: error %v", ranking, err)
		}
		spent := 0.0
		for _, m := range []float64{a, b} {
			if m > 0 {
				spent += 1 / (m * m)
			}
		}
		if ok && math.Abs(1/math.Sqrt(spent)-.8) > 1e-12 {
			t.Errorf("by %s: multipliers %v and %v are %v together, want 0.8", ranking, a, b, 1/math.Sqrt(spent))
		}
	}
}

// Noisy rows carry the noise of one release, whatever they are ranked by. Null: the variance of 100 differences is right;
// |z| <= 4.8916 is a false alarm in about 1e-4 (χ² of 100), and the seed is fixed. It would see noise that is missing, halved or for the wrong norm.
func TestNoisyRowsCarryTheirNoise(t *testing.T) {
	sample := Sample{Norm: func(int) float64 { return 3 }}
	for k := range sample.Rows {
		for range 30 {
			sample.Rows[k] = append(sample.Rows[k], make([]float64, 100))
		}
	}
	b := Budget{2, 1e-4}
	multiplier, err := b.AnalyticNoiseMultiplier()
	if err != nil {
		t.Fatal(err)
	}
	for _, ranking := range []Ranking{Distance, TStatistic, InOrder} {
		f, kept, noise, err := sample.noisyRows(seeded(1))(Arm{Ranking: ranking}, 100, b)
		if err != nil || noise != 2*3*multiplier || len(kept) != 100 {
			t.Fatalf("by %s: noise %v on %d features (%v), want %v on all", ranking, noise, len(kept), err, 6*multiplier)
		}
		// The classifier was trained on rows of nothing but noise: differences of two means of 30.
		squares := 0.0
		for _, d := range f.Difference {
			squares += d * d / (2 * noise * noise / 30)
		}
		if z := (squares - 100) / math.Sqrt(200); math.Abs(z) > 4.8916 {
			t.Errorf("by %s: variance is %.2f of what it should be", ranking, squares/100)
		}
	}
}

// Less noise, less error: on data where the classes can be told apart the procedures go
// from chance to nearly none.
func TestHonestLearnsWithoutNoise(t *testing.T) {
	data := DenseMixture()
	data.MeanVariance, data.Features = .1, 200
	s := SelectionStudy{Data: Synthetic{data, 30}, Delta: 1e-4, Replicates: 10, Seed: 1}
	for _, p := range []Procedure{ClassSums, NoisyRows} {
		s.Procedure = p
		s.Arms = []Arm{{Ranking: Distance, Count: 20, Epsilon: .001}, {Ranking: Distance, Count: 20, Epsilon: math.Inf(1)}}
		errors, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if drowned, clear := 100*stat.Mean(errors[:s.Replicates], nil), 100*stat.Mean(errors[s.Replicates:], nil); drowned < 40 || clear > 1 {
			t.Errorf("%s: error %v at ε = 0.001, %v without noise", p, drowned, clear)
		}
	}
}
