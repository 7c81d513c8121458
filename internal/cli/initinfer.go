package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"pawl/data/source"
	"pawl/data/table"
	"pawl/internal/request"
	"pawl/internal/usage"
)

// inferFlags ask for a schema that is bought from the rows.
type inferFlags struct {
	infer, bounds, yes bool
	released           string // a file of what was released before
	request.Infer
}

// given says whether a flag that means something to --infer only was used.
func (f *inferFlags) given(total string) string {
	return cmp.Or(usage.Given(total != "", "--budget"), usage.Given(f.Epsilon != "", "--epsilon"), usage.Given(f.Delta != "", "--delta"), usage.Given(f.Unit != "", "--unit"),
		usage.Given(f.RowsPerUnit != 0, "--rows-per-unit"), usage.Given(f.Rows != "", "--rows"), usage.Given(f.Units != "", "--units"), usage.Given(f.Updated, "--updated"),
		usage.Given(f.Columns != "", "--columns"), usage.Given(f.Numbers != "", "--numbers"), usage.Given(f.Ignore != "", "--ignore"), usage.Given(f.Target != "", "--target"),
		usage.Given(f.yes, "--yes"), usage.Given(f.Copies.SameAs != "", "--same-as"), usage.Given(f.Copies.Different, "--different"), usage.Given(f.Copies.Reason != "", "--reason"))
}

// buySchema buys a schema and writes it, and beside it all that was released.
func buySchema(ctx context.Context, a *app, file, name string, f *initFlags) error {
	b := &f.bought.Infer
	if b.BoundsOnly = f.bought.bounds; b.BoundsOnly {
		a.note("--infer-bounds is now part of --infer, which finds categories and missing rates too; it will be removed in the next release")
	}
	if err := b.Check(); err != nil {
		return err
	}
	l, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
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
	b.Total, b.Agree = a.ledger.total, func(ctx context.Context, forecast *request.InferForecast) error {
		for _, line := range forecast.Notes() {
			a.note(line)
		}
		if f.bought.yes {
			return nil
		}
		return agreeToInfer(ctx, a, forecast)
	}
	if err := a.bind(ctx); err != nil {
		return err
	}
	d := a.desk(l)
	d.Safe = a.safe
	v, err := d.Infer(ctx, content.Name(), name, f.out, content, b)
	if err != nil {
		return err
	}
	// It is paid for, and shown even where it cannot be written.
	put := func(text []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(text); return err }
	}
	var failed, lost error
	if v.Schema, failed = request.WritePaid(a.note, f.out, f.force, put(v.Text)); failed != nil {
		failed = fmt.Errorf("the schema was charged and is shown, but could not be written: %w", failed)
	}
	if v.Released, lost = request.WritePaid(a.note, request.ReleasedFile(v.Schema), f.force, put(v.Whole)); lost != nil {
		lost = fmt.Errorf("all that was released was charged and is shown, but could not be written: %w", lost)
		fmt.Fprintf(a.err, "%s\n", v.Whole)
	}
	if failed != nil {
		fmt.Fprintf(a.err, "%s", v.Text)
	}
	failed = errors.Join(failed, lost)
	for _, w := range v.Warnings {
		a.note(w)
	}
	if v.Dearer != "" {
		v.Warnings = append(v.Warnings, v.Dearer) // said before the charge
	}
	if failed == nil {
		lookThrough(a, v.Schema, file, b.Target)
	}
	return errors.Join(failed, a.print(v, v.Table))
}

// schemaAgain makes a schema of what was released before.
func schemaAgain(a *app, file string, columns []string, f *initFlags) error {
	text, err := table.ReadFile(f.bought.released)
	if err != nil {
		return err
	}
	v, err := request.Again(f.bought.released, text, columns, f.out, f.bought.Target)
	if err != nil {
		return err
	}
	if err := writeFile(f.out, f.force, func(w io.Writer) error { _, err := w.Write(v.Text); return err }); err != nil {
		return err
	}
	for _, w := range v.Warnings {
		a.note(w)
	}
	lookThrough(a, f.out, file, f.bought.Target)
	return a.print(v, v.Table)
}

// lookThrough says what comes after a schema that was bought.
func lookThrough(a *app, schema, file, target string) {
	fmt.Fprintf(a.err, "next: review %s, then: pawl check %s --schema %s --target %s --epsilon 1\n", shell(schema), shell(table.Shown(file)), shell(schema), shell(cmp.Or(target, "COLUMN")))
}

// agreeToInfer asks whether a forecast is worth its price. Where nobody can be asked, --yes says so.
func agreeToInfer(ctx context.Context, a *app, f *request.InferForecast) error {
	if !a.interactive() {
		return mistake("nothing was charged: the forecast above is what epsilon "+f.Epsilon+" buys, and no confirmation was given", "add --yes to buy it")
	}
	answer, err := askLine(ctx, a, bufio.NewReader(a.in), fmt.Sprintf("Charge epsilon %s to %s for this? yes or no: ", f.Epsilon, f.Dataset))
	if err != nil {
		return err
	}
	switch strings.ToLower(strings.Trim(answer, " .!\"'")) {
	case "yes", "y":
		return nil
	}
	return mistake("nothing was charged", "")
}
