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

// Plan is a priced job on one data set: its stages and their cost, before any charge.
// [Ledger.Plan] makes it. A plan serves one goroutine at a time; several plans may be used at
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

// Plan prices a job and rehearses it on synthetic rows. It uses no sensitive row, and counts rows only
// if the schema declares their number public.
//
// Errors: [ErrUsage] for every mistake that can be found without a row, and for a closed ledger.
func (l *Ledger) Plan(ctx context.Context, data *Data, job Job) (*Plan, error) {
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	if data == nil || data.data == nil {
		return nil, fail(usage.New("the data are nil", "open them with Open or Source.Open"))
	}
	if v := reflect.ValueOf(job); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fail(usage.New("the job is nil", "give a Fit, a Train, a Search, a Select or a Describe"))
	}
	return l.price(ctx, data, job, "")
}

// price plans a job on data, which are those of the data set sameAs where that is not "".
func (l *Ledger) price(ctx context.Context, data *Data, job Job, sameAs string) (p *Plan, err error) {
	p = &Plan{ledger: l, data: data, asked: job}
	asked, desk := job.request(), l.desk()
	if sameAs != "" {
		asked.SameAs(sameAs)
	}
	desk.Note = func(text string) {
		if p.note != nil {
			p.note("note: " + text)
		}
	}
	if p.job, err = asked.Plan(ctx, desk, data.data); err == nil {
		p.quote, err = p.job.Quote(time.Now())
	}
	return handle(p, err)
}

// Price is an upper bound on the cost of a plan, and the privacy claim of its results.
type Price struct {
	// Epsilon is rounded up and at most the requested one; +Inf if there is no claim.
	Epsilon, Delta float64
	// Relation is the neighbouring relation, Unit the privacy unit.
	Relation, Unit string
	// Accountant is the method of the smallest bound, "best_per_scope" if it differs between parts of
	// the units.
	Accountant string
}

// String returns the price in one line.
func (p Price) String() string {
	return fmt.Sprintf("epsilon %.6g at delta %.6g, %s, unit %s", p.Epsilon, p.Delta, p.Relation, p.Unit)
}

// Price returns the price of the plan. It charges nothing.
func (p *Plan) Price() Price { return priceOf(p.quote) }

func priceOf(s *report.Statement) Price {
	c := s.Privacy
	return Price{float64(c.Epsilon), float64(c.Delta), c.Relation, c.Unit, c.Accountant}
}

// Dataset returns the name of the data set that will be charged.
func (p *Plan) Dataset() string { return p.job.Dataset }

// Expected returns a rough estimate of the running time from public facts, 0 if there is none.
func (p *Plan) Expected() time.Duration { return p.job.Plan.Expected() }

// Check asks the ledger whether it would admit the job now, and charges nothing. If not, the error is
// [ErrRefused].
func (p *Plan) Check(ctx context.Context) error {
	if err := p.ledger.usable(ctx); err != nil {
		return err
	}
	_, err := p.job.Foretell(ctx, false)
	return fail(err)
}

// WriteText writes the stages and their prices for a person.
func (p *Plan) WriteText(w io.Writer) error { return p.job.WriteText(w, p.quote) }

// Report writes the plan in words or as one JSON object: whether the ledger would
// refuse it now, stages and prices, and the evidence for its choices. It charges nothing.
func (p *Plan) Report(ctx context.Context, w io.Writer, asJSON bool) error {
	if err := p.ledger.usable(ctx); err != nil {
		return err
	}
	return fail(p.job.Report(ctx, w, asJSON))
}

// RunOption changes how a plan runs, never what it computes or costs.
type RunOption func(*running)

type running struct {
	request.Running
	ready func(*Plan) error
}

// Into writes the released files into the folder dir, which is created. Unless replace is set, dir
// must not hold files of an earlier run. "" creates a new folder in pawl-out. Before anything is
// charged, Into checks that dir can be written.
func Into(dir string, replace bool) RunOption {
	return func(r *running) { r.Write, r.Dir, r.Replace = true, dir, replace }
}

// OnProgress sets the function that receives the current stage and how many of its steps are done.
// steps is 0 if their number is secret, or if there are none.
func OnProgress(told func(stage string, done, steps int)) RunOption {
	return func(r *running) { r.Progress = workflow.Progress(told) }
}

// OnReady sets the function that is called just before the charge, when all rows have been read and
// the output folder can be written. p is the plan that will be charged. An error ends the run.
func OnReady(ready func(p *Plan) error) RunOption {
	return func(r *running) { r.ready = ready }
}

// OnNote sets the function that receives single lines for the operator, such as that a study continues.
// Like an error, a line may depend on rows (the line of an identifier that is written in two ways): do
// not publish it.
func OnNote(note func(line string)) RunOption { return func(r *running) { r.Say = note } }

// Run reads the rows, charges the price, runs the stages and returns what they release. The
// charge is recorded before a row is used, and remains if a later stage fails. Each run draws
// fresh noise and is charged. Only a run with the same seed, and one that continues from its checkpoint
// or study, costs nothing more.
//
// Errors: [ErrUsage] for a row that does not parse, and for a plan that is already running;
// [ErrRefused] if the budget does not admit the job. On [ErrUnavailable] after the charge, the release
// is held back in an encrypted file.
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
		if p, err = p.ledger.price(ctx, p.data, p.asked, same.Name); err == nil {
			r, err = p.run(ctx, how)
		}
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

// Result is the release of a run; all of it may be published.
type Result struct {
	// Model predicts; nil for a Select and a Describe.
	Model *Model
	// Score is the score of Model, nil if Model is nil.
	Score *Score
	// Features are the features that a Select chose, in its order.
	Features []Feature
	// Description is the result of a Describe, nil for other jobs.
	Description *Description
	// Cost is the privacy claim, with an Epsilon of +Inf if there is none.
	Cost Price
	// Entry names the charge in the ledger, "" if nothing was charged. Replayed reports that an
	// earlier run was charged for the same computation.
	Entry    string
	Replayed bool
	// Left is the remaining epsilon of the data set, +Inf without a limit.
	Left float64
	// NotPrivate reports that there is no privacy claim: the run had a seed, or used rows without a
	// charge.
	NotPrivate bool
	// Dir is the folder of the written files, "" if there are none.
	Dir string
	// Statement is the machine-readable statement, as in statement.json.
	Statement json.RawMessage

	done *request.Done
}

// Score is the score of a model on held-out rows, which no choice of the job has used.
type Score struct {
	// Metric is "accuracy" (a fraction of 1) or "mean_absolute_error" (units of the target).
	Metric string
	// Value and Baseline (the score of the majority class or the mean) are NaN if the noise hides them.
	// The 95 % intervals cover sampling and noise.
	Value, Baseline            float64
	Interval, BaselineInterval [2]float64
	// How describes where the score comes from.
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
	switch {
	case done.Selection != nil:
		for _, c := range done.Selection.Selection.Chosen {
			r.Features = append(r.Features, Feature{c.Feature, float64(c.Score), c.Reason})
		}
	case s.Description != nil:
		r.Description = newDescription(s.Description)
	default:
		r.Model, r.Replayed = &Model{done.Outcome.Model}, done.Outcome.Receipt.Replayed
		if o := done.Outcome.Score; s.Score != nil {
			r.Score = &Score{s.Score.Metric, o.Value, o.Baseline, o.Interval, o.BaselineInterval, o.How}
		}
	}
	return r, nil
}

// WriteText writes the result for a person: claim, score, cost, and the folder of the files.
func (r *Result) WriteText(w io.Writer) error { return r.done.WriteText(w) }

// WriteJSON writes the statement.
func (r *Result) WriteJSON(w io.Writer) error { return r.done.WriteJSON(w) }

// WriteDir writes model, report, statement and model card into the folder dir, which is created and must
// not hold files of an earlier run. "" creates a new folder in pawl-out. If dir has been taken in the
// meantime, the files go into another folder beside it. WriteDir sets Dir. A Describe writes
// describe.html and statement.json, a Select nothing.
//
// Errors: [ErrUsage] if dir is a file, or holds files that would be replaced.
func (r *Result) WriteDir(dir string) error {
	at, err := r.done.WriteDir(dir)
	if err == nil {
		r.Dir = at
	}
	return fail(err)
}
