// Package convex trains linear models in one release instead of many noisy
// steps, by the structure of a convex problem:
//
//   - PerturbObjective minimises a regularised logistic loss plus a random linear
//     term: pure ε, for budgets with δ = 0.
//   - PerturbOutput adds Gaussian noise to the minimiser itself: one Gaussian event.
//   - PerturbMinimum is approximate minima perturbation: (ε, δ), for units of one row.
//
// All rest on two public facts of package encode, ‖x‖₂ <= 1 for every row that
// can exist and a target in a public range, and on the permit's bound k on the
// rows of one unit. All take the whole guarantee per unit and not per row.
package convex

import (
	"errors"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/internal/design"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
)

// rounding is the factor by which every sensitivity is enlarged. Encoded rows and
// calibrations carry relative errors of a few 2^-53; 1e-12 covers thousands of
// them and costs nothing.
const rounding = 1 + 1e-12

// maxDim bounds the dense Dim×Dim matrices of this package: 4096 is 128 MiB each,
// and about six are held.
const maxDim = 4096

func positive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("convex: %s must be a finite number > 0, got %g", name, v)
	}
	return nil
}

func validate(scope dp.Scope, enc *encode.Encoding, target func(cells []float64) float64) error {
	switch {
	case !scope.Valid():
		return fmt.Errorf("convex: scope %v is not valid", scope)
	case enc == nil || target == nil:
		return errors.New("convex: encoding and target are required")
	case !design.Fits(enc):
		return errors.New("convex: the schema has more categories than one model can hold (65,534)")
	case design.IsSparse(enc):
		return errors.New("convex: texts and bags of columns have too many coordinates for a dense solver")
	case enc.Dim > maxDim:
		return fmt.Errorf("convex: %d coordinates are too many for a dense solver (limit %d)", enc.Dim, maxDim)
	}
	return nil
}

// complete reports what is missing beside the parameters.
func complete(permit *sealed.Permit) error {
	if permit == nil {
		return sealed.ErrNotReserved
	}
	return nil
}
