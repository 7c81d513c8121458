package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"pawl"
)

// identityFlags say whose rows a file holds that resembles a sensitive data set.
func identityFlags(c *cobra.Command, f *pawl.Identity) {
	s := c.Flags()
	s.BoolVar(&f.Updated, "updated", false, "accept that the data have changed since they were last used")
	s.StringVar(&f.SameAs, "same-as", "", "DATA is another form of this data set of the ledger, whose budget is charged (implies --updated)")
	s.BoolVar(&f.Different, "different", false, "DATA or the test file resembles a sensitive data set but holds other units: proceed (needs --reason)")
	s.StringVar(&f.Reason, "reason", "", "reason why they are different; recorded in the ledger and every statement")
}

// registerAnyway adds the flag that runs what public rules call hopeless.
func registerAnyway(c *cobra.Command, b *pawl.Budget) {
	c.Flags().BoolVar(&b.Anyway, "anyway", false, "run a job that public rules call hopeless (pawl advise rules: stop-...); every statement says so")
}

// jobFlags are those of every job.
type jobFlags struct {
	pawl.Source
	seed string
}

// library opens the ledger. Its warnings go to standard error.
func (a *app) library(ctx context.Context) (*pawl.Ledger, error) {
	return pawl.OpenLedger(ctx, a.ledgerURL, pawl.WithGrant(a.total), pawl.WithWarnings(func(text string) { fmt.Fprintf(a.err, "warning: %s\n", text) }))
}

// open opens DATA as the flags say.
func (a *app) open(data string, s pawl.Source) (*pawl.Data, error) {
	s.Data, s.DataDir = data, a.dataDir
	return s.Open()
}

// identity has somebody at the terminal asked whose rows a file holds.
func (a *app) identity(i *pawl.Identity) {
	if a.interactive() {
		i.Ask = a.whose
	}
}

// seedOf reads --seed.
func (f *jobFlags) seedOf() (*uint64, error) {
	if f.seed == "" {
		return nil, nil
	}
	n, err := strconv.ParseUint(f.seed, 10, 64)
	if err != nil {
		return nil, &usageError{"--seed must be a whole number from 0 to 18446744073709551615", "example: --seed 7"}
	}
	return &n, nil
}

// run prices a job, shows the price, runs it and prints what it released.
func (a *app) run(ctx context.Context, data string, s pawl.Source, job pawl.Job, options ...pawl.RunOption) error {
	opened, err := a.open(data, s)
	if err != nil {
		return err
	}
	led, err := a.library(ctx)
	if err != nil {
		return err
	}
	defer led.Close()
	plan, err := led.Plan(ctx, opened, job)
	if err != nil {
		return err
	}
	var shown *progress
	options = append(options,
		pawl.OnNote(func(line string) { fmt.Fprintln(a.err, line) }),
		pawl.OnReady(func(p *pawl.Plan) error { shown = newProgress(a.err, p.Expected()); return p.WriteText(a.err) }),
		pawl.OnProgress(func(stage string, done, steps int) { shown.step(stage, done, steps) }))
	res, err := plan.Run(ctx, options...)
	if shown != nil {
		shown.done()
	}
	if err != nil {
		return err
	}
	return a.printed(res)
}

// printed is a result or a plan on standard output, in words or as JSON.
func (a *app) printed(r interface {
	WriteText(io.Writer) error
	WriteJSON(io.Writer) error
}) error {
	if a.json {
		return r.WriteJSON(a.out)
	}
	return r.WriteText(a.out)
}
