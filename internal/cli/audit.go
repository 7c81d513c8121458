package cli

import (
	"cmp"
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
	}
	c.AddCommand(auditMechanism(a), auditMIA(a), auditCanary(a))
	return c
}

// convictedError says that a claim was refuted; the evidence is on stdout.
type convictedError struct{ what string }

func (e *convictedError) Error() string   { return "claim rejected: " + e.what }
func (e *convictedError) ExitStatus() int { return exitFailed }
func (e *convictedError) Hint() string {
	return "publish nothing that relies on this claim; the evidence is printed above"
}

// concludeAudit writes the outcome of an audit: where it convicts, because of why, a headline that nobody
// overlooks on a terminal first (beside JSON on stderr), and the error that makes the exit status.
func concludeAudit(a *app, why, headline string, out any, text func(io.Writer) error) error {
	if why == "" {
		return a.print(out, text)
	}
	w := a.out
	if a.json {
		w = a.err
	}
	if terminal(w) {
		headline = "\x1b[1;97;41m  " + headline + "  \x1b[0m"
	}
	fmt.Fprintln(w, headline)
	return cmp.Or(a.print(out, text), error(&convictedError{why}))
}
