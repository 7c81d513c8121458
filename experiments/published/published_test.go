package published

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pawl/core/entropy"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/search/feature/aware"
)

func cancer(t *testing.T) (*aware.Table, *aware.Split) {
	t.Helper()
	table, err := Open("breast-cancer", "", "recurrence-events", Encoding{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := table.Split(191, 95, 1)
	if err != nil {
		t.Fatal(err)
	}
	return table, s
}

func share(s *aware.Split, rows []int) float64 {
	ones := 0.0
	for _, i := range rows {
		ones += s.Table.Label[i]
	}
	return ones / float64(len(rows))
}

// The papers count 43 columns, nine ones in every row, and 108 columns of Adult.
func TestColumnsAreThoseOfThePaper(t *testing.T) {
	table, s := cancer(t)
	if len(table.Names) != 43 || len(table.X) != 286 {
		t.Errorf("breast-cancer has %d columns and %d rows, want 43 and 286", len(table.Names), len(table.X))
	}
	for i, x := range table.X {
		ones := 0.0
		for _, v := range x {
			ones += v
		}
		if ones != 9 {
			t.Fatalf("row %d has %g ones, want 9", i, ones)
		}
	}
	if got := s.Norm(table.All()); math.Abs(got-math.Sqrt(10)) > 1e-12 {
		t.Errorf("norm %g, want that of nine ones and a constant", got)
	}
	for _, c := range []struct {
		name string
		want int
	}{{"one-hot", 108}, {"numeric", 6}, {"codes", 14}} {
		adult, err := OpenAs("adult", "", c.name)
		if err != nil {
			t.Fatal(err)
		}
		if len(adult.Names) != c.want {
			t.Errorf("adult, %s: %d columns, want %d", c.name, len(adult.Names), c.want)
		}
		for _, x := range adult.X {
			if slices.Min(x) < 0 || slices.Max(x) > 1 {
				t.Fatalf("adult, %s: a row leaves [0, 1]", c.name)
			}
		}
	}
}

// Methods and the honest workflow compare on the same rows.
func TestSplitsAreThoseOfTheLab(t *testing.T) {
	table, s := cancer(t)
	all, err := lab.Open("breast-cancer", "")
	if err != nil {
		t.Fatal(err)
	}
	split := all.Split(191, 1)
	target := split.Schema.Column("class")
	for k, i := range s.Train {
		if split.Rows[k][target] != table.Label[i] {
			t.Fatalf("training row %d differs", k)
		}
	}
	for k, i := range s.Test {
		if split.Test[k][target] != table.Label[i] {
			t.Fatalf("test row %d differs", k)
		}
	}
	for _, c := range []struct{ train, test int }{{0, 95}, {191, 0}, {191, 96}} {
		if _, err := table.Split(c.train, c.test, 1); err == nil {
			t.Errorf("a split into %d and %d was accepted", c.train, c.test)
		}
	}
}

// Without noise all fits agree and beat the majority; with much noise they scatter
// around a half.
func TestFitsAreNoisy(t *testing.T) {
	table, s := cancer(t)
	fit := func(epsilon float64) []float64 {
		v, err := s.Accuracies(t.Context(), aware.Fits{Columns: table.All(), Epsilon: epsilon, Repeats: 200}, entropy.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	exact := fit(aware.NoPrivacy)
	if slices.Min(exact) != slices.Max(exact) || exact[0] <= s.Majority() {
		t.Errorf("without noise: from %g to %g, majority %g", slices.Min(exact), slices.Max(exact), s.Majority())
	}
	// At ε = 0.01 a fit is nearly a random direction: mean 50, deviation about 16, so
	// the mean of 200 misses 50 by 6 with a chance below 1e-6 (and by the little that is learnt).
	e := experiments.Of(fit(.01))
	if math.Abs(e.Mean-50) > 6 || e.High-e.Low < 2 {
		t.Errorf("ε = 0.01: %v, want about 50 with a wide spread", e)
	}
	if v, err := s.Accuracies(t.Context(), aware.Fits{Epsilon: aware.NoPrivacy, Repeats: 1}, entropy.Seeded(1)); err != nil || v[0] != s.Majority() {
		t.Errorf("no columns: %v (%v), want the majority rate %g", v, err, s.Majority())
	}
}

// The closed form against a simulation of both noisy counts: 200,000 draws, |z| <= 4.8916,
// false alarm 1e-6.
func TestPrivateMajority(t *testing.T) {
	_, s := cancer(t)
	const draws = 200000
	rng := rand.New(rand.NewPCG(1, 2))
	laplace := func(scale float64) float64 { return scale * (rng.ExpFloat64() - rng.ExpFloat64()) }
	ones := share(s, s.Train) * float64(len(s.Train))
	test := share(s, s.Test)
	for _, epsilon := range []float64{.003, .01, .1} {
		wins := 0.0
		for range draws {
			if ones+laplace(1/epsilon) > float64(len(s.Train))-ones+laplace(1/epsilon) {
				wins++
			}
		}
		p := wins / draws
		got, want := s.PrivateMajority(epsilon), 100*(p*test+(1-p)*(1-test))
		allowed := 4.8916 * 100 * math.Abs(2*test-1) * math.Sqrt((p*(1-p)+1e-5)/draws)
		if math.Abs(got-want) > allowed {
			t.Errorf("ε = %g: %g, simulated %g ± %g", epsilon, got, want, allowed)
		}
	}
}

// The privacy-aware search finds columns that do better than all at the same noise.
func TestAwareBeatsAll(t *testing.T) {
	table, s := cancer(t)
	found, err := s.Aware(t.Context(), s.Perturbed(5), aware.Search{Population: 30, Generations: 5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	set := found.Columns
	if found.Subsets < 30 || found.Proposed < found.Subsets || len(set) == 0 || len(set) == len(table.Names) {
		t.Errorf("%d columns of %d subsets", len(set), found.Subsets)
	}
	mean := func(columns []int) float64 {
		v, err := s.Accuracies(t.Context(), aware.Fits{Columns: columns, Epsilon: 5, Repeats: 100}, entropy.Seeded(2))
		if err != nil {
			t.Fatal(err)
		}
		return experiments.Of(v).Mean
	}
	if got, all := mean(set), mean(table.All()); got < all+2 {
		t.Errorf("found %.1f %%, all columns %.1f %%", got, all)
	}
}

func TestSetsAreKept(t *testing.T) {
	want := [][]int{{}, {3, 1}, {7}}
	flat := Flat(want)
	if got, err := Sets(flat); err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
	if _, err := Sets([]float64{5, 1}); err == nil {
		t.Error("a cell that is cut off was read")
	}
}

// DP-SGD at hardly any noise comes near the fit without privacy, at the noise of a tiny
// epsilon it scatters, and equal seeds agree.
func TestDescend(t *testing.T) {
	table, s := cancer(t)
	train := func(noise float64, seed uint64) float64 {
		d := aware.Descent{Columns: table.All(), NoiseMultiplier: noise, ClippingNorm: 1, LearningRate: .5, Steps: 200, SamplingRate: 1}
		a, err := s.Descend(t.Context(), d, seed)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := train(.2, 1); a < s.Majority()-2 {
		t.Errorf("little noise: %.1f %%, majority %.1f %%", a, s.Majority())
	}
	var noisy []float64
	for seed := range uint64(20) {
		noisy = append(noisy, train(500, seed))
	}
	if slices.Max(noisy)-slices.Min(noisy) < 10 || experiments.Of(noisy).Mean > s.Majority()-5 {
		t.Errorf("much noise: %v", noisy)
	}
	if train(50, 3) != train(50, 3) {
		t.Error("equal seeds differ")
	}
}
