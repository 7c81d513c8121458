package gradient

import (
	"context"
	"math"
	"testing"

	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/internal/stattest"
)

// Rows whose input is made of their cells are clipped and summed like rows that bring
// the same input, and no row has more weight than the norm.
func TestEncodedRowsAreRowsWithInputs(t *testing.T) {
	net := rawNet{t: 1, m: 2, n: 1}
	var cells []float64
	var inputs [][]float32
	for i := range 9 {
		v := float64(i) / 8
		cells = append(cells, v, 0, 0, 0, 0, 1)
		inputs = append(inputs, []float32{float32(1e3 * v), 2, 1})
	}
	gradient := func(rows *sealed.Rows, encode func([]float32, []float64)) []float64 {
		var g []float64
		tr := training(net, &g)
		tr.ClippingNorm, tr.Encode = 1, encode
		if err := TrainPublic(context.Background(), rows, tr, make([]float32, 2), entropy.Seeded(3)); err != nil {
			t.Fatal(err)
		}
		return g
	}
	want := gradient(imageRows(1, true, inputs, make([]float64, len(inputs)), nil, 3), nil)
	got := gradient(rowsOf(1, true, cells, nil), func(input []float32, cells []float64) {
		input[0], input[1], input[2] = float32(1e3*cells[0]), 2, 1
	})
	if d := distance(got, want); !(d < 1e-6) || stattest.Norm(want) < 0.1 {
		t.Errorf("encoded rows give %v, rows with inputs %v", got, want)
	}
	one := gradient(rowsOf(1, true, cells[len(cells)-columns:], nil), func(input []float32, _ []float64) {
		input[0], input[1], input[2] = 1e6, 1e6, 1e6
	})
	tr := training(net, nil)
	if limit := 1 / (tr.SamplingRate * tr.ExpectedRows); stattest.Norm(one) > limit*(1+1e-5) || math.IsNaN(stattest.Norm(one)) {
		t.Errorf("a row moves a step by %g, the norm allows %g", stattest.Norm(one), limit)
	}
}

// Rows without an input of their own are refused where nothing makes one.
func TestRowsWithoutInputAreRefused(t *testing.T) {
	tr := training(rawNet{t: 1, m: 2, n: 1}, nil)
	if err := TrainPublic(context.Background(), rowsOf(1, true, make([]float64, columns), nil), tr, make([]float32, 2), entropy.Seeded(1)); err == nil {
		t.Error("trained on inputs that there are not")
	}
}
