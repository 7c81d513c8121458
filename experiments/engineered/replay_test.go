package engineered

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
)

// However many parts a feature is cut into, rows have the same sums and the same labels.
func TestCutFeaturesAreTheSameTask(t *testing.T) {
	var f table
	if err := yaml.NewDecoder(bytes.NewReader(settings), yaml.Strict()).Decode(&f); err != nil {
		t.Fatal(err)
	}
	whole, labels := f.draw(100, 1, 3)
	ones := 0
	for _, p := range f.Parts {
		rows, same := f.draw(100, p.Parts, 3)
		if !slices.Equal(labels, same) {
			t.Fatalf("%d parts: other labels", p.Parts)
		}
		for i, row := range rows {
			if len(row) != f.Features*p.Parts {
				t.Fatalf("%d parts: a row of %d inputs", p.Parts, len(row))
			}
			for j, v := range whole[i] {
				sum := 0.0
				for _, part := range row[j*p.Parts:][:p.Parts] {
					sum += part
				}
				if math.Abs(sum-v) > 1e-12 {
					t.Fatalf("%d parts: feature %d of row %d adds up to %g, not %g", p.Parts, j, i, sum, v)
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
