package workflow

import (
	"context"
	"errors"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/report"
)

// fillPeople says who ran and who granted, how old the account is, and what marks the data
// set. The run began at the statement's time.
func fillPeople(s *report.Statement, view *figures.Statement, user string) {
	b := &s.Budget
	b.RunBy, b.Since, b.Age = user, view.Created, report.Before(view.Created, s.Time)
	if g := view.Granted; g != nil {
		b.GrantedBy, b.GrantedAt, b.Reason, b.GrantedByRunner = g.By, g.At, g.Reason, g.By == user
	}
	s.Mark(marks(view.SeededRuns))
	for _, c := range view.Cleared {
		s.Cleared = append(s.Cleared, report.Clearing{Entries: c.Entries, By: c.By, At: c.At, Reason: c.Reason, Own: c.Own})
	}
}

func marks(runs []ledger.SeededRun) (out []report.SeededRun) {
	for _, r := range runs {
		out = append(out, report.SeededRun(r))
	}
	return out
}

// MarkPlan enters into the statement of a plan what marks its data set now.
func (plan *Plan) MarkPlan(ctx context.Context, l *ledger.Ledger, s *report.Statement) error {
	view, err := figures.Show(ctx, l, plan.problem.Dataset)
	if errors.Is(err, ledger.ErrUnknownDataset) {
		return nil
	}
	s.Mark(marks(view.SeededRuns))
	return err
}

// SeededMark asks the ledger what seeded runs mark a data set with: a sentence, or "" for none
// and for a data set that the ledger does not know.
func SeededMark(ctx context.Context, l *ledger.Ledger, name string) (string, error) {
	s, err := figures.Show(ctx, l, name)
	if errors.Is(err, ledger.ErrUnknownDataset) {
		return "", nil
	}
	return report.SeededMark(len(s.SeededRuns)), err
}
