package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"pawl/data/source"
)

// againstCopies runs a command whose copies somebody at a terminal may be asked about, and once more
// when that says which data set DATA is.
func againstCopies(a *app, f *source.Copies, run func() error) error {
	if a.interactive() {
		f.Ask = asking(a)
	}
	return f.Again(run)
}

// asking asks whether two data sets hold the same units. What is asked is one thing at a time,
// and no unclear answer opens a budget.
func asking(a *app) func(ctx context.Context, alike string) (reason string, err error) {
	return func(ctx context.Context, alike string) (reason string, err error) {
		in := bufio.NewReader(a.in)
		question := alike + ".\nDo both hold the same units? same, different or stop: "
		for range 3 {
			answer, err := askLine(ctx, a, in, question)
			if err != nil {
				return "", err
			}
			switch strings.ToLower(strings.Trim(answer, " .!\"'")) {
			case "same", "s", "yes", "y":
				return "", source.ErrSame
			case "", "stop", "no", "n", "q", "quit":
				return "", nil
			case "different", "d":
				why, err := askLine(ctx, a, in, "Why are they different? The answer is recorded in the ledger and every statement (empty: stop): ")
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
}

// askLine reads one line.
func askLine(ctx context.Context, a *app, in *bufio.Reader, question string) (string, error) {
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
	if a.person != nil {
		return a.person()
	}
	return terminal(a.in)
}
