package report

import (
	"errors"
	"fmt"
	"math"

	"pawl/core/dp"
)

// ErrInvalid is wrapped by every error of Validate.
var ErrInvalid = errors.New("statement is not valid")

// Validate reports the first reason why s must not be written, or nil. Every
// writer of this package calls it, so that a statement which claims less than its
// own bounds, or holds an exact number about sensitive rows, never becomes a file.
func Validate(s *Statement) error {
	switch {
	case s == nil:
		return invalid("there is none")
	case s.Version != StatementVersion:
		return invalid("version is %d, this program writes %d", s.Version, StatementVersion)
	case s.Privacy.Unit == "":
		return invalid("privacy.unit is empty: an epsilon without its unit means nothing")
	case s.Privacy.RowsPerUnit < 1:
		return invalid("privacy.rows_per_unit is %d, want 1 or more", s.Privacy.RowsPerUnit)
	case s.Budget.Unbounded != (len(s.SeededRuns) > 0):
		return invalid("budget.unbounded is %v beside %d seeded_runs", s.Budget.Unbounded, len(s.SeededRuns))
	}
	if _, err := dp.ParseRelation(s.Privacy.Relation); err != nil {
		return invalid("privacy.relation: %v", err)
	}
	if err := validClaim(s); err != nil {
		return err
	}
	if err := validShapes(s.Shapes); err != nil {
		return err
	}
	return validScore(s)
}

func validClaim(s *Statement) error {
	eps, delta := float64(s.Privacy.Epsilon), float64(s.Privacy.Delta)
	switch {
	case !(eps >= 0): // NaN included
		return invalid("privacy.epsilon is not a non-negative number")
	case !(delta >= 0 && delta <= 1):
		return invalid("privacy.delta is not within [0, 1]")
	case math.IsInf(eps, 1) && !s.NotPrivate:
		return invalid("privacy.epsilon is infinite and not_private is false")
	}
	smallest := math.Inf(1)
	for method, b := range s.Privacy.EpsilonBounds {
		if !(b >= 0) {
			return invalid("privacy.epsilon_bounds[%q] is not a non-negative number", method)
		}
		smallest = math.Min(smallest, float64(b))
	}
	// The claim may be larger than its smallest bound (rounded up), never smaller.
	if len(s.Privacy.EpsilonBounds) > 0 && eps < smallest {
		return invalid("privacy.epsilon is below every bound in privacy.epsilon_bounds")
	}
	for name, stage := range s.Privacy.ByStage {
		if !(stage.Epsilon >= 0) {
			return invalid("privacy.by_stage[%q].epsilon is not a non-negative number", name)
		}
	}
	return nil
}

func validScore(s *Statement) error {
	if s.Score == nil {
		return nil
	}
	switch s.Score.Metric {
	case "accuracy", "mean_absolute_error":
	default:
		return invalid("score.metric is %q, want accuracy or mean_absolute_error", s.Score.Metric)
	}
	if (s.Score.Test != nil || s.Score.TestBaseline != nil) && !publicScore(s) {
		return invalid("score.test is exact and the scored rows are not public")
	}
	return validGroups(s)
}

// publicScore reports whether the scored rows are public.
func publicScore(s *Statement) bool {
	return s.Data.Public || s.Score != nil && s.Score.PublicTest
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}
