package sum

import (
	"math"
	"slices"

	"pawl/core/internal/design"
)

// Loss is the per-example loss of a linear or additive model.
type Loss string

const (
	// Logistic is binary cross-entropy of sigmoid(wᵀx); targets are 0 or 1.
	Logistic Loss = "logistic"
	// Softmax is cross-entropy over Outputs classes; targets are class indices.
	Softmax Loss = "softmax"
	// Residual is the squared error of wᵀx with its residual clipped (a Huber
	// loss); targets are real numbers.
	Residual Loss = "residual"
	// Bounded is Residual with the gradient clipped instead of the residual: rows of norm below 1
	// count in full up to a larger residual.
	Bounded Loss = "bounded"
)

// Known reports whether the loss exists and has this number of score columns: the number of classes
// for Softmax, 1 for the others.
func (l Loss) Known(outputs int) bool {
	return l == Softmax && outputs >= 2 || (l == Logistic || l == Residual || l == Bounded) && outputs == 1
}

// Weighs reports whether weights are factors in (0, 1], one for each class of the loss, or nil.
func (l Loss) Weighs(weights []float64, outputs int) bool {
	if l == Logistic {
		outputs = 2
	}
	return weights == nil || l != Residual && l != Bounded && len(weights) == outputs && !slices.ContainsFunc(weights, func(w float64) bool { return !(w > 0 && w <= 1) })
}

// weightOf is the weight of a row by its class, 1 where classes have none. A target that is no class has weight 0.
func weightOf(classes []float64, target float64) float64 {
	switch {
	case classes == nil:
		return 1
	case target >= 0 && target < float64(len(classes)):
		return classes[int(target)]
	}
	return 0
}

// contribution returns the function that turns scores into the clipped residual
// r_i with ‖r_i‖₂·‖x_i‖₂ <= c, which is the norm of the row's gradient x_i r_iᵀ. A residual is
// multiplied by the weight of the row's class before it is clipped, so that no weight can raise
// the bound. It is given a row's target and norm, and of a loss with one output the scores of as many rows as
// there are targets. A norm above ‖x_i‖ holds the row to less.
func contribution(l Loss, c float64, classes []float64) func(targets, norms, scores []float64) {
	r := residual(l, c)
	switch l {
	case Softmax:
		return func(targets, norms, s []float64) { r(s, targets[0], weightOf(classes, targets[0]), norms[0]) }
	case Logistic:
		return func(targets, norms, s []float64) {
			design.Sigmoids(s)
			for j, p := range s {
				s[j] = clip(weightOf(classes, targets[j])*(p-targets[j]), c, norms[j])
			}
		}
	}
	return func(targets, norms, s []float64) {
		for j := range s {
			r(s[j:j+1], targets[j], 1, norms[j])
		}
	}
}

// residual returns the function that turns the scores of a row of this norm into its clipped
// residual. A row without a target, and a residual that is not finite, contribute nothing: success
// of a step must not depend on one row.
func residual(l Loss, c float64) func(s []float64, target, weight, norm float64) {
	switch l {
	case Logistic:
		return func(s []float64, target, weight, norm float64) {
			s[0] = clip(weight*(1/(1+math.Exp(-s[0]))-target), c, norm)
		}
	case Residual:
		// The residual itself is capped at c; ‖x‖ <= 1 makes that a bound on the gradient,
		// and rows of smaller norm count less.
		return func(s []float64, target, _, _ float64) { s[0] = clip(s[0]-target, c, 1) }
	case Bounded:
		return func(s []float64, target, _, norm float64) { s[0] = clip(s[0]-target, c, norm) }
	default:
		return func(s []float64, target, weight, norm float64) { softmaxResidual(s, target, weight, c, norm) }
	}
}

// clip bounds |r| by c/norm, which may be +Inf; what is not finite becomes 0.
func clip(r, c, norm float64) float64 {
	if r-r != 0 || norm == 0 {
		return 0
	}
	most := c / norm
	return min(max(r, -most), most)
}

func softmaxResidual(s []float64, target, weight, c, norm float64) {
	if target != target || norm == 0 {
		clear(s)
		return
	}
	top := s[0]
	for _, v := range s {
		top = max(top, v)
	}
	total := 0.0
	for k, v := range s {
		s[k] = math.Exp(v - top)
		total += s[k]
	}
	square := 0.0
	for k := range s {
		s[k] /= total
		if k == int(target) {
			s[k]--
		}
		s[k] *= weight
		square += s[k] * s[k]
	}
	length := math.Sqrt(square) * norm
	switch {
	// Below 1e-290 the squares have underflowed and the length says too little.
	case length != length || math.IsInf(length, 0) || square < 1e-290:
		clear(s)
	case length > c:
		for k := range s {
			s[k] *= c / length
		}
	}
}
