package noise

import "math"

// Grid is a public grid for sums that carry noise: the multiples of a power of two.
//
// A noisy sum is released as the nearest multiple. The sum S + z is rounded as a whole, which is
// post-processing of a noisy number. Rounding S first would move two neighbours apart by up to a
// cell in every coordinate, and rounding z alone would leave S's remainder without noise. An S of 0
// is rounded like any other.
//
// Without a grid the lowest bits of a sum reveal the values from which it came (Mironov 2012): a
// float64 S + z is a multiple of the last place of z, and a neighbour's sum may not be. One step of
// a hundred coordinates with noise in float32 was distinguished from that of another data set with
// certainty, 2,000 times out of 2,000.
//
// # What is left
//
// With deviation σ a cell γ lies in (σ/2^13, σ/2^12]. Noise has 53 bits within a strip of the ziggurat, of which a cell
// holds 2^38 steps (TestCellsHaveTheirChance counts them), and full relative precision in the tail, where log and sum are
// exact to the last place: a cell has its probability within a factor 1 ± 2^-34 up to 9 deviations. S + z is rounded to
// float64 before it is rounded to the grid, which moves the two edges of a cell by half a last place each: 2^-33 of it
// where |S+z| <= 2^7·σ, and in proportion beyond. Together r0 = 2^-32 bounds the relative error of every cell's
// probability. Each draw is then r1-pure from the ideal in both directions, r1 = −ln(1−r0), hence r1²/2-zCDP, and for d
// coordinates over T steps, in zCDP with ρ = μ²/2 (triangle inequality of √ρ)
//
//	μ' <= μ + 2·r1·√(d·T),
//
// or, for any x in (0, 1), with e = q + 2·√(q·ln(1/x)) and q = d·T·r1²/2,
//
//	ε' = ε + 2e,   δ' = e^e·δ + (1 + e^(ε+e))·(x + d·T·2Φ(−9)).
//
// For d·T = 10^9 that is μ + 1.5·10^-5, or ε + 10^-4 at x = 10^-9. The derivation is by hand, for
// ideal bits and for S as computed, whose own rounding is a separate matter: under these conditions
// it is a bound, otherwise a defence against the known attacks. Noise of another distribution
// (L2Laplace) is rounded too, but no bound is claimed for it.
//
// The rounding adds γ²/12 to the variance, less than 5·10^-9 of it.
type Grid struct{ cell, shift, near float64 }

// GridOf returns the grid of noise of this scale, a standard deviation or another public
// number of its size. A scale of 0 gives a grid that rounds nothing.
func GridOf(scale float64) Grid {
	if scale == 0 {
		return Grid{}
	}
	_, exponent := math.Frexp(scale)
	g := Grid{cell: math.Ldexp(1, exponent-13)}
	if shift := 0x1.8p52 * g.cell; shift <= math.MaxFloat64 {
		g.shift, g.near = shift, 0x1p51*g.cell
	}
	return g
}

// Round returns the multiple nearest to v, the even one of two equally near.
func (g *Grid) Round(v float64) float64 {
	if v < g.near && v > -g.near {
		// Between 2^52 and 2^53 cells the numbers of a float64 are the multiples.
		return v + g.shift - g.shift
	}
	return g.far(v)
}

// far is Round for what shift is no help with.
func (g *Grid) far(v float64) float64 {
	// A float64 of 2^53 cells or more is a whole number of them, and so is one that is
	// not finite.
	if !(math.Abs(v) < 0x1p53*g.cell) {
		return v
	}
	return math.RoundToEven(v/g.cell) * g.cell
}

// OnGrid rounds numbers that carry noise of this scale to their Grid. A scale of 0 leaves dst
// unchanged.
func OnGrid(dst []float64, scale float64) {
	g := GridOf(scale)
	for i, v := range dst {
		dst[i] = g.Round(v)
	}
}
