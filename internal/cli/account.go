package cli

import (
	"github.com/spf13/cobra"

	"pawl"
)

func accountCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "account",
		Short: "Compute the epsilon of a training run or event, and explain it",
		Long: `Compute epsilon from public parameters. No data are read and nothing is charged.

Every figure is a proven upper bound. The smallest bound counts; the others are shown
beside it. With --json the answer names the method (privacy.accountant), the Rényi
order of the RDP bound, every bound, a lower bound on the exact value (epsilon_lower;
0 where none is known), what an attacker can learn from the release, and the best
trade-off between false positives and false negatives that an attack can reach
(trade_off).`,
		Example: `  pawl account dpsgd --sampling-rate 0.0016666666666666668 --noise-multiplier 2 --steps 300000 --delta 1e-5
  pawl account event examples/events/search-and-train.json --delta 1e-5
  pawl account compare --rows 60000 --batch 250 --epochs 15 --noise-multiplier 1.1 --delta 1e-5
  pawl account export out/statement.json > events.py`,
	}
	c.AddCommand(accountDPSGD(a), accountEvent(a), accountCompare(a), accountExport(a))
	return c
}

func accountDPSGD(a *app) *cobra.Command {
	var f trainingFlags
	var target costFlags
	c := &cobra.Command{
		Use:   "dpsgd --sampling-rate Q --noise-multiplier S --steps T --delta D",
		Short: "Compute the epsilon of one DP-SGD training run",
		Long: `Compute the epsilon of DP-SGD, or of any optimizer that sees only its noisy gradient
sums.

The figure holds for Poisson sampling: every row joins the batch of every step
independently with probability Q. Shuffled batches cost more; see pawl account compare.
With --epsilon instead of --delta, compute delta at that epsilon; with both, compute
both.`,
		Example: `  pawl account dpsgd --sampling-rate 0.0016666666666666668 --noise-multiplier 2 --steps 300000 --delta 1e-5
  pawl account dpsgd --rows 60000 --batch 250 --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --json`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			training, err := f.training(c, false)
			if err == nil && target.delta+target.epsilon == "" {
				err = missing(c, "delta")
			}
			if err != nil {
				return err
			}
			return a.answer(pawl.Account{DPSGD: training, Delta: target.delta, Epsilon: target.epsilon, Relation: target.asked(c), Accountant: target.method}.Answer())
		},
	}
	f.register(c)
	target.register(c, "compute delta at this epsilon", "failure probability delta, well below 1/rows")
	return c
}

func accountEvent(a *app) *cobra.Command {
	var target costFlags
	c := &cobra.Command{
		Use:   "event FILE --delta D",
		Short: "Compute the epsilon of a privacy event read from a file",
		Long: `Compute the epsilon of a privacy event: JSON that names the mechanisms that touch the
data, how often each runs and on which sample, and whether the best of several runs is
selected. FILE may be - for standard input.

Noise multipliers are relative to the sensitivity under the neighbouring relation. If
replacing a row moves a sum by two clipping norms, noise with a standard deviation of
two clipping norms has multiplier 1.

A file may state its "relation" and "unit" beside "kind"; --relation must agree with
it. FILE may also be a list of events, or any JSON with a privacy claim that pawl
printed (a statement, an answer, or its "privacy" part). Its events are then composed
under the file's own relation, and at its own delta unless --delta or --epsilon is
given. The account of a data set (pawl ledger show NAME --json) counts as one plan: its
entries are composed, without cancelled ones.

Poisson sampling amplifies Gaussian and pure mechanisms. Under replace_one it needs
"one_sided" beside "event": the event for one row that is added or removed.`,
		Example: `  pawl account event examples/events/search-and-train.json --delta 1e-5
  pawl account event examples/events/dpsgd-mnist.json --delta 1e-5 --json
  pawl account event examples/events/exponential-100.json --delta 1e-5 --json
  pawl account event examples/events/fit-adult.json --delta 1e-6 --accountant rdp
  pawl account event statement.json`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			text, name, err := readEventFile(a, args[0])
			if err != nil {
				return err
			}
			return a.answer(pawl.Account{Event: text, Name: name, Delta: target.delta, Epsilon: target.epsilon, Relation: target.asked(c), Accountant: target.method}.Answer())
		},
	}
	target.register(c, "compute delta at this epsilon", "failure probability delta, well below 1/units; 0 asks for pure DP")
	return c
}

func accountExport(a *app) *cobra.Command {
	var delta, relation string
	c := &cobra.Command{
		Use:   "export FILE",
		Short: "Write events as a Python program for Google's dp_accounting",
		Long: `Write the events of FILE as a Python program for dp_accounting, Google's library, so that
an outsider computes epsilon with other code. FILE is what pawl account event takes: a
statement, an event, a list of events, or the account of a data set (pawl ledger show
NAME --json). With --json the same events are printed as JSON, with the names of that
library's classes and arguments.

The program states the neighbouring relation: add_or_remove_one is ADD_OR_REMOVE_ONE,
replace_one is REPLACE_ONE, zero_out is REPLACE_SPECIAL. It prints pawl's epsilon and
what the library's accountants find. These may be above pawl's: they support discrete
noise only through a bound (ZCDpEvent, EpsilonDeltaDpEvent), and PLDAccountant does
not support all events.

Refused: events without an equivalent in dp_accounting 0.6, such as sampled discrete noise and
selection with random stopping, guarantees for groups, and seeded noise.`,
		Example: `  pawl account export out/statement.json > events.py && python3 events.py
  pawl ledger show clinic --json | pawl account export - > clinic.py
  pawl account export examples/events/search-and-train.json --delta 1e-5 --json`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			text, name, err := readEventFile(a, args[0])
			if err != nil {
				return err
			}
			out, err := pawl.Account{Event: text, Name: name, Delta: delta, Relation: relation}.DPAccounting()
			if err != nil {
				return err
			}
			return a.print(out, out.WritePython)
		},
	}
	c.Flags().StringVar(&delta, "delta", "", "failure probability delta at which epsilon is printed (default: that of the file)")
	c.Flags().StringVar(&relation, "relation", "", "neighbouring relation: add_or_remove_one, replace_one or zero_out (default: that of the file, or add_or_remove_one)")
	return c
}

// answer writes an answer as JSON or in words.
func (a *app) answer(ans *pawl.Answer, err error) error {
	if err != nil {
		return err
	}
	return a.printed(ans)
}
