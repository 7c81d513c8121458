package dataset

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pawl/data/images"
)

func TestReadSteps(t *testing.T) {
	source := func(b ...byte) images.Source { return images.Source{Name: "f", Reader: bytes.NewReader(b)} }
	steps := []byte{0, 0, 0, 0x3f, 0, 0, 0, 0x40} // 0.5 and 2
	set, err := readSteps([]images.Source{source(1, 255, 128, 127), source(steps...), source(1, 0)}, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(set.Floats, []float32{0.5, -2, -64, 254}) || !slices.Equal(set.Labels, []int32{1, 0}) || set.Len() != 2 {
		t.Errorf("%v %v", set.Floats, set.Labels)
	}
	for name, files := range map[string][3]images.Source{
		"a row cut":   {source(1, 255, 128), source(steps...), source(1, 0)},
		"steps cut":   {source(1, 255, 128, 127), source(steps[:7]...), source(1, 0)},
		"no steps":    {source(), source(), source()},
		"label large": {source(1, 255, 128, 127), source(steps...), source(1, 2)},
	} {
		if _, err := readSteps(files[:], []string{"a", "b"}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// The data folder's features: counts of labels, and that they tell the classes apart.
func TestFeatures(t *testing.T) {
	s, ok := Images("cifar10-features")
	if !ok {
		t.Fatal("not found")
	}
	dir := imageDir(t, s)
	train, err := s.Train(dir)
	if err != nil {
		t.Fatal(err)
	}
	test, err := s.Test(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range labelCounts(train) {
		if n != 5000 {
			t.Errorf("label counts %v", labelCounts(train))
			break
		}
	}
	// Nearest class mean: 10 % is chance. Wrong order, sign or steps end near that.
	means := make([][]float64, 10)
	for k := range means {
		means[k] = make([]float64, 128)
	}
	x := make([]float32, 128)
	for i := range train.Len() {
		train.At(i, x)
		for k, v := range x {
			means[train.Labels[i]][k] += float64(v) / 5000
		}
	}
	right := 0
	for i := range test.Len() {
		test.At(i, x)
		best, at := math.Inf(1), -1
		for c := range means {
			d := 0.0
			for k, v := range x {
				d += (float64(v) - means[c][k]) * (float64(v) - means[c][k])
			}
			if d < best {
				best, at = d, c
			}
		}
		if at == int(test.Labels[i]) {
			right++
		}
	}
	if right < 6500 || test.Len() != 10000 {
		t.Errorf("%d of %d nearest means are right", right, test.Len())
	} else {
		t.Logf("%d of 10,000 right by the nearest mean", right)
	}
}

// What nobody serves is asked of the user, not of a network.
func TestNothingToGet(t *testing.T) {
	data, _ := alone(t)
	_, err := Fetcher{Dir: data}.Get(t.Context(), "cifar10-mobilenet-features")
	var missing *FileError
	if !errors.As(err, &missing) || !strings.Contains(missing.Hint(), "put cifar10-mobilenet-features/train_50000x128.i8.gz") {
		t.Errorf("got %v", err)
	}
}
