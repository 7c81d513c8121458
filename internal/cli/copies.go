package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pawl/data/source"
)

// registerCopies adds the flags that say whose rows a file holds that resembles a sensitive data set.
func registerCopies(f *source.Copies, c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.SameAs, "same-as", "", "DATA is another form of this data set of the ledger, whose budget is charged (implies --updated)")
	s.BoolVar(&f.Different, "different", false, "DATA or the test file resembles a sensitive data set but holds other units: proceed (needs --reason)")
	s.StringVar(&f.Reason, "reason", "", "reason why they are different; recorded in the ledger and every statement")
}

// again runs a command whose copies somebody at a terminal may be asked about, and once more
// when that says which data set DATA is.
func (a *app) again(f *source.Copies, run func() error) error {
	if a.interactive() {
		f.Ask = a.whose
	}
	return f.Again(run)
}

// whose asks whether two data sets hold the same units. What is asked is one thing at a time,
// and no unclear answer opens a budget.
func (a *app) whose(ctx context.Context, alike string) (reason string, err error) {
	in := bufio.NewReader(a.in)
	question := alike + ".\nDo both hold the same units? same, different or stop: "
	for range 3 {
		answer, err := a.ask(ctx, in, question)
		if err != nil {
			return "", err
		}
		switch strings.ToLower(strings.Trim(answer, " .!\"'")) {
		case "same", "s", "yes", "y":
			return "", source.ErrSame
		case "", "stop", "no", "n", "q", "quit":
			return "", nil
		case "different", "d":
			why, err := a.ask(ctx, in, "Why are they different? The answer is recorded in the ledger and every statement (empty: stop): ")
			if err != nil {
				return "", err
			}
			if len(strings.Fields(why)) < 2 {
				fmt.Fprintln(a.err, "Please give a reason in words.")
				return "", nil
			}
			return why, nil
		}
		question = "Please answer same, different or stop: "
	}
	return "", nil
}

// ask reads one line.
func (a *app) ask(ctx context.Context, in *bufio.Reader, question string) (string, error) {
	fmt.Fprint(a.err, question)
	answer := make(chan string, 1)
	go func() {
		line, _ := in.ReadString('\n')
		answer <- strings.TrimSpace(line)
	}()
	select {
	case text := <-answer:
		return text, nil
	case <-ctx.Done(): // a reader that waits for a terminal does not see that by itself
		fmt.Fprintln(a.err)
		return "", ctx.Err()
	}
}

// interactive says that a person can be asked.
func (a *app) interactive() bool {
	if a.asked != nil {
		return a.asked()
	}
	return terminal(a.in)
}
