package noise

import "math"

// OnGrid rounds numbers that carry Gaussian noise of stdDev to a public grid, a power of
// two between stdDev/2^25 and stdDev/2^24. It is post-processing of a noisy number, and
// never stands for noise: what is added to an exact number afterwards hides no remainder.
//
// The lowest bits of a float64 sum tell which values it came from (Mironov 2012): of the
// noisy counts of an empty cell, one in forty at a deviation of 11 could not have come
// from a cell of one row. Within 2^28 deviations of 0 they do not leave: a cell of the grid
// holds 10^8 values of the noise. stdDev 0 leaves dst as it is.
func OnGrid(dst []float64, stdDev float64) {
	if stdDev == 0 {
		return
	}
	_, exponent := math.Frexp(stdDev)
	cell := math.Ldexp(1, exponent-25)
	for i, v := range dst {
		// A float64 of 2^53 cells or more is a whole number of them.
		if math.Abs(v) < 0x1p53*cell {
			dst[i] = math.Round(v/cell) * cell
		}
	}
}
