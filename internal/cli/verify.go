package cli

import (
	"bytes"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/core/ledger"
	"pawl/evidence/verify"
)

func verifyCommand(a *app) *cobra.Command {
	var key string
	c := &cobra.Command{
		Use:   "verify DIR",
		Short: "Verify released files without the ledger or the data",
		Long: `Verify what pawl fit, train, search or describe wrote, without the ledger and without
data: the ledger's Ed25519 signature of every file, the record of the charge in its log,
and epsilon, which is computed again from the charged events. A claim below
their cost fails, for the whole or for a stage. The model card and the model must claim
what the statement claims, and a public data set must be public to the ledger.

DIR is a release, or a folder of releases such as pawl-out: each of them is verified, and
the first that fails is reported as the error.

The signature names its key. You must know from elsewhere whose key it is: pawl ledger key
prints it where the ledger is. With --public-key only that key passes.

What this cannot show is listed: that the noise was drawn, and that the log holds every
use of the data.

Exit status: 0 if everything holds, 1 if something does not, 2 if the folder holds no
statement or no signature (releases of earlier versions have none).`,
		Example: "  pawl verify out\n  pawl verify out --public-key ed25519:48fD2Q... --json",
		Args:    exactArgs("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			var known ledger.PublicKey
			if key != "" {
				if err := known.UnmarshalText([]byte(key)); err != nil {
					return mistakef("pawl ledger key prints the key of a ledger", "--public-key: %s", message(err))
				}
			}
			return verifyFolder(a, args[0], known)
		},
	}
	c.Flags().StringVar(&key, "public-key", "", "public key of the ledger, as pawl ledger key prints it (default: the one that the signature names)")
	return c
}

func verifyFolder(a *app, dir string, key ledger.PublicKey) error {
	var all []*verify.Result
	for _, release := range verify.Releases(dir) {
		r, err := verify.Folder(release, key)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	switch {
	case a.json && all[0].Folder == dir:
		return writeJSON(a.out, all[0])
	case a.json:
		return writeJSON(a.out, map[string]any{"verified": true, "folder": dir, "releases": all})
	}
	var b bytes.Buffer
	for i, r := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := writeVerified(&b, r); err != nil {
			return err
		}
	}
	_, err := a.out.Write(b.Bytes())
	return err
}

func writeVerified(b *bytes.Buffer, r *verify.Result) error {
	fmt.Fprintf(b, "Verified: %s\n\n", r.Folder)
	t := tabwriter.NewWriter(b, 0, 4, 2, ' ', 0)
	claim := fmt.Sprintf("epsilon %g at delta %g, %s, unit %s; the charged events cost %.6g", float64(r.Claimed), float64(r.Delta), r.Relation, r.Unit, float64(r.Computed))
	if !r.Private {
		claim = "NOT PRIVATE, as the statement says"
	}
	fmt.Fprintf(t, "claim\t%s\nentry\t%s of data set %q, record %d, charged at %s by %s\nhead\t%v\nkey\t%v\nfiles\t%d\n", claim, r.Entry, r.Dataset, r.Record, r.At, r.By, r.Head, r.Key, len(r.Files))
	if err := t.Flush(); err != nil {
		return err
	}
	for _, part := range []struct {
		title string
		lines []string
	}{{"This shows:", r.Proves}, {"It does not show:", r.ProvesNot}} {
		fmt.Fprintf(b, "\n%s\n", part.title)
		for _, line := range part.lines {
			fmt.Fprintf(b, "  - %s\n", line)
		}
	}
	return nil
}

func ledgerKey(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "key",
		Short: "Print the public key under which released files are signed",
		Long: `Print the public part of the key with which the ledger signs what its jobs release. Give
it to those who are to check releases with pawl verify, in a way that they trust.

The private part follows from the ledger's secret and is stored nowhere else: it moves
with the ledger, and whoever can read the secret (ledger.db, or the database) can sign.`,
		Example: "  pawl ledger key\n  pawl verify out --public-key \"$(pawl ledger key)\"",
		Args:    exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			l, err := a.existing(c.Context())
			if err != nil {
				return err
			}
			key, err := l.PublicKey(c.Context())
			if err != nil {
				return err
			}
			if a.json {
				id, err := l.KeyID(c.Context())
				if err != nil {
					return err
				}
				return writeJSON(a.out, map[string]any{"ledger": id, "public_key": key})
			}
			_, err = fmt.Fprintln(a.out, key)
			return err
		},
	}
}
