package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"pawl/core/accountant"
	"pawl/core/dp"
)

func (a *app) accountCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "account",
		Short: "Say what a training or any event costs, and what that means",
		Long: `Compute epsilon from public numbers. No data is read and nothing is booked.

Every figure is an upper bound with a proof; the smallest counts and the others are
shown beside it. JSON names the method (privacy.accountant), the Renyi order of the
rdp bound, every bound, a lower bound on the exact value (epsilon_lower, 0 where
none was computed), the belief of an attacker after the release and the best that
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
often, on which sample, and whether the best of several runs is chosen. The
statement of every pawl job holds its events in this form. FILE - reads stdin.`,
		Example: `  pawl account event examples/events/search-and-train.json --delta 1e-5
  pawl account event examples/events/dpsgd-mnist.json --delta 1e-5 --json
  pawl account event examples/events/fit-adult.json --delta 1e-6 --accountant rdp`,
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
			e, err := decodeEvent(name, text)
			if err != nil {
				return err
			}
			ans, err := answerFor(c, costOf(e, rel, m), &target, true)
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

// readEventFile reads a file or stdin, no more than an event may have.
func (a *app) readEventFile(path string) (text []byte, name string, err error) {
	in, name := io.Reader(a.in), "stdin"
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, path, err
		}
		defer f.Close()
		in, name = f, path
	}
	text, err = io.ReadAll(io.LimitReader(in, dp.MaxEventBytes+1))
	return text, name, err
}

// unknownEventError is an event of a kind or version that this program does not
// know. What is not understood has no known cost, so a privacy check has failed.
type unknownEventError struct{ error }

func (unknownEventError) Hint() string {
	return "nothing is claimed about an event that is not understood in full: write it like those in examples/events, or read it with a newer pawl"
}

func (e unknownEventError) Unwrap() error { return e.error }

// notUnderstood matches what the event reader says about a kind or version that it
// does not know, before any text of the file.
var notUnderstood = regexp.MustCompile(`^invalid event: (event|runs): (unknown (kind|version) |field "version")`)

func decodeEvent(name string, text []byte) (dp.Event, error) {
	e, err := dp.DecodeEvent(text)
	switch {
	case err == nil:
		return e, nil
	case notUnderstood.MatchString(err.Error()):
		return nil, unknownEventError{fmt.Errorf("%s: %w", name, err)}
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}

// relationAdvice turns a missing theorem into a usage error.
func relationAdvice(err error) error {
	if !errors.Is(err, accountant.ErrRelation) {
		return err
	}
	return &usageError{err.Error(), "name the relation that the event was meant for with --relation"}
}
