package request

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"pawl/data/schema"
	"pawl/internal/usage"
	"pawl/report"
	"pawl/workflow"
	"pawl/workflow/checkpoint"
)

// Checkpoint keeps a training that may be interrupted.
type Checkpoint struct {
	// File is a new private file to begin in, or with Resume one that a run goes on from.
	File   string
	Resume bool
	// Every is the time between two writings; 0 for every step.
	Every time.Duration
	// Outside is the folder of the released files, in which no checkpoint may lie.
	Outside string
}

// open makes or opens the file, nil for none.
func (f Checkpoint) open() (*checkpoint.File, error) {
	switch {
	case f.File == "" && f.Resume:
		return nil, usage.New("a checkpoint to resume from has no file", "name the file, or leave out --resume")
	case f.Every < 0:
		return nil, usage.New("--checkpoint-every must be 0s or more", "example: --checkpoint-every 1m")
	case f.File == "":
		return nil, nil
	}
	if within(f.File, f.Outside) {
		return nil, usage.New(fmt.Sprintf("%s is inside --out, whose files may be published; a checkpoint holds the key of the noise", f.File), "choose a file outside "+usage.Shell(f.Outside))
	}
	if f.Resume {
		return checkpoint.Open(f.File, f.Every)
	}
	return checkpoint.Create(f.File, f.Every)
}

// initial seeds the first weights, so that a run that goes on has the same.
func (f *Train) initial() *uint64 {
	if f.kept == nil {
		return nil
	}
	n := f.kept.Initial()
	return &n
}

// plannedWith puts the budget of the run that a file is of in the place of the present one.
func (f *Train) plannedWith(s *schema.Schema) {
	if granted, ok := f.kept.Granted(); ok {
		s.GrantedEpsilon = granted
	}
}

// within says that path lies in dir, or is it, behind any links.
func within(path, dir string) bool {
	real := func(p string) string {
		p, err := filepath.Abs(p)
		if err != nil {
			return p
		}
		if r, err := filepath.EvalSymlinks(p); err == nil {
			return r
		}
		if r, err := filepath.EvalSymlinks(filepath.Dir(p)); err == nil {
			return filepath.Join(r, filepath.Base(p))
		}
		return p
	}
	rel, err := filepath.Rel(real(dir), real(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resumable is an error of a run that its checkpoint survives.
type resumable struct {
	error
	path string
}

func (e *resumable) Unwrap() error { return e.error }

func (e *resumable) Hint() string {
	return "nothing is lost: repeat the command with --resume " + usage.Shell(e.path) + " to continue at no cost"
}

// runKept is run with a checkpoint.
func (j *Job) runKept(ctx context.Context, env workflow.Env, how Running) (*Done, error) {
	kept := j.checkpoint
	env.Checkpoint = kept
	if !kept.Fresh() {
		if err := j.Plan.GoesOn(env); err != nil {
			return nil, err
		}
		steps, _ := kept.State()
		how.say(fmt.Sprintf("checkpoint %s: resuming after step %d", kept.Path(), steps))
	}
	var erased error
	// The files are written when this is called: from here on the key serves nobody.
	how.released = func(*report.Statement) { erased = kept.Erase() }
	done, err := j.run(ctx, env, how)
	if failed := kept.Failed(); failed != nil && kept.Written() {
		how.say(fmt.Sprintf("warning: %v; the earlier save remains valid", failed))
	}
	if hinted := (interface{ Hint() string })(nil); err != nil && kept.Written() && !(errors.As(err, &hinted) && hinted.Hint() != "") {
		err = &resumable{err, kept.Path()}
	}
	return done, errors.Join(err, erased)
}
