package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"pawl/core/ledger"
)

func (a *app) ledgerExport() *cobra.Command {
	var all bool
	var output string
	var what ledger.Export
	c := &cobra.Command{
		Use:   "export NAME... | --all",
		Short: "Write the log of data sets as JSON lines",
		Long: `Write the verified logs of data sets as JSON lines, on stdout or to --output: a
header, then each record with its hash. pawl ledger import reads it, into a file or a
database.

Which part of the data a person's rows are in is decided by a secret key of the
ledger. It is left out, so that an export may be shown; logs of jobs that used parts
of the data (pawl fit does) can then be read and checked anywhere, but continued only
by the ledger that they came from. To move a ledger, add --with-secret: the file then
has to be kept like the data, and is written with mode 0600.`,
		Example: `  pawl ledger export clinic > clinic.jsonl
  pawl ledger export --all --with-secret --output ledger.jsonl`,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case all == (len(args) > 0):
				return &usageError{fmt.Sprintf("%s: want either names or --all", c.CommandPath()), "usage: " + c.UseLine()}
			case what.WithSecret && output == "":
				return &usageError{"a secret is not written to a terminal or a pipe", "name a file, which gets mode 0600: --with-secret --output FILE"}
			case a.json && output == "":
				return &usageError{"--json wants --output: stdout holds the export itself", "example: pawl ledger export --all --output ledger.jsonl --json"}
			}
			what.Datasets = args
			return a.exportLedger(c.Context(), what, output)
		},
	}
	f := c.Flags()
	f.BoolVar(&all, "all", false, "every data set of the ledger")
	f.BoolVar(&what.WithSecret, "with-secret", false, "include the key of scopes and digests; keep the file like the data")
	f.StringVar(&output, "output", "", "file to write, which must not exist yet (default: stdout)")
	return c
}

func (a *app) exportLedger(ctx context.Context, what ledger.Export, output string) error {
	l, store, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if len(what.Datasets) == 0 {
		if what.Datasets, err = l.Names(ctx); err != nil {
			return err
		}
		if len(what.Datasets) == 0 {
			return &usageError{"the ledger has no data set to export", "name another ledger with --ledger"}
		}
	}
	var text bytes.Buffer // whole or not at all
	heads, err := l.Export(ctx, &text, what)
	if err != nil {
		for _, name := range what.Datasets {
			if _, lookup := l.Public(ctx, name); errors.Is(lookup, ledger.ErrUnknownDataset) {
				return a.nearName(ctx, l, name, lookup)
			}
		}
		return err
	}
	if output == "" {
		_, err := a.out.Write(text.Bytes())
		return err
	}
	if err := writeNew(output, text.Bytes()); err != nil {
		return err
	}
	type exported struct {
		Name    string      `json:"name"`
		Records int64       `json:"records"`
		Head    ledger.Hash `json:"head"`
	}
	out := struct {
		Output     string     `json:"output"`
		WithSecret bool       `json:"with_secret"`
		Datasets   []exported `json:"datasets"`
	}{output, what.WithSecret, nil}
	for _, name := range what.Datasets {
		out.Datasets = append(out.Datasets, exported{name, heads[name].Seq, heads[name].Hash})
	}
	if a.json {
		return writeJSON(a.out, out)
	}
	for _, d := range out.Datasets {
		fmt.Fprintf(a.out, "exported %s: %d records; head %s\n", d.Name, d.Records, d.Head)
	}
	if what.WithSecret {
		fmt.Fprintf(a.out, "%s holds the secret of the ledger: keep it like the data\n", output)
	}
	return nil
}

// writeNew writes a private file that is not there yet.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return &usageError{path + ": exists already", "name another file, or remove that one"}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

func (a *app) ledgerImport() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Read what export wrote, check it, and book what is new",
		Long: `Read an export, check every hash, and book the records that are new here: all, or
none when anything is wrong. The ledger is made if it is not there.

A data set that is here already must have the same history so far, else it is
refused (exit 3); a file that was edited or cut is convicted (exit 4). A new ledger
takes the secret of an export that holds one. Into a ledger with another secret only
logs without parts of the data can be imported, and the next job on such a data set
asks for --updated once.

An export is as old as it is: what was charged after it was written is not in it.`,
		Example: `  pawl ledger import ledger.jsonl
  pawl ledger import ledger.jsonl --ledger postgres://steward@db.example.org/pawl`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			// Checked once before a ledger is made for it.
			if err := ledger.CheckExport(f); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if _, err := f.Seek(0, 0); err != nil {
				return err
			}
			// A ledger that was lost may be put back by its export; Import asks for its secret.
			d, err := a.ledgerAddress()
			if err != nil {
				return err
			}
			l, store, err := a.openAt(c.Context(), d, func(second ledger.Heads) error {
				if err := ledger.MayRestore(f, second); err != nil {
					return err
				}
				_, err := f.Seek(0, 0)
				return err
			})
			if err != nil {
				return err
			}
			defer store.Close()
			got, err := l.Import(c.Context(), f)
			if err != nil {
				return err
			}
			if a.json {
				return writeJSON(a.out, struct {
					Datasets []ledger.Imported `json:"datasets"`
				}{got})
			}
			for _, d := range got {
				fmt.Fprintf(a.out, "imported %s: %d new of %d records; head %s\n", d.Name, d.Added, d.Total, d.Head)
			}
			return nil
		},
	}
}
