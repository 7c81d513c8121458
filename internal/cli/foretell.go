package cli

import (
	"bytes"
	"context"
	"errors"
	"io"

	"pawl/core/ledger"
	"pawl/internal/build"
	"pawl/search/study"
	"pawl/workflow"
)

// quoted is a plan with what the ledger is asked with beside it.
type quoted struct {
	plan *workflow.Plan
	// env needs no rows. Its caller closes its Study.
	env func(context.Context, *ledger.Ledger) (workflow.Env, error)
}

// foretell asks the ledger how it would decide on the plan now. The plan gets a warning
// where it makes later jobs dearer.
func (q *quoted) foretell(ctx context.Context, l *ledger.Ledger) (ledger.Verdict, error) {
	env, err := q.env(ctx, l)
	if err != nil {
		return ledger.Verdict{}, err
	}
	if env.Study != nil {
		defer env.Study.Close()
	}
	v, err := q.plan.Foretell(ctx, env)
	if v.Dearer != nil {
		q.plan.Warnings = append(q.plan.Warnings, v.Dearer.String())
	}
	return v, err
}

// foresee asks the ledger before anything is charged, and adds to the warnings of the plan
// that it makes later jobs dearer. A refusal is left to the run, which says it.
func foresee(ctx context.Context, plan *workflow.Plan, env workflow.Env) error {
	if kept := env.Checkpoint; kept != nil {
		if !kept.Fresh() {
			return nil // it goes on, and costs nothing more
		}
		env.Checkpoint = nil // it has no secret yet, and the question books nothing
	}
	v, err := plan.Foretell(ctx, env)
	if v.Dearer != nil {
		plan.Warnings = append(plan.Warnings, v.Dearer.String())
	}
	if errors.Is(err, ledger.ErrRefused) {
		return nil
	}
	return err
}

// refusal is foretell in one line: why the job would be refused and how to go on, or ""
// when it would not. Other faults stay errors.
func (q *quoted) refusal(ctx context.Context, l *ledger.Ledger) (string, error) {
	_, err := q.foretell(ctx, l)
	if !errors.Is(err, ledger.ErrRefused) {
		return "", err
	}
	text := "the ledger would refuse this job now: " + message(err)
	if h := hint(err); h != "" {
		text += "; " + oneLine(h)
	}
	return text, nil
}

// ask is the env of a job whose file is digested as it stands.
func ask(digested func() io.Reader, updated bool) func(context.Context, *ledger.Ledger) (workflow.Env, error) {
	return func(ctx context.Context, l *ledger.Ledger) (env workflow.Env, err error) {
		env = workflow.Env{Ledger: l, Updated: updated}
		env.Digest, err = l.Digest(ctx, digested())
		return env, err
	}
}

func (j *job) quoted(updated bool) *quoted {
	return &quoted{j.plan, ask(j.digested, updated)}
}

// digested is what names the bytes of a table.
func (j *job) digested() io.Reader { return bytes.NewReader(j.source.Content) }

// quoted asks for a search as run by a command of this kind: one that was interrupted
// goes on, which costs nothing more.
func (h *hunted) quoted(f *searchFlags, kind string) *quoted {
	return &quoted{h.plan, func(ctx context.Context, l *ledger.Ledger) (workflow.Env, error) {
		env, err := ask(h.digested, f.updated)(ctx, l)
		if err != nil {
			return env, err
		}
		return env, h.resume(&env, f, kind)
	}}
}

// resume opens the study that the same command has begun, if there is one.
func (h *hunted) resume(env *workflow.Env, f *searchFlags, kind string) (err error) {
	if env.Software, err = build.Software(); err != nil {
		return err
	}
	folder, _, r, err := h.findStudy(*env, f, kind)
	if err != nil || r == nil {
		return err
	}
	env.Study, err = openStudy(folder)
	return err
}

func openStudy(folder string) (*study.Folder, error) {
	s, _, err := study.Open(folder)
	if err != nil {
		return nil, &usageError{err.Error(), "choose another study with --study NAME; charges remain"}
	}
	return s, nil
}
