package linear

import (
	"math"
	"testing"

	"pawl/data/encode"
)

func TestClassWeightsAreChecked(t *testing.T) {
	enc := mustEncode(t, encode.Options{})
	for _, c := range []struct {
		loss    Loss
		outputs int
		weights []float64
		ok      bool
	}{
		{Logistic, 1, []float64{1, 0.2}, true},
		{Softmax, 3, []float64{1, 0.2, 1}, true},
		{Logistic, 1, []float64{1}, false},
		{Logistic, 1, []float64{}, false},
		{Softmax, 3, []float64{1, 1}, false},
		{Softmax, 3, []float64{1, 0, 1}, false},
		{Softmax, 3, []float64{1, 1.5, 1}, false},
		{Softmax, 3, []float64{1, math.NaN(), 1}, false},
		{Softmax, 3, []float64{1, -1, 1}, false},
		{Residual, 1, []float64{1, 1}, false},
	} {
		d := descent(enc, c.loss, c.outputs)
		d.ClassWeights = c.weights
		if err := d.Validate(); (err == nil) != c.ok {
			t.Errorf("weights %v of a %s loss: %v", c.weights, c.loss, err)
		}
	}
}
