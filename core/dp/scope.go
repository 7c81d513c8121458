package dp

import (
	"fmt"
	"math"
)

// Scope is a half-open interval [Lower, Upper) of the keyed unit hash, read as a fraction of 2^64.
// A unit belongs to a scope if its hash lies in it, so membership depends on that unit alone. Under
// AddOrRemoveOne and ZeroOut, events on disjoint scopes therefore compose in parallel (the larger
// cost counts).
type Scope struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// WholeScope covers every unit.
var WholeScope = Scope{Lower: 0, Upper: 1}

// Valid reports whether 0 <= Lower < Upper <= 1 holds and both are numbers.
func (s Scope) Valid() bool { return s.Lower >= 0 && s.Lower < s.Upper && s.Upper <= 1 }

// Fraction returns the expected share of units in the scope.
func (s Scope) Fraction() float64 { return s.Upper - s.Lower }

// Contains reports whether a unit with this hash belongs to the scope. Adjacent scopes share one
// bound, so a partition of [0, 1) counts every unit exactly once.
func (s Scope) Contains(hash uint64) bool {
	return hash >= hashBound(s.Lower) && (s.Upper >= 1 || hash < hashBound(s.Upper))
}

func hashBound(x float64) uint64 {
	if x >= 1 {
		return math.MaxUint64
	}
	// math.Ldexp is exact, and x < 1 has at most 53 significant bits, so the
	// product is an integer below 2^64 after truncation.
	return uint64(math.Ldexp(x, 64))
}

// String returns "[0, 0.8)".
func (s Scope) String() string { return fmt.Sprintf("[%g, %g)", s.Lower, s.Upper) }
