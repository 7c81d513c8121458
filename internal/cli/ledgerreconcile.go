package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pawl/core/ledger"
	"pawl/workflow"
)

func (a *app) ledgerReconcile() *cobra.Command {
	var reason, out string
	var force bool
	c := &cobra.Command{
		Use:   "reconcile [FILE] --reason WHY",
		Short: "Go on with a ledger that was lost or rolled back, and hand out what was held back",
		Long: `Say why a ledger does not hold what this machine has seen of it, and go on with the one
that is there. pawl remembers the newest records of each ledger in a second place
(~/.local/state/pawl) and refuses one that was deleted, swapped or put back from an old
copy. If you have a newer copy, put that back instead: nothing has to be reconciled then.

The reason and what is missing are written into the log of each data set concerned, and
every later report says so. What the lost records had spent is not in the account any
more: reconcile does not know it.

A run whose ledger was lost under it keeps what it made, encrypted, in held-ENTRY.pawl.
With FILE its entry is booked in the ledger that is there now, whether or not it fits,
once however often you ask; then its files are written, and FILE and its key removed.
A new ledger takes over the budget that the entry was booked under.

Where nothing contradicts, nothing is written.`,
		Example: `  pawl ledger reconcile --reason "restored from the backup of Monday"
  pawl ledger reconcile pawl-out/held-9f86d081884c7d65.pawl --reason "the disk was replaced"`,
		Args: atMostOneArg,
		RunE: func(c *cobra.Command, args []string) error {
			if err := required(c, "reason"); err != nil {
				return err
			}
			if len(args) == 0 {
				if out != "" || force {
					return &usageError{"--out and --force are for a release that is handed out", "name its file: pawl ledger reconcile FILE --reason WHY"}
				}
				return a.reconcile(c.Context(), reason)
			}
			return a.handOut(c.Context(), args[0], reason, out, force)
		},
	}
	f := c.Flags()
	f.StringVar(&reason, "reason", "", "what happened, for those who read the ledger later (required)")
	f.StringVar(&out, "out", "", "directory to write the files into (default: that of FILE, or the new one that a run without --out makes)")
	f.BoolVar(&force, "force", false, "replace files that are there")
	return c
}

// reconciledView is what reconcile prints as JSON.
type reconciledView struct {
	ledger.Reconciled
	Entry string   `json:"entry,omitempty"`
	Files []string `json:"files,omitempty"`
}

func (a *app) reconcile(ctx context.Context, reason string) error {
	l, done, err := a.openToReconcile(ctx)
	if err != nil {
		return err
	}
	defer done()
	r, err := l.Reconcile(ctx, ledger.Reconcile{Reason: reason})
	if err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, reconciledView{Reconciled: r})
	}
	if len(r.Datasets) == 0 {
		fmt.Fprintln(a.out, "nothing to reconcile: the ledger holds what this machine has seen of it; nothing was written")
		return nil
	}
	fmt.Fprintf(a.out, "reconciled %s: pawl goes on with this ledger, and its reports will say so\n", strings.Join(r.Datasets, ", "))
	return nil
}

// openToReconcile opens the ledger at the address. One that is gone is begun anew only
// where this machine has seen one.
func (a *app) openToReconcile(ctx context.Context) (*ledger.Ledger, func() error, error) {
	d, err := a.ledgerAddress()
	if err != nil {
		return nil, nil, err
	}
	l, store, err := a.openAt(ctx, d, func(second ledger.Heads) error {
		if ledger.Missing(second) != nil {
			return nil
		}
		return &usageError{fmt.Sprintf("%s: there is no ledger, and this machine has seen none there", d), "name the ledger with --ledger sqlite:PATH"}
	})
	if err != nil {
		return nil, nil, err
	}
	return l, store.Close, nil
}

// bookedHere refuses to book an entry in another ledger than the one at the address of
// the run, unless that one has moved.
func (a *app) bookedHere(ctx context.Context, l *ledger.Ledger, h *workflow.HeldRelease) error {
	d, err := a.ledgerAddress()
	if err != nil || h.Address == d.Absolute() {
		return err
	}
	id, err := l.KeyID(ctx)
	if err != nil || id == h.Held.Ledger {
		return err
	}
	flag := "sqlite:" + h.Address
	if strings.HasPrefix(h.Address, "postgres:") {
		flag = h.Address
	}
	return &usageError{fmt.Sprintf("entry %s was booked in the ledger at %s, and this is another one (%s)", h.Held.Entry, h.Address, d), "--ledger " + shell(flag)}
}

// handOut books the entry of a held release once and writes its files.
func (a *app) handOut(ctx context.Context, file, reason, dir string, force bool) error {
	h, err := workflow.ReadHeld(file)
	if err != nil {
		return err
	}
	keys, err := heldKeys()
	if err != nil {
		return err
	}
	key, err := keys.Get(h.Held.Entry)
	if errors.Is(err, fs.ErrNotExist) {
		return &usageError{fmt.Sprintf("%s: its key is not on this machine", file), "hand it out as the user and on the machine of the run: the key lies in ~/.local/state/pawl/held"}
	}
	if err != nil {
		return err
	}
	// Before anything is booked: the header counts only where it was not changed.
	if err := h.Open(key); err != nil {
		return err
	}
	l, done, err := a.openToReconcile(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := a.bookedHere(ctx, l, h); err != nil {
		return err
	}
	r, err := l.Reconcile(ctx, ledger.Reconcile{Reason: reason, Held: &h.Held})
	if err != nil {
		return err
	}
	if in := filepath.Dir(file); dir == "" && !(h.Run && filepath.Clean(in) == workflow.DefaultDir) {
		dir = in // else the run asked for no folder, and gets one of its own
	}
	written, err := h.HandOut(ctx, l, dir, force)
	if err != nil {
		return fmt.Errorf("entry %s is booked, but its files could not be written: %w", h.Held.Entry, err)
	}
	if err := errors.Join(os.Remove(file), keys.Drop(h.Held.Entry)); err != nil {
		return fmt.Errorf("entry %s is handed out, but what was held back could not be removed: %w", h.Held.Entry, err)
	}
	if a.json {
		return writeJSON(a.out, reconciledView{r, h.Held.Entry, written})
	}
	how := "is in the ledger"
	switch {
	case r.Booked:
		how = "is booked again"
	case r.Committed:
		how = "was in the ledger, open, and is committed"
	}
	fmt.Fprintf(a.out, "entry %s of %s %s; handed out: %s\n", h.Held.Entry, h.Held.Dataset, how, strings.Join(written, ", "))
	return nil
}
