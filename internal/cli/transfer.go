package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"pawl/core/ledger"
	"pawl/store"
)

func ledgerExport(a *app) *cobra.Command {
	var all bool
	var output string
	var what ledger.Export
	c := &cobra.Command{
		Use:   "export NAME... | --all",
		Short: "Export the logs of data sets as JSON lines",
		Long: `Export the verified logs of data sets as JSON lines, on standard output or to --output:
a header, then each record with its hash. pawl ledger import reads them into a file or a
database.

A secret key of the ledger decides in which part of the data a person's rows are. It is
left out, so the export may be shown. Logs of jobs that used parts of the data (as pawl
fit does) can then be read and verified anywhere, but only the original ledger can
continue them. To move a ledger, add --with-secret: the file must then be protected like
the data, and is written with mode 0600.`,
		Example: `  pawl ledger export clinic > clinic.jsonl
  pawl ledger export --all --with-secret --output ledger.jsonl`,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case all == (len(args) > 0):
				return mistakef("usage: "+c.UseLine(), "%s: give either names or --all", c.CommandPath())
			case what.WithSecret && output == "":
				return mistake("--with-secret needs --output: a secret is not written to a terminal or pipe", "use --with-secret --output FILE, which gets mode 0600")
			case a.json && output == "":
				return mistake("--json needs --output: standard output has the export itself", "example: pawl ledger export --all --output ledger.jsonl --json")
			}
			what.Datasets = args
			return exportLedger(c.Context(), a, what, output)
		},
	}
	f := c.Flags()
	f.BoolVar(&all, "all", false, "export every data set of the ledger")
	f.BoolVar(&what.WithSecret, "with-secret", false, "include the secret key of scopes and digests; protect the file like the data")
	f.StringVar(&output, "output", "", "output file, which must not exist (default: standard output)")
	return c
}

func exportLedger(ctx context.Context, a *app, what ledger.Export, output string) error {
	l, err := a.existing(ctx)
	if err != nil {
		return err
	}
	if len(what.Datasets) == 0 {
		if what.Datasets, err = l.Names(ctx); err != nil {
			return err
		}
		if len(what.Datasets) == 0 {
			return mistake("the ledger has no data sets to export", "choose another ledger with --ledger")
		}
	}
	var text bytes.Buffer // whole or not at all
	heads, err := l.Export(ctx, &text, what)
	if err != nil {
		for _, name := range what.Datasets {
			if _, lookup := l.Public(ctx, name); errors.Is(lookup, ledger.ErrUnknownDataset) {
				return nearName(ctx, a, l, name, lookup)
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
		fmt.Fprintf(a.out, "%s contains the secret of the ledger: protect it like the data\n", output)
	}
	return nil
}

// writeNew writes a private file that is not there yet.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return mistake(path+" exists already", "choose another file, or remove this one")
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

func ledgerImport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Import an export: verify it and add new records",
		Long: `Import an export: verify every hash, and add the records that are new here, all of them
or, if anything is wrong, none. The ledger is created if it does not exist.

A data set that exists here must have the same history so far; otherwise the import is
refused (exit status 3). An edited or truncated file fails verification (exit status 4).
A new ledger takes over the secret of an export that contains one. A ledger with another
secret accepts only logs without parts of the data, and the next job on such a data set
needs --updated once.

Charges made after the export was written are not in it. If the ledger lost records that
this machine has seen, import says which of them are still missing; jobs on such a data
set are refused until they are back or pawl ledger reconcile gives a reason.`,
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
			if err := ledger.MayRestore(f, nil); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if _, err := f.Seek(0, 0); err != nil {
				return err
			}
			// A ledger that was lost may be put back by its export; Import asks for its secret.
			l, err := a.openAt(c.Context(), func(_ store.Address, second ledger.Heads) error {
				if err := ledger.MayRestore(f, second); err != nil {
					return err
				}
				_, err := f.Seek(0, 0)
				return err
			})
			if err != nil {
				return err
			}
			got, err := l.Import(c.Context(), f)
			if err != nil {
				return err
			}
			for _, d := range got {
				if d.Missing > 0 {
					fmt.Fprintf(a.err, "warning: %s: record %d, which this machine has seen, is still missing: every job on it is refused; import a newer export, or give a reason to continue without: pawl ledger reconcile --reason WHY\n", d.Name, d.Missing)
				}
			}
			if a.json {
				return writeJSON(a.out, struct {
					Datasets []ledger.Imported `json:"datasets"`
				}{got})
			}
			for _, d := range got {
				fmt.Fprintln(a.out, imported(d))
			}
			return nil
		},
	}
}

// imported says what an import did to one data set.
func imported(d ledger.Imported) string {
	text := fmt.Sprintf("imported %s: %d new of %d records; head %s", d.Name, d.Added, d.Total, d.Head)
	switch {
	case d.Missing > 0 && d.Added == 0:
		text = fmt.Sprintf("nothing imported for %s: %d records; head %s", d.Name, d.Total, d.Head)
	case d.Mended:
		text += "; records that this machine had seen, and that were gone, are back"
	}
	if d.Missing > 0 {
		text += fmt.Sprintf("; INCOMPLETE: record %d, which this machine has seen, is missing", d.Missing)
	}
	return text
}
