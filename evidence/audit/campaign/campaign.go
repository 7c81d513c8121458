// Package campaign runs whole audits and judges them, with one error over all of their tests:
// mechanisms with the specifications of the same functions, and one training with canaries.
package campaign

import (
	"fmt"

	"pawl/core/entropy"
	"pawl/evidence/audit/bound"
	"pawl/internal/cost"
	"pawl/internal/request"
	"pawl/internal/usage"
)

// Proves is what every audit says that convicts nobody.
const Proves = "not rejected; this proves nothing, because a stronger attack may find more"

// Source draws the coins and the noise of an audit, from a seed where one is given.
func Source(seed string) (*entropy.Source, *uint64, error) {
	n, err := request.ParseSeed(seed)
	if err != nil {
		return nil, nil, err
	}
	if n != nil {
		return entropy.Seeded(*n), n, nil
	}
	src, err := entropy.New()
	return src, nil, err
}

// parseConfidence reads the confidence of a conviction.
func parseConfidence(text string) (float64, error) {
	if text == "" {
		return bound.Conviction, nil
	}
	c, err := cost.ParseReal("confidence", text)
	if err == nil && !(c >= 0.5 && c < 1) {
		err = usage.New(fmt.Sprintf("--confidence: %s is not in [0.5, 1)", text), "0.999 rejects a true claim in at most one of a thousand audits")
	}
	return c, err
}

// mostShown is the largest lower bound on ε at 95 % that so many trials of each world can
// show: all of them right.
func mostShown(trials int, delta float64) (float64, error) {
	return bound.Counts{TruePositives: trials, Positives: trials, Negatives: trials}.Epsilon(delta, bound.Printed)
}
