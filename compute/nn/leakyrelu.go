package nn

import (
	"fmt"

	"pawl/compute/onnx"
)

// The gain is that of He et al., 2/(1+slope²), at the standard slope (arXiv:1502.01852).
var _ = numbers(Kind{Name: "leaky_relu", Help: "x, below 0 slope*x", Keys: []string{"slope"}, Also: []string{"leakyrelu", "lrelu"},
	Standard: Layer{Slope: 0.01}, gain: 2, Reach: 1.2},
	func(b *builder, l Layer) (activation, error) {
		if !(l.Slope > 0 && l.Slope < 1) {
			return activation{}, b.fault("slope", fmt.Sprintf("slope must lie between 0 and 1, got %g", l.Slope), "0.01 is a common choice, 0.1 to 0.3 a strong one")
		}
		return leakyReLU(float32(l.Slope)), nil
	})

// leakyReLU is x above 0 and slope·x below, with derivative slope at 0. Its units do not die: where
// noise has pushed the input of a unit below 0 for every row, a gradient remains, unlike with relu.
func leakyReLU(slope float32) activation {
	return activation{
		apply: func(y, x []float32) {
			for i, v := range x {
				y[i] = max(v, slope*v)
			}
		},
		chain: func(dy, y []float32) {
			for i, v := range y {
				if !(v > 0) {
					dy[i] *= slope
				}
			}
		},
		node: func(w *writer, x string) string {
			return w.Add("LeakyRelu", onnx.Attributes{"alpha", slope}, x)
		},
	}
}
