package runners

import (
	"math"
	"slices"
	"testing"
)

// However many parts a feature is cut into, rows have the same sums and the same labels.
func TestCutFeaturesAreTheSameTask(t *testing.T) {
	whole, labels := (&spread{Features: 10, Parts: 1, Seed: 3}).draw(100)
	ones := 0
	for _, parts := range []int{1, 5, 10, 50, 100} {
		rows, same := (&spread{Features: 10, Parts: parts, Seed: 3}).draw(100)
		if !slices.Equal(labels, same) {
			t.Fatalf("%d parts: other labels", parts)
		}
		for i, row := range rows {
			if len(row) != 10*parts {
				t.Fatalf("%d parts: a row of %d inputs", parts, len(row))
			}
			for j, v := range whole[i] {
				sum := 0.0
				for _, part := range row[j*parts:][:parts] {
					sum += part
				}
				if math.Abs(sum-v) > 1e-12 {
					t.Fatalf("%d parts: feature %d of row %d adds up to %g, not %g", parts, j, i, sum, v)
				}
			}
		}
	}
	for _, y := range labels {
		ones += int(y)
	}
	if ones < 20 || ones > 80 {
		t.Errorf("%d of 100 labels are 1", ones)
	}
}

func TestCosineDistance(t *testing.T) {
	for _, c := range []struct {
		a, b []float32
		want float64
	}{
		{[]float32{1, 2}, []float32{3, 6}, 0}, {[]float32{1, 0}, []float32{0, 5}, 1}, {[]float32{1, 1}, []float32{-2, -2}, 2}, {[]float32{0, 0}, []float32{1, 0}, 1},
	} {
		if got := cosineDistance(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v and %v: %g, want %g", c.a, c.b, got, c.want)
		}
	}
}
