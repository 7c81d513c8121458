package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"pawl/internal/build"
	"pawl/report"
	"pawl/store/heads"
	"pawl/workflow"
)

// heldKeys is where the keys of held releases lie: apart from the releases.
func heldKeys() (heads.Keys, error) {
	dir, err := heads.Default()
	if err != nil {
		return heads.Keys{}, fmt.Errorf("no folder for the key of withheld results: %w", err)
	}
	return heads.KeysIn(dir), nil
}

// safe is where what is held back of this ledger has its key.
func (a *app) safe() (workflow.Safe, error) {
	keys, err := heldKeys()
	if err != nil {
		return workflow.Safe{}, err
	}
	d, err := a.ledgerAddress()
	safe := workflow.Safe{Keys: keys, Address: d.Absolute()}
	if a.ledgerURL != "" {
		safe.Flag = "--ledger " + shell(d.Flag())
	}
	return safe, err
}

// deliver writes the files of a run when the ledger confirms its entry, and holds them
// back otherwise. doubt is what Run said of it already, or nil.
func (a *app) deliver(ctx context.Context, out *workflow.Output, outcome *workflow.Outcome, env workflow.Env, doubt error, now time.Time) (s *report.Statement, dir string, err error) {
	// An interrupt that comes now does not take away what was paid for.
	ctx = context.WithoutCancel(ctx)
	s, err = outcome.Statement(ctx, env, build.Version(), now)
	if s == nil {
		return nil, "", errors.Join(doubt, err)
	}
	if doubt == nil && err != nil {
		// All but the budget is there: the ledger does not answer.
		doubt = &workflow.UnconfirmedError{Entry: outcome.Receipt.ID, Cause: err}
	}
	if doubt == nil {
		out.Confirm = func() error { return outcome.Confirm(ctx, env.Ledger) }
		dir, err := out.Write(outcome.Model, s)
		if err == nil {
			return s, dir, nil
		}
		if !isDoubt(err) {
			return nil, "", fmt.Errorf("the run was charged, but its files could not be written: %w", err)
		}
		doubt = err
	}
	safe, err := a.safe()
	if err != nil {
		return nil, "", errors.Join(doubt, err)
	}
	out.Discard()
	return nil, "", outcome.Hold(out, s, safe, doubt)
}

// isDoubt says that a run is done and that the ledger does not confirm it.
func isDoubt(err error) bool { return errors.As(err, new(*workflow.UnconfirmedError)) }

// holdSelection holds back what select would have printed and written.
func (a *app) holdSelection(out *workflow.Selected, s *report.Statement, v *selectionView, table string, doubt error) error {
	safe, err := a.safe()
	if err != nil {
		return errors.Join(doubt, err)
	}
	var text bytes.Buffer
	if err := writeJSON(&text, v); err != nil {
		return errors.Join(doubt, err)
	}
	files, dir := map[string][]byte{"selection.json": text.Bytes()}, "."
	if table != "" {
		var rows bytes.Buffer
		if err := tableWriter(table, out.Table)(&rows); err != nil {
			return errors.Join(doubt, err)
		}
		files[filepath.Base(table)], dir = rows.Bytes(), filepath.Dir(table)
	}
	return out.Hold(dir, s, files, safe, doubt)
}

// holdBounds holds back a schema with the bounds that were bought.
func (a *app) holdBounds(out *workflow.BoundsOutcome, path string, text []byte, b *boundsFlags, doubt error) error {
	safe, err := a.safe()
	if err != nil {
		return errors.Join(doubt, err)
	}
	return out.Hold(filepath.Dir(path), time.Now(), b.epsilon, b.delta, map[string][]byte{filepath.Base(path): text}, safe, doubt)
}
