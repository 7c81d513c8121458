// Package bound turns the outcomes of an attack into lower bounds on epsilon that
// hold at a stated confidence, and judges claims by them.
//
// An attack tries to tell two worlds apart: one that holds a unit and one that does
// not. What (ε, δ)-DP allows it is known exactly (theory.go), so an attack that does
// better refutes the claim. The converse does not hold: an attack that fails proves
// nothing, and no number here is an upper bound.
//
// Two kinds of audit are covered. With many runs in each world the outcomes are two
// binomial counts (counts.go, scores.go). With one run over many canaries, each in or
// out by a coin, they are guesses (onerun.go).
//
// A confidence is that of the whole statement. Whatever is chosen by looking at scores
// (a threshold, which sign means "in", how many guesses to make) is chosen on one half
// of them and judged on the other, so that it costs no correction; nothing is judged on
// the scores that chose it.
package bound

import (
	"errors"
	"fmt"
)

const (
	// Printed is the confidence of bounds that are shown.
	Printed = 0.95
	// Conviction is the confidence at which a claim counts as refuted: an honest
	// mechanism is convicted once in a thousand audits at most.
	Conviction = 0.999
)

// ErrInput is wrapped by every refusal of an argument.
var ErrInput = errors.New("audit: invalid input")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}

func checkConfidence(confidence float64) error {
	if !(confidence > 0 && confidence < 1) {
		return invalid("confidence must lie strictly between 0 and 1, got %g", confidence)
	}
	return nil
}

func checkDelta(delta float64) error {
	if !(delta >= 0 && delta < 1) {
		return invalid("delta must lie in [0, 1), got %g", delta)
	}
	return nil
}
