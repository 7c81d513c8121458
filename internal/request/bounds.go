package request

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
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/internal/usage"
	"pawl/reader"
	"pawl/workflow"
)

// Bounds asks for bounds of numeric columns that are bought from the rows.
type Bounds struct {
	Epsilon, Delta string // decimals; "" asks for the delta of the budget
	// Unit is "row", or the column that identifies whom the bounds protect, with at most
	// RowsPerUnit rows each.
	Unit        string
	RowsPerUnit int
	// Columns are names with commas between them, "" for all.
	Columns string
	// Total is the budget that a first use grants, "" for none.
	Total string
	// File says how a file of text is written.
	File    schema.File
	Updated bool // the bytes changed on purpose
	Copies  source.Copies
}

// Check refuses a request that lacks what has no default, before anything is opened.
func (f *Bounds) Check() error {
	if f.Epsilon == "" {
		return usage.New("missing --epsilon: bounds that are read from rows cost privacy", "example: --infer-bounds --epsilon 0.1")
	}
	if f.Unit == "" {
		return usage.New("missing --unit: whose data do the bounds protect?",
			"use --unit row if every row is a different person; otherwise --unit COLUMN, which identifies the person, with --rows-per-unit N")
	}
	return nil
}

// Names are those of --columns, each once.
func (f *Bounds) Names() ([]string, error) {
	if f.Columns == "" {
		return nil, nil
	}
	var names []string
	for _, n := range strings.Split(f.Columns, ",") {
		switch n = strings.TrimSpace(n); {
		case n == "":
			return nil, usage.New("--columns: a name is empty", "example: --columns age,ward,ill")
		case slices.Contains(names, n):
			return nil, usage.New(fmt.Sprintf("--columns lists %q twice", n), "list every column once")
		}
		names = append(names, n)
	}
	return names, nil
}

// BoundsView is what was bought, as JSON says it.
type BoundsView struct {
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
	Bounds   []BoundView `json:"bounds"`
	Warnings []string    `json:"warnings"`
	Text     []byte      `json:"-"` // the schema to write
	Dearer   string      `json:"-"` // what the charge does to later ones, or ""; noted before it
	mark     string      // of seeded runs on the data set, or ""
}

// BoundView is the bounds of one column.
type BoundView struct {
	Name   string   `json:"name"`
	Lower  *float64 `json:"lower"` // null where none was found
	Upper  *float64 `json:"upper"`
	Method string   `json:"method,omitempty"`
}

// Bounds buys bounds of numeric columns of a file and lays out a schema with them, to be written
// at path. The rows are sealed until the charge is booked; where the ledger does not confirm it,
// the schema is held back.
func (d *Desk) Bounds(ctx context.Context, file, name, path string, content *reader.Content, f *Bounds) (*BoundsView, error) {
	l := d.Ledger
	declared, header, err := f.declare(file, name, content)
	if err != nil {
		return nil, err
	}
	if err := f.budgeted(ctx, l, declared, content); err != nil {
		return nil, err
	}
	plan, err := workflow.NewBoundsPlan(workflow.BoundsInput{Dataset: name, Schema: declared, Epsilon: f.Epsilon, Delta: f.Delta})
	if err != nil {
		return nil, err
	}
	if err := writable(path); err != nil {
		return nil, err
	}
	env := workflow.Env{Ledger: l, Updated: f.Updated}
	key, err := source.ScopeKey(ctx, l, name, declared, nil)
	if err != nil {
		return nil, err
	}
	in := intake.NewBuilder(key, declared)
	// A cell that is no number is unknown, so that no row decides whether there are bounds.
	o := reader.Options{BadRows: reader.Default, Note: d.Note}
	printKey, err := l.PrintKey(ctx)
	if err != nil {
		return nil, err
	}
	w := source.NewWatcher(printKey, nil, &o)
	if err := reader.ReadFrom(file, content.Reader(), declared, o, in.Add); err != nil {
		w.End(err)
		return nil, err
	}
	prints := w.End(nil)
	in.Print(prints...)
	env.Rows = in.Seal()
	if env.Different, err = f.Copies.Recognise(ctx, l, source.Found{Path: file, Name: name, Prints: prints}); err != nil {
		return nil, err
	}
	if env.Digest, err = l.Digest(ctx, content.Reader()); err != nil {
		return nil, err
	}
	foreseen, err := plan.Foretell(ctx, env)
	if err != nil && !errors.Is(err, ledger.ErrRefused) {
		return nil, err
	}
	if foreseen.Dearer != nil && d.Note != nil {
		d.Note(foreseen.Dearer.String())
	}
	out, err := plan.Release(ctx, env)
	if err != nil && !errors.As(err, new(*workflow.UnconfirmedError)) {
		return nil, err
	}
	doubt := cmp.Or(err, out.Confirm(ctx, l))
	v, err := viewBounds(path, header, plan, declared, out)
	if err != nil {
		return nil, errors.Join(doubt, err)
	}
	if v.mark, err = workflow.SeededMark(ctx, l, name); err != nil && doubt == nil {
		return nil, err
	}
	if v.mark != "" {
		v.Warnings = append(v.Warnings, v.mark)
	}
	v.Text = schema.WithFile(schema.BoundsTemplate(name, header, f.Unit, f.RowsPerUnit, v.remark(), released(out, v)), f.File)
	if doubt != nil {
		return nil, d.holdBounds(out, path, v.Text, f, doubt)
	}
	if foreseen.Dearer != nil {
		v.Dearer = foreseen.Dearer.String()
	}
	return v, nil
}

// holdBounds holds back a schema with the bounds that were bought.
func (d *Desk) holdBounds(out *workflow.BoundsOutcome, path string, text []byte, f *Bounds, doubt error) error {
	safe, err := d.Safe()
	if err != nil {
		return errors.Join(doubt, err)
	}
	return out.Hold(filepath.Dir(path), time.Now(), f.Epsilon, f.Delta, map[string][]byte{filepath.Base(path): text}, safe, doubt)
}

// declare is the schema under which numbers are read: without bounds.
func (f *Bounds) declare(file, name string, content *reader.Content) (*schema.Schema, []string, error) {
	names, err := f.Names()
	if err != nil {
		return nil, nil, err
	}
	keys := reader.Keys{Names: names, File: f.File} // of JSON lines: what else is in a row is passed over
	if f.Unit != "row" && !slices.Contains(names, f.Unit) {
		keys.Names = append([]string{f.Unit}, names...)
	}
	c, err := reader.NewRecords(file, content.Reader(), keys)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	header := c.Header()
	if f.Unit != "row" && !slices.Contains(header, f.Unit) {
		return nil, nil, usage.New(fmt.Sprintf("--unit: the file has no column %q", f.Unit), nearestAdvice(f.Unit, header))
	}
	switch {
	case f.Unit == "row" && f.RowsPerUnit != 0:
		return nil, nil, usage.New("--rows-per-unit needs --unit COLUMN", "leave it out if every row is one person")
	case f.Unit != "row" && f.RowsPerUnit < 1:
		return nil, nil, usage.New("--unit needs --rows-per-unit, the maximum number of rows kept per unit", "example: --unit patient_id --rows-per-unit 5")
	}
	numeric := map[string]bool{}
	if f.Columns == "" {
		for _, h := range header {
			numeric[h] = h != f.Unit
		}
	} else {
		for _, n := range names {
			if n == f.Unit && reader.JSONNamed(file) {
				continue // named as a column of the schema
			}
			if n == f.Unit || !slices.Contains(header, n) {
				return nil, nil, usage.New(fmt.Sprintf("--columns: %q is not a column that can have bounds", n), nearestAdvice(n, header))
			}
			numeric[n] = true
		}
	}
	s, err := schema.WideOpen(name, header, f.Unit, f.RowsPerUnit, numeric)
	if err != nil {
		return nil, nil, err
	}
	s.File = f.File
	return s, header, nil
}

func nearestAdvice(name string, among []string) string {
	if near := schema.Nearest(name, among); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// budgeted refuses to let a first use grant itself what bounds cost: nothing would be
// left for a model; --budget grants what also holds the rest. The budget's own delta is the
// default: entries of pure epsilon add up to more than they cost alone. What else the ledger
// would refuse comes first: a budget does not mend that.
func (f *Bounds) budgeted(ctx context.Context, l *ledger.Ledger, declared *schema.Schema, content *reader.Content) error {
	name := declared.Dataset
	_, delta, limited, err := l.Limit(ctx, name)
	if err == nil && f.Delta == "" {
		if f.Delta = delta.String(); !limited {
			f.Delta = "0"
		}
	}
	if !errors.Is(err, ledger.ErrUnknownDataset) {
		return err
	}
	if f.Total != "" {
		f.Delta = cmp.Or(f.Delta, ledger.UsualDelta)
		return nil
	}
	plan, err := workflow.NewBoundsPlan(workflow.BoundsInput{Dataset: name, Schema: declared, Epsilon: f.Epsilon, Delta: cmp.Or(f.Delta, "0")})
	if err != nil {
		return err
	}
	env := workflow.Env{Ledger: l, Updated: f.Updated}
	if env.Digest, err = l.Digest(ctx, content.Reader()); err != nil {
		return err
	}
	if _, err := plan.Foretell(ctx, env); err != nil && !ledger.NoBudget(err) {
		return err
	}
	epsilon := f.Epsilon
	return usage.New(fmt.Sprintf("data set %q has no budget: the bounds would use all of it", name),
		fmt.Sprintf("grant one that covers later jobs too: --budget TOTAL, of which the bounds take %s; or pawl ledger create %s --epsilon TOTAL --delta DELTA", epsilon, usage.Shell(name)))
}

// writable tries the folder of a file before anything is charged.
func writable(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".pawl-")
	if err != nil {
		return usage.New(fmt.Sprintf("%s cannot be written", path), "choose another file with --out")
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func viewBounds(path string, header []string, plan *workflow.BoundsPlan, s *schema.Schema, out *workflow.BoundsOutcome) (*BoundsView, error) {
	v := &BoundsView{Schema: path, Columns: header, Entry: out.Receipt.ID, Warnings: append([]string{}, plan.Warnings()...)}
	p := &v.Privacy
	event, err := dp.Stated{Event: plan.Event, Relation: dp.AddOrRemoveOne, Unit: s.Unit.Name}.Encode()
	if err != nil {
		return nil, err
	}
	p.Epsilon, p.Delta, p.Relation, p.Unit = plan.Price.Epsilon, plan.Delta(), dp.AddOrRemoveOne.String(), s.Unit.Name
	p.Accountant, p.Events = string(plan.Price.Method), []json.RawMessage{event}
	var blank []string
	for _, b := range out.Columns {
		one := BoundView{Name: b.Name}
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

func (v *BoundsView) cost() string {
	return fmt.Sprintf("ledger entry %s, epsilon %s at delta %s, %s, unit %s", v.Entry, sixDigits(v.Privacy.Epsilon), sixDigits(v.Privacy.Delta), v.Privacy.Relation, v.Privacy.Unit)
}

func (v *BoundsView) remark() string {
	text := "Bounds below were released by DP quantiles (" + v.cost() + "). They are not exact, and values beyond them are clipped."
	if v.mark != "" {
		text += " " + v.mark + "."
	}
	return text
}

func released(out *workflow.BoundsOutcome, v *BoundsView) map[string]schema.ReleasedBounds {
	found := map[string]schema.ReleasedBounds{}
	for i, b := range out.Columns {
		if b.Found {
			found[b.Name] = schema.ReleasedBounds{Lower: b.Lower, Upper: b.Upper, HeavyTailed: b.HeavyTailed,
				Why: v.Bounds[i].Method + ", not exact: " + v.cost()}
		}
	}
	return found
}

// Table writes the bounds for a person, with what they cost.
func (v *BoundsView) Table(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintln(&b, v.Schema)
	t := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "  column\tlower\tupper\tby")
	for _, c := range v.Bounds {
		if c.Lower == nil {
			fmt.Fprintf(t, "  %s\t–\t–\t\n", c.Name)
			continue
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", c.Name, exact(*c.Lower), exact(*c.Upper), c.Method)
	}
	t.Flush()
	fmt.Fprintf(&b, "charged: %s\n", v.cost())
	_, err := w.Write(b.Bytes())
	return err
}

func sixDigits(x float64) string { return fmt.Sprintf("%.6g", x) }

func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
