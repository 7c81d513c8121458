package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl/report"
	"pawl/workflow"
	"pawl/workflow/checkpoint"
)

// checkpointFlags keep a training that may be interrupted.
type checkpointFlags struct {
	create, resume string
	every          time.Duration
	file           *checkpoint.File // nil without one
}

func (f *checkpointFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.create, "checkpoint", "", "save the run in this new private file (outside --out), to resume it after an interruption")
	s.StringVar(&f.resume, "resume", "", "resume the run of this checkpoint at no cost: repeat the command with --resume instead of --checkpoint")
	s.DurationVar(&f.every, "checkpoint-every", 30*time.Second, "time between two saves; 0s saves after every step")
}

func (f *checkpointFlags) open(out string) (*checkpoint.File, error) {
	path := f.create
	switch {
	case f.create == "" && f.resume == "":
		return nil, nil
	case f.create != "" && f.resume != "":
		return nil, &usageError{"--checkpoint and --resume exclude each other", "give --resume FILE alone; the file is kept up to date"}
	case f.every < 0:
		return nil, &usageError{"--checkpoint-every must be 0s or more", "example: --checkpoint-every 1m"}
	case f.resume != "":
		path = f.resume
	}
	if within(path, out) {
		return nil, &usageError{fmt.Sprintf("%s is inside --out, whose files may be published; a checkpoint holds the key of the noise", path), "choose a file outside " + shell(out)}
	}
	open := checkpoint.Create
	if f.resume != "" {
		open = checkpoint.Open
	}
	var err error
	f.file, err = open(path, f.every)
	return f.file, err
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

// initial seeds the first weights, so that a run that goes on has the same.
func (f *checkpointFlags) initial() *uint64 {
	if f.file == nil {
		return nil
	}
	n := f.file.Initial()
	return &n
}

// resumable is an error of a run that its checkpoint survives.
type resumable struct {
	error
	path string
}

func (e *resumable) Unwrap() error { return e.error }
func (e *resumable) Hint() string {
	return "nothing is lost: repeat the command with --resume " + shell(e.path) + " to continue at no cost"
}

// finishKept is finish for a run with a checkpoint, or without one.
func (a *app) finishKept(ctx context.Context, plan *workflow.Plan, env workflow.Env, to outDir) error {
	kept := env.Checkpoint
	if kept == nil {
		return a.finish(ctx, plan, env, to)
	}
	if !kept.Fresh() {
		if err := plan.GoesOn(env); err != nil {
			return err
		}
		steps, _ := kept.State()
		fmt.Fprintf(a.err, "checkpoint %s: resuming after step %d\n", kept.Path(), steps)
	}
	var erased error
	// The files are written when this is called: from here on the key serves nobody.
	err := a.finishWith(ctx, plan, env, to, func(*report.Statement) { erased = kept.Erase() })
	if failed := kept.Failed(); failed != nil && kept.Written() {
		fmt.Fprintf(a.err, "warning: %v; what was saved before is kept\n", failed)
	}
	if err != nil && kept.Written() && hint(err) == "" {
		err = &resumable{err, kept.Path()}
	}
	return errors.Join(err, erased)
}
