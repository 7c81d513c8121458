package published

import (
	"context"

	"pawl/core/convex"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/encode"
)

// NoPrivacy is the epsilon that the papers take for none.
const NoPrivacy = 1e9

// Fits asks for noisy fits of one set of columns.
type Fits struct {
	Columns []int
	Epsilon float64
	// Formula is the calibration; empty is convex.Diffprivlib2021.
	Formula convex.Formula
	Repeats int
}

// Accuracies trains with fresh noise each time, on the training rows, and returns the
// accuracies in percent on the test rows. The inverse regularization is 1 and the data norm
// that of the data, both as the library has them.
func (s *Split) Accuracies(ctx context.Context, f Fits, src *entropy.Source) ([]float64, error) {
	if f.Formula == "" {
		f.Formula = convex.Diffprivlib2021
	}
	o := encode.Options{Linear: true, InterceptOnly: len(f.Columns) == 0}
	for _, j := range f.Columns {
		o.Attributes = append(o.Attributes, name(j))
	}
	enc, err := encode.New(s.schema, label, o)
	if err != nil {
		return nil, err
	}
	at := len(s.Table.Names)
	p := convex.Published{
		Formula: f.Formula, Epsilon: f.Epsilon, C: 1, DataNorm: s.Norm(f.Columns),
		Target: func(cells []float64) float64 { return cells[at] },
	}
	fits := make([]convex.Published, f.Repeats)
	for i := range fits {
		fits[i] = p
	}
	weights, err := convex.FitPublished(ctx, s.rows, dp.WholeScope, enc, fits, src)
	if err != nil {
		return nil, err
	}
	right := make([]int, len(weights))
	x := make([]float64, enc.Dim)
	cells := make([]float64, at+1)
	for _, i := range s.Test {
		copy(cells, s.Table.X[i])
		enc.Vector(x, cells)
		for k, w := range weights {
			score := 0.0
			for j, v := range x {
				score += v * w[j]
			}
			// A score of 0 says neither; the library predicts the first class.
			if (score > 0) == (s.Table.Label[i] == 1) {
				right[k]++
			}
		}
	}
	out := make([]float64, len(right))
	for k, n := range right {
		out[k] = 100 * float64(n) / float64(len(s.Test))
	}
	return out, nil
}
