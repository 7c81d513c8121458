package basis

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/pricing"
	"pawl/data/schema"
	"pawl/data/table"
	"pawl/evidence/crossover"
	"pawl/evidence/lab"
	"pawl/internal/cost"
	"pawl/internal/request"
	"pawl/internal/usage"
	"pawl/store/memory"
	"pawl/workflow"
)

// openPaid makes sensitive rows what is compared on. Without --pay only the price is
// asked for, and no row is sealed.
func (a *Desk) openPaid(ctx context.Context, l *ledger.Ledger, j *request.Opened, in workflow.Input, f *Request, p *Compared, t *lab.Table) (err error) {
	o := f.Table.Options
	o.DataDir = a.DataDir
	if in.Test, err = a.desk(l).OpenTest(ctx, j, o); err != nil {
		return err
	}
	purse := &crossover.Purse{Input: in}
	purse.Env.Test = j.Test
	p.Data = &crossover.Data{Name: t.Name, Table: t, Purse: purse}
	p.Unit = protection(t.Schema)
	if f.Pay == "" {
		return nil
	}
	if purse.Env, err = a.desk(l).Environment(ctx, j); err != nil {
		return err
	}
	p.Data.Key = f.key(t, fingerprint(purse.Env.Digest, t.Schema))
	if f.Table.Test != "" {
		content, err := table.Read(f.Table.Test)
		if err != nil {
			return err
		}
		digest, err := l.Digest(ctx, content.Reader())
		if err != nil {
			return err
		}
		p.Data.Key += ", tested on " + abbreviated(digest)
	}
	return nil
}

// fingerprint names bytes, under what a schema says of them, reasons and remarks apart. The
// ledger's digest has a key: nobody without it can guess the bytes by it.
func fingerprint(digest []byte, s *schema.Schema) string {
	plain := *s
	plain.Warnings, plain.Columns = nil, slices.Clone(s.Columns)
	for i := range plain.Columns {
		plain.Columns[i].Why = ""
	}
	declared, err := json.Marshal(plain)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	sum := sha256.Sum256(declared)
	return fmt.Sprintf("%s-%x", abbreviated(digest), sum[:4])
}

func abbreviated(digest []byte) string { return fmt.Sprintf("%x", digest[:min(6, len(digest))]) }

// protection is what one unit is, for the page.
func protection(s *schema.Schema) string {
	words := "one " + s.Unit.Name
	if s.Unit.MaxRows > 1 {
		words += fmt.Sprintf(" of up to %d rows", s.Unit.MaxRows)
	}
	return words + ", added or removed"
}

// Refuse is the error that says what the runs would cost.
func (p *Compared) Refuse(ctx context.Context, s *crossover.Study) error {
	price, err := s.Price()
	if err != nil {
		return err
	}
	const stand = "to compare on public data instead: --stand-in NAME (pawl data list), or --stand-in FILE with synthetic rows of the same schema"
	if math.IsInf(price.Epsilon, 1) {
		return usage.New(fmt.Sprintf("%s is sensitive, and %d runs have no finite epsilon at delta %s", p.Data.Name, price.Runs, s.Delta), stand+"; for a finite epsilon, change --delta")
	}
	budget, err := sufficient(ctx, price, s.Delta)
	if err != nil {
		return err
	}
	return usage.New(fmt.Sprintf("%s is sensitive: charging all %d runs would cost epsilon %s at delta %s", p.Data.Name, price.Runs, cost.RoundedUp(price.Epsilon), s.Delta),
		fmt.Sprintf("%s; to charge them, use --pay %s with a granted budget of that size", stand, budget))
}

// unbudgeted is a mistake whose advice is a command of the ledger: its flags are none of a
// comparison's, and who puts advice on training into the words of one leaves it alone.
type unbudgeted struct{ mistake }

type mistake = usage.Error

// Admit asks before the first run whether all may be charged for at most the epsilon pay, and
// rehearses them.
func (a *Desk) Admit(ctx context.Context, s *crossover.Study, p *Compared, pay string) error {
	most, err := strconv.ParseFloat(pay, 64)
	if err != nil || !(most > 0) || math.IsInf(most, 0) {
		return usage.New(fmt.Sprintf("--pay %q: want a number, the largest epsilon for all runs together", pay), "example: --pay 12")
	}
	if p.Mark, err = workflow.SeededMark(ctx, p.Data.Purse.Env.Ledger, p.Data.Name); err != nil {
		return err
	}
	if p.Price, err = s.Price(); err != nil {
		return err
	}
	if p.Missing, err = s.Missing(); err != nil {
		return err
	}
	if p.Missing.Runs == 0 {
		return nil // all are kept: what was released may be read again
	}
	what := fmt.Sprintf("%d runs cost epsilon %s in total at delta %s", p.Missing.Runs, cost.RoundedUp(p.Missing.Epsilon), s.Delta)
	tooMuch := func(cost, of string) error {
		return usage.New(what+of+", more than --pay "+pay, fmt.Sprintf("use --pay %s, fewer --epsilons or --seeds, or --stand-in", cost))
	}
	if !(p.Missing.Epsilon <= most) {
		return tooMuch(cost.RoundedUp(p.Missing.Epsilon), "")
	}
	if err := s.Foretell(ctx); err != nil && !ledger.NoBudget(err) && !errors.Is(err, ledger.ErrExhausted) {
		return fmt.Errorf("%s, and none was started: %w", what, err)
	}
	forecast, err := figures.WhatIfEach(ctx, p.Data.Purse.Env.Ledger, p.Data.Name, "", "", p.Missing.Bookings)
	switch {
	case errors.Is(err, ledger.ErrUnknownDataset):
		// The first run would fix the budget at what it asks for itself.
		budget, err := sufficient(ctx, p.Missing, s.Delta)
		if err != nil {
			return err
		}
		return &unbudgeted{mistake{Msg: fmt.Sprintf("%s is new to the ledger, and %s: create a budget first", p.Data.Name, what),
			Advice: fmt.Sprintf("pawl ledger create %s --epsilon %s --delta %s", p.Data.Name, budget, s.Delta)}}
	case err != nil:
		return err
	case !forecast.Admitted:
		return fmt.Errorf("%s, and none was started: %w: %s", what, ledger.ErrRefused, forecast.Refusal)
	case float64(forecast.Need) > most:
		// Under a budget much larger than the price, the ledger's bound is coarser than it.
		return tooMuch(cost.RoundedUp(float64(forecast.Need)), fmt.Sprintf(", and use epsilon %s of the budget by the ledger's filter for adaptive jobs", cost.RoundedUp(float64(forecast.Need))))
	}
	fmt.Fprintf(a.Progress, "%d runs to charge: epsilon %s in total at delta %s; they use %s of the budget, of which %s is left\n",
		p.Missing.Runs, cost.RoundedUp(p.Missing.Epsilon), s.Delta, cost.RoundedUp(float64(forecast.Need)), cost.RoundedUp(float64(forecast.Left)))
	return s.Rehearse(ctx)
}

// sufficient is a budget that admits all runs one after another: the ledger's bound for
// jobs that follow each other is not below the price of all in one plan.
func sufficient(ctx context.Context, p crossover.Price, delta string) (string, error) {
	for _, factor := range []float64{1, 1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5, 3, 4} {
		budget := cost.RoundedUp(p.Epsilon * factor)
		l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "forecast"})
		if err := l.Create(ctx, ledger.Budget{Dataset: "forecast", Epsilon: budget, Delta: delta, Relation: dp.AddOrRemoveOne, AllowLargeDelta: true}); err != nil {
			return "", err
		}
		f, err := figures.WhatIfEach(ctx, l, "forecast", "", "", p.Bookings)
		if err != nil || f.Admitted {
			return budget, err
		}
	}
	return "", fmt.Errorf("no budget up to four times epsilon %s admits %d consecutive runs", cost.RoundedUp(p.Epsilon), p.Runs)
}
