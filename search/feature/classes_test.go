package feature_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pawl/search/feature"
)

// sumsOf builds statistics from class sizes, means and variances.
func sumsOf(counts []float64, means, variances [][]float64) *feature.Statistics {
	c := &feature.ClassSums{Counts: counts}
	d := feature.Domain{Classes: len(counts), Norm: 1}
	for a, n := range counts {
		sums, squares := []float64{}, []float64{}
		for j, x := range means[a] {
			sums = append(sums, n*x)
			squares = append(squares, (n-1)*variances[a][j]+n*x*x)
		}
		c.Sums, c.Squares = append(c.Sums, sums), append(c.Squares, squares)
		d.Rows += n
	}
	for j := range means[0] {
		d.Attributes = append(d.Attributes, feature.Attribute{Name: string(rune('a' + j)), Levels: 2})
	}
	return &feature.Statistics{Domain: d, Classes: c}
}

// [D] Example 1: n = 200 in each class, means 5 and 10 apart. Our copy prints 15.82 for
// 5/√(2·10/200) = 15.811.
func TestExample1(t *testing.T) {
	means := [][]float64{{0, 0}, {5, 10}}
	for _, c := range []struct {
		name      string
		variances []float64
		want      []float64
		first     int
	}{
		{"clean rows", []float64{1, 10}, []float64{50, 31.62}, 0},
		{"noised rows", []float64{10, 19}, []float64{15.81, 22.94}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sumsOf([]float64{200, 200}, means, [][]float64{c.variances, c.variances})
			got, err := s.Classes.TStatistics()
			if err != nil {
				t.Fatal(err)
			}
			for j := range got {
				if !near(got[j], c.want[j], 5e-3) {
					t.Errorf("feature %d: t = %v, want %v", j+1, got[j], c.want[j])
				}
			}
			byT, err := feature.TStatistic{}.Select(context.Background(), s, 1)
			if err != nil || byT.Chosen[0].Index != c.first {
				t.Errorf("t-statistic chose %v, %v; want feature %d", byT, err, c.first+1)
			}
			distances, err := s.Classes.Distances(feature.Sum)
			if err != nil || !near(distances[0], 5, 1e-12) || !near(distances[1], 10, 1e-12) {
				t.Errorf("distances %v, %v; want 5 and 10 whatever the noise", distances, err)
			}
			byDistance, err := feature.Distance{}.Select(context.Background(), s, 1)
			if err != nil || byDistance.Chosen[0].Index != 1 {
				t.Errorf("distance chose %v, %v; want feature 2", byDistance, err)
			}
		})
	}
}

func TestManyClasses(t *testing.T) {
	// Feature a: means 0, 1, 3. Feature b: 2, 2, 0.
	s := sumsOf([]float64{10, 20, 10}, [][]float64{{0, 2}, {1, 2}, {3, 0}}, [][]float64{{1, 1}, {1, 1}, {1, 1}})
	for _, c := range []struct {
		combine feature.Combine
		want    []float64
	}{
		{feature.Sum, []float64{1 + 3 + 2, 0 + 2 + 2}},
		{feature.Max, []float64{3, 2}},
		// Means of all rows: 5/4 and 3/2.
		{feature.Between, []float64{(25./16)/4 + (1./16)/2 + (49./16)/4, (1./4)/4 + (1./4)/2 + (9./4)/4}},
	} {
		got, err := s.Classes.Distances(c.combine)
		if err != nil {
			t.Fatal(err)
		}
		for j := range got {
			if !near(got[j], c.want[j], 1e-12) {
				t.Errorf("%s: got %v, want %v", c.combine, got, c.want)
			}
		}
	}
	if _, err := s.Classes.Distances("median"); !errors.Is(err, feature.ErrOption) {
		t.Errorf("unknown rule: got %v", err)
	}
	got, err := s.Classes.TStatistics()
	if want := 3 / math.Sqrt(1./10+1./10); err != nil || !near(got[0], want, 1e-9) {
		t.Errorf("t-statistics %v, %v; want the largest over pairs, %v", got, err, want)
	}
}

func TestConstantFeaturesAndSmallClasses(t *testing.T) {
	s := sumsOf([]float64{10, 10}, [][]float64{{3, 1}, {3, 2}}, [][]float64{{0, 0}, {0, 0}})
	got, err := s.Classes.TStatistics()
	if err != nil || got[0] != 0 || !math.IsInf(got[1], 1) {
		t.Errorf("got %v, %v; want 0 for a constant and +Inf for one that separates without spread", got, err)
	}
	// What noise makes of a small class: a count below 1 and negative squares.
	s.Classes.Counts = []float64{-3, 10, 12}
	s.Classes.Sums = [][]float64{{.5, .5}, {1, 1}, {2, 2}}
	s.Classes.Squares = [][]float64{{-1, -1}, {1, 1}, {1, 1}}
	s.Domain.Classes = 3
	for name, x := range map[string]feature.Selector{"distance": feature.Distance{}, "t": feature.TStatistic{}} {
		out, err := x.Select(context.Background(), s, 2)
		if err != nil || math.IsNaN(out.Chosen[0].Score) || math.IsNaN(out.Chosen[1].Score) {
			t.Errorf("%s: got %v, %v", name, out, err)
		}
	}
	s.Classes.Counts = []float64{0, 22, 0}
	if _, err := (feature.Distance{}).Select(context.Background(), s, 1); !errors.Is(err, feature.ErrOneClass) {
		t.Errorf("one class: got %v", err)
	}
}

func TestThreshold(t *testing.T) {
	y, err := feature.DistanceThreshold(2, 3, 10000, 0.25)
	if want := 2 * 3 * math.Pow(10000, -.375); err != nil || !near(y, want, 1e-12) {
		t.Errorf("got %v, %v; want %v", y, err, want)
	}
	s := sumsOf([]float64{5000, 5000}, [][]float64{{0, 0, 0}, {.1, .5, .2}}, [][]float64{{1, 1, 1}, {1, 1, 1}})
	at := func(c float64) feature.Threshold { return feature.Threshold{C: c, Variance: 1, Gamma: 0.25} } // y = .0316·c
	for _, c := range []struct {
		name string
		c    float64
		k    int
		want []int
	}{
		{"all that reach it", 5, feature.Auto, []int{1, 2}},
		{"at most one", 5, 1, []int{1}},
		{"fewer than asked", 5, 3, []int{1, 2}},
		{"none", 50, feature.Auto, []int{}},
	} {
		got, err := at(c.c).Select(context.Background(), s, c.k)
		if err != nil || !slices.Equal(got.Indices(), c.want) {
			t.Errorf("%s: got %v, %v; want %v", c.name, got, err, c.want)
		}
	}
	for name, bad := range map[string][4]float64{
		"c = 0": {0, 1, 10, .2}, "v NaN": {1, math.NaN(), 10, .2}, "no rows": {1, 1, 0, .2}, "gamma = 1/3": {1, 1, 10, 1. / 3}, "gamma = 0": {1, 1, 10, 0},
	} {
		if _, err := feature.DistanceThreshold(bad[0], bad[1], bad[2], bad[3]); !errors.Is(err, feature.ErrOption) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	s.Domain.Rows = 0
	if _, err := at(5).Select(context.Background(), s, feature.Auto); !errors.Is(err, feature.ErrUnknownRows) {
		t.Errorf("rows unknown: got %v", err)
	}
}
