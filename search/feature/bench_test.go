package feature_test

import (
	"context"
	"testing"

	"pawl/search/feature"
)

func BenchmarkGreedyBreastCancer(b *testing.B) {
	x := load(b, "breast-cancer", 191).oneHot()
	for b.Loop() {
		m, err := x.tally(b, feature.NeedPairTables).Matrix(feature.ColumnLevel, feature.MatrixOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.Greedy(len(m.Columns)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGeneticBreastCancer(b *testing.B) {
	x := load(b, "breast-cancer", 191).oneHot()
	for b.Loop() {
		s := x.tally(b, feature.NeedPairTables)
		if _, err := (feature.Genetic{At: feature.ColumnLevel}).Select(context.Background(), s, feature.Auto); err != nil {
			b.Fatal(err)
		}
	}
}

// The published encoding of Adult: 8 categorical attributes with 102 levels as columns,
// and 6 numeric ones.
func BenchmarkMatrix108Columns(b *testing.B) {
	x := independent([]int{9, 16, 7, 15, 6, 5, 2, 42, 10, 10, 10, 10, 10, 10}, 22750)
	for j := range 8 {
		x.domain.Attributes[j].OneHot = true
	}
	if n := len(x.domain.Columns(feature.ColumnLevel)); n != 108 {
		b.Fatalf("%d columns", n)
	}
	for b.Loop() {
		if _, err := x.tally(b, feature.NeedPairTables).Matrix(feature.ColumnLevel, feature.MatrixOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMatrixAdult(b *testing.B) {
	x := load(b, "adult", 22750)
	for b.Loop() {
		if _, err := x.tally(b, feature.NeedPairTables).Matrix(feature.ColumnLevel, feature.MatrixOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMatrixAdultNoisy(b *testing.B) {
	x := load(b, "adult", 22750)
	s := noised(x.tally(b, feature.NeedPairTables), 41, 1)
	for b.Loop() {
		if _, err := s.Matrix(feature.ColumnLevel, feature.MatrixOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// 600 binary columns, as Purchase-100 has, of 20,000 rows.
func BenchmarkTallyBinary(b *testing.B) {
	levels := make([]int, 600)
	for j := range levels {
		levels[j] = 2
	}
	x := independent(levels, 20000)
	for b.Loop() {
		x.tally(b, feature.NeedPairTables)
	}
}
