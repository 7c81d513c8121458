package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) accountCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "account",
		Short: "Say what a training or any event costs, and what that means",
		Long: `Compute epsilon from public numbers. No data is read and nothing is booked.

Every figure is an upper bound with a proof; the smallest counts and the others are
shown beside it. JSON names the method (privacy.accountant), the Renyi order of the
rdp bound, every bound, a lower bound on the exact value (epsilon_lower: some
neighbours attain it in all events at once; 0 where none is known), the belief of an attacker after the release and the best that
an attack can do (trade_off).`,
		Example: `  pawl account dpsgd --sampling-rate 0.0016666666666666668 --noise-multiplier 2 --steps 300000 --delta 1e-5
  pawl account event examples/events/search-and-train.json --delta 1e-5
  pawl account compare --rows 60000 --batch 250 --epochs 15 --noise-multiplier 1.1 --delta 1e-5`,
		Args: subcommandArgs("dpsgd, event, compare"),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.accountDPSGD(), a.accountEvent(), a.accountCompare())
	return c
}

func (a *app) accountDPSGD() *cobra.Command {
	var (
		f      trainingFlags
		target targetFlags
		how    howFlags
	)
	c := &cobra.Command{
		Use:   "dpsgd --sampling-rate Q --noise-multiplier S --steps T --delta D",
		Short: "Epsilon of one DP-SGD training",
		Long: `Compute epsilon of DP-SGD, or of any optimizer that sees nothing but its noisy sums.

The figure holds when every row joins the lot of every step on its own with chance
Q (Poisson sampling). Shuffled batches cost more: see pawl account compare. With
--epsilon in place of --delta it computes delta at that epsilon; with both, both.`,
		Example: `  pawl account dpsgd --sampling-rate 0.0016666666666666668 --noise-multiplier 2 --steps 300000 --delta 1e-5
  pawl account dpsgd --rows 60000 --batch 250 --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --json`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := f.complete(c)
			if err != nil {
				return err
			}
			m, rel, err := how.parse()
			if err != nil {
				return err
			}
			ans, err := answerFor(c, trainingCost(t, rel, m), &target, false)
			if err != nil {
				return err
			}
			ans.Training = &t
			ans.Warnings = append(ans.Warnings, t.notes(float64(ans.Privacy.Delta))...)
			return a.print(ans)
		},
	}
	f.register(c)
	target.register(c, "print delta at this epsilon", "failure chance, well below 1/rows")
	how.register(c)
	return c
}

func (a *app) accountEvent() *cobra.Command {
	var (
		target targetFlags
		how    howFlags
	)
	c := &cobra.Command{
		Use:   "event FILE --delta D",
		Short: "Epsilon of a plan that is written as an event",
		Long: `Compute what an Event costs: JSON that says which mechanisms touch the data, how
often, on which sample, and whether the best of several runs is chosen. FILE - reads
stdin.

Noise multipliers are relative to the sensitivity under the relation: where replacing
a row moves a sum by two clipping norms, noise of deviation 2 norms has multiplier 1.
A file may say its "relation" and "unit" beside "kind"; --relation must not contradict
it. FILE may also be a list of events or any JSON that pawl printed about a claim (a
statement, an answer, its "privacy"): its events are priced together under its own
relation, and at its own delta where neither --delta nor --epsilon is given.

Poisson sampling amplifies Gaussians and pure mechanisms. Under replace_one it needs
"one_sided" beside "event": what the event is for a unit that comes or goes.`,
		Example: `  pawl account event examples/events/search-and-train.json --delta 1e-5
  pawl account event examples/events/dpsgd-mnist.json --delta 1e-5 --json
  pawl account event examples/events/exponential-100.json --delta 1e-5 --json
  pawl account event examples/events/fit-adult.json --delta 1e-6 --accountant rdp
  pawl account event statement.json`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			m, rel, err := how.parse()
			if err != nil {
				return err
			}
			text, name, err := a.readEventFile(args[0])
			if err != nil {
				return err
			}
			s, delta, err := decodePlan(name, text)
			if err != nil {
				return err
			}
			if rel, err = how.under(c, name, s.Relation, rel); err != nil {
				return err
			}
			if target.delta == "" && target.epsilon == "" {
				target.delta = delta
			}
			ans, err := answerFor(c, statedCost(s, rel, m), &target, true)
			if err != nil {
				return err
			}
			return a.print(ans)
		},
	}
	target.register(c, "print delta at this epsilon", "failure chance, well below 1/units; 0 asks for pure epsilon")
	how.register(c)
	return c
}

// answerFor computes what the target flags ask for.
func answerFor(c *cobra.Command, p cost, f *targetFlags, pure bool) (*answer, error) {
	var epsilon, delta float64
	var err error
	if f.epsilon == "" && f.delta == "" {
		return nil, &usageError{fmt.Sprintf("%s: --delta is missing", c.CommandPath()), "usage: " + c.UseLine()}
	}
	if f.delta != "" {
		if delta, err = parseDelta(f.delta, pure); err != nil {
			return nil, err
		}
	}
	if f.epsilon != "" {
		if epsilon, err = parseEpsilon(f.epsilon, true); err != nil {
			return nil, err
		}
	}
	if f.delta == "" {
		return answerAtEpsilon(p, epsilon)
	}
	ans, err := answerAtDelta(p, delta)
	if err == nil && f.epsilon != "" {
		err = ans.addDelta(p, epsilon)
	}
	return ans, err
}
