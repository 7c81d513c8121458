// Package request turns what somebody asks for — a data set, a model, a budget — into a priced
// plan, and the plan into released files. It is what the library and the command line share:
// it opens no argument, knows no flags and writes to no stream. Hints name flags of the command
// line, which have the names of the fields.
package request

import (
	"cmp"
	"context"
	"io"
	"strings"

	"pawl/core/accountant"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/source"
	"pawl/evidence/advise"
	"pawl/internal/usage"
	"pawl/reader"
	"pawl/workflow"
)

// Desk is where requests are handled.
type Desk struct {
	Ledger *ledger.Ledger
	// Note is told what an operator should know of the data; nil for nobody. Far is told at a terminal
	// alone, see source.Table.
	Note, Far func(string)
	// Safe is where what is held back has its key.
	Safe func() (workflow.Safe, error)
}

// Opened is a table that is declared and checked, with nothing charged.
type Opened struct {
	Source *source.Table
	Test   [][]float64
	// Teacher holds public rows that a model is trained on first, nil for none.
	Teacher *source.Teacher
	Seed    *uint64
	Bad     reader.BadRows
	copies  *source.Copies
	// updated says that the bytes changed on purpose.
	updated bool
	// ahead returns the sealed rows where their sealing began before the plan was made, else nil.
	ahead func() (*intake.Rows, error)
}

// Digested is what names the bytes of the table.
func (j *Opened) Digested() io.Reader { return j.Source.Content.Reader() }

// OpenTable reads the declarations of a table: a job without test rows and plan, and the input
// for one. What sound refuses is refused before the ledger is asked.
func (d *Desk) OpenTable(ctx context.Context, data *source.Data, f *Fit, sound func(workflow.Input) error) (*Opened, workflow.Input, error) {
	in, err := f.input()
	if err != nil {
		return nil, in, err
	}
	if data.Table == nil {
		return nil, in, source.NeedsTable(data.Argument)
	}
	j := &Opened{Source: data.Table.Clone(), Seed: in.Seed, copies: &f.Copies}
	if j.Bad, err = data.Options.Rule(); err != nil {
		return nil, in, err
	}
	s := j.Source
	if sound != nil {
		known := in
		known.Schema = s.Schema
		known.Schema.SetBuckets(advise.TextBuckets)
		known.Dataset, known.Target = s.Name, cmp.Or(in.Target, s.Target)
		if data.Options.Vectors != (source.Vectors{}) {
			known.Features = nil // they may name columns of vectors that are joined later
		}
		if err := sound(known); err != nil {
			return nil, in, err
		}
	}
	if err := s.Owned(ctx, d.Ledger, data.Argument, &f.Copies, &f.Updated); err != nil {
		return nil, in, err
	}
	j.updated = f.Updated
	if err := s.Embed(ctx, d.Ledger, data.Options.Vectors); err != nil {
		return nil, in, err
	}
	// Vectors of test rows may stand in the same file.
	s.Whole = data.Options.Test == "" && f.Public == ""
	if err := source.EffectivePublic(ctx, d.Ledger, s.Name, s.Schema); err != nil {
		return nil, in, err
	}
	if in.Rows, err = s.Rows(); err != nil {
		return nil, in, err
	}
	s.Schema.SetBuckets(advise.TextBuckets)
	in.Dataset, in.Schema, in.Public, in.Licence = s.Name, s.Schema, s.Schema.Public, s.Licence
	in.Target = cmp.Or(in.Target, s.Target)
	s.Target = in.Target
	return j, in, nil
}

func (f *Fit) input() (workflow.Input, error) {
	in := workflow.Input{
		Target: f.Target, Epsilon: f.Epsilon, Delta: f.Delta, AllowLargeDelta: f.AllowLargeDelta, ClassWeights: f.ClassWeights, Monotone: f.Monotone, Decision: f.Decision,
		Workflow: workflow.Workflow(f.Workflow), Preset: advise.Preset(f.Preset), Model: f.Model, ScoreBy: f.ScoreBy, Calibrate: true,
	}
	var faults []error
	if f.Epsilon == "" {
		faults = append(faults, usage.New("missing --epsilon", "example: --epsilon 1"))
	}
	switch f.TargetScale {
	case "", "auto":
	case "linear", "log":
		in.TargetScale = f.TargetScale
	default:
		faults = append(faults, usage.Newf("scales: auto, linear, log", "unknown target scale %q", f.TargetScale))
	}
	var err error
	if in.Accountant, err = accountant.ParseMethod(f.Accountant); err != nil {
		faults = append(faults, usage.New(err.Error(), ""))
	}
	in.Seed, err = ParseSeed(f.Seed)
	faults, err = append(faults, err), nil
	switch {
	case f.Features == "auto" || f.Features == "all" || f.Features == "":
	case f.Features == "scatter" || strings.HasPrefix(f.Features, "pca:"):
		err = usage.Newf("use --features auto, all, or a list of columns", "features %q are not available for tables", f.Features)
	default:
		in.Features, in.Chosen, err = namedFeatures(f.Features)
	}
	return in, usage.All(append(faults, err)...)
}

// tried refuses a plan that public rules call hopeless, or that fails on synthetic rows; err is why there is none.
func tried(ctx context.Context, plan *workflow.Plan, err error, anyway bool) error {
	if err == nil {
		err = plan.Worth(anyway)
	}
	if err == nil {
		err = plan.Preflight(ctx)
	}
	return err
}

// OpenTest opens public test rows of the table.
func (d *Desk) OpenTest(ctx context.Context, j *Opened, o source.Options) (workflow.TestKind, error) {
	test, err := j.Source.OpenTest(ctx, d.Ledger, o.Test, o.DataDir, j.Bad)
	if err != nil || test == nil {
		return workflow.HeldOut, err
	}
	j.Test = test.Rows
	if test.Official {
		return workflow.Official, nil
	}
	return workflow.TestFile, nil
}

// Environment parses and seals the rows, recognises copies and digests the file.
func (d *Desk) Environment(ctx context.Context, j *Opened) (workflow.Env, error) {
	env := workflow.Env{Ledger: d.Ledger, Test: j.Test, Updated: j.updated}
	if d.Note != nil {
		for _, note := range j.Source.Content.Notes() {
			d.Note(note)
		}
	}
	var err error
	if j.ahead != nil {
		env.Rows, err = j.ahead()
	} else {
		env.Rows, err = d.sealed(ctx, j)
	}
	if err != nil {
		return env, err
	}
	if env.Different, err = j.copies.Recognise(ctx, d.Ledger, j.Source.Found()); err != nil {
		return env, err
	}
	if j.Teacher != nil {
		env.Other = j.Teacher.Rows
		if err := j.Source.TaughtBy(ctx, d.Ledger, j.Teacher); err != nil {
			return env, err
		}
	}
	if env.Digest = j.Source.Digested; env.Digest == nil {
		env.Digest, err = d.Ledger.Digest(ctx, j.Digested())
	}
	return env, err
}

// sealed parses and seals the rows; env.Digest is then made of the same bytes.
func (d *Desk) sealed(ctx context.Context, j *Opened) (*intake.Rows, error) {
	key, err := source.ScopeKey(ctx, d.Ledger, j.Source.Name, j.Source.Schema, j.Seed)
	if err != nil {
		return nil, err
	}
	j.Source.Note, j.Source.Far = d.Note, d.Far
	// A file that lies on disk is read once: what is digested is then what was parsed.
	j.Source.Digest = func(r io.Reader) ([]byte, error) { return d.Ledger.Digest(ctx, r) }
	return j.Source.Seal(ctx, j.Bad, key)
}

// begin starts a rehearsal's sealing while the plan is still being made: neither needs the other. Environment waits for
// it, and then passes on what it noted. stop ends it where there will be no job.
func (d *Desk) begin(ctx context.Context, j *Opened) (stop func()) {
	var notes, far []string
	own := Desk{Ledger: d.Ledger}
	if d.Note != nil {
		own.Note = func(note string) { notes = append(notes, note) }
	}
	if d.Far != nil {
		own.Far = func(note string) { far = append(far, note) }
	}
	var rows *intake.Rows
	var err error
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	j.Source.Rehearsal = true
	go func() {
		defer close(done)
		rows, err = own.sealed(ctx, j)
	}()
	stop = func() {
		cancel()
		<-done
	}
	j.ahead = func() (*intake.Rows, error) {
		<-done
		cancel()
		for _, note := range notes {
			d.Note(note)
		}
		for _, note := range far {
			d.Far(note)
		}
		return rows, err
	}
	return stop
}

// OpenTeacher opens the public rows that a model is trained on first; nothing where path is "".
func (d *Desk) OpenTeacher(ctx context.Context, j *Opened, path string, in *workflow.Input) (err error) {
	if path == "" {
		return nil
	}
	if j.Teacher, err = j.Source.OpenTeacher(ctx, d.Ledger, path, j.Bad); err == nil {
		in.Teacher = &workflow.PublicSet{Name: j.Teacher.Name, SHA256: j.Teacher.SHA256, Rows: j.Teacher.Len}
	}
	return err
}
