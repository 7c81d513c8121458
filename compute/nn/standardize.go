package nn

import (
	"math"

	"pawl/compute/onnx"
)

var _ = register(Kind{
	Name: "standardize", Help: "each example scaled to mean 0 and standard deviation 1", Also: []string{"standardise"}, Role: FrontEnd,
	build: func(b *builder, _ Layer, _ *LayerInfo) (op, error) { return &standardize{b.shape.Size()}, nil },
	Front: &Front{Word: "standardize", Layers: one(Layer{Kind: "standardize"})},
})

// standardize maps x (n×d) to (x − mean)/deviation of the same example, y (n×d),
// where deviation² is the mean of the squares. A constant example becomes zero.
// It stands before the first trainable layer, so it has no backward pass.
type standardize struct{ d int }

func (l *standardize) forward(c *call, s *state, x []float32) []float32 {
	y := grow(&s.y, len(x))
	for i := 0; i < len(x); i += l.d {
		row := y[i : i+l.d]
		copy(row, x[i:i+l.d])
		mean := 0.0
		for _, v := range row {
			mean += float64(v)
		}
		mean /= float64(l.d)
		divide(row, mean, math.Sqrt(squares(row, mean)/float64(l.d)))
	}
	return y
}

func (l *standardize) backward(*call, *state, []float32) []float32 { return nil }

func (l *standardize) memory(_, _ bool) int { return l.d }

func (l *standardize) write(w *writer, v value) value {
	wide := w.To(onnx.Doubles, w.asFlat(v))
	mean := w.Add("ReduceMean", onnx.Attributes{"axes", []int64{1}, "keepdims", int64(1)}, wide)
	return w.made(w.To(onnx.Floats, w.Divided(w.Op("Sub", wide, mean), rootOf(l.d))), flat)
}
