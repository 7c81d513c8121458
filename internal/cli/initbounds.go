package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"pawl/data/source"
	"pawl/data/table"
	"pawl/internal/request"
)

// boundsFlags ask for bounds that are bought from the rows.
type boundsFlags struct {
	infer bool
	request.Bounds
}

// given says whether a flag that means something to --infer-bounds only was used.
func (f *boundsFlags) given(total string) string {
	switch {
	case total != "":
		return "--budget"
	case f.Epsilon != "":
		return "--epsilon"
	case f.Delta != "":
		return "--delta"
	case f.Unit != "":
		return "--unit"
	case f.RowsPerUnit != 0:
		return "--rows-per-unit"
	case f.Updated:
		return "--updated"
	case f.Columns != "":
		return "--columns"
	case f.Copies.SameAs != "":
		return "--same-as"
	case f.Copies.Different:
		return "--different"
	case f.Copies.Reason != "":
		return "--reason"
	}
	return ""
}

// inferBounds buys bounds of numeric columns and writes them into a schema.
func (a *app) inferBounds(ctx context.Context, file, name string, f *initFlags) error {
	b := &f.bounds
	if err := b.Check(); err != nil {
		return err
	}
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := source.OwnName(table.Shown(file), name, "rename the file: its name is the name of the data set"); err != nil {
		return err
	}
	if err := b.Copies.Rename(ctx, l, table.Shown(file), false, &name, &b.Updated); err != nil {
		return err
	}
	content, err := table.Read(file)
	if err != nil {
		return err
	}
	b.Total = a.total
	d := a.desk(l)
	d.Safe = a.safe
	v, err := d.Bounds(ctx, content.Name(), name, f.out, content, &b.Bounds)
	if err != nil {
		return err
	}
	// The bounds are paid for, and shown even where the schema cannot be written.
	var failed error
	if v.Schema, failed = a.writePaid(f.out, f.force, func(w io.Writer) error { _, err := w.Write(v.Text); return err }); failed != nil {
		failed = fmt.Errorf("the bounds were charged and are shown, but the schema could not be written: %w", failed)
	}
	for _, w := range v.Warnings {
		a.note(w)
	}
	if v.Dearer != "" {
		v.Warnings = append(v.Warnings, v.Dearer) // said before the charge
	}
	if failed == nil {
		fmt.Fprintf(a.err, "next: fill in the blanks in %s, then: pawl check %s --schema %s --target COLUMN --epsilon 1\n", shell(v.Schema), shell(table.Shown(file)), shell(v.Schema))
	}
	if a.json {
		return errors.Join(failed, writeJSON(a.out, v))
	}
	return errors.Join(failed, v.Table(a.out))
}
