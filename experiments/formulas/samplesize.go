package formulas

import "pawl/evidence/theory"

// PublishedSizeCurve is the fit of [B] for its simple network on MNIST (accuracy 85 %).
// It does not fit the rows that the same section names for ε = 1: see
// docs/READING.md.
func PublishedSizeCurve() theory.SizeCurve { return theory.SizeCurve{Alpha: 1.1, Beta: 8922.4} }
