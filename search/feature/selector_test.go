package feature_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pawl/search/feature"
)

// everything is a small data set with all statistics.
func everything(t testing.TB) *feature.Statistics {
	t.Helper()
	x := independent([]int{2, 3, 4, 12}, 400)
	x.domain.Attributes[2].OneHot = true
	x.domain.Norm = 1
	copy(x.codes[0], x.label)
	s := x.tally(t, feature.NeedPairTables)
	c := &feature.ClassSums{Counts: make([]float64, 2)}
	for range 2 {
		c.Sums, c.Squares = append(c.Sums, make([]float64, 4)), append(c.Squares, make([]float64, 4))
	}
	for r, y := range x.label {
		c.Counts[y]++
		for j := range x.codes {
			v := float64(x.codes[j][r])
			c.Sums[y][j] += v
			c.Squares[y][j] += v * v
		}
	}
	s.Classes = c
	return s
}

func selectors() []feature.Selector {
	var out []feature.Selector
	for _, l := range []feature.Level{"", feature.ColumnLevel} {
		out = append(out, feature.Greedy{At: l}, feature.Genetic{At: l}, feature.Relevance{At: l}, feature.Relevance{At: l, By: feature.Uncertainty},
			feature.Random{At: l}, feature.All{At: l})
	}
	return append(out, feature.Distance{}, feature.TStatistic{}, feature.Threshold{C: 1e-3, Variance: 1, Gamma: .2})
}

func TestEverySelector(t *testing.T) {
	s := everything(t)
	for _, x := range selectors() {
		t.Run(x.Name()+"/"+string(x.Level()), func(t *testing.T) {
			columns := s.Domain.Columns(x.Level())
			k := 3
			if _, all := x.(feature.All); all {
				k = len(columns)
			}
			got, err := x.Select(context.Background(), s, k)
			if err != nil {
				t.Fatal(err)
			}
			if got.Selector != x.Name() || got.Level != x.Level() || len(got.Chosen) == 0 || len(got.Chosen) > k {
				t.Fatalf("got %+v", got)
			}
			indices := got.Indices()
			slices.Sort(indices)
			if len(slices.Compact(indices)) != len(got.Chosen) {
				t.Errorf("a feature was chosen twice: %v", got.Indices())
			}
			for _, c := range got.Chosen {
				if c.Column != columns[c.Index] || c.Reason == "" {
					t.Errorf("choice %+v, column %+v", c, columns[c.Index])
				}
			}
			if x.Need() != feature.NeedNothing && !slices.Contains(got.Indices(), 0) {
				t.Errorf("the feature that equals the label was not chosen: %v", got.Indices())
			}
			again, err := x.Select(context.Background(), s, k)
			if err != nil || !slices.Equal(again.Indices(), got.Indices()) {
				t.Errorf("another choice the second time: %v, %v", again, err)
			}
			for _, bad := range []int{0, -2, len(columns) + 1} {
				var count *feature.CountError
				if _, err := x.Select(context.Background(), s, bad); !errors.As(err, &count) || count.Asked != bad || count.Features != len(columns) {
					t.Errorf("%d features: got %v", bad, err)
				}
			}
			if x.Need() != feature.NeedNothing {
				if _, err := x.Select(context.Background(), &feature.Statistics{Domain: s.Domain}, k); !errors.Is(err, feature.ErrMissing) {
					t.Errorf("without statistics: got %v", err)
				}
			}
			if _, err := x.Select(context.Background(), &feature.Statistics{}, k); !errors.Is(err, feature.ErrNoFeatures) {
				t.Errorf("without features: got %v", err)
			}
		})
	}
}

func TestAutoIsRefusedByRankings(t *testing.T) {
	s := everything(t)
	_, err := feature.Relevance{}.Select(context.Background(), s, feature.Auto)
	if want := "number of features to choose is out of range: this selector ranks features and cannot choose their number, want 1 to 4"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	_, err = feature.Greedy{}.Select(context.Background(), s, 5)
	if want := "number of features to choose is out of range: asked for 5 of 4 features, want 1 to 4 or auto"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if _, err := (feature.Relevance{By: "luck"}).Select(context.Background(), s, 1); !errors.Is(err, feature.ErrOption) {
		t.Errorf("unknown measure: got %v", err)
	}
}

func TestOneClassInAllRows(t *testing.T) {
	x := independent([]int{2, 3}, 50)
	clear(x.label)
	s := x.tally(t, feature.NeedPairTables)
	for _, sel := range []feature.Selector{feature.Greedy{}, feature.Genetic{}, feature.Relevance{}} {
		if _, err := sel.Select(context.Background(), s, 1); !errors.Is(err, feature.ErrOneClass) {
			t.Errorf("%s: got %v", sel.Name(), err)
		}
	}
}

func TestDomainCheck(t *testing.T) {
	a := func(name string, levels int) feature.Attribute { return feature.Attribute{Name: name, Levels: levels} }
	for _, c := range []struct {
		name string
		d    feature.Domain
		want error
		text string
	}{
		{"no features", feature.Domain{Classes: 2}, feature.ErrNoFeatures, "no features to choose from"},
		{"one class", feature.Domain{Classes: 1, Attributes: []feature.Attribute{a("x", 2)}}, feature.ErrOneClass, "the label has one class, so nothing can be learned about it"},
		{"one category", feature.Domain{Classes: 2, Attributes: []feature.Attribute{a("x", 2), a("y", 1)}}, feature.ErrOneCategory, `feature "y": an attribute with one category is the same for every row`},
		{"twice", feature.Domain{Classes: 2, Attributes: []feature.Attribute{a("x", 2), a("x", 3)}}, feature.ErrDuplicateName, `feature "x": two features have one name`},
		{"too many levels", feature.Domain{Classes: 2, Attributes: []feature.Attribute{a("x", 65536)}}, feature.ErrShape, `feature "x": statistics do not fit the domain: 65536 levels, at most 65535`},
	} {
		if err := c.d.Check(); !errors.Is(err, c.want) || err.Error() != c.text {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

// A quote is what one row can change: recount with and without it.
func TestQuoteIsTheLargestChange(t *testing.T) {
	x := independent([]int{2, 3, 4, 12}, 30)
	for _, need := range []feature.Need{feature.NeedLabelTables, feature.NeedPairTables} {
		q, err := need.Quote(&x.domain)
		if err != nil {
			t.Fatal(err)
		}
		all := x.tally(t, need)
		less := *x
		less.label = x.label[:29]
		less.codes = nil
		for _, codes := range x.codes {
			less.codes = append(less.codes, codes[:29])
		}
		without := less.tally(t, need)
		change, cells := 0.0, 0
		for i, t := range append(slices.Clone(all.LabelTables), all.PairTables...) {
			u := append(slices.Clone(without.LabelTables), without.PairTables...)[i]
			for j := range t.Counts {
				change += (t.Counts[j] - u.Counts[j]) * (t.Counts[j] - u.Counts[j])
				cells++
			}
		}
		if !near(math.Sqrt(change), q.Sensitivity, 1e-12) || q.Tables != len(all.LabelTables)+len(all.PairTables) || q.Cells != cells {
			t.Errorf("%s: quote %+v, one row changes %v in %d cells", need, q, math.Sqrt(change), cells)
		}
	}
	x.domain.Norm = 2
	for need, want := range map[feature.Need]float64{feature.NeedNothing: 0, feature.NeedClassSums: math.Sqrt(1 + 4), feature.NeedClassMoments: math.Sqrt(1 + 4 + 16)} {
		if q, err := need.Quote(&x.domain); err != nil || !near(q.Sensitivity, want, 1e-12) {
			t.Errorf("%s: got %+v, %v; want %v", need, q, err, want)
		}
	}
	x.domain.Norm = 0
	if _, err := feature.NeedClassSums.Quote(&x.domain); !errors.Is(err, feature.ErrMissing) {
		t.Errorf("no bound: got %v", err)
	}
	if _, err := feature.Need("luck").Quote(&x.domain); !errors.Is(err, feature.ErrOption) {
		t.Errorf("unknown need: got %v", err)
	}
}

// Noise a cell at epsilon 1 and delta 1e-5 for one release of all tables that are needed.
func TestSignalCheck(t *testing.T) {
	small, large := load(t, "breast-cancer", 191), load(t, "adult", 22750)
	for _, c := range []struct {
		name  string
		d     *feature.Domain
		need  feature.Need
		noise float64
		ok    bool
	}{
		{"Breast Cancer, all pairs", &small.domain, feature.NeedPairTables, 27, false},
		{"Breast Cancer, label only", &small.domain, feature.NeedLabelTables, 12.1, true},
		{"Adult, all pairs", &large.domain, feature.NeedPairTables, 41, true},
		{"Adult at a hundredth", &large.domain, feature.NeedPairTables, 4100, false},
		{"sums are not judged by cells", &small.domain, feature.NeedClassSums, 1e9, true},
		{"noise NaN", &large.domain, feature.NeedPairTables, math.NaN(), false},
	} {
		err := c.need.CheckSignal(c.d, c.noise)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, feature.ErrTooNoisy) {
			t.Errorf("%s: got %v", c.name, err)
		}
		var n *feature.NoiseError
		if errors.As(err, &n) && (n.Hint() == "" || !strings.Contains(err.Error(), "do not select privately")) {
			t.Errorf("%s: message %q, hint %q", c.name, err, n.Hint())
		}
	}
	unknown := small.domain
	unknown.Rows = 0
	if err := feature.NeedLabelTables.CheckSignal(&unknown, 1); !errors.Is(err, feature.ErrUnknownRows) {
		t.Errorf("rows not public: got %v", err)
	}
}
