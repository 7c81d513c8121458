// Package convex trains linear models in one release instead of many noisy steps, using the
// convexity of the problem:
//
//   - PerturbObjective minimises a regularised logistic loss plus a random linear
//     term: pure ε, for budgets with δ = 0.
//   - PerturbOutput adds Gaussian noise to the minimiser itself: one Gaussian event.
//   - PerturbMinimum is approximate minima perturbation: (ε, δ), for units of one row.
//
// All rely on two public facts from package encode, ‖x‖₂ <= 1 for every possible row and a target
// in a public range, and on the permit's bound k on the rows of one unit. All guarantees are per
// unit and not per row.
package convex

import (
	"errors"
	"fmt"

	"pawl/core/dp"
	"pawl/data/encode"
)

// rounding is the factor by which every sensitivity is enlarged. Encoded rows and
// calibrations carry relative errors of a few 2^-53; 1e-12 covers thousands of
// them and costs nothing.
const rounding = 1 + 1e-12

func validate(scope dp.Scope, enc *encode.Encoding, target func(cells []float64) float64) error {
	switch {
	case !scope.Valid():
		return fmt.Errorf("convex: scope %v is not valid", scope)
	case enc == nil || target == nil:
		return errors.New("convex: encoding and target are required")
	}
	return enc.ForSolver()
}
