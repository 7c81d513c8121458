package release

import (
	"fmt"
	"math"

	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
)

// vectors hands out a row's vector: what row makes of its cells or, where row is nil,
// its dense input. at fills x (dim) for row i; x is zero before row sees it, so what
// a function leaves unset is not that of the row before.
func vectors(view *sealed.View, features int, row func(x, cells []float64)) (dim int, at func(i int, x []float64)) {
	if row != nil {
		return features, func(i int, x []float64) {
			clear(x)
			row(x, view.Row(i))
		}
	}
	input := make([]float32, view.InputDim())
	return len(input), func(i int, x []float64) {
		view.Input(i, input)
		for j, v := range input {
			x[j] = float64(v)
		}
	}
}

// bound scales x down to norm most where it is longer, and reports whether it is
// finite. The largest entry is taken out first, so that no square overflows, and the
// root is enlarged by what the sum of squares may have lost, so that long vectors
// keep the bound too.
func bound(x []float64, most float64) bool {
	largest := 0.0
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return true
	}
	square := 0.0
	for _, v := range x {
		square += (v / largest) * (v / largest)
	}
	if root := math.Sqrt(square) * (1 + float64(len(x))*0x1p-53); largest > most/root {
		for j := range x {
			x[j] = x[j] / largest * (most / root)
		}
	}
	return true
}

// positive refuses what is not a finite number above 0.
func positive(name string, x float64) error {
	if !(x > 0) || math.IsInf(x, 0) {
		return fmt.Errorf("release: %s must be a finite number > 0, got %g", name, x)
	}
	return nil
}

// addGaussian is noise.AddGaussian that refuses scales which left the range of a
// float64, as a product of small numbers may have become 0 and would add no noise, and
// that rounds what it made to a public grid (noise.OnGrid).
func addGaussian(src *entropy.Source, dst []float64, std float64) error {
	if !(std >= 0x1p-960 && std <= 0x1p960) {
		return fmt.Errorf("release: a noise of %g is out of the range of a 64-bit float", std)
	}
	noise.AddGaussian(src, dst, std)
	noise.OnGrid(dst, std)
	return nil
}
