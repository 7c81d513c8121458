package workflow

import (
	"errors"
	"slices"

	"pawl/core/dp"
	"pawl/core/gradient"
)

// Audited is the training of a plan's network as an auditor takes it: its layers, clipping,
// noise, lots and steps on the whole hash line, and its first parameters. Rows, targets and
// the update are the auditor's. Errors: a plan without a network, or without noise.
func (plan *Plan) Audited() (gradient.Training, []float32, error) {
	j, ok := plan.job.(*train)
	if !ok || j.of.NonPrivate {
		return gradient.Training{}, nil, errors.New("workflow: no training with noise to audit")
	}
	n := j.of
	t := gradient.Training{Privacy: n.privacy(dp.WholeScope, n.noise), Clipping: n.Clipping, Network: n.net, Microbatch: n.microbatch, Multiplicity: 1}
	if t.Clipping == gradient.Quantile {
		t.UnclippedShare = n.Quantile
	}
	return t, slices.Clone(n.initial), nil
}
