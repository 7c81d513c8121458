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
	"pawl/store"
	"pawl/store/heads"
	"pawl/workflow"
)

func ledgerReconcile(a *app) *cobra.Command {
	var reason, out string
	var force bool
	c := &cobra.Command{
		Use:   "reconcile [FILE] --reason WHY",
		Short: "Continue with a lost or rolled-back ledger, and release withheld results",
		Long: `Continue with a ledger that lacks records which this machine has seen, and record the
reason. pawl remembers the newest records of each ledger in a second place
(~/.local/state/pawl) and refuses a ledger that was deleted, swapped or restored from an
old copy. If you have a newer copy, restore that instead; nothing needs reconciling then.

The reason and what is missing are recorded in the log of each affected data set, and
every later report shows them. The spending of the lost records is no longer in the
account: reconcile cannot know it.

If a ledger was lost during a run, the results are withheld, encrypted, in
held-ENTRY.pawl. With FILE, the entry is charged in the present ledger, whether or not it
fits, and only once however often you ask; then the result files are written, and FILE
and its key are removed. A new ledger takes over the budget that the entry was charged
to.

If nothing is missing, nothing is written.`,
		Example: `  pawl ledger reconcile --reason "restored from the backup of Monday"
  pawl ledger reconcile pawl-out/held-9f86d081884c7d65.pawl --reason "the disk was replaced"`,
		Args: atMostOneArg,
		RunE: func(c *cobra.Command, args []string) error {
			if err := required(c, "reason"); err != nil {
				return err
			}
			if len(args) == 0 {
				if out != "" || force {
					return mistake("--out and --force need FILE, the withheld results", "give its file: pawl ledger reconcile FILE --reason WHY")
				}
				return reconcileLedger(c.Context(), a, reason)
			}
			return handOut(c.Context(), a, args[0], reason, out, force)
		},
	}
	f := c.Flags()
	f.StringVar(&reason, "reason", "", "what happened, for later readers of the ledger (required)")
	f.StringVar(&out, "out", "", "output directory (default: that of FILE, or a new one as for a run without --out)")
	f.BoolVar(&force, "force", false, "replace existing files")
	return c
}

// reconciledView is what reconcile prints as JSON.
type reconciledView struct {
	ledger.Reconciled
	Entry string   `json:"entry,omitempty"`
	Files []string `json:"files,omitempty"`
}

func reconcileLedger(ctx context.Context, a *app, reason string) error {
	l, err := openToReconcile(ctx, a)
	if err != nil {
		return err
	}
	r, err := l.Reconcile(ctx, ledger.Reconcile{Reason: reason})
	if err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, reconciledView{Reconciled: r})
	}
	if len(r.Datasets) == 0 {
		fmt.Fprintln(a.out, "nothing to reconcile: the ledger has all records that this machine has seen; nothing was written")
		return nil
	}
	fmt.Fprintf(a.out, "reconciled %s: pawl continues with this ledger, and reports will show it\n", strings.Join(r.Datasets, ", "))
	return nil
}

// openToReconcile opens the ledger at the address. One that is gone is begun anew only
// where this machine has seen one.
func openToReconcile(ctx context.Context, a *app) (*ledger.Ledger, error) {
	return a.openAt(ctx, func(d store.Address, second ledger.Heads) error {
		if ledger.Missing(second) != nil {
			return nil
		}
		return mistakef("choose the ledger with --ledger sqlite:PATH", "%s: there is no ledger, and this machine has never seen one there", d)
	})
}

// bookedHere refuses to book an entry in another ledger than the one at the address of
// the run, unless that one has moved.
func bookedHere(ctx context.Context, a *app, l *ledger.Ledger, h *workflow.HeldRelease) error {
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
	return mistakef("--ledger "+shell(flag), "entry %s was charged in the ledger at %s, and this is another ledger (%s)", h.Held.Entry, h.Address, d)
}

// handOut books the entry of a held release once and writes its files.
func handOut(ctx context.Context, a *app, file, reason, dir string, force bool) error {
	h, err := workflow.ReadHeld(file)
	if err != nil {
		return err
	}
	state, err := heads.Default()
	if err != nil {
		return err
	}
	keys := heads.KeysIn(state)
	key, err := keys.Get(h.Held.Entry)
	if errors.Is(err, fs.ErrNotExist) {
		return mistakef("repeat the command as the user and on the machine of the run: the key is in ~/.local/state/pawl/held", "%s: the key is not on this machine", file)
	}
	if err != nil {
		return err
	}
	// Before anything is booked: the header counts only where it was not changed.
	if err := h.Open(key); err != nil {
		return err
	}
	l, err := openToReconcile(ctx, a)
	if err != nil {
		return err
	}
	if err := bookedHere(ctx, a, l, h); err != nil {
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
		return fmt.Errorf("entry %s was charged, but its files could not be written: %w", h.Held.Entry, err)
	}
	if err := errors.Join(os.Remove(file), keys.Drop(h.Held.Entry)); err != nil {
		return fmt.Errorf("entry %s was released, but the withheld file could not be removed: %w", h.Held.Entry, err)
	}
	if a.json {
		return writeJSON(a.out, reconciledView{r, h.Held.Entry, written})
	}
	how := "is in the ledger"
	switch {
	case r.Booked:
		how = "was charged again"
	case r.Committed:
		how = "was open in the ledger and is now committed"
	}
	fmt.Fprintf(a.out, "entry %s of %s %s; released: %s\n", h.Held.Entry, h.Held.Dataset, how, strings.Join(written, ", "))
	return nil
}
