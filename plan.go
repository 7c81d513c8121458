package pawl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync/atomic"
	"time"

	"pawl/data/source"
	"pawl/internal/request"
	"pawl/internal/usage"
	"pawl/report"
	"pawl/workflow"
)

// Plan is a priced job on one data set: what will be done, what it costs, and nothing charged.
// It is made by [Ledger.Plan] and serves one goroutine at a time; several plans may be used at
// once, also of the same ledger and data.
type Plan struct {
	ledger *Ledger
	data   *Data
	asked  Job
	job    *request.Job
	quote  *report.Statement
	note   func(line string) // of the run, nil outside of one
	busy   atomic.Bool       // while it runs
}

// Plan prices a job and rehearses it on synthetic rows. No sensitive row is used; of a table
// whose schema says that the number of rows is public, rows are counted.
//
// Errors: [ErrUsage] for everything that can be found wrong without a row, and for a ledger that
// is closed.
func (l *Ledger) Plan(ctx context.Context, data *Data, job Job) (*Plan, error) {
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	if data == nil || data.data == nil {
		return nil, fail(usage.New("there are no data to plan for", "open them with Open or Source.Open"))
	}
	if v := reflect.ValueOf(job); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fail(usage.New("the job is nil", "give a Fit, a Train, a Search, a Select or a Describe"))
	}
	p := &Plan{ledger: l, data: data, asked: job}
	desk := l.desk()
	desk.Note = func(text string) {
		if p.note != nil {
			p.note("note: " + text)
		}
	}
	priced, err := job.plan(ctx, desk, data.data)
	if err != nil {
		return nil, fail(err)
	}
	quote, err := priced.Quote(time.Now())
	if err != nil {
		return nil, fail(err)
	}
	p.job, p.quote = priced, quote
	return p, nil
}

// Price is what a plan costs, an upper bound: the claim that its results will have.
type Price struct {
	// Epsilon is at most what was asked, rounded up; +Inf where nothing is claimed.
	Epsilon, Delta float64
	// Relation is what neighbouring data sets differ by, Unit whom the guarantee protects.
	Relation, Unit string
	// Accountant is the method of the smallest bound, "best_per_scope" where every part of the
	// units has its own.
	Accountant string
}

// String is the price in one line.
func (p Price) String() string {
	return fmt.Sprintf("epsilon %.6g at delta %.6g, %s, unit %s", p.Epsilon, p.Delta, p.Relation, p.Unit)
}

// Price returns the price of the plan. It charges nothing.
func (p *Plan) Price() Price { return priceOf(p.quote) }

func priceOf(s *report.Statement) Price {
	c := s.Privacy
	return Price{float64(c.Epsilon), float64(c.Delta), c.Relation, c.Unit, c.Accountant}
}

// Dataset is the name of the data set that will be charged.
func (p *Plan) Dataset() string { return p.job.Dataset }

// Expected is a rough estimate from public facts of how long the run takes, 0 where there is none.
func (p *Plan) Expected() time.Duration { return p.job.Plan.Expected() }

// Check asks the ledger whether it would allow the job now, and charges nothing. A job that
// would be refused gives an error that is [ErrRefused].
func (p *Plan) Check(ctx context.Context) error {
	if err := p.ledger.usable(ctx); err != nil {
		return err
	}
	_, err := p.job.Foretell(ctx, false)
	return fail(err)
}

// WriteText writes the stages and their prices for a person.
func (p *Plan) WriteText(w io.Writer) error {
	var b bytes.Buffer
	p.job.WriteText(&b, p.quote)
	_, err := w.Write(b.Bytes())
	return err
}

// Report writes all about the plan, in words or as one JSON object: whether the ledger would
// refuse it now, stages and prices, and the evidence for what was chosen. It charges nothing.
func (p *Plan) Report(ctx context.Context, w io.Writer, asJSON bool) error {
	if err := p.ledger.usable(ctx); err != nil {
		return err
	}
	return fail(p.job.Report(ctx, w, asJSON))
}

// RunOption changes how a plan runs; none changes what it computes or costs.
type RunOption func(*running)

type running struct {
	request.Running
	ready func(*Plan) error
}

// Into writes the released files into dir, which is made, and which must not hold those of an
// earlier run unless replace is set. "" makes a new folder in pawl-out. That there is room is
// checked before anything is charged.
func Into(dir string, replace bool) RunOption {
	return func(r *running) { r.Write, r.Dir, r.Replace = true, dir, replace }
}

// OnProgress sets who is told which stage runs, and of how many steps how many are done; steps
// is 0 where their number is secret or where there are none to count.
func OnProgress(told func(stage string, done, steps int)) RunOption {
	return func(r *running) { r.Progress = workflow.Progress(told) }
}

// OnReady sets what is called when all rows were read and there is a place to write to, just
// before the charge. p is the plan that will be charged. An error of it ends the run.
func OnReady(ready func(p *Plan) error) RunOption {
	return func(r *running) { r.ready = ready }
}

// OnNote sets who is given single lines for the operator, such as that a study goes on. A line may
// depend on rows (where an identifier is written in two ways), like an error: do not publish it.
func OnNote(note func(line string)) RunOption { return func(r *running) { r.Say = note } }

// Run reads the rows, charges the price, runs the stages and returns what they release. The
// charge is booked before a row is used, and stays where a later stage fails. Each run draws
// fresh noise and is charged; only one that has the same seed, or goes on from its checkpoint or
// study, costs nothing again.
//
// Errors: [ErrUsage] for a row that does not parse and for a plan that is running already,
// [ErrRefused] for a budget that does not allow the job. With [ErrUnavailable] after the charge what was made is held back in a file.
func (p *Plan) Run(ctx context.Context, options ...RunOption) (*Result, error) {
	if err := p.ledger.usable(ctx); err != nil {
		return nil, err
	}
	if p.busy.Swap(true) {
		return nil, fail(usage.New("this plan is running already", "for two runs at once, plan the job twice"))
	}
	defer p.busy.Store(false)
	var how running
	for _, set := range options {
		if set != nil {
			set(&how)
		}
	}
	r, err := p.run(ctx, how)
	var same *source.SameError
	if errors.As(err, &same) {
		// Whoever was asked says which data set it is: it is priced and run as that.
		again, err := p.ledger.Plan(ctx, p.data, p.asked.as(same.Name))
		if err != nil {
			return nil, err
		}
		r, err := again.run(ctx, how)
		return r, fail(err)
	}
	return r, fail(err)
}

func (p *Plan) run(ctx context.Context, how running) (*Result, error) {
	how.Ready = func() (err error) {
		// The ledger has been asked, and may have warned.
		if p.quote, err = p.job.Quote(time.Now()); err == nil && how.ready != nil {
			err = how.ready(p)
		}
		return err
	}
	p.note = how.Say
	done, err := p.job.Run(ctx, how.Running)
	p.note = nil
	if err != nil {
		return nil, err
	}
	return newResult(done)
}

// Result is what a run released; all of it may be published.
type Result struct {
	// Model predicts; nil for a Select and a Describe.
	Model *Model
	// Score is the model's, nil where Model is.
	Score *Score
	// Features are the choice of a Select, in its order.
	Features []Feature
	// Description is that of a Describe, nil for other jobs.
	Description *Description
	// Cost is the claim, with +Inf where there is none.
	Cost Price
	// Entry names the charge in the ledger, "" where nothing was charged. Replayed says that an
	// earlier run had paid for it.
	Entry    string
	Replayed bool
	// Left is the epsilon that the data set has left, +Inf without a limit.
	Left float64
	// NotPrivate says that nothing is claimed: a seed, or something unpaid.
	NotPrivate bool
	// Dir is where files were written, "" for none.
	Dir string
	// Statement is the machine-readable statement, as in statement.json.
	Statement json.RawMessage

	done *request.Done
}

// Score is how well a model does on held-out rows: rows that no choice of the job has used.
type Score struct {
	// Metric is "accuracy" (a fraction of 1) or "mean_absolute_error" (units of the target).
	Metric string
	// Value and Baseline (of the majority class or the mean) are NaN where nothing can be said;
	// the intervals hold them in 95 % of cases, sampling and noise together.
	Value, Baseline            float64
	Interval, BaselineInterval [2]float64
	// How says where the score comes from.
	How string
}

// Feature is one chosen feature.
type Feature struct {
	Name   string
	Score  float64 // of the method, NaN for none
	Reason string
}

func newResult(done *request.Done) (*Result, error) {
	s := done.Statement
	r := &Result{Cost: priceOf(s), Entry: s.Budget.Entry, Left: float64(s.Budget.Left.Epsilon), NotPrivate: s.NotPrivate, Dir: done.Dir, done: done}
	var text bytes.Buffer
	if err := r.WriteJSON(&text); err != nil {
		return nil, err
	}
	r.Statement = text.Bytes()
	if done.Selection != nil {
		for _, c := range done.Selection.Selection.Chosen {
			r.Features = append(r.Features, Feature{c.Feature, float64(c.Score), c.Reason})
		}
		return r, nil
	}
	if s.Description != nil {
		r.Description = newDescription(s.Description)
		return r, nil
	}
	r.Model, r.Replayed = &Model{done.Outcome.Model}, done.Outcome.Receipt.Replayed
	if o := done.Outcome.Score; s.Score != nil {
		r.Score = &Score{s.Score.Metric, o.Value, o.Baseline, o.Interval, o.BaselineInterval, o.How}
	}
	return r, nil
}

// WriteText writes the result for a person: claim, score, what it cost, where files are.
func (r *Result) WriteText(w io.Writer) error {
	if r.done.Selection != nil {
		return r.done.Selection.WriteText(w)
	}
	return report.Text(w, r.done.Statement)
}

// WriteJSON writes the statement.
func (r *Result) WriteJSON(w io.Writer) error {
	if r.done.Selection != nil {
		return r.done.Selection.WriteJSON(w)
	}
	return report.WriteJSON(w, r.done.Statement)
}

// WriteDir writes model, report, statement and model card into dir, which is made and must not
// hold those of an earlier run; "" makes a new folder in pawl-out. It sets Dir, which is another
// folder beside dir where that has been taken meanwhile. A Describe writes describe.html and
// statement.json, a Select nothing.
//
// Errors: [ErrUsage] for a file in the place of dir, or a folder whose files would be replaced.
func (r *Result) WriteDir(dir string) error {
	if r.Model == nil && r.Description == nil {
		return nil
	}
	if err := request.CheckDir(dir, false); err != nil {
		return fail(err)
	}
	out, err := workflow.NewOutput(dir, false)
	switch {
	case err != nil:
	case r.Description != nil:
		r.Dir, err = out.WriteDescription(r.done.Statement)
	default:
		r.Dir, err = out.Write(r.done.Outcome.Model, r.done.Statement)
	}
	return fail(err)
}
