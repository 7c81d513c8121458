package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"pawl"
)

// jobFlags are those of every job.
type jobFlags struct {
	pawl.Source
	seed string
}

// plan opens DATA as the flags say, and the ledger, which is closed when the program ends, and prices a job.
func (a *app) plan(ctx context.Context, data string, s pawl.Source, job pawl.Job) (*pawl.Plan, error) {
	s.Data, s.DataDir = data, a.dataDir
	opened, err := s.Open()
	if err != nil {
		return nil, err
	}
	led, err := pawl.OpenLedger(ctx, a.ledger.address, pawl.WithGrant(a.ledger.total), pawl.WithWarnings(a.warn))
	if err != nil {
		return nil, err
	}
	a.opened = append(a.opened, led)
	return led.Plan(ctx, opened, job)
}

// identity has somebody at the terminal asked whose rows a file holds.
func (a *app) identity(i *pawl.Identity) {
	if a.interactive() {
		i.Ask = asking(a)
	}
}

// runJob prices a job, shows the price, runs it and prints what it released.
func runJob(ctx context.Context, a *app, data string, s pawl.Source, job pawl.Job, options ...pawl.RunOption) error {
	plan, err := a.plan(ctx, data, s, job)
	if err != nil {
		return err
	}
	var shown *progress
	options = append(options,
		pawl.OnNote(func(line string) { fmt.Fprintln(a.err, line) }),
		pawl.OnReady(func(p *pawl.Plan) error {
			shown = newProgress(a.err, p.Expected())
			return cmp.Or(a.bind(ctx), p.WriteText(a.err))
		}),
		pawl.OnProgress(func(stage string, done, steps int) { shown.step(stage, done, steps) }))
	res, err := plan.Run(ctx, options...)
	if shown != nil {
		shown.done()
	}
	if err != nil {
		return err
	}
	a.saved = res.Dir
	if err = a.printed(res); err != nil && res.Dir == "" { // it would be the only copy of what was paid for
		fmt.Fprintln(a.err, "standard output cannot be written; what the job released follows here:")
		return cmp.Or((&app{streams: streams{out: a.err}, json: a.json}).printed(res), err)
	}
	return err
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
