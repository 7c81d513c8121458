package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/data/schema"
	"pawl/internal/request"
	"pawl/report"
)

func ledgerCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Manage privacy budgets and see what was spent",
		Long: `Manage the privacy budgets of data sets: the data steward's view.

A budget belongs to the name of a data set, not to a file or folder. The ledger is
bookkeeping for honest users: it detects edited logs, but it is not access control.

Each user has a ledger in a file; --ledger or PAWL_LEDGER chooses another. A team shares
a ledger in PostgreSQL, where nobody can grant himself a budget. Its password comes
from PGPASSWORD or ~/.pgpass, which keeps it out of the command line.`,
		Example: `  pawl ledger create clinic --epsilon 2 --delta 1e-6 --unit patient
  pawl ledger show clinic
  pawl ledger show clinic --ledger postgres://ann@db.example.org/pawl`,
	}
	c.AddCommand(ledgerCreate(a), ledgerGrant(a), ledgerFreeze(a), ledgerUnfreeze(a), ledgerApprove(a), ledgerClearSeeded(a), ledgerShow(a),
		ledgerWhatIf(a), ledgerBook(a), ledgerVerify(a), ledgerKey(a), ledgerReconcile(a), ledgerExport(a), ledgerImport(a), ledgerDeclarePublic(a))
	return c
}

func ledgerCreate(a *app) *cobra.Command {
	b := ledger.Budget{}
	relation, filter, per := "", "", ""
	c := &cobra.Command{
		Use:   "create NAME --epsilon E --delta D",
		Short: "Register a data set with a privacy budget",
		Long: `Register a data set with the privacy budget that all jobs on it share.

The privacy unit is what the budget protects (row, patient, household). If it is left
out, the schema of the first job fixes it.

Costs add up by a privacy filter, which holds although later jobs depend on earlier
results. The amount spent depends on the jobs, not on the budget: pure epsilons add up,
equal Gaussian jobs cost 5 % more than one plan with all of them, most others 10 to 20 % more.

With --per, each calendar week, month, quarter or year (UTC) has a budget of its own, and
a job is charged to the period in which it is reserved. The guarantee is then per period:
for a person who is in the data in every month it is up to k times epsilon and delta after
k months. pawl ledger show prints the figure over all periods.`,
		Example: "  pawl ledger create clinic --epsilon 2 --delta 1e-6 --unit patient --rows-per-unit 4\n" +
			"  pawl ledger create usage --epsilon 1 --delta 1e-6 --unit person --per month",
		Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := required(c, "epsilon", "delta"); err != nil {
				return err
			}
			var err error
			if b.Relation, err = dp.ParseRelation(relation); err != nil {
				return mistake(err.Error(), "pawl fit plans under add_or_remove_one")
			}
			if c.Flags().Changed("rows-per-unit") && b.RowsPerUnit < 1 {
				return mistake("--rows-per-unit must be at least 1", "")
			}
			switch filter {
			case "doors": // what it was called when it was a choice
			case "order":
				return mistake("--filter order is no longer available for new budgets", "leave out --filter: a Rényi order is now part of the privacy filter that every budget has")
			default:
				return mistakef("leave out --filter: every new budget has the same privacy filter", "unknown --filter %q", filter)
			}
			var wrong error
			if b.Per, wrong = periodOf(per); wrong != nil {
				return wrong
			}
			b.Dataset = args[0]
			_, unknown := lookupData(args[0])
			b.Public = unknown == nil // every built-in is a public benchmark
			return changeLedger(c.Context(), a, a.openLedger, args[0], "created", func(l *ledger.Ledger) error { return l.Create(c.Context(), b) })
		},
	}
	f := c.Flags()
	f.Var(amountFlag{&b.Epsilon, "epsilon"}, "epsilon", "total epsilon of all jobs (required)")
	f.Var(amountFlag{&b.Delta, "delta"}, "delta", "total failure probability delta of all jobs, below 1/units; 0 allows pure DP only (required)")
	f.BoolVar(&b.AllowLargeDelta, "allow-large-delta", false, "allow a delta above "+ledger.MaxDelta+": a job may then publish more than one unit in a hundred")
	f.StringVar(&relation, "relation", "add_or_remove_one", "neighbouring relation: add_or_remove_one, replace_one or zero_out")
	f.StringVar(&filter, "filter", "doors", "")
	_ = f.MarkHidden("filter")
	registerPer(c, &per)
	f.StringVar(&b.Unit, "unit", "", "privacy unit that the budget protects, as named in the schema (default: fixed by the first job)")
	f.IntVar(&b.RowsPerUnit, "rows-per-unit", 0, "maximum number of rows per unit (default: fixed by the first job)")
	return c
}

func registerPer(c *cobra.Command, per *string) {
	c.Flags().StringVar(per, "per", "", "renew the budget each week, month, quarter or year; cannot be changed later (default: never)")
}

func periodOf(per string) (ledger.Period, error) {
	if per == "" {
		return ledger.Once, nil
	}
	p, err := ledger.ParsePeriod(per)
	if err != nil {
		return p, mistake("--per: "+message(err), "example: --per month")
	}
	return p, nil
}

func ledgerDeclarePublic(a *app) *cobra.Command {
	return withReason(a, "declare-public NAME --reason WHY", "Declare that a data set is not sensitive (irreversible)",
		`Declare that a data set is not sensitive. Exact figures about its rows may then be shown.
This cannot be undone, since figures once shown cannot be hidden.`,
		`  pawl ledger declare-public survey-1994 --reason "published by the statistics office"`,
		"declared public:", (*ledger.Ledger).DeclarePublic)
}

// withReason is a verb that changes one data set and asks for nothing but a reason.
func withReason(a *app, use, short, long, example, done string, change func(*ledger.Ledger, context.Context, string, string) error) *cobra.Command {
	var reason string
	c := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := required(c, "reason"); err != nil {
				return err
			}
			return changeKnown(c.Context(), a, args[0], done, func(l *ledger.Ledger) error { return change(l, c.Context(), args[0], reason) })
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "reason, for later readers of the ledger (required)")
	return c
}

func ledgerVerify(a *app) *cobra.Command {
	var heads []string
	c := &cobra.Command{
		Use:   "verify [NAME]",
		Short: "Verify that no record was edited, removed or reordered",
		Long: `Read the whole log of one or all data sets, and verify its hash chain, the authentication
code of its head under the ledger's key, and the record of it that this machine keeps in
a second place.

Exit status: 0 if all are intact, 4 if the chain or the code is not, and 3 if records
that this machine has seen are missing. On another machine, or if the second place is
lost too, a log that was replaced as a whole passes; --head with a value from an earlier
report detects it.`,
		Example: "  pawl ledger verify clinic\n  pawl ledger verify clinic --head 9b3f6a0c51d27e88...",
		Args:    atMostOneArg,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && len(heads) > 0 {
				return mistake("--head needs the name of a data set", "example: pawl ledger verify clinic --head "+heads[0])
			}
			return verifyLedger(c.Context(), a, args, heads)
		},
	}
	c.Flags().StringSliceVar(&heads, "head", nil, "chain hash printed in an earlier report (may be repeated)")
	return c
}

func atMostOneArg(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return mistakef("usage: "+c.UseLine(), "%s: unexpected argument %q", c.CommandPath(), args[1])
	}
	return nil
}

func verifyLedger(ctx context.Context, a *app, names, heads []string) error {
	l, err := a.existing(ctx)
	if err != nil {
		return err
	}
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
			return mistake("the ledger has no data sets to verify", "choose another ledger with --ledger sqlite:PATH")
		}
	}
	out := struct {
		OK       bool              `json:"ok"`
		Datasets []figures.Checked `json:"datasets"`
	}{OK: true}
	var faults []error
	for _, name := range names {
		checked, err := figures.Check(ctx, l, name, heads...)
		if err != nil {
			faults = append(faults, nearName(ctx, a, l, name, err))
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
		fmt.Fprintf(a.out, "%s: the chain of %d records is intact; head %s\n", v.Name, v.Records, v.Head)
		fmt.Fprintf(a.out, "  authentication code: %s\n  second place: %s\n", v.Codes, v.SecondPlace)
	}
	return nil
}

// required checks flags that have no default, all at once and in their order.
func required(c *cobra.Command, names ...string) error {
	return missing(c, slices.DeleteFunc(names, func(n string) bool { return c.Flag(n).Value.String() != "" })...)
}

// missing reports flags that were left out, nil for none.
func missing(c *cobra.Command, names ...string) error {
	if len(names) == 0 {
		return nil
	}
	return mistakef("usage: "+c.UseLine(), "%s: missing --%s", c.CommandPath(), strings.Join(names, " and --"))
}

// changeLedger makes one change and shows where the data set stands after it.
func changeLedger(ctx context.Context, a *app, open func(context.Context) (*ledger.Ledger, error), name, done string, change func(*ledger.Ledger) error) error {
	l, err := open(ctx)
	if err != nil {
		return err
	}
	if err := change(l); err != nil {
		return nearName(ctx, a, l, name, err)
	}
	s, err := figures.Show(ctx, l, name)
	if err != nil {
		return err
	}
	return a.print(s, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s %s: %s\n", done, s.Name, request.Standing(&s))
		return err
	})
}

// changeKnown is changeLedger for a data set that must be there.
func changeKnown(ctx context.Context, a *app, name, done string, change func(*ledger.Ledger) error) error {
	return changeLedger(ctx, a, a.existing, name, done, change)
}

// nearName says which name may have been meant when a data set is unknown.
func nearName(ctx context.Context, a *app, l *ledger.Ledger, name string, err error) error {
	if !errors.Is(err, ledger.ErrUnknownDataset) {
		return err
	}
	names, listErr := l.Names(ctx)
	if listErr != nil {
		return errors.Join(err, listErr)
	}
	return mistakef(schema.Meant(name, names, "pawl ledger show lists the data sets of the ledger"), "data set %q is not in the ledger", name)
}

// writeJSON prints one object, as the library does.
func writeJSON(w io.Writer, v any) error { return report.Encode(w, v) }
