package feature_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/search/evolve"
	"pawl/search/feature"
)

// matrices draws uncertainties that need not come from any data.
func matrices(most int) *rapid.Generator[*feature.Matrix] {
	return rapid.Custom(func(t *rapid.T) *feature.Matrix {
		m := rapid.IntRange(1, most).Draw(t, "columns")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		columns, label, pair := make([]feature.Column, m), make([]float64, m), make([]float64, m*m)
		for i := range m {
			columns[i] = feature.Column{Name: string(rune('a' + i)), Attribute: i, Level: -1}
			label[i] = rng.Float64()
			pair[i*m+i] = 1
			for j := range i {
				pair[i*m+j] = rng.Float64()
				pair[j*m+i] = pair[i*m+j]
			}
		}
		out, err := feature.NewMatrix(columns, label, pair)
		if err != nil {
			t.Fatal(err)
		}
		return out
	})
}

// merit is [B] Eq. 7 by its means.
func merit(m *feature.Matrix, members []int) float64 {
	k := float64(len(members))
	if k == 0 {
		return 0
	}
	cf, ff, pairs := 0.0, 0.0, 0.0
	for _, i := range members {
		cf += m.Label[i] / k
		for _, j := range members {
			if i != j {
				ff += m.Pair(i, j)
				pairs++
			}
		}
	}
	if pairs > 0 {
		ff /= pairs
	}
	return k * cf / math.Sqrt(k+k*(k-1)*ff)
}

func TestMeritAndGreedyAgainstDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := matrices(9).Draw(t, "matrix")
		size := len(m.Columns)
		k := rapid.IntRange(1, size).Draw(t, "k")
		got, err := m.Greedy(k)
		if err != nil {
			t.Fatal(err)
		}
		var want []int
		for len(want) < k {
			best := -1
			for i := range size {
				if slices.Contains(want, i) {
					continue
				}
				if best < 0 || merit(m, append(slices.Clone(want), i)) > merit(m, append(slices.Clone(want), best))+1e-12 {
					best = i
				}
			}
			want = append(want, best)
		}
		if !slices.Equal(got.Indices(), want) || !near(got.Merit, merit(m, want), 1e-12) {
			t.Fatalf("got %v with %v, want %v with %v", got.Indices(), got.Merit, want, merit(m, want))
		}
		if x := m.Merit(feature.NewSet(size, want...)); !near(x, merit(m, want), 1e-12) {
			t.Fatalf("merit: got %v, want %v", x, merit(m, want))
		}
		auto, err := m.Greedy(feature.Auto)
		if err != nil {
			t.Fatal(err)
		}
		// Auto stops where one more does not help, and not before.
		all, _ := m.Greedy(size)
		n := len(auto.Chosen)
		if !slices.Equal(auto.Indices(), all.Indices()[:n]) {
			t.Fatalf("auto %v is no beginning of %v", auto.Indices(), all.Indices())
		}
		if n < size && merit(m, all.Indices()[:n+1]) > auto.Merit+1e-12 {
			t.Fatalf("one more column raises the merit")
		}
	})
}

func TestGreedyTiesAndNothing(t *testing.T) {
	columns := []feature.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	same, err := feature.NewMatrix(columns, []float64{.5, .5, .5}, make([]float64, 9))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := same.Greedy(2); err != nil || !slices.Equal(s.Indices(), []int{0, 1}) {
		t.Errorf("ties: got %v, %v", s, err)
	}
	none, err := feature.NewMatrix(columns, make([]float64, 3), make([]float64, 9))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := none.Greedy(feature.Auto); err != nil || len(s.Chosen) != 0 || s.Note == "" {
		t.Errorf("nothing to learn: got %+v, %v", s, err)
	}
	// A copy adds no merit, so Auto leaves it out.
	twins, err := feature.NewMatrix(columns[:2], []float64{.5, .5}, []float64{1, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := twins.Greedy(feature.Auto); err != nil || len(s.Chosen) != 1 || s.Merit != .5 {
		t.Errorf("twins: got %+v, %v", s, err)
	}
}

// On Breast Cancer's nine attributes all 511 subsets can be tried.
func TestGeneticFindsTheBestOfAllSubsets(t *testing.T) {
	x := load(t, "breast-cancer", 0)
	s := x.tally(t, feature.NeedPairTables)
	m, err := s.Matrix(feature.AttributeLevel, feature.MatrixOptions{})
	if err != nil {
		t.Fatal(err)
	}
	best := 0.0
	for word := range uint64(1 << 9) {
		best = max(best, m.Merit(feature.Set{word}))
	}
	for _, equal := range []bool{false, true} {
		g := feature.Genetic{EqualSubsets: equal, Search: evolve.Options{Seed: 3}}
		got, err := g.Select(context.Background(), s, feature.Auto)
		if err != nil {
			t.Fatal(err)
		}
		if !near(got.Merit, best, 1e-12) {
			t.Errorf("equal subsets %v: merit %v, the best is %v", equal, got.Merit, best)
		}
		g.Search.Workers = 5
		again, err := g.Select(context.Background(), s, feature.Auto)
		if err != nil || !slices.Equal(again.Indices(), got.Indices()) {
			t.Errorf("other workers, other choice: %v, %v", again.Indices(), err)
		}
	}
	limited, err := feature.Genetic{}.Select(context.Background(), s, 2)
	if err != nil || len(limited.Chosen) > 2 {
		t.Errorf("at most 2: got %v, %v", limited, err)
	}
	if _, err := (feature.Genetic{FlipChance: 2}).Select(context.Background(), s, 2); !errors.Is(err, feature.ErrOption) {
		t.Errorf("flip chance 2: got %v", err)
	}
}

// The 43 columns that occur in Breast Cancer: the search reaches at least what Greedy
// does, which is the best that we know.
func TestGeneticOnColumns(t *testing.T) {
	m, err := load(t, "breast-cancer", 0).oneHot().tally(t, feature.NeedPairTables).Matrix(feature.ColumnLevel, feature.MatrixOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m = occupied(t, m)
	if len(m.Columns) != 43 {
		t.Fatalf("%d columns occur, published 43", len(m.Columns))
	}
	greedy, err := m.Greedy(feature.Auto)
	if err != nil {
		t.Fatal(err)
	}
	got, err := feature.Genetic{At: feature.ColumnLevel}.On(context.Background(), m, feature.Auto)
	if err != nil {
		t.Fatal(err)
	}
	if got.Merit < greedy.Merit-1e-12 {
		t.Errorf("merit %v with %v, Greedy has %v with %v", got.Merit, got.Indices(), greedy.Merit, greedy.Indices())
	}
}

// Released tables of Adult at a total of epsilon 1 have noise of about 41 rows a cell;
// the choice must stay as good as on exact tables (within 2% of its exact merit).
func TestGreedySurvivesNoiseOnAdult(t *testing.T) {
	s := load(t, "adult", 22750).tally(t, feature.NeedPairTables)
	exact, err := s.Matrix(feature.AttributeLevel, feature.MatrixOptions{})
	if err != nil {
		t.Fatal(err)
	}
	best, err := exact.Greedy(5)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		got, err := feature.Greedy{}.Select(context.Background(), noised(s, 41, seed), 5)
		if err != nil {
			t.Fatal(err)
		}
		if x := merit(exact, got.Indices()); x < 0.98*best.Merit {
			t.Errorf("seed %d: chose %v of merit %v, without noise %v", seed, got.Indices(), x, best.Merit)
		}
	}
}

// The figures in MatrixOptions: mean absolute error of the uncertainties of pairs, three
// simulated releases of Adult's tables.
func TestCorrectionOnAdult(t *testing.T) {
	s := load(t, "adult", 22750).tally(t, feature.NeedPairTables)
	exact, err := s.Matrix(feature.AttributeLevel, feature.MatrixOptions{})
	if err != nil {
		t.Fatal(err)
	}
	size := len(exact.Columns)
	errorOf := func(o feature.MatrixOptions) float64 {
		sum := 0.0
		for seed := range uint64(3) {
			m, err := noised(s, 41, seed).Matrix(feature.AttributeLevel, o)
			if err != nil {
				t.Fatal(err)
			}
			for i := range size {
				for j := range i {
					sum += math.Abs(m.Pair(i, j)-exact.Pair(i, j)) / float64(3*size*(size-1)/2)
				}
			}
		}
		return sum
	}
	corrected := errorOf(feature.MatrixOptions{})
	plain := errorOf(feature.MatrixOptions{Correction: feature.Plain})
	clamped := errorOf(feature.MatrixOptions{Correction: feature.Plain, Cleaning: feature.Clamp})
	t.Logf("error %.4f corrected, %.4f projected, %.4f clamped", corrected, plain, clamped)
	if !(corrected < plain/3 && plain < clamped) {
		t.Errorf("error %v corrected, %v projected, %v clamped", corrected, plain, clamped)
	}
}
