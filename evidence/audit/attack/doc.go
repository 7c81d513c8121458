// Package attack judges membership inference: given numbers that are larger for records
// that a model was trained on, how well do they tell members from others?
//
// Nothing here trains the model under attack or its shadows, and nothing here opens a
// data set: attacks work on posteriors (posterior.go), on scores of shadow models
// (lira.go, rmia.go) or on scores that another program made (csv.go). Evaluate
// (report.go) turns any of them into a report. Attack models on posteriors are in
// logistic.go and svm.go, with features from features.go.
//
// Three things make such a report wrong most often, and are refused or said here: pools
// that overlap (manifest.go), a rate that the number of rows cannot show (a true positive
// rate at 0.1 % false positives needs a thousand non-members), and swapped labels, whose
// AUC of 0.3 is an attack of 0.7.
//
// Success is a lower bound on what leaks. Failure proves nothing. What a report says about
// the rows of a sensitive data set is itself computed from them: it stays inside, unless
// its cost is booked.
package attack

import (
	"errors"
	"fmt"
)

var (
	// ErrInput is wrapped by every refusal of an argument.
	ErrInput = errors.New("attack: invalid input")
	// ErrConstant is returned where all scores are equal: the attack says nothing, and a
	// threshold on it would report the share of members.
	ErrConstant = errors.New("attack: all scores are equal")
	// ErrOverlap is returned where a record is in two pools.
	ErrOverlap = errors.New("attack: pools overlap")
	// ErrNotConverged is returned where an attack model did not reach its tolerance.
	ErrNotConverged = errors.New("attack: training did not converge")
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}
