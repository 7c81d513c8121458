// Package theory estimates from measured accuracies where two curves cross, how many rows
// buy how much epsilon, and what privacy costs, with intervals. Nothing here touches rows of a data
// set. The models of the papers that these curves come from are in experiments/formulas.
package theory

import "errors"

// ErrInput is wrapped by every error about an argument: a size, a probability or a
// sample that a formula is not defined for.
var ErrInput = errors.New("theory: invalid input")
