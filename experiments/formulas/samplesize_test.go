package formulas

import (
	"math"
	"testing"
)

// The published fit does not pass through the rows named for ε = 1 (E9 of the notes).
func TestPublishedSizeCurveAgainstItsText(t *testing.T) {
	c := PublishedSizeCurve()
	near(t, "rows for ε 1", c.Rows(1), 5514, .5)
	near(t, "ε at the rows of the text", c.Epsilon(13574), .564, 5e-4)
	near(t, "β through the simple model's rows", BetaFor(c, 13574, 1), 21967, 1)
	near(t, "β through the complex model's rows", BetaFor(c, 19145, 1), 30982, 1)
	// Nor does the other way of reading the formula, ln α + β/n.
	near(t, "ln α + β/n", math.Log(c.Alpha)+c.Beta/13574, .753, 5e-4)
}
