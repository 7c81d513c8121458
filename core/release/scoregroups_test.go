package release

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/internal/stattest"
)

// byClass scores rows of rowsOf in the groups of their class; the number is the loss.
func byClass(multiplier float64, pure, counted bool) GroupScores {
	return GroupScores{Scope: dp.WholeScope, NoiseMultiplier: multiplier, Pure: pure, Counted: counted, Groups: 2,
		Group: func(cells []float64) int {
			if c := cells[0]; c == c {
				return int(c)
			}
			return -1
		},
		Loss: func(cells []float64) float64 { return cells[1] }}
}

// Null: every sum carries its own discrete noise, of standard deviation k·σ rows, or
// of scale k·σ rows for pure epsilon. Chi-square on each sum and correlations of all
// pairs, false-alarm rate 1e-6 each; convicts noise that is off, halved, shared by
// sums, or that forgets k.
func TestGroupScoresNoise(t *testing.T) {
	cells := [][2]float64{{0, 0}, {0, 1}, {0, 1}, {1, 0}, {math.NaN(), 1}, {7, 0}, {1, math.NaN()}}
	exact := []float64{2, 1, 0, 1, 1, 1}
	for _, s := range []setting{settings[0], settings[1], settings[3]} {
		for _, pure := range []bool{false, true} {
			g := byClass(2.5, pure, true)
			z := make([][]float64, len(exact))
			for i := range draws {
				noisy, err := g.sums(background, permitWith(t, source("groups", i), s.rel, s.rows, g.Event()), rowsOf(s.rows, cells...))
				if err != nil {
					t.Fatal(err)
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
				name := fmt.Sprintf("sum %d, pure %v, %v", j, pure, s)
				acceptLaw(t, name, l, z[j])
				for i := range j {
					stattest.Accept(t, stattest.Correlation(name, z[i], z[j]))
				}
			}
		}
	}
}

// Null: in units of 1/grid rows the noise has the same deviation in rows. Variance of
// 4,000 draws, relative standard error 2.2 %; convicts noise off and halved, and a
// scale that forgets the grid.
func TestGroupErrorsNoise(t *testing.T) {
	const n = 4000
	g := byClass(1.5, false, false)
	z := make([]float64, n)
	for i := range z {
		noisy, err := g.sums(background, permitWith(t, source("group errors", i), dp.AddOrRemoveOne, 3, g.Event()), rowsOf(3, [2]float64{0, 0.25}))
		if err != nil {
			t.Fatal(err)
		}
		z[i] = noisy[0]/grid - 0.25
	}
	normal := stattest.Moments{Variance: 4.5 * 4.5, Kurtosis: 3}
	stattest.Accept(t, stattest.Variance("sum of losses", z, normal))
	normal.Variance /= 4
	stattest.Convict(t, stattest.Variance("half the noise", z, normal))
}

// The noise of one stream is the same on any table, so noisy sums on neighbours differ
// by what the exact sums differ: k rows in L1 and L2 when a unit of k rows comes in,
// whatever its groups and losses; 2k and √2·k when its rows are replaced by others,
// in the same groups or in others. Both are reached, so less noise would be a fault.
func TestGroupScoresSensitivity(t *testing.T) {
	class := rapid.SampledFrom([]float64{0, 1, 2, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 0.5})
	loss := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1, -3, 7, math.NaN(), math.Inf(1), math.Inf(-1)}))
	table := func(t *rapid.T, label string, n int) (cells [][2]float64) {
		for range n {
			cells = append(cells, [2]float64{class.Draw(t, label+" class"), loss.Draw(t, label+" loss")})
		}
		return cells
	}
	largest := map[string]float64{}
	rapid.Check(t, func(t *rapid.T) {
		g := byClass(2, rapid.Bool().Draw(t, "pure"), rapid.Bool().Draw(t, "counted"))
		seed := rapid.Uint64().Draw(t, "seed")
		sums := func(cells [][2]float64) []float64 {
			noisy, err := g.sums(background, permitWith(t, entropy.Seeded(seed), dp.AddOrRemoveOne, 1, g.Event()), rowsOf(1, cells...))
			if err != nil {
				t.Fatal(err)
			}
			return noisy
		}
		apart := func(a, b [][2]float64) (l1, l2 float64) {
			x, y := sums(a), sums(b)
			for j := range x {
				d := (x[j] - y[j]) / float64(g.unit())
				l1, l2 = l1+math.Abs(d), l2+d*d
			}
			return l1, math.Sqrt(l2)
		}
		k := rapid.IntRange(1, 4).Draw(t, "rows of the unit")
		others := table(t, "others", rapid.IntRange(0, 4).Draw(t, "others"))
		here, there := table(t, "here", k), table(t, "there", k)
		for name, world := range map[string][2][][2]float64{
			"added":    {append(others[:len(others):len(others)], here...), others},
			"replaced": {append(others[:len(others):len(others)], here...), append(others[:len(others):len(others)], there...)},
		} {
			l1, l2 := apart(world[0], world[1])
			most1, most2 := float64(k), float64(k)
			if name == "replaced" {
				most1, most2 = 2*most1, math.Sqrt2*most2
			}
			if l1 > most1+1e-6 || l2 > most2+1e-6 {
				t.Fatalf("%d rows %s move the sums by %g (L1) and %g (L2)", k, name, l1, l2)
			}
			largest[name] = max(largest[name], l2/most2)
		}
	})
	for name, share := range largest {
		if share < 1-1e-9 {
			t.Errorf("%s: the bound is not reached (%g of it): the test is too weak", name, share)
		}
	}
}

// Whether a group is said to be too small follows from its noisy number of rows: one
// with exactly Fewest rows is on either side as the noise falls, in the same table.
func TestTooFewFollowsFromTheNoise(t *testing.T) {
	g := byClass(4, false, true)
	fewest := g.Fewest(1)
	if want := 6 * math.Sqrt2 * 4; math.Abs(fewest-want) > 1e-9 {
		t.Fatalf("fewest rows %g, want %g", fewest, want)
	}
	cells := make([][2]float64, int(math.Round(fewest)))
	table := rowsOf(1, cells...)
	few := 0
	const n = 400
	for i := range n {
		scores, err := g.Release(background, permitWith(t, source("few", i), dp.AddOrRemoveOne, 1, g.Event()), table)
		if err != nil {
			t.Fatal(err)
		}
		if len(scores) != 3 || !scores[1].TooFew || !scores[2].TooFew {
			t.Fatalf("groups without rows: %+v", scores)
		}
		s := scores[0]
		if s.TooFew != (s.Rows < fewest) || s.TooFew != math.IsNaN(s.Loss) {
			t.Fatalf("score %+v at a limit of %g rows", s, fewest)
		}
		if s.TooFew {
			few++
		}
	}
	// Binomial(400, 1/2) leaves [100, 300] with a chance below 1e-23.
	if few < n/4 || few > 3*n/4 {
		t.Errorf("%d of %d releases found the group too small: not a matter of noise", few, n)
	}
	if got := byClass(0.1, false, true).Fewest(1); got != FewestRows {
		t.Errorf("little noise: fewest rows %g, want %d", got, FewestRows)
	}
}

// Null: the interval holds the population's loss in at least 95 % of the cases in
// which one is shown. 4,000 samples for each size, loss and noise; the standard error
// of a coverage is 0.34 points, so that 93.3 % is 4.9 of them below. Convicts
// intervals that leave out the noise.
func TestGroupIntervalsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	const n = 4000
	for _, size := range []int{25, 100, 400, 3000} {
		for _, p := range []float64{0.03, 0.2, 0.5, 0.97} {
			for _, std := range []float64{0.3, 3, 20} {
				fewest := max(FewestRows, FewestDeviations*math.Sqrt2*std)
				if float64(size) < fewest {
					continue
				}
				hit, bare, shown := 0, 0, 0
				for range n {
					wrong := 0
					for range size {
						if rng.Float64() < p {
							wrong++
						}
					}
					loss, gain := float64(wrong)+std*rng.NormFloat64(), float64(size-wrong)+std*rng.NormFloat64()
					s := groupScore(loss, gain, std, 1, fewest)
					if s.TooFew {
						continue
					}
					shown++
					if s.Interval[0] <= p && p <= s.Interval[1] {
						hit++
					}
					if s = groupScore(loss, gain, 0, 1, fewest); s.Interval[0] <= p && p <= s.Interval[1] {
						bare++
					}
				}
				if c := float64(hit) / float64(shown); c < 0.933 {
					t.Errorf("%d rows, loss %g, noise %g: %.1f %% of %d intervals hold", size, p, std, 100*c, shown)
				}
				if c := float64(bare) / float64(shown); size == 400 && std == 20 && c > 0.9 {
					t.Errorf("%d rows, loss %g, noise %g: %.1f %% hold without the noise: the test is too weak", size, p, std, 100*c)
				}
			}
		}
	}
}

// Scores by group open rows against their own event only, once.
func TestGroupScoresNeedTheirCharge(t *testing.T) {
	g := byClass(2, false, true)
	rows := rowsOf(1, [2]float64{0, 1})
	for name, event := range map[string]dp.Event{
		"nothing booked":      dp.NoOp{},
		"less noise than ran": dp.DiscreteGaussian{NoiseMultiplier: 4},
		"another law":         dp.DiscreteLaplace{NoiseMultiplier: 2},
	} {
		if _, err := g.Release(background, permitWith(t, source(name, 0), dp.AddOrRemoveOne, 1, event), rows); !errors.Is(err, sealed.ErrNotReserved) {
			t.Errorf("%s: %v, want ErrNotReserved", name, err)
		}
	}
	permit := permitFor(t, dp.AddOrRemoveOne, 1, g.Event())
	if _, err := g.Release(background, permit, rows); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Release(background, permit, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("a second release: %v, want ErrNotReserved", err)
	}
	g.Loss = nil
	if _, err := g.Release(background, permitWith(t, source("no loss", 0), dp.AddOrRemoveOne, 1, g.Event()), rows); err == nil {
		t.Error("scores without a loss were released")
	}
	g = byClass(2, false, true)
	if got, err := g.Release(background, permitWith(t, new(entropy.Source), dp.AddOrRemoveOne, 1, g.Event()), rows); got != nil || err == nil {
		t.Errorf("without a source of noise: %v, %v", got, err)
	}
}
