package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/data/schema"
)

func (a *app) ledgerCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Give a data set its privacy budget, and see what was spent",
		Long: `Keep the account of what was done to sensitive data: the data steward's side.

A budget belongs to the name of a data set, never to a file or a folder. The ledger
is bookkeeping that keeps honest people honest: it detects an edited log, and it is
no access control.

Each user has a ledger of his own in a file; --ledger or PAWL_LEDGER names another.
A team shares one in PostgreSQL, where nobody grants a budget to himself. Its password
comes from PGPASSWORD or ~/.pgpass, so that it stays out of the command line.`,
		Example: `  pawl ledger create clinic --epsilon 2 --delta 1e-6 --unit patient
  pawl ledger show clinic
  pawl ledger show clinic --ledger postgres://ann@db.example.org/pawl`,
		Args: subcommandArgs("create, grant, freeze, unfreeze, approve, clear-seeded, show, what-if, book, verify, reconcile, export, import, declare-public"),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.ledgerCreate(), a.ledgerGrant(), a.ledgerFreeze(), a.ledgerUnfreeze(), a.ledgerApprove(), a.ledgerClearSeeded(), a.ledgerShow(),
		a.ledgerWhatIf(), a.ledgerBook(), a.ledgerVerify(), a.ledgerReconcile(), a.ledgerExport(), a.ledgerImport(), a.ledgerDeclarePublic())
	return c
}

// subcommandArgs is for a command that only groups others.
func subcommandArgs(known string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return &usageError{fmt.Sprintf("%s: unknown command %q", c.CommandPath(), args[0]), "commands: " + known}
		}
		return nil
	}
}

func (a *app) ledgerCreate() *cobra.Command {
	b := ledger.Budget{}
	relation, filter := "", ""
	c := &cobra.Command{
		Use:   "create NAME --epsilon E --delta D",
		Short: "Register a data set with its budget",
		Long: `Register a data set with the budget that all jobs on it share.

The unit is what the budget protects (row, patient, household); when it is left out,
the first job's schema fixes it.

--filter says how jobs add up when later plans follow earlier results. Both ways are sound.
order counts at one Rényi order, which the budget fixes: it takes least where jobs of several
kinds, such as those of pawl fit, use up most of the budget. doors takes least for pure and
for equal Gaussian jobs: pure epsilons cost their sum, and thirty equal Gaussian jobs 4 % more
than one plan of them all. By doors, what is spent does not depend on the budget.`,
		Example: "  pawl ledger create clinic --epsilon 2 --delta 1e-6 --unit patient --rows-per-unit 4\n" +
			"  pawl ledger create counts --epsilon 1 --delta 1e-6 --filter doors",
		Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := required(c, "epsilon", "delta"); err != nil {
				return err
			}
			var err error
			if b.Relation, err = dp.ParseRelation(relation); err != nil {
				return &usageError{err.Error(), "fit plans under add_or_remove_one"}
			}
			if c.Flags().Changed("rows-per-unit") && b.RowsPerUnit < 1 {
				return &usageError{"rows per unit must be at least 1", ""}
			}
			switch filter {
			case "order":
			case "doors":
				b.Doors = true
			default:
				return &usageError{fmt.Sprintf("--filter: %q is no filter", filter), "order or doors; pawl ledger create --help says which takes less"}
			}
			b.Dataset = args[0]
			_, unknown := lookupData(args[0])
			b.Public = unknown == nil // every built-in is a public benchmark
			return a.changeLedger(c.Context(), a.openLedger, args[0], "created", func(l *ledger.Ledger) error { return l.Create(c.Context(), b) })
		},
	}
	f := c.Flags()
	f.StringVar(&b.Epsilon, "epsilon", "", "epsilon of all jobs together (required)")
	f.StringVar(&b.Delta, "delta", "", "failure chance of all jobs together, below 1/units; 0 allows pure epsilon only (required)")
	f.BoolVar(&b.AllowLargeDelta, "allow-large-delta", false, "accept a delta above "+ledger.MaxDelta+": a job may then publish more than one unit in a hundred whole")
	f.StringVar(&relation, "relation", "add_or_remove_one", "neighboring relation: add_or_remove_one, replace_one or zero_out")
	f.StringVar(&filter, "filter", "order", "how jobs add up: order or doors; fixed for good")
	f.StringVar(&b.Unit, "unit", "", "what the budget protects, as the schema names it (default: fixed by the first job)")
	f.IntVar(&b.RowsPerUnit, "rows-per-unit", 0, "the most rows one unit may own (default: fixed by the first job)")
	return c
}

func (a *app) ledgerDeclarePublic() *cobra.Command {
	return a.withReason("declare-public NAME --reason WHY", "Declare that a data set is not sensitive; cannot be taken back",
		`Declare that a data set is not sensitive. Exact numbers about its rows may then be
shown. There is no way back, since what was shown cannot be hidden again.`,
		`  pawl ledger declare-public survey-1994 --reason "published by the statistics office"`,
		"declared public:", (*ledger.Ledger).DeclarePublic)
}

// withReason is a verb that changes one data set and asks for nothing but a reason.
func (a *app) withReason(use, short, long, example, done string, change func(*ledger.Ledger, context.Context, string, string) error) *cobra.Command {
	var reason string
	c := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := required(c, "reason"); err != nil {
				return err
			}
			return a.changeKnown(c.Context(), args[0], done, func(l *ledger.Ledger) error { return change(l, c.Context(), args[0], reason) })
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "reason, for later readers of the ledger (required)")
	return c
}

func (a *app) ledgerVerify() *cobra.Command {
	var heads []string
	c := &cobra.Command{
		Use:   "verify [NAME]",
		Short: "Check that no record was edited, removed or reordered",
		Long: `Read the whole log of a data set, or of all, and check its hash chain, the
authentication code of its head under the ledger's key, and what this machine has seen of
it, kept in a second place. The exit status is 0 when all hold, 4 when the chain or the
code does not, and 3 when records are gone that this machine has seen. On another machine,
or where the second place is lost too, a log that was replaced as a whole passes; --head,
a value printed in an earlier report, convicts it.`,
		Example: "  pawl ledger verify clinic\n  pawl ledger verify clinic --head 9b3f6a0c51d27e88...",
		Args:    atMostOneArg,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && len(heads) > 0 {
				return &usageError{"--head belongs to one data set", "example: pawl ledger verify clinic --head " + heads[0]}
			}
			return a.verifyLedger(c.Context(), args, heads)
		},
	}
	c.Flags().StringSliceVar(&heads, "head", nil, "hash of the chain as an earlier report printed it (may be repeated)")
	return c
}

func atMostOneArg(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return &usageError{fmt.Sprintf("%s: unexpected argument %q", c.CommandPath(), args[1]), "usage: " + c.UseLine()}
	}
	return nil
}

func (a *app) verifyLedger(ctx context.Context, names, heads []string) error {
	l, store, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if len(names) == 0 {
		if names, err = l.Names(ctx); err != nil {
			return err
		}
		gone, err := l.Remembered(ctx)
		if err != nil {
			return err
		}
		names = slices.Compact(slices.Sorted(slices.Values(append(names, gone...))))
		if len(names) == 0 {
			return &usageError{"the ledger has no data set to verify", "name another ledger with --ledger sqlite:PATH"}
		}
	}
	out := struct {
		OK       bool             `json:"ok"`
		Datasets []ledger.Checked `json:"datasets"`
	}{OK: true}
	var faults []error
	for _, name := range names {
		checked, err := l.Check(ctx, name, heads...)
		if err != nil {
			faults = append(faults, a.nearName(ctx, l, name, err))
			continue
		}
		out.Datasets = append(out.Datasets, checked)
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	if a.json {
		return writeJSON(a.out, out)
	}
	for _, v := range out.Datasets {
		fmt.Fprintf(a.out, "%s: the chain of %d records holds; head %s\n", v.Name, v.Records, v.Head)
		fmt.Fprintf(a.out, "  authentication code: %s\n  second place: %s\n", v.Codes, v.SecondPlace)
	}
	return nil
}

// required checks flags that have no default, all at once and in their order.
func required(c *cobra.Command, names ...string) error {
	var missing []string
	for _, n := range names {
		if c.Flag(n).Value.String() == "" {
			missing = append(missing, "--"+n)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	verb := "is"
	if len(missing) > 1 {
		verb = "are"
	}
	return &usageError{fmt.Sprintf("%s: %s %s missing", c.CommandPath(), strings.Join(missing, " and "), verb), "usage: " + c.UseLine()}
}

type opener func(context.Context) (*ledger.Ledger, io.Closer, error)

// changeLedger makes one change and shows where the data set stands after it.
func (a *app) changeLedger(ctx context.Context, open opener, name, done string, change func(*ledger.Ledger) error) error {
	l, store, err := open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := change(l); err != nil {
		return a.nearName(ctx, l, name, err)
	}
	s, err := l.Show(ctx, name)
	if err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, s)
	}
	fmt.Fprintf(a.out, "%s %s: %s\n", done, s.Name, standing(&s))
	return nil
}

// changeKnown is changeLedger for a data set that must be there.
func (a *app) changeKnown(ctx context.Context, name, done string, change func(*ledger.Ledger) error) error {
	return a.changeLedger(ctx, a.openExisting, name, done, change)
}

// nearName says which name may have been meant when a data set is unknown.
func (a *app) nearName(ctx context.Context, l *ledger.Ledger, name string, err error) error {
	if !errors.Is(err, ledger.ErrUnknownDataset) {
		return err
	}
	names, listErr := l.Names(ctx)
	if listErr != nil {
		return errors.Join(err, listErr)
	}
	advice := "pawl ledger show lists the data sets of the ledger"
	if near := schema.Nearest(name, names); near != "" {
		advice = fmt.Sprintf("did you mean %q? %s", near, advice)
	}
	return &usageError{fmt.Sprintf("data set %q is not in the ledger", name), advice}
}

// writeJSON prints one object. Names of columns and data sets may hold any letter,
// so nothing is escaped for HTML.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
