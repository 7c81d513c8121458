package cli

import (
	"context"
	"io"
	"time"
)

// patience is how long a command has, after an interrupt, to end by itself, which removes what is half-written.
const patience = 2 * time.Second

// unbound are the commands that charge nothing, or nothing before their plan is shown. Until then nothing is lost if they
// stop in the middle of a step, such as reading a pipe into which nobody writes.
var unbound = []string{"account", "calibrate", "check", "describe", "explain", "export", "fit", "init", "plan", "predict", "search", "select", "train", "tune", "verify"}

// freely runs a command in a way that lets an interrupt end it wherever it is, unless it is bound to come to its own end.
func (a *app) freely(ctx context.Context, command func() error) error {
	done := make(chan error, 1)
	go func() { done <- command() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
	}
	if a.bound.Load() {
		return <-done
	}
	a.abandoned = true
	return ctx.Err()
}

// bind says that a command comes to its own end from here on, or that it was interrupted before.
func (a *app) bind(ctx context.Context) error {
	a.bound.Store(true)
	return ctx.Err()
}

// until is a writer that an interrupt ends.
type until struct {
	ctx context.Context
	io.Writer
}

func (w until) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}
