package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/reader"
	"pawl/workflow"
)

// boundsFlags ask for bounds that are bought from the rows.
type boundsFlags struct {
	infer, updated               bool
	copies                       source.Copies
	epsilon, delta, unit, column string
	rowsPerUnit                  int
}

// given says whether a flag that means something to --infer-bounds only was used.
func (f *boundsFlags) given(total string) string {
	switch {
	case total != "":
		return "--budget"
	case f.epsilon != "":
		return "--epsilon"
	case f.delta != "":
		return "--delta"
	case f.unit != "":
		return "--unit"
	case f.rowsPerUnit != 0:
		return "--rows-per-unit"
	case f.updated:
		return "--updated"
	case f.column != "":
		return "--columns"
	case f.copies.SameAs != "":
		return "--same-as"
	case f.copies.Different:
		return "--different"
	case f.copies.Reason != "":
		return "--reason"
	}
	return ""
}

// names are those of --columns, each once.
func (f *boundsFlags) names() ([]string, error) {
	if f.column == "" {
		return nil, nil
	}
	var names []string
	for _, n := range strings.Split(f.column, ",") {
		switch n = strings.TrimSpace(n); {
		case n == "":
			return nil, &usageError{"--columns: a name is empty", "example: --columns age,ward,ill"}
		case slices.Contains(names, n):
			return nil, &usageError{fmt.Sprintf("--columns lists %q twice", n), "list every column once"}
		}
		names = append(names, n)
	}
	return names, nil
}

// boundsView is the answer as --json prints it.
type boundsView struct {
	Schema  string   `json:"schema"`
	Columns []string `json:"columns"`
	Privacy struct {
		Epsilon    float64           `json:"epsilon"`
		Delta      float64           `json:"delta"`
		Relation   string            `json:"relation"`
		Unit       string            `json:"unit"`
		Accountant string            `json:"accountant"`
		Events     []json.RawMessage `json:"events"`
	} `json:"privacy"`
	Entry    string      `json:"entry"`
	Bounds   []boundView `json:"bounds"`
	Warnings []string    `json:"warnings"`
	mark     string      // of seeded runs on the data set, or ""
}

type boundView struct {
	Name   string   `json:"name"`
	Lower  *float64 `json:"lower"` // null where none was found
	Upper  *float64 `json:"upper"`
	Method string   `json:"method,omitempty"`
}

// inferBounds buys bounds of numeric columns and writes them into a schema.
func (a *app) inferBounds(ctx context.Context, file, name string, f *initFlags) error {
	b := &f.bounds
	if b.epsilon == "" {
		return &usageError{"missing --epsilon: bounds that are read from rows cost privacy", "example: --infer-bounds --epsilon 0.1"}
	}
	if b.unit == "" {
		return &usageError{"missing --unit: whose data do the bounds protect?",
			"use --unit row if every row is a different person; otherwise --unit COLUMN, which identifies the person, with --rows-per-unit N"}
	}
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := source.OwnName(file, name, "rename the file: its name is the name of the data set"); err != nil {
		return err
	}
	if err := b.copies.Rename(ctx, l, file, false, &name, &b.updated); err != nil {
		return err
	}
	content, err := source.ReadFile(file)
	if err != nil {
		return err
	}
	declared, header, err := b.declare(file, name, content)
	if err != nil {
		return err
	}
	if err := b.budgeted(ctx, l, declared, content, a.total); err != nil {
		return err
	}
	plan, err := workflow.NewBoundsPlan(workflow.BoundsInput{Dataset: name, Schema: declared, Epsilon: b.epsilon, Delta: b.delta})
	if err != nil {
		return err
	}
	if err := writable(f.out); err != nil {
		return err
	}
	env := workflow.Env{Ledger: l, Updated: b.updated}
	key, err := source.ScopeKey(ctx, l, name, declared, nil)
	if err != nil {
		return err
	}
	in := intake.NewBuilder(key, declared)
	// A cell that is no number is unknown, so that no row decides whether there are bounds.
	o := reader.Options{BadRows: reader.Default, Note: a.note}
	printKey, err := l.PrintKey(ctx)
	if err != nil {
		return err
	}
	w := source.NewWatcher(printKey, nil, &o)
	if err := reader.ReadFrom(file, bytes.NewReader(content), declared, o, in.Add); err != nil {
		w.End(err)
		return err
	}
	prints := w.End(nil)
	in.Print(prints...)
	env.Rows = in.Seal()
	if env.Different, err = b.copies.Recognise(ctx, l, source.Found{Path: file, Name: name, Prints: prints}); err != nil {
		return err
	}
	if env.Digest, err = l.Digest(ctx, bytes.NewReader(content)); err != nil {
		return err
	}
	foreseen, err := plan.Foretell(ctx, env)
	if err != nil && !errors.Is(err, ledger.ErrRefused) {
		return err
	}
	if foreseen.Dearer != nil {
		a.note(foreseen.Dearer.String())
	}
	out, err := plan.Release(ctx, env)
	if err != nil && !isDoubt(err) {
		return err
	}
	doubt := cmp.Or(err, out.Confirm(ctx, l))
	v, err := viewBounds(f.out, header, plan, declared, out)
	if err != nil {
		return errors.Join(doubt, err)
	}
	if v.mark, err = workflow.SeededMark(ctx, l, name); err != nil && doubt == nil {
		return err
	}
	if v.mark != "" {
		v.Warnings = append(v.Warnings, v.mark)
	}
	text := schema.BoundsTemplate(name, header, b.unit, b.rowsPerUnit, v.remark(), released(out, v))
	if doubt != nil {
		return a.holdBounds(out, f.out, text, b, doubt)
	}
	// The bounds are paid for, and shown even where the schema cannot be written.
	var failed error
	if v.Schema, failed = a.writePaid(f.out, f.force, func(w io.Writer) error { _, err := w.Write(text); return err }); failed != nil {
		failed = fmt.Errorf("the bounds were charged and are shown, but the schema could not be written: %w", failed)
	}
	for _, w := range v.Warnings {
		a.note(w)
	}
	if foreseen.Dearer != nil {
		v.Warnings = append(v.Warnings, foreseen.Dearer.String()) // said before the charge
	}
	if failed == nil {
		fmt.Fprintf(a.err, "next: fill in the blanks in %s, then: pawl check %s --schema %s --target COLUMN --epsilon 1\n", shell(v.Schema), shell(file), shell(v.Schema))
	}
	if a.json {
		return errors.Join(failed, writeJSON(a.out, v))
	}
	return errors.Join(failed, v.text(a.out))
}

// declare is the schema under which numbers are read: without bounds.
func (f *boundsFlags) declare(file, name string, content []byte) (*schema.Schema, []string, error) {
	names, err := f.names()
	if err != nil {
		return nil, nil, err
	}
	keys := reader.Keys{Names: names} // of JSON lines: what else is in a row is passed over
	if f.unit != "row" && !slices.Contains(names, f.unit) {
		keys.Names = append([]string{f.unit}, names...)
	}
	c, err := reader.NewRecords(file, bytes.NewReader(content), keys)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	header := c.Header()
	if f.unit != "row" && !slices.Contains(header, f.unit) {
		return nil, nil, &usageError{fmt.Sprintf("--unit: the file has no column %q", f.unit), nearestAdvice(f.unit, header)}
	}
	switch {
	case f.unit == "row" && f.rowsPerUnit != 0:
		return nil, nil, &usageError{"--rows-per-unit needs --unit COLUMN", "leave it out if every row is one person"}
	case f.unit != "row" && f.rowsPerUnit < 1:
		return nil, nil, &usageError{"--unit needs --rows-per-unit, the maximum number of rows kept per unit", "example: --unit patient_id --rows-per-unit 5"}
	}
	numeric := map[string]bool{}
	if f.column == "" {
		for _, h := range header {
			numeric[h] = h != f.unit
		}
	} else {
		for _, n := range names {
			if n == f.unit && reader.JSONNamed(file) {
				continue // named as a column of the schema
			}
			if n == f.unit || !slices.Contains(header, n) {
				return nil, nil, &usageError{fmt.Sprintf("--columns: %q is not a column that can have bounds", n), nearestAdvice(n, header)}
			}
			numeric[n] = true
		}
	}
	s, err := schema.WideOpen(name, header, f.unit, f.rowsPerUnit, numeric)
	return s, header, err
}

func nearestAdvice(name string, among []string) string {
	if near := schema.Nearest(name, among); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// budgeted refuses to let a first use grant itself what bounds cost: nothing would be
// left for a model; --budget grants what also holds the rest. The budget's own delta is the default: entries of pure epsilon add
// up to more than they cost alone. What else the ledger would refuse comes first: a
// budget does not mend that.
func (f *boundsFlags) budgeted(ctx context.Context, l *ledger.Ledger, declared *schema.Schema, content []byte, total string) error {
	name := declared.Dataset
	_, delta, limited, err := l.Limit(ctx, name)
	if err == nil && f.delta == "" {
		if f.delta = delta.String(); !limited {
			f.delta = "0"
		}
	}
	if !errors.Is(err, ledger.ErrUnknownDataset) {
		return err
	}
	if total != "" {
		f.delta = cmp.Or(f.delta, ledger.UsualDelta)
		return nil
	}
	plan, err := workflow.NewBoundsPlan(workflow.BoundsInput{Dataset: name, Schema: declared, Epsilon: f.epsilon, Delta: cmp.Or(f.delta, "0")})
	if err != nil {
		return err
	}
	env := workflow.Env{Ledger: l, Updated: f.updated}
	if env.Digest, err = l.Digest(ctx, bytes.NewReader(content)); err != nil {
		return err
	}
	if _, err := plan.Foretell(ctx, env); err != nil && !ledger.NoBudget(err) {
		return err
	}
	epsilon := f.epsilon
	return &usageError{fmt.Sprintf("data set %q has no budget: the bounds would use all of it", name),
		fmt.Sprintf("grant one that covers later jobs too: --budget TOTAL, of which the bounds take %s; or pawl ledger create %s --epsilon TOTAL --delta DELTA", epsilon, shell(name))}
}

// writable tries the folder of a file before anything is charged.
func writable(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".pawl-")
	if err != nil {
		return &usageError{fmt.Sprintf("%s cannot be written", path), "choose another file with --out"}
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func viewBounds(path string, header []string, plan *workflow.BoundsPlan, s *schema.Schema, out *workflow.BoundsOutcome) (*boundsView, error) {
	v := &boundsView{Schema: path, Columns: header, Entry: out.Receipt.ID, Warnings: append([]string{}, plan.Warnings()...)}
	p := &v.Privacy
	event, err := dp.Stated{Event: plan.Event, Relation: dp.AddOrRemoveOne, Unit: s.Unit.Name}.Encode()
	if err != nil {
		return nil, err
	}
	p.Epsilon, p.Delta, p.Relation, p.Unit = plan.Price.Epsilon, plan.Delta(), dp.AddOrRemoveOne.String(), s.Unit.Name
	p.Accountant, p.Events = string(plan.Price.Method), []json.RawMessage{event}
	var blank []string
	for _, b := range out.Columns {
		one := boundView{Name: b.Name}
		if b.Found {
			one.Lower, one.Upper = &b.Lower, &b.Upper
			one.Method = fmt.Sprintf("DP quantiles %g%% and %g%%", 100*b.Low, 100*b.High)
		} else {
			blank = append(blank, b.Name)
		}
		v.Bounds = append(v.Bounds, one)
	}
	if len(blank) > 0 {
		v.Warnings = append(v.Warnings, "no bounds for "+strings.Join(blank, ", ")+": most cells are not numbers, nearly all are the same number, or the noise hides them; use fewer columns (--columns), more epsilon or more rows")
	}
	return v, nil
}

func (v *boundsView) cost() string {
	return fmt.Sprintf("ledger entry %s, epsilon %s at delta %s, %s, unit %s", v.Entry, number(v.Privacy.Epsilon), number(v.Privacy.Delta), v.Privacy.Relation, v.Privacy.Unit)
}

func (v *boundsView) remark() string {
	text := "Bounds below were released by DP quantiles (" + v.cost() + "). They are not exact, and values beyond them are clipped."
	if v.mark != "" {
		text += " " + v.mark + "."
	}
	return text
}

func released(out *workflow.BoundsOutcome, v *boundsView) map[string]schema.ReleasedBounds {
	found := map[string]schema.ReleasedBounds{}
	for i, b := range out.Columns {
		if b.Found {
			found[b.Name] = schema.ReleasedBounds{Lower: b.Lower, Upper: b.Upper, HeavyTailed: b.HeavyTailed,
				Why: v.Bounds[i].Method + ", not exact: " + v.cost()}
		}
	}
	return found
}

func (v *boundsView) text(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintln(&b, v.Schema)
	t := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "  column\tlower\tupper\tby")
	for _, c := range v.Bounds {
		if c.Lower == nil {
			fmt.Fprintf(t, "  %s\t–\t–\t\n", c.Name)
			continue
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", c.Name, shortNumber(*c.Lower), shortNumber(*c.Upper), c.Method)
	}
	t.Flush()
	fmt.Fprintf(&b, "charged: %s\n", v.cost())
	_, err := w.Write(b.Bytes())
	return err
}
