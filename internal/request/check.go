package request

import (
	"cmp"
	"context"
	"errors"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/internal/usage"
	"pawl/workflow"
)

// Check looks for all that is wrong with a fit of a table in one look: the schema, what is
// asked for, the names and cells of the file, the test file, and whether the ledger would
// refuse. It takes the steps that a run takes before its charge, by the same functions.
// Without an error it returns the job and how the ledger would decide.
//
// Several mistakes are *usage.Faults. A refusal of the ledger alone is returned with the job.
func (d *Desk) Check(ctx context.Context, argument string, o source.Options, f *Fit) (*Job, figures.Verdict, error) {
	table, err := source.OpenTable(argument, o.Schema, o.DataDir)
	var partly *schema.PartlyError
	if err != nil && !errors.As(err, &partly) {
		return nil, figures.Verdict{}, usage.All(err, f.alone())
	}
	table.AllFaults, table.Target = true, cmp.Or(f.Target, table.Target)
	if partly != nil {
		all := usage.All(partly.Unwrap(), f.beside(table, partly.Faulty), d.rows(table, o))
		return nil, figures.Verdict{}, all
	}
	j, err := d.fit(ctx, &source.Data{Table: table, Argument: table.Path, Options: o}, f, true)
	switch {
	case err == nil:
	case usage.Mistake(err):
		return nil, figures.Verdict{}, usage.All(err, d.rows(table, o))
	default:
		return nil, figures.Verdict{}, err
	}
	verdict, err := j.Foretell(ctx, true) // which parses every row
	if err == nil || !usage.Mistake(err) {
		return j, verdict, err
	}
	// The bytes are enough to ask the ledger.
	if _, refused := j.Foretell(ctx, false); errors.Is(refused, ledger.ErrRefused) {
		err = usage.All(err, refused)
	}
	return nil, verdict, err
}

// alone are the mistakes in f that need no table.
func (f *Fit) alone() error { return f.beside(nil, nil) }

// beside are the mistakes in f where some columns of the table are faulty.
func (f *Fit) beside(t *source.Table, faulty map[string]bool) error {
	f.complete()
	in, err := f.input()
	if in.Epsilon != "" {
		err = usage.All(err, workflow.Amounts(in.Epsilon, in.Delta))
	}
	if t == nil || faulty[in.Target] {
		return err
	}
	return usage.All(workflow.CheckTarget(t.Schema, in.Target), err)
}

// rows are the faults of the file under what is sound of its schema.
func (d *Desk) rows(t *source.Table, o source.Options) error {
	bad, err := o.Rule()
	if err != nil || source.VectorColumn(t.Schema) >= 0 {
		return err
	}
	return t.Each(bad, func([]float64) error { return nil })
}
