// Package infer reads what was released of the columns of a table that nobody described: noisy
// histograms of numbers and noisy counts of levels. It says what the release looks at (which cells a
// text marks), what it will show (a forecast from public facts) and what it showed (types, bounds,
// categories). It knows no row, so whatever it does costs nothing.
package infer

import "math"

// The histograms of a column are in the order of floats: bins of equal width within each doubling of
// the absolute value from 2^least to 2^most, both signs, and one for 0 and what is smaller. Larger
// numbers count in the last bin. Each histogram cuts a doubling into its own number of bins.
const (
	least, most = -12, 44
	doublings   = most - least
)

var cuts = [...]int{1, 16, 256}

// Histograms is how many histograms a number marks, once each.
const Histograms = len(cuts)

// size is the number of bins of a histogram, zero the place of its bin of 0.
func size(cut int) int { return 2*doublings*cut + 1 }
func zero(cut int) int { return doublings * cut }

// Size is the number of bins of a column.
func Size() (n int) {
	for _, cut := range cuts {
		n += size(cut)
	}
	return n
}

// Bins are the bins that a number marks; none for what is not finite.
func Bins(v float64) []int {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	out, first := make([]int, 0, Histograms), 0
	for _, cut := range cuts {
		out = append(out, first+bin(v, cut))
		first += size(cut)
	}
	return out
}

func bin(v float64, cut int) int {
	a := math.Abs(v)
	if a < math.Ldexp(1, least) {
		return zero(cut)
	}
	at := doublings*cut - 1
	if a < math.Ldexp(1, most) {
		mantissa, exponent := math.Frexp(a) // in [1/2, 1)
		at = (exponent-1-least)*cut + int((2*mantissa-1)*float64(cut))
	}
	if v < 0 {
		return zero(cut) - 1 - at
	}
	return zero(cut) + 1 + at
}

// edges are those of a bin.
func edges(i, cut int) (lower, upper float64) {
	switch at := i - zero(cut); {
	case at == 0:
		return 0, 0 // what is smaller than 2^least is taken for 0
	case at < 0:
		upper, lower = edges(2*zero(cut)-i, cut)
		return -lower, -upper
	default:
		at--
		start := math.Ldexp(1, least+at/cut)
		return start * (1 + float64(at%cut)/float64(cut)), start * (1 + float64(at%cut+1)/float64(cut))
	}
}
