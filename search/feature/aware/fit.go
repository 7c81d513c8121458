package aware

import (
	"context"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/public"
	"pawl/data/encode"
)

// NoPrivacy is the epsilon that the papers take for none.
const NoPrivacy = 1e9

// Fits asks for noisy fits of one set of columns.
type Fits struct {
	Columns []int
	Epsilon float64
	// Formula is the calibration; empty is public.Diffprivlib2021.
	Formula public.Formula
	Repeats int
}

// Accuracies trains with fresh noise each time, on the training rows, and returns the
// accuracies in percent on the test rows. The inverse regularization is 1 and the data norm
// that of the data, both as the library has them.
func (s *Split) Accuracies(ctx context.Context, f Fits, src *entropy.Source) ([]float64, error) {
	if f.Formula == "" {
		f.Formula = public.Diffprivlib2021
	}
	enc, err := s.encoding(f.Columns)
	if err != nil {
		return nil, err
	}
	last := len(s.Table.Names)
	p := public.Published{
		Formula: f.Formula, Epsilon: f.Epsilon, C: 1, DataNorm: s.Norm(f.Columns),
		Target: func(cells []float64) float64 { return cells[last] }, Repeats: f.Repeats,
	}
	weights, err := public.FitPublished(ctx, s.rows, dp.WholeScope, enc, []public.Published{p}, src)
	if err != nil {
		return nil, err
	}
	right := make([]int, len(weights))
	// The intercept comes first, then the columns in order. Most are zero.
	at, x := make([]int, 0, len(f.Columns)), make([]float64, 0, len(f.Columns))
	for _, i := range s.Test {
		at, x = at[:0], x[:0]
		for c, j := range f.Columns {
			if v := s.Table.X[i][j]; v != 0 {
				at, x = append(at, 1+c), append(x, v)
			}
		}
		for k, w := range weights {
			score := w[0]
			for n, c := range at {
				score += x[n] * w[c]
			}
			// A score of 0 says neither; the library predicts the first class.
			if (score > 0) == (s.Table.Label[i] == 1) {
				right[k]++
			}
		}
	}
	return percents(right, len(s.Test)), nil
}

func percents(right []int, of int) []float64 {
	out := make([]float64, len(right))
	for k, n := range right {
		out[k] = 100 * float64(n) / float64(of)
	}
	return out
}

// encoding is that of linear models over some columns.
func (s *Split) encoding(columns []int) (*encode.Encoding, error) {
	o := encode.Options{Linear: true, InterceptOnly: len(columns) == 0}
	for _, j := range columns {
		o.Attributes = append(o.Attributes, name(j))
	}
	return encode.New(s.schema, label, o)
}
