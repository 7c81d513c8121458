package release

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/noise"
	"pawl/internal/stattest"
)

func accuracy(multiplier float64, pure bool) Accuracy {
	return Accuracy{Scope: dp.WholeScope, NoiseMultiplier: multiplier, Pure: pure, Column: 0, Levels: 4,
		Predict: func(cells []float64) int { return int(2*cells[1] + 1) }}
}

// Null: every coordinate of the count vector carries its own discrete noise, of
// standard deviation k·√2·σ, or of scale 2k·σ for pure epsilon. Chi-square on each
// coordinate and correlations of all pairs, false-alarm rate 1e-6 each; convicts
// noise that is off, halved, shared by coordinates, or that forgets k or √2.
func TestAccuracyNoise(t *testing.T) {
	cells := [][2]float64{{0, 0}, {1, 0}, {1, 0.5}, {3, 1}, {math.NaN(), 0}}
	exact := []float64{2, 2, 1, 2, 0, 1}
	for _, s := range []setting{settings[0], settings[1], settings[3]} {
		for _, pure := range []bool{false, true} {
			a := accuracy(1.25, pure)
			z := make([][]float64, len(exact))
			for i := range draws {
				noisy, _, err := a.counts(background, permitWith(t, source("accuracy", i), s.rel, s.rows, a.Event()), rowsOf(s.rows, cells...))
				if err != nil {
					t.Fatal(err)
				}
				for j, v := range noisy {
					z[j] = append(z[j], v-exact[j])
				}
			}
			l := discreteGaussian(1.25 * math.Sqrt2 * s.apart)
			if pure {
				l = discreteLaplace(1.25 * 2 * s.apart)
			}
			for j := range z {
				name := fmt.Sprintf("coordinate %d, pure %v, %v", j, pure, s)
				acceptLaw(t, name, l, z[j])
				for i := range j {
					stattest.Accept(t, stattest.Correlation(name, z[i], z[j]))
				}
			}
		}
	}
}

// The noise of one stream is the same on any table, so noisy counts on neighbours
// differ by what the exact counts differ: L1 at most 2 and L2 at most √2 per row,
// whatever the cells and the predictions.
func TestAccuracySensitivity(t *testing.T) {
	class := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 2, 3, 4, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 0.5}))
	rapid.Check(t, func(t *rapid.T) {
		var cells [][2]float64
		for range rapid.IntRange(1, 6).Draw(t, "rows") {
			cells = append(cells, [2]float64{class.Draw(t, "class"), rapid.Float64Range(-1, 1).Draw(t, "number")})
		}
		k := rapid.IntRange(1, len(cells)).Draw(t, "rows of the unit")
		pure := rapid.Bool().Draw(t, "pure")
		a := accuracy(2, pure)
		seed := rapid.Uint64().Draw(t, "seed")
		counts := func(cells [][2]float64) []float64 {
			noisy, _, err := a.counts(background, permitWith(t, entropy.Seeded(seed), dp.AddOrRemoveOne, 1, a.Event()), rowsOf(1, cells...))
			if err != nil {
				t.Fatal(err)
			}
			return noisy
		}
		all, fewer := counts(cells), counts(cells[k:])
		l1, l2 := 0.0, 0.0
		for j := range all {
			d := all[j] - fewer[j]
			l1, l2 = l1+math.Abs(d), l2+d*d
		}
		if l1 > 2*float64(k) || math.Sqrt(l2) > math.Sqrt2*float64(k)+1e-9 {
			t.Fatalf("%d rows move the counts by %g (L1) and %g (L2)", k, l1, math.Sqrt(l2))
		}
	})
}

// A scope without rows, or whose noisy total is not positive, gives NaN and no
// error: failing would say so without being paid for.
func TestAccuracyOfNothing(t *testing.T) {
	for _, pure := range []bool{false, true} {
		a := accuracy(3, pure)
		unknown, known := 0, 0
		for i := range 200 {
			s, err := a.Release(background, permitWith(t, source("nothing", i), dp.AddOrRemoveOne, 1, a.Event()), rowsOf(1))
			if err != nil {
				t.Fatal(err)
			}
			if math.IsNaN(s.Value) != math.IsNaN(s.StdErr) || s.Value < 0 || s.Value > 1 || s.Baseline < 0 || s.Baseline > 1 {
				t.Fatalf("score %+v", s)
			}
			if math.IsNaN(s.Value) {
				unknown++
			} else {
				known++
			}
		}
		if unknown == 0 || known == 0 {
			t.Fatalf("an empty scope has %d scores and %d unknown ones; its total is not noisy", known, unknown)
		}
	}
}

func absolute(mean, multiplier float64) AbsoluteError {
	number := func(cells []float64) float64 { return cells[1] }
	return AbsoluteError{Scope: dp.WholeScope, MeanNoiseMultiplier: mean, NoiseMultiplier: multiplier, Truth: number, Predict: number}
}

// The released errors are what independent draws of the stated deviations, √2 and
// √3 rows times the multipliers, give. The sums are computed here in floating
// point; the grid moves them by less than n·2^-21.
func TestAbsoluteErrorFollowsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(settings).Draw(t, "setting")
		a := absolute(rapid.Float64Range(0.1, 3).Draw(t, "mean noise"), rapid.Float64Range(0.1, 3).Draw(t, "noise"))
		bias := rapid.SampledFrom([]float64{0, 0.3, -5, math.NaN(), math.Inf(1)}).Draw(t, "bias")
		a.Predict = func(cells []float64) float64 { return cells[1] + bias }
		var cells [][2]float64
		for range rapid.IntRange(0, 60).Draw(t, "rows") {
			cells = append(cells, [2]float64{0, rapid.OneOf(rapid.Float64Range(0, 1), rapid.Just(math.NaN())).Draw(t, "truth")})
		}
		seed := rapid.Uint64().Draw(t, "seed")
		got, err := a.Release(background, permitWith(t, entropy.Seeded(seed), s.rel, s.rows, a.Events()...), rowsOf(s.rows, cells...))
		if err != nil {
			t.Fatal(err)
		}
		streams := streamsOf(t, entropy.Seeded(seed), a.Events()...)
		draw := func(exact, multiplier, rows float64) float64 {
			stream := streams[0] // of the release that a row moves by √2
			if rows == 3 {
				stream = streams[1]
			}
			z := []int64{0}
			if err := noise.AddDiscreteGaussian(stream, z, multiplier*math.Sqrt(rows)*s.apart*(1+1e-12)*grid); err != nil {
				t.Fatal(err)
			}
			return exact + float64(z[0])/grid
		}
		sum, n, wrong, off := 0.0, 0.0, 0.0, 0.0
		for _, c := range cells {
			if c[1] == c[1] {
				sum, n = sum+c[1], n+1
			}
		}
		noisySum := draw(sum, a.MeanNoiseMultiplier, 2)
		noisyCount := draw(n, a.MeanNoiseMultiplier, 2)
		mean := 0.5
		if noisyCount > 0 {
			mean = min(max(noisySum/noisyCount, 0), 1)
		}
		for _, c := range cells {
			if y := c[1]; y == y {
				e := math.Abs(min(max(y+bias, 0), 1) - y)
				if bias != bias {
					e = 1
				}
				wrong, off = wrong+e, off+math.Abs(mean-y)
			}
		}
		wrong, off, n = draw(wrong, a.NoiseMultiplier, 3), draw(off, a.NoiseMultiplier, 3), draw(n, a.NoiseMultiplier, 3)
		if n <= 0.01 { // the ratio magnifies the grid's rounding
			return
		}
		share := func(part float64) float64 { return min(max(part/n, 0), 1) }
		if e := math.Abs(got.Value - share(wrong)); !(e <= 1e-3) {
			t.Fatalf("value %g, want %g", got.Value, share(wrong))
		}
		if e := math.Abs(got.Baseline - share(off)); !(e <= 1e-2) {
			t.Fatalf("baseline %g, want %g", got.Baseline, share(off))
		}
	})
}

// Null: with every prediction off by a half, value − ½ is (z − z'/2)/n with independent
// z, z' of deviation √3·σ·k; n = 4000 releases of 400 rows. The ratio is linear to
// 1 %, its variance has a standard error of 2.2 %. Convicts noise off, halved and
// shared between the sum and the count.
func TestAbsoluteErrorNoise(t *testing.T) {
	const n, rows = 4000, 400
	cells := make([][2]float64, rows)
	for _, s := range []setting{settings[0], settings[1], settings[3]} {
		a := absolute(1, 0.8)
		a.Predict = func([]float64) float64 { return 0.5 }
		table := rowsOf(s.rows, cells...)
		z := make([]float64, n)
		for i := range z {
			got, err := a.Release(background, permitWith(t, source("absolute", i), s.rel, s.rows, a.Events()...), table)
			if err != nil {
				t.Fatal(err)
			}
			z[i] = (got.Value - 0.5) * rows
		}
		sd := 0.8 * math.Sqrt(3) * s.apart
		normal := stattest.Moments{Variance: 1.25 * sd * sd, Kurtosis: 3}
		stattest.Accept(t, stattest.Variance("error under "+s.String(), z, normal))
		normal.Variance /= 4
		stattest.Convict(t, stattest.Variance("half the noise", z, normal))
	}
}

// With the mean fixed, one row adds at most 1 to each of the three sums of the
// second release and to both of the first, so √3 and √2 bound their norms.
func TestAbsoluteErrorTermsAreBounded(t *testing.T) {
	odd := []float64{0, 1, 0.5, -3, 7, math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308}
	for _, y := range odd {
		if q := quantise(y); q > grid || q < -grid {
			t.Errorf("truth %g counts %d, want at most %d", y, q, grid)
		}
		for _, p := range odd {
			if q := quantise(absoluteError(p, y)); q > grid || q < -grid {
				t.Errorf("prediction %g of %g counts %d, want at most %d", p, y, q, grid)
			}
		}
	}
	a := absolute(1, 1)
	unknown := 0
	for i := range 50 {
		got, err := a.Release(background, permitWith(t, source("empty", i), dp.AddOrRemoveOne, 1, a.Events()...), rowsOf(1))
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(got.Value) {
			unknown++
		}
	}
	if unknown == 0 || unknown == 50 {
		t.Errorf("an empty scope gives %d unknown scores of 50: its count is not noisy", unknown)
	}
}
