package encode

import "math"

// Inputs is the length of a row as the input of a network: all coordinates but the
// intercept, since networks have biases of their own.
func (e *Encoding) Inputs() int { return e.Dim - e.Blocks[0].Dim }

// InputScale is what Input multiplies coordinates by in place of Scale: with m inputs
// and b blocks of norm 1 at most it is √(m/b), so that every row has norm √m at most,
// as if each of its numbers lay in [−1, 1]. It is 0 where there are no inputs.
func (e *Encoding) InputScale() float64 {
	blocks := len(e.Blocks) - 1
	if blocks == 0 {
		return 0
	}
	return math.Sqrt(float64(e.Inputs()) / float64(blocks))
}

// Input fills dst (Inputs) with a row as the input of a network. scratch holds Dim
// numbers and may be nil.
func (e *Encoding) Input(dst []float32, cells, scratch []float64) {
	if len(scratch) < e.Dim {
		scratch = make([]float64, e.Dim)
	}
	x := scratch[:e.Dim]
	e.Vector(x, cells)
	factor := e.InputScale() / e.Scale
	for j, v := range x[e.Blocks[0].Dim:] {
		dst[j] = float32(v * factor)
	}
}
