package workflow

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"pawl/core/ledger"
	"pawl/report"
)

// UnconfirmedError: a run is done and was charged, and the ledger that it was charged in
// does not show the entry now. What it computed must not leave.
type UnconfirmedError struct {
	Entry string
	Cause error
}

func (e *UnconfirmedError) Error() string {
	return fmt.Sprintf("the run was charged as entry %s, but the ledger does not show that entry now, so nothing is released: %v", e.Entry, e.Cause)
}

// Hint is the ledger's, where it has one.
func (e *UnconfirmedError) Hint() string {
	var h interface{ Hint() string }
	if errors.As(e.Cause, &h) {
		return h.Hint()
	}
	return ""
}

func (e *UnconfirmedError) Unwrap() error { return e.Cause }

func unconfirmed(err error) bool { return errors.As(err, new(*UnconfirmedError)) }

// Booking is what a run has in the ledger. Its entry is kept in memory, for the case that the
// ledger loses it. It is empty where nothing was booked.
type Booking struct {
	Receipt ledger.Receipt
	// Seeded says that it is a simulation: NOT PRIVATE.
	Seeded bool
	permit *ledger.Permit
	held   ledger.Held
}

// Confirm asks the ledger through its address, a last time before anything of the outcome
// leaves, for the entry: what is open may be a file that is gone. Its error is an
// *UnconfirmedError.
func (b *Booking) Confirm(ctx context.Context, l *ledger.Ledger) error {
	if b.permit == nil {
		return nil
	}
	// What was paid for is not withheld because somebody interrupts now.
	if err := l.Confirm(context.WithoutCancel(ctx), b.permit); err != nil {
		return &UnconfirmedError{b.Receipt.ID, err}
	}
	return nil
}

// stated is the statement of a plan with what a run says of itself.
func (b *Booking) stated(plan *Plan, env Env, version string, now time.Time) (*report.Statement, description, error) {
	s, d, err := plan.statement(version, now)
	if err != nil {
		return nil, d, err
	}
	s.NotPrivate = s.NotPrivate || b.Seeded
	if len(env.Digest) >= 8 {
		s.Data.Fingerprint = hex.EncodeToString(env.Digest[:8])
	}
	if b.Receipt.ID == "" && s.Privacy.Events == nil {
		s.Privacy.Events = []json.RawMessage{} // none, rather than unknown
	}
	return s, d, nil
}

// account adds to the statement of a plan what the ledger says, where something was booked. Its error is an
// *UnconfirmedError.
func (b *Booking) account(ctx context.Context, plan *Plan, env Env, s *report.Statement) error {
	if b.Receipt.ID == "" {
		return nil
	}
	if err := fillBudget(ctx, env.Ledger, plan.problem.Dataset, s, b.Receipt); err != nil {
		return &UnconfirmedError{b.Receipt.ID, err}
	}
	return nil
}

// Sign has the ledger sign files that the entry paid for; nil where nothing was charged. Its error is an
// *UnconfirmedError.
func (b *Booking) Sign(ctx context.Context, l *ledger.Ledger) func(map[string]ledger.Hash) (*ledger.Signature, error) {
	if b.permit == nil {
		return nil
	}
	return func(files map[string]ledger.Hash) (*ledger.Signature, error) {
		word, err := l.Sign(context.WithoutCancel(ctx), b.permit.Dataset(), b.permit.ID(), files)
		if err != nil {
			return nil, &UnconfirmedError{b.Receipt.ID, err}
		}
		return word, nil
	}
}

// chargedError is the end of work after rows were opened.
type chargedError struct {
	error
	text, stays string // what happened, and what stays charged
	entries     []string
}

func (e *chargedError) Error() string { return e.text + e.stays }
func (e *chargedError) Unwrap() error { return e.error }

// stillCharged adds to what ended the work of an entry that it stays charged, as do those of jobs inside it.
func stillCharged(err error, entry string) error {
	e := &chargedError{error: err, text: err.Error(), entries: []string{entry}}
	if inner := (*chargedError)(nil); errors.As(err, &inner) {
		e.text, e.entries = strings.Replace(e.text, inner.stays, "", 1), append(inner.entries, entry)
	}
	word := "entry"
	if len(e.entries) > 1 {
		word = "entries"
	}
	e.stays = fmt.Sprintf(" (the rows were opened, so the budget stays charged: %s %s)", word, strings.Join(e.entries, ", "))
	return e
}

// charge reserves what is asked, keeps the entry before a row is opened, runs work on the
// permit, commits and confirms. A crash after the reservation leaves it charged, and so does
// work that fails after rows were opened; before that it is cancelled.
func (b *Booking) charge(ctx context.Context, env Env, q ledger.Request, work func(*ledger.Permit) error) (err error) {
	b.permit, b.Receipt, err = env.Ledger.Reserve(ctx, q)
	b.Seeded = b.Receipt.NotPrivate
	if errors.Is(err, ledger.ErrRefused) || errors.Is(err, ledger.ErrInvalid) {
		// Any other error may have come after the booking: the key is kept.
		return errors.Join(err, env.Checkpoint.Forget())
	}
	if err != nil {
		return err
	}
	if b.held, err = env.Ledger.Held(b.permit); err == nil {
		err = work(b.permit)
	}
	// The context of work may have ended; settling must not depend on it.
	settle := context.WithoutCancel(ctx)
	switch {
	case err != nil && b.permit.Opened():
		return stillCharged(err, b.Receipt.ID)
	case err != nil:
		return errors.Join(err, env.Ledger.Cancel(settle, b.permit), env.Checkpoint.Forget())
	}
	if err := env.Ledger.Commit(settle, b.permit); err != nil {
		return &UnconfirmedError{b.Receipt.ID, err}
	}
	return b.Confirm(ctx, env.Ledger)
}

// charge runs work, paid for by the plan.
func (plan *Plan) charge(ctx context.Context, env Env, b *Booking, work func(*ledger.Permit) error) error {
	if err := plan.begin(env); err != nil {
		return err
	}
	q, err := plan.request(env)
	if err != nil {
		return err
	}
	return b.charge(ctx, env, q, func(permit *ledger.Permit) error {
		if err := plan.suits(b.Receipt); err != nil {
			return err
		}
		return work(permit)
	})
}

// request is what the ledger is asked for.
func (plan *Plan) request(env Env) (q ledger.Request, err error) {
	p := plan.problem
	names := make([]string, len(plan.Stages))
	for i, s := range plan.Stages {
		names[i] = s.Name
	}
	// The ledger wants an epsilon, also of what claims none.
	q = ledger.Request{
		Dataset: p.Dataset, Plan: plan.digest(env.Digest), Event: plan.Event, Stages: names, Relation: p.relation,
		Unit: p.Schema.Unit.Name, RowsPerUnit: p.Schema.Unit.MaxRows, UnitColumn: p.Schema.Unit.Column, Epsilon: cmp.Or(p.Epsilon, "1"), Delta: p.deltaText,
		Public: p.Public, Rows: env.Rows, Digest: env.Digest, Updated: env.Updated, Seed: p.Seed, Different: env.Different,
	}
	if p.Seed == nil {
		q.Replay, err = plan.replay(env)
	}
	return q, err
}
