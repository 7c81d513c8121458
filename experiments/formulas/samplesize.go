package formulas

import (
	"math"

	"pawl/evidence/theory"
)

// PublishedSizeCurve is the fit of [B] for its simple network on MNIST (accuracy 85 %).
// It does not fit the rows that the same section names for ε = 1: see
// docs/READING.md.
func PublishedSizeCurve() theory.SizeCurve { return theory.SizeCurve{Alpha: 1.1, Beta: 8922.4} }

// BetaFor is the β with which the curve passes through (n, ε) at this α.
func BetaFor(c theory.SizeCurve, rows, epsilon float64) float64 {
	return rows * (math.Exp(epsilon) - c.Alpha)
}
