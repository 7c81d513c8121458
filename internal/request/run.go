package request

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/internal/build"
	"pawl/internal/usage"
	"pawl/report"
	"pawl/workflow"
	"pawl/workflow/checkpoint"
)

// Job is a priced request. Nothing is charged, and of sensitive rows none was read but to count
// a number that is public.
type Job struct {
	Plan    *workflow.Plan
	Dataset string
	// Opened is the table of a job on one, else nil.
	Opened *Opened

	desk       *Desk
	seal       func(context.Context) (workflow.Env, error)
	digested   func() io.Reader
	updated    bool
	checkpoint *checkpoint.File
	study      *ofStudy
	replan     func(granted string) (*workflow.Plan, error) // of a search, for another budget
	// selects says that it chooses features: mode says whether it releases a table, to be
	// written to the path.
	selects     bool
	describes   bool // that it describes a table
	mode, table string
}

// Foretell asks the ledger how it would decide on the job now, and charges nothing. With parse
// every row is read; without, only the bytes of the file are digested.
func (j *Job) Foretell(ctx context.Context, parse bool) (v figures.Verdict, err error) {
	env := workflow.Env{Ledger: j.desk.Ledger, Updated: j.updated}
	if parse {
		if j.Opened != nil && j.Opened.ahead == nil {
			j.Opened.Source.Rehearsal = true
		}
		env, err = j.seal(ctx)
	} else {
		env.Digest, err = j.desk.Ledger.Digest(ctx, j.digested())
	}
	if err != nil {
		return v, err
	}
	if j.study != nil {
		// One that was interrupted goes on, which costs nothing more.
		if err := j.resume(&env); err != nil {
			return v, err
		}
		if env.Study != nil {
			defer env.Study.Close()
		}
	}
	return j.foretell(ctx, env)
}

// foretell warns in the plan where it makes later jobs dearer.
func (j *Job) foretell(ctx context.Context, env workflow.Env) (figures.Verdict, error) {
	v, err := j.Plan.Foretell(ctx, env)
	if v.Dearer != nil && !slices.Contains(j.Plan.Warnings, v.Dearer.String()) {
		j.Plan.Warnings = append(j.Plan.Warnings, v.Dearer.String())
	}
	return v, err
}

// foresee asks the ledger before anything is charged, for the warnings of the plan. A refusal
// is left to the run, which says it.
func (j *Job) foresee(ctx context.Context, env workflow.Env) error {
	if kept := env.Checkpoint; kept != nil {
		if !kept.Fresh() {
			return nil // it goes on, and costs nothing more
		}
		env.Checkpoint = nil // it has no secret yet, and the question books nothing
	}
	if _, err := j.foretell(ctx, env); err != nil && !errors.Is(err, ledger.ErrRefused) {
		return err
	}
	return nil
}

// begin is the last step before the charge: it asks the ledger, tells how.Ready, and returns the time, which
// is that of the statement: how long a run takes may depend on secret numbers.
func (j *Job) begin(ctx context.Context, env *workflow.Env, how Running) (now time.Time, err error) {
	if err := j.foresee(ctx, *env); err != nil {
		return now, err
	}
	now = time.Now()
	if how.Ready != nil {
		err = how.Ready()
	}
	env.Progress = how.Progress
	return now, err
}

// Quote is the statement of the plan, before a run.
func (j *Job) Quote(now time.Time) (*report.Statement, error) {
	return j.Plan.Statement(build.Version(), now)
}

// Running says how a job is run. The zero value keeps what is released in memory.
type Running struct {
	// Write says that files are written: into Dir, or where it is "" into a new folder in
	// workflow.DefaultDir. Replace lets them replace those of an earlier run.
	Write, Replace bool
	Dir            string
	// Ready is called when rows are sealed and there is a place to write to, before anything is
	// charged. Say is given lines for the operator; both may be nil.
	Ready    func() error
	Say      func(string)
	Progress workflow.Progress
	// released is told of the statement once its files are written.
	released func(*report.Statement)
}

func (r *Running) say(line string) {
	if r.Say != nil {
		r.Say(line)
	}
}

// Done is what a run released: a model in Outcome, a Selection, or with neither a description, which
// the statement holds.
type Done struct {
	Outcome   *workflow.Outcome
	Selection *Selection
	Statement *report.Statement
	// Dir is where the files lie, "" for none.
	Dir string
}

// WriteText writes what was released for a person.
func (d *Done) WriteText(w io.Writer) error {
	if d.Selection != nil {
		return d.Selection.WriteText(w)
	}
	return report.Text(w, d.Statement)
}

// WriteJSON writes one object.
func (d *Done) WriteJSON(w io.Writer) error {
	if d.Selection != nil {
		return d.Selection.WriteJSON(w)
	}
	return report.WriteJSON(w, d.Statement)
}

// WriteDir writes the files into a folder that must not hold those of an earlier run, and returns where they
// lie. A selection has none.
func (d *Done) WriteDir(dir string) (string, error) {
	if d.Selection != nil {
		return d.Dir, nil
	}
	if err := CheckDir(dir, false); err != nil {
		return "", err
	}
	out, err := workflow.NewOutput(dir, false)
	switch {
	case err != nil:
		return "", err
	case d.Outcome == nil:
		return out.WriteDescription(d.Statement)
	}
	return out.Write(d.Outcome.Model, d.Statement)
}

// Run seals the rows, charges the price, runs the stages and writes what they release. What the
// ledger does not confirm is held back in a file under a key of its own, and nothing is
// returned but the error.
func (j *Job) Run(ctx context.Context, how Running) (*Done, error) {
	var err error
	switch {
	case j.selects:
		err = checkTable(j.mode, j.table)
	case how.Write:
		err = checkDir(how.Dir, how.Replace || j.checkpoint != nil && !j.checkpoint.Fresh(), j.describes)
	}
	if err != nil {
		return nil, err
	}
	env, err := j.seal(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case j.study != nil:
		return j.runStudy(ctx, env, how)
	case j.checkpoint != nil:
		if env.Software, err = build.Software(); err != nil {
			return nil, err
		}
		return j.runKept(ctx, env, how)
	}
	return j.run(ctx, env, how)
}

// made is what a job has made and paid for. It is written once the ledger confirms it: into out, where that is not nil.
type made interface {
	workflow.Release
	write(done *Done, out *workflow.Output, how *Running) error
}

// make charges the price and runs the stages.
func (j *Job) make(ctx context.Context, env workflow.Env) (made, error) {
	switch {
	case j.selects:
		out, err := j.Plan.Choose(ctx, env)
		return &ofSelection{out, j.table, nil}, err
	case j.describes:
		out, err := j.Plan.Describe(ctx, env)
		return ofDescription{out}, err
	}
	out, err := j.Plan.Run(ctx, env)
	return ofModel{out}, err
}

type ofModel struct{ *workflow.Outcome }

func (m ofModel) write(done *Done, out *workflow.Output, _ *Running) (err error) {
	if done.Outcome = m.Outcome; out != nil {
		done.Dir, err = out.Write(m.Model, done.Statement)
	}
	return err
}

type ofDescription struct{ *workflow.Described }

func (m ofDescription) write(done *Done, out *workflow.Output, _ *Running) (err error) {
	if out != nil {
		done.Dir, err = out.WriteDescription(done.Statement)
	}
	return err
}

// run is Run once the rows are sealed.
func (j *Job) run(ctx context.Context, env workflow.Env, how Running) (*Done, error) {
	// Before anything is charged: what is paid for must have a place.
	var out *workflow.Output
	var err error
	dir := cmp.Or(how.Dir, workflow.DefaultDir)
	if j.selects {
		dir, err = filepath.Dir(j.table), freeTable(j.table)
	} else if how.Write {
		out, err = workflow.NewOutput(how.Dir, how.Replace)
	}
	if err != nil {
		return nil, err
	}
	ran := false
	defer func() {
		if !ran && out != nil {
			out.Discard()
		}
	}()
	now, err := j.begin(ctx, &env, how)
	if err != nil {
		return nil, err
	}
	m, doubt := j.make(ctx, env)
	if doubt != nil && !isDoubt(doubt) {
		return nil, doubt
	}
	ctx = context.WithoutCancel(ctx) // an interrupt does not take away what was paid for
	done := &Done{}
	if done.Statement, err = m.Statement(ctx, env, build.Version(), now); done.Statement == nil {
		return nil, errors.Join(doubt, err)
	}
	if doubt = cmp.Or(doubt, err, m.Confirm(ctx, env.Ledger)); doubt == nil {
		if ran = true; out != nil { // from here on what is staged is its own
			out.Confirm, out.Sign = func() error { return m.Confirm(ctx, env.Ledger) }, m.Sign(ctx, env.Ledger)
		}
		if doubt = m.write(done, out, &how); doubt != nil && !isDoubt(doubt) {
			return nil, fmt.Errorf("the run was charged, but its files could not be written: %w", doubt)
		}
	}
	if doubt != nil {
		safe, err := j.desk.Safe()
		if err != nil {
			return nil, errors.Join(doubt, err)
		}
		if out != nil {
			out.Discard()
		}
		return nil, workflow.Hold(m, dir, done.Statement, safe, doubt)
	}
	if out != nil {
		for _, note := range out.Notes(done.Dir) {
			how.say(note)
		}
	}
	if how.released != nil {
		how.released(done.Statement)
	}
	return done, nil
}

// isDoubt says that a run is done and that the ledger does not confirm it.
func isDoubt(err error) bool { return errors.As(err, new(*workflow.UnconfirmedError)) }

// Writable refuses an output directory as CheckDir does, and one that cannot be written or is
// full. It leaves nothing behind.
func Writable(path string, replace bool) error {
	if err := CheckDir(path, replace); err != nil {
		return err
	}
	out, err := workflow.NewOutput(path, replace)
	if err == nil {
		out.Discard()
	}
	return err
}

// CheckDir refuses an output directory in which a run would replace files: those of an earlier
// run, which were paid for, unless replace says so, and all others, since --out . must not cost
// anybody a README. "" stands for a new folder.
func CheckDir(path string, replace bool) error { return checkDir(path, replace, false) }

// checkDir is CheckDir, also for a description, which does not replace a model.
func checkDir(path string, replace, describes bool) error {
	dir := cmp.Or(path, workflow.DefaultDir)
	info, err := os.Stat(dir)
	if err != nil {
		return nil // it will be made, or making it says why not
	}
	advice := "choose another directory with --out"
	if !info.IsDir() {
		return usage.Newf(advice, "%s is a file, not a directory", dir)
	}
	if path == "" {
		return nil
	}
	if earlier := workflow.Earlier(dir); earlier != nil {
		if describes != (earlier.Description != nil) {
			return usage.Newf(advice, "%s contains the results of another command, which are not replaced", dir)
		}
		if replace {
			return nil
		}
		return usage.Newf("choose another directory with --out, or leave it out for a new one; --force replaces the files",
			"%s contains the results of an earlier run, which are not replaced", dir)
	}
	for _, name := range []string{workflow.ModelDir, workflow.ReportFile, workflow.StatementFile, workflow.CardFile, workflow.DescribeFile, workflow.SignatureFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return usage.Newf(advice, "%s contains %s, which does not come from an earlier run", dir, name)
		}
	}
	return nil
}
