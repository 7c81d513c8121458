package cli

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"pawl/core/ledger"
	"pawl/internal/request"
	"pawl/store"
	"pawl/workflow"
)

// ledgerAddress is what --ledger, PAWL_LEDGER or, failing both, the user's own says.
func (a *app) ledgerAddress() (store.Address, error) { return store.Parse(a.ledger.address) }

// openLedger opens the ledger, and makes it if need be. It is closed when the program ends.
func (a *app) openLedger(ctx context.Context) (*ledger.Ledger, error) {
	return a.openAt(ctx, func(_ store.Address, second ledger.Heads) error { return ledger.Missing(second) })
}

// openAt opens the ledger. Where there is none, missing says why none may be made; nil makes it.
func (a *app) openAt(ctx context.Context, missing func(store.Address, ledger.Heads) error) (*ledger.Ledger, error) {
	d, err := a.ledgerAddress()
	if err != nil {
		return nil, err
	}
	l, opened, err := d.Open(ctx, a.ledger.total, a.warn, func(second ledger.Heads) error { return missing(d, second) })
	if err == nil {
		a.opened = append(a.opened, opened)
	}
	return l, err
}

// existing opens a ledger and makes none: a mistyped address is an error and not a new ledger.
func (a *app) existing(ctx context.Context) (*ledger.Ledger, error) {
	return a.openAt(ctx, func(d store.Address, second ledger.Heads) error {
		if err := ledger.Missing(second); err != nil {
			return err
		}
		return &noLedgerError{mistakef("pawl ledger create or the first pawl fit creates one; --ledger sqlite:PATH chooses another", "%s: there is no ledger yet", d)}
	})
}

// noLedgerError says that there is no ledger, and that this machine has seen none.
type noLedgerError struct{ error }

func (e *noLedgerError) Unwrap() error { return e.error }

// warn shows a warning of the ledger.
func (a *app) warn(text string) { fmt.Fprintf(a.err, "warning: %s\n", text) }

// onLedger is a command on the ledger, as a hint has it.
var onLedger = regexp.MustCompile(`\bpawl ledger [a-z]+(-[a-z]+)*`)

// hint is how to correct err. Commands on the ledger in it are on the one that --ledger names.
func (a *app) hint(err error) string {
	h := oneLine(hint(err))
	if d, wrong := a.ledgerAddress(); a.ledger.address != "" && wrong == nil && !strings.Contains(h, "--ledger") {
		h = onLedger.ReplaceAllStringFunc(h, func(command string) string { return command + " --ledger " + shell(d.Flag()) })
	}
	return h
}

// safe is where what is held back of the ledger has its key.
func (a *app) safe() (workflow.Safe, error) {
	d, err := a.ledgerAddress()
	if err != nil {
		return workflow.Safe{}, err
	}
	return request.SafeAt(d, a.ledger.address != "")
}

// close closes what was opened.
func (a *app) close() {
	if a.abandoned {
		return
	}
	for _, c := range a.opened {
		_ = c.Close() // what was written is durable
	}
}

// show writes what was found: as JSON, or in words.
func (a *app) show(found interface{ WriteText(io.Writer) error }) error {
	return a.print(found, found.WriteText)
}

// print writes v as JSON with --json, and else in words.
func (a *app) print(v any, words func(io.Writer) error) error {
	if a.json {
		return writeJSON(a.out, v)
	}
	return words(a.out)
}
