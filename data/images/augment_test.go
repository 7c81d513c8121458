package images

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMove(t *testing.T) {
	image := []float32{1, 2, 3, 4, 5, 6} // 2×3
	a := Augmentation{Shape: [3]int{2, 3, 1}, Shift: 1}
	for _, c := range []struct {
		name        string
		down, right int
		mirror      bool
		want        []float32
	}{
		{"still", 0, 0, false, image},
		{"down", 1, 0, false, []float32{0, 0, 0, 1, 2, 3}},
		{"up and right", -1, 1, false, []float32{0, 4, 5, 0, 0, 0}},
		{"left", 0, -1, false, []float32{2, 3, 0, 5, 6, 0}},
		{"mirror", 0, 0, true, []float32{3, 2, 1, 6, 5, 4}},
		{"left and mirror", 0, -1, true, []float32{0, 3, 2, 0, 6, 5}},
	} {
		got := []float32{9, 9, 9, 9, 9, 9}
		a.move(got, image, c.down, c.right, c.mirror)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	colour := Augmentation{Shape: [3]int{1, 2, 2}}
	got := make([]float32, 4)
	if colour.move(got, []float32{1, 2, 3, 4}, 0, 0, true); !slices.Equal(got, []float32{3, 4, 1, 2}) {
		t.Errorf("the channels of a pixel stay together, got %v", got)
	}
}

// Null: every shift of one bright pixel and each side of the mirror is equally
// likely. 40,000 draws over 50 outcomes, chi-square with 49 degrees of freedom
// above 109 has chance 1e-6; seeds are fixed.
func TestVariantsAreUniform(t *testing.T) {
	a := Augmentation{Shape: [3]int{7, 8, 1}, Shift: 2, Flip: true}
	image, got := make([]float32, 56), make([]float32, 56)
	image[3*8+2] = 1 // its mirror image is far enough away to be told apart
	counts := map[int]float64{}
	const n = 40_000
	for seed := range uint64(n) {
		a.Variant(got, image, seed*0x9e3779b97f4a7c15)
		counts[slices.Index(got, 1)]++
	}
	// Columns 0 to 4 by a shift, 3 to 7 by shift and mirror: 3 and 4 by both.
	chi := 0.0
	for y := 1; y <= 5; y++ {
		for x := range 8 {
			want := n / 50.0
			if x == 3 || x == 4 {
				want *= 2
			}
			chi += math.Pow(counts[y*8+x]-want, 2) / want
		}
	}
	if chi > 109 {
		t.Errorf("chi-square %.1f", chi)
	}
	again := make([]float32, 56)
	a.Variant(got, image, 5)
	if a.Variant(again, image, 5); !slices.Equal(got, again) {
		t.Error("equal seeds give different variants")
	}
	if n := testing.AllocsPerRun(100, func() { a.Variant(got, image, 7) }); n > 0 {
		t.Errorf("a variant allocates %v times", n)
	}
}

func TestAugmentationRefuses(t *testing.T) {
	for _, a := range []Augmentation{
		{Shape: [3]int{1, 1, 30}, Shift: 2}, {Shape: [3]int{8, 8, 1}, Shift: 8}, {Shape: [3]int{8, 8, 1}, Shift: -1}, {},
	} {
		if a.Validate() == nil {
			t.Errorf("%+v is taken", a)
		}
	}
	if err := (Augmentation{Shape: [3]int{8, 8, 3}, Shift: 7}).Validate(); err != nil {
		t.Error(err)
	}
}
