package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func auditCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "Attack mechanisms and models, and test the privacy claim",
		Long: `Attack a mechanism or a model, and compare what leaks with the privacy claim.

An audit can find faults; it cannot prove that there are none. Every figure is a lower
bound on the leakage, at 95 % confidence. A claim fails when the data reject it at
99.9 % confidence. The exit status is then 4, and the result is still printed on
standard output.`,
		Example: `  pawl audit mechanism --name objective-perturbation --epsilon 1 --runs 100000
  pawl audit mia --model out --data location30 --attack lira
  pawl audit canary --data mnist --model mnist-paw-fcn --epsilon 4 --canaries 5000`,
		Args: subcommandArgs("mechanism, mia, canary"),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(auditMechanism(a), auditMIA(a), auditCanary(a))
	return c
}

// convictedError says that a claim was refuted; the evidence is on stdout.
type convictedError struct{ what, advice string }

func (e *convictedError) Error() string   { return "claim rejected: " + e.what }
func (e *convictedError) ExitStatus() int { return exitFailed }
func (e *convictedError) Hint() string    { return e.advice }

const convictedAdvice = "publish nothing that relies on this claim; the evidence is printed above"

// banner is what nobody overlooks on a terminal, and plain text elsewhere.
func banner(w io.Writer, text string) {
	if terminal(w) {
		fmt.Fprintf(w, "\x1b[1;97;41m  %s  \x1b[0m\n", text)
		return
	}
	fmt.Fprintln(w, text)
}

// concludeAudit writes the outcome of an audit: where it convicts, a banner first (beside
// JSON on stderr) and the error that makes the exit status.
func concludeAudit(a *app, convicted error, headline string, out any, text func(io.Writer) error) error {
	if convicted != nil {
		w := a.out
		if a.json {
			w = a.err
		}
		banner(w, headline)
	}
	write := func() error { return text(a.out) }
	if a.json {
		write = func() error { return writeJSON(a.out, out) }
	}
	if err := write(); err != nil {
		return err
	}
	return convicted
}
