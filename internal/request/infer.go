package request

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/infer"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/internal/usage"
	"pawl/reader"
	"pawl/workflow"
)

// Infer asks for a schema that is bought from the rows.
type Infer struct {
	Epsilon, Delta string // decimals; "" asks for the delta of the budget
	// Unit is "row", or the column that identifies whom the schema protects, with at most
	// RowsPerUnit rows each.
	Unit        string
	RowsPerUnit int
	// Rows is about how many rows there are: "about N" or N; Units about how many units, "" where each
	// is taken to have all its rows.
	Rows, Units string
	// Columns are names with commas between them, "" for all. Numbers are those that hold numbers,
	// whose levels are not looked at, Ignore those that nothing is asked of.
	Columns, Numbers, Ignore string
	// Target is the column to be predicted, "" for none: its categories are all that there are.
	Target string
	// BoundsOnly looks at the levels of no column.
	BoundsOnly bool
	// Total is the budget that a first use grants, "" for none.
	Total string
	// File says how a file of text is written.
	File    schema.File
	Updated bool // the bytes changed on purpose
	Copies  source.Copies
	// Agree is shown the forecast before anything is charged; an error ends the request.
	Agree func(context.Context, *InferForecast) error

	rows, units int64
}

// Check refuses a request that lacks what has no default, before anything is opened.
func (f *Infer) Check() (err error) {
	if f.Epsilon == "" {
		return usage.New("missing --epsilon: what is read from rows costs privacy", "example: --infer --epsilon 0.3")
	}
	if f.Unit == "" {
		return usage.New("missing --unit: whose data must be protected?",
			"use --unit row if every row is a different person; otherwise --unit COLUMN, which identifies the person, with --rows-per-unit N")
	}
	switch {
	case f.Rows == "" && f.BoundsOnly: // asked in the old way, without a forecast
		return nil
	case f.Rows == "":
		return usage.New("missing --rows: about how many rows has the table?", "example: --rows 'about 7000'; the forecast needs it")
	}
	if f.rows, err = about("--rows", f.Rows); err != nil {
		return err
	}
	if f.Units != "" {
		if f.Unit == "row" {
			return usage.New("--units needs --unit COLUMN", "leave it out: every row is one person")
		}
		if f.units, err = about("--units", f.Units); err != nil {
			return err
		}
	}
	return nil
}

func about(flag, text string) (int64, error) {
	digits := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "about"))
	n, err := strconv.ParseInt(strings.Trim(digits, "- "), 10, 64)
	if err != nil || n < 1 || n > 1<<40 {
		return 0, usage.New(fmt.Sprintf("%s: not a number of rows", flag), fmt.Sprintf("example: %s 'about 7000'", flag))
	}
	return n, nil
}

// Names are those of --columns, each once.
func (f *Infer) Names() ([]string, error) { return listed("--columns", f.Columns) }

func listed(flag, text string) (names []string, err error) {
	if text == "" {
		return nil, nil
	}
	for _, n := range strings.Split(text, ",") {
		switch n = strings.TrimSpace(n); {
		case n == "":
			return nil, usage.New(flag+": a name is empty", "example: "+flag+" age,ward,ill")
		case slices.Contains(names, n):
			return nil, usage.New(fmt.Sprintf("%s lists %q twice", flag, n), "list every column once")
		}
		names = append(names, n)
	}
	return names, nil
}

// InferForecast is what is said before the charge: public facts alone.
type InferForecast struct {
	Dataset string `json:"dataset"`
	Epsilon string `json:"epsilon"`
	Delta   string `json:"delta"`
	// Columns are those that are looked at, Free those that cost nothing.
	Columns []string       `json:"columns"`
	Free    []string       `json:"free"`
	Lines   []string       `json:"lines"`
	Noise   infer.Forecast `json:"noise"`
}

// Notes say it to a person.
func (f *InferForecast) Notes() []string {
	return append([]string{fmt.Sprintf("forecast for %s, from public facts alone (epsilon %s, delta %s):", f.Dataset, f.Epsilon, f.Delta)}, f.Lines...)
}

// InferView is what was bought, as JSON says it.
type InferView struct {
	Schema   string `json:"schema"`
	Released string `json:"released"` // the file of all that was released
	Privacy  struct {
		Epsilon    float64           `json:"epsilon"`
		Delta      float64           `json:"delta"`
		Relation   string            `json:"relation"`
		Unit       string            `json:"unit"`
		Accountant string            `json:"accountant"`
		Events     []json.RawMessage `json:"events"`
	} `json:"privacy"`
	Entry    string           `json:"entry"`
	Forecast *InferForecast   `json:"forecast"`
	Columns  []InferredColumn `json:"columns"`
	Warnings []string         `json:"warnings"`
	Text     []byte           `json:"-"` // the schema to write
	Whole    []byte           `json:"-"` // all that was released, as JSON
	Dearer   string           `json:"-"` // what the charge does to later ones, or ""; noted before it
}

// InferredColumn is what came out for one column.
type InferredColumn struct {
	Name    string        `json:"name"`
	Type    string        `json:"type"`
	Lower   *float64      `json:"lower,omitempty"`
	Upper   *float64      `json:"upper,omitempty"`
	Levels  []infer.Level `json:"levels,omitempty"`
	Missing *float64      `json:"missing,omitempty"`
	Remarks []string      `json:"remarks,omitempty"`
}

// identifier matches names of columns that say of themselves that they hold identifiers.
var identifier = regexp.MustCompile(`^(?:(?i:id|uuid|guid|key|index|unnamed: 0)|.*[ _.-](?i:id|uuid|guid)|.*[a-z]I[Dd])$`)

// Infer buys a schema of a file, to be written at path. The rows are sealed until the charge is booked; where
// the ledger does not confirm it, all that was released is held back.
func (d *Desk) Infer(ctx context.Context, file, name, path string, content *reader.Content, f *Infer) (*InferView, error) {
	l := d.Ledger
	declared, asked, free, err := f.declare(file, name, content)
	if err != nil {
		return nil, err
	}
	granted, err := f.budgeted(ctx, l, declared, asked, content)
	if err != nil {
		return nil, err
	}
	plan, err := f.plan(declared, asked, granted)
	if err != nil {
		return nil, err
	}
	if err := writable(path); err != nil {
		return nil, err
	}
	forecast := f.forecast(plan, declared, asked, free)
	if f.rows > 0 && plan.Forecast.Nothing() {
		return nil, usage.New(fmt.Sprintf("nothing can be released: a level needs %.0f %s, bounds need %.0f, and there are about %.0f", plan.Forecast.Holds95(), f.persons(), plan.Forecast.Bounds(1), plan.Forecast.Units()),
			f.hopeless())
	}
	if f.Agree != nil && f.rows > 0 {
		if err := f.Agree(ctx, forecast); err != nil {
			return nil, err
		}
	}
	env := workflow.Env{Ledger: l, Updated: f.Updated}
	key, err := source.ScopeKey(ctx, l, name, declared, nil)
	if err != nil {
		return nil, err
	}
	in := intake.NewBuilder(key, declared)
	names := make([]string, len(asked))
	for i := range asked {
		names[i] = declared.File.FoundName(asked[i].Name)
	}
	in.KeepTexts(names)
	// A malformed row is passed over, so that no row decides whether there is a schema.
	o := reader.Options{BadRows: reader.Default, Note: d.Note, PassOver: true}
	printKey, err := l.PrintKey(ctx)
	if err != nil {
		return nil, err
	}
	w := source.NewWatcher(printKey, nil, &o)
	err = reader.ReadBeside(file, content.Reader(), declared, o, func() reader.Stretch {
		part := in.Part()
		return reader.Stretch{Row: part.Add, End: func() error { return in.Join(part) }}
	})
	if err != nil {
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
	mark, err := workflow.SeededMark(ctx, l, name)
	if err != nil && doubt == nil {
		return nil, err
	}
	v, err := f.view(path, plan, declared, out, forecast, free, mark)
	if err != nil {
		return nil, errors.Join(doubt, err)
	}
	if doubt != nil {
		return nil, d.holdInferred(out, v, path, f, doubt)
	}
	if foreseen.Dearer != nil {
		v.Dearer = foreseen.Dearer.String()
	}
	return v, nil
}

// holdInferred holds back a schema that was bought, and what it was made of.
func (d *Desk) holdInferred(out *workflow.InferOutcome, v *InferView, path string, f *Infer, doubt error) error {
	safe, err := d.Safe()
	if err != nil {
		return errors.Join(doubt, err)
	}
	files := map[string][]byte{filepath.Base(path): v.Text, filepath.Base(v.Released): v.Whole}
	return out.Hold(filepath.Dir(path), time.Now(), f.Epsilon, f.Delta, files, safe, doubt)
}

// persons is what units are called.
func (f *Infer) persons() string {
	if f.Unit == "row" {
		return "rows"
	}
	return "units of " + strconv.Quote(f.Unit)
}

func (f *Infer) hopeless() string {
	if f.Unit != "row" && f.Units == "" && f.RowsPerUnit > 1 {
		return fmt.Sprintf("nothing was charged. Each unit is assumed to have %d rows; if there are more units, declare them: --units 'about N'. Otherwise increase --epsilon, or fill in the schema by hand", f.RowsPerUnit)
	}
	return "nothing was charged: give more epsilon, name fewer columns with --columns, or fill in the schema by hand"
}

func (f *Infer) plan(declared *schema.Schema, asked []infer.Asked, granted float64) (*workflow.InferPlan, error) {
	plan, err := workflow.NewInferPlan(workflow.InferInput{Dataset: declared.Dataset, Schema: declared, Columns: asked, Epsilon: f.Epsilon, Delta: f.Delta, Granted: granted})
	if err != nil {
		return nil, err
	}
	plan.Forecast.Persons = f.units
	return plan, nil
}

func (f *Infer) forecast(plan *workflow.InferPlan, declared *schema.Schema, asked []infer.Asked, free map[string]string) *InferForecast {
	v := &InferForecast{Dataset: declared.Dataset, Epsilon: f.Epsilon, Delta: f.Delta, Noise: plan.Forecast, Free: []string{}}
	for _, c := range asked {
		v.Columns = append(v.Columns, c.Name)
	}
	for _, c := range declared.Columns {
		if free[c.Name] != "" {
			v.Free = append(v.Free, c.Name)
		}
	}
	v.Lines = plan.Forecast.Lines(f.persons())
	if len(v.Free) > 0 {
		v.Lines = append(v.Lines, "not used, free: "+few(v.Free, 8))
	}
	if f.RowsPerUnit > 1 && f.units == 0 {
		v.Lines = append(v.Lines, fmt.Sprintf("about %.0f units, if each has %d rows; --units declares it more exactly", plan.Forecast.Units(), f.RowsPerUnit))
	}
	return v
}

// few lists names, no more than most.
func few(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// missing are the texts that mean "missing", in a schema that nobody has written: a blank is one.
var missing = append(slices.Clone(schema.DefaultNA), " ")

// declare is the schema under which texts are read, what is asked of which columns, and why nothing is asked
// of the others.
func (f *Infer) declare(file, name string, content *reader.Content) (*schema.Schema, []infer.Asked, map[string]string, error) {
	fail := func(err error) (*schema.Schema, []infer.Asked, map[string]string, error) { return nil, nil, nil, err }
	names, err := f.Names()
	if err != nil {
		return fail(err)
	}
	keys := reader.Keys{Names: names, File: f.File} // of JSON lines: what else is in a row is passed over
	if f.Unit != "row" && !slices.Contains(names, f.Unit) {
		keys.Names = append([]string{f.Unit}, names...)
	}
	c, err := reader.NewRecords(file, content.Reader(), keys)
	if err != nil {
		return fail(err)
	}
	defer c.Close()
	header := c.Header()
	column := func(flag, n string) error {
		if n == f.Unit || !slices.Contains(header, n) {
			return usage.New(fmt.Sprintf("%s: %q is not a column that can be used", flag, n), schema.Meant(n, header, ""))
		}
		return nil
	}
	if f.Unit != "row" && !slices.Contains(header, f.Unit) {
		return fail(usage.New(fmt.Sprintf("--unit: the file has no column %q", f.Unit), schema.Meant(f.Unit, header, "")))
	}
	switch {
	case f.Unit == "row" && f.RowsPerUnit != 0:
		return fail(usage.New("--rows-per-unit needs --unit COLUMN", "leave it out if every row is one person"))
	case f.Unit != "row" && f.RowsPerUnit < 1:
		return fail(usage.New("--unit needs --rows-per-unit, the maximum number of rows per unit", "example: --unit patient_id --rows-per-unit 5"))
	}
	numbers, err := listed("--numbers", f.Numbers)
	if err != nil {
		return fail(err)
	}
	ignored, err := listed("--ignore", f.Ignore)
	if err != nil {
		return fail(err)
	}
	for flag, list := range map[string][]string{"--columns": names, "--numbers": numbers, "--ignore": ignored} {
		for _, n := range list {
			if flag == "--columns" && n == f.Unit && reader.JSONNamed(file) {
				continue // named as a column of the schema
			}
			if err := column(flag, n); err != nil {
				return fail(err)
			}
		}
	}
	if f.Target != "" {
		if err := column("--target", f.Target); err != nil {
			return fail(err)
		}
	}
	var asked []infer.Asked
	free := map[string]string{}
	for _, h := range header {
		named := slices.Contains(names, h) || slices.Contains(numbers, h) || h == f.Target
		switch {
		case h == f.Unit:
			free[h] = "the unit"
		case slices.Contains(ignored, h):
			free[h] = "--ignore"
		case len(names) > 0 && !named:
			free[h] = "not in --columns"
		case !named && identifier.MatchString(h):
			free[h] = "an identifier, by its name"
		default:
			asked = append(asked, infer.Asked{Name: h, Numbers: true, Levels: !f.BoundsOnly && !slices.Contains(numbers, h)})
		}
	}
	if len(asked) == 0 {
		return fail(usage.New("no column is left", "name some with --columns"))
	}
	s := schema.Unlooked(name, header, f.Unit, f.RowsPerUnit, f.rows, missing)
	s.File = f.File
	return s, asked, free, nil
}

// budgeted refuses to let a first use grant itself what a schema costs: nothing would be
// left for a model; --budget grants what also holds the rest. The budget's own delta is the
// default, and returned. What else the ledger would refuse comes first: a budget does not mend that.
func (f *Infer) budgeted(ctx context.Context, l *ledger.Ledger, declared *schema.Schema, asked []infer.Asked, content *reader.Content) (granted float64, err error) {
	name := declared.Dataset
	v, err := l.View(ctx, name)
	if err == nil {
		delta := ""
		if v.Granted != nil {
			delta = v.Budget().Delta.String()
			granted, _ = strconv.ParseFloat(delta, 64)
		}
		if f.Delta == "" {
			if f.Delta = ledger.UsualDelta; granted > 0 {
				f.Delta = delta
			}
		}
	}
	if !errors.Is(err, ledger.ErrUnknownDataset) {
		return granted, err
	}
	f.Delta = cmp.Or(f.Delta, ledger.UsualDelta)
	granted, _ = strconv.ParseFloat(f.Delta, 64)
	if f.Total != "" {
		return granted, nil
	}
	plan, err := f.plan(declared, asked, granted)
	if err != nil {
		return 0, err
	}
	env := workflow.Env{Ledger: l, Updated: f.Updated}
	if env.Digest, err = l.Digest(ctx, content.Reader()); err != nil {
		return 0, err
	}
	if _, err := plan.Foretell(ctx, env); err != nil && !ledger.NoBudget(err) {
		return 0, err
	}
	return 0, usage.New(fmt.Sprintf("data set %q has no budget: the schema would use all of it", name),
		fmt.Sprintf("grant one that covers later jobs too: --budget TOTAL (the schema takes %s of it); or pawl ledger create %s --epsilon TOTAL --delta DELTA", f.Epsilon, usage.Shell(name)))
}

// ReleasedFile is where all that was released lies beside a schema.
func ReleasedFile(schema string) string {
	return strings.TrimSuffix(schema, filepath.Ext(schema)) + ".released.json"
}

func (f *Infer) view(path string, plan *workflow.InferPlan, s *schema.Schema, out *workflow.InferOutcome, forecast *InferForecast, free map[string]string, mark string) (*InferView, error) {
	v := &InferView{Schema: path, Released: ReleasedFile(path), Entry: out.Receipt.ID, Forecast: forecast, Warnings: append([]string{}, plan.Warnings()...)}
	p := &v.Privacy
	event, err := dp.Stated{Event: plan.Event, Relation: dp.AddOrRemoveOne, Unit: s.Unit.Name}.Encode()
	if err != nil {
		return nil, err
	}
	p.Epsilon, p.Delta, p.Relation, p.Unit = plan.Price.Epsilon, plan.Delta(), dp.AddOrRemoveOne.String(), s.Unit.Name
	p.Accountant, p.Events = string(plan.Price.Method), []json.RawMessage{event}
	return v, f.fill(v, s, &out.Released, releasedOf{Dataset: s.Dataset, Unit: f.Unit, RowsPerUnit: f.RowsPerUnit, Rows: f.rows, File: f.File, Free: free, BoundsOnly: f.BoundsOnly, Mark: mark})
}

// releasedFile is all that was released, as the file beside a schema has it.
type releasedFile struct {
	*InferView
	Of    releasedOf     `json:"of"`
	Noise infer.Forecast `json:"noise"`
	All   []infer.Column `json:"all"`
}

// releasedOf says what was asked for.
type releasedOf struct {
	Dataset     string            `json:"dataset"`
	Unit        string            `json:"unit"`
	RowsPerUnit int               `json:"rows_per_unit,omitempty"`
	Rows        int64             `json:"rows,omitempty"`
	File        schema.File       `json:"file"`
	Columns     []string          `json:"columns"`
	Free        map[string]string `json:"free"`
	BoundsOnly  bool              `json:"bounds_only,omitempty"`
	Mark        string            `json:"mark,omitempty"` // of seeded runs on the data set
}

// Again makes a schema, to be written at path, from what was released before, in a file of that name and
// text, for a table with these columns. It costs nothing: no row is read.
func Again(name string, text []byte, header []string, path, target string) (*InferView, error) {
	bad := func(why string) (*InferView, error) {
		return nil, usage.New(fmt.Sprintf("%s: %s", name, why), "it must be the file that pawl init --infer wrote beside its schema, for the same table")
	}
	var r releasedFile
	if err := json.Unmarshal(text, &r); err != nil || r.InferView == nil || len(r.All) == 0 || r.Of.Unit == "" {
		return bad("no release of pawl init --infer")
	}
	if !slices.Equal(r.Of.Columns, header) {
		return bad("its columns are not those of the table")
	}
	if target != "" && !slices.ContainsFunc(r.All, func(c infer.Column) bool { return c.Name == target }) {
		return nil, usage.New(fmt.Sprintf("--target: nothing was released of %q", target), schema.Meant(target, header, ""))
	}
	for _, c := range r.All {
		if len(c.Bins) != 0 && len(c.Bins) != infer.Size() {
			return bad("bins are missing")
		}
	}
	f := &Infer{Unit: r.Of.Unit, RowsPerUnit: r.Of.RowsPerUnit, Target: target, BoundsOnly: r.Of.BoundsOnly, File: r.Of.File, rows: r.Of.Rows}
	s := schema.Unlooked(r.Of.Dataset, header, f.Unit, f.RowsPerUnit, f.rows, missing)
	s.File = f.File
	v := &InferView{Schema: path, Released: name, Privacy: r.Privacy, Entry: r.Entry, Forecast: r.Forecast, Warnings: []string{}}
	return v, f.fill(v, s, &infer.Released{Schema: s, Forecast: r.Noise, Columns: r.All}, r.Of)
}

// fill reads what was released and lays out the schema, and the file of all of it.
func (f *Infer) fill(v *InferView, s *schema.Schema, released *infer.Released, of releasedOf) (err error) {
	if of.Mark != "" {
		v.Warnings = append(v.Warnings, of.Mark)
	}
	// Before anything is read of them: the file that is written makes the same schema again.
	released.Columns = rounded(released.Columns)
	filled, blank := f.columns(v, s, released, of.Free)
	if len(blank) > 0 {
		what := "nothing was released for " + few(blank, 10) + ", and the schema ignores them: texts, identifiers, or too rare to see past the noise"
		if f.BoundsOnly {
			what = "no bounds for " + few(blank, 10) + ": most cells are not numbers, or the noise hides them; use fewer columns (--columns), more epsilon or more rows"
		} else if slices.Contains(blank, f.Target) {
			what += "; the type of the target " + strconv.Quote(f.Target) + " is left blank"
		}
		v.Warnings = append(v.Warnings, what)
	}
	if n, seen := float64(f.rows), released.Seen(); n > 0 && f.Unit == "row" && seen > 0 && (seen > 1.5*n || seen < n/1.5) {
		v.Warnings = append(v.Warnings, fmt.Sprintf("--rows declared about %d rows, but the release counts about %.0f", f.rows, math.Round(seen)))
	}
	remarks := []string{
		"Types, bounds and categories below were released by a private mechanism (" + v.cost() + ").",
		"Counts are noisy, with a standard deviation of " + strconv.FormatFloat(math.Round(released.Forecast.LevelDev), 'f', 0, 64) + "; categories that fewer units have were not released. Bounds are extrapolated, and values beyond them are clipped.",
		"All that was released is in " + filepath.Base(v.Released) + ": reading it costs nothing more.",
	}
	if of.Mark != "" {
		remarks = append(remarks, of.Mark+".")
	}
	v.Text = schema.WithFile(schema.FilledTemplate(s.Dataset, f.Unit, f.RowsPerUnit, f.rows, missing, remarks, filled), f.File)
	of.Columns = nil
	for _, c := range s.Columns {
		of.Columns = append(of.Columns, c.Name)
	}
	v.Whole, err = json.Marshal(releasedFile{v, of, released.Forecast, released.Columns})
	return err
}

// rounded are columns with whole bins: their noise is much larger.
func rounded(columns []infer.Column) []infer.Column {
	columns = slices.Clone(columns)
	for i := range columns {
		bins := slices.Clone(columns[i].Bins)
		for j := range bins {
			bins[j] = math.Round(bins[j])
		}
		columns[i].Bins = bins
	}
	return columns
}

// columns fills in the view and what the schema says; blank are columns of which nothing came out.
func (f *Infer) columns(v *InferView, s *schema.Schema, released *infer.Released, free map[string]string) (filled []schema.Filled, blank []string) {
	proposals := map[string]infer.Proposal{}
	for _, p := range released.Propose() {
		proposals[p.Name] = p
	}
	for _, c := range s.Columns {
		if why := free[c.Name]; why != "" {
			filled = append(filled, schema.Filled{Name: c.Name, Type: schema.Ignore, Remarks: []string{"not used: " + why}})
			continue
		}
		p := proposals[c.Name]
		one := InferredColumn{Name: p.Name, Type: string(p.Type), Remarks: p.Remarks}
		to := schema.Filled{Name: p.Name, Type: p.Type, Lower: p.Lower, Upper: p.Upper, HeavyTailed: p.HeavyTailed, Categories: p.Categories,
			Other: p.Type == schema.Categorical && p.Name != f.Target, Unknown: p.Name != f.Target}
		if p.Type == schema.Categorical && len(p.Categories) == 1 {
			// A list has two: what did not come out is the other one. Of a target it is a class, and may have a name.
			if p.Name == f.Target && p.Answer {
				to.Type, to.Categories, one.Type = schema.Boolean, nil, string(schema.Boolean)
			} else {
				to.Categories, to.Other = append(slices.Clone(p.Categories), otherLevel(p.Categories[0])), true
			}
		}
		if p.Type == schema.DateType {
			said := fmt.Sprintf("dates, from about %d to %d", p.FromYear, p.ToYear)
			to.From, to.To = fmt.Sprintf("%d-01-01", p.FromYear), fmt.Sprintf("%d-12-31", p.ToYear)
			to.Why = "released, extrapolated from noisy bins: ledger entry " + v.Entry
			if p.ToYear-p.FromYear > 100 {
				said, to.Type, to.Unknown, to.Why = "dates, of years hidden by the noise", schema.Ignore, false, ""
			}
			one.Remarks, to.Remarks = append(one.Remarks, said), append(to.Remarks, said)
		}
		if p.Type == schema.Numeric {
			one.Lower, one.Upper = &p.Lower, &p.Upper
		}
		if p.Type == "" {
			blank = append(blank, p.Name)
			if to.Unknown = false; p.Name != f.Target && !f.BoundsOnly {
				to.Type = schema.Ignore
			}
		}
		i := slices.IndexFunc(released.Columns, func(c infer.Column) bool { return c.Name == p.Name })
		one.Levels, one.Missing = released.Columns[i].Levels, released.Columns[i].Missing
		if text := counted(one.Levels, one.Missing); text != "" {
			to.Remarks = append(to.Remarks, text)
		}
		to.Remarks = append(to.Remarks, p.Remarks...)
		if p.Type == "" {
			to.Remarks = append(to.Remarks, "nothing was released")
		}
		switch p.Type {
		case schema.Numeric:
			to.Why = "released, extrapolated from noisy bins: ledger entry " + v.Entry
		case schema.Categorical:
			to.Why = "released by private partition selection: ledger entry " + v.Entry
		}
		filled, v.Columns = append(filled, to), append(v.Columns, one)
	}
	return filled, blank
}

// otherLevel is a name for what did not come out.
func otherLevel(only string) string {
	if only == "other" {
		return "another"
	}
	return "other"
}

// counted says what a column holds, by noisy counts.
func counted(levels []infer.Level, missing *float64) string {
	levels = slices.Clone(levels)
	slices.SortStableFunc(levels, func(a, b infer.Level) int { return cmp.Compare(b.Units, a.Units) })
	var parts []string
	for _, l := range levels {
		parts = append(parts, strconv.Quote(l.Text)+" "+howMany(l.Units))
	}
	if missing != nil {
		parts = append(parts, "missing "+howMany(*missing))
	}
	if len(parts) == 0 {
		return ""
	}
	return "about: " + few(parts, 30)
}

// howMany writes a noisy count for a person: no count is below 0, and cutting it there costs nothing. Programs get it as released.
func howMany(noisy float64) string { return fmt.Sprintf("%.0f", max(noisy, 0)) }

func (v *InferView) cost() string {
	return fmt.Sprintf("ledger entry %s, epsilon %s at delta %s, %s, unit %s", v.Entry, sixDigits(v.Privacy.Epsilon), sixDigits(v.Privacy.Delta), v.Privacy.Relation, v.Privacy.Unit)
}

// Table writes what was bought for a person, with what it cost.
func (v *InferView) Table(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintln(&b, v.Schema)
	t := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "  column\ttype\tbounds or categories\tmissing")
	for _, c := range v.Columns {
		said := ""
		switch {
		case c.Lower != nil:
			said = fmt.Sprintf("%s to %s", exact(*c.Lower), exact(*c.Upper))
		case c.Type == string(schema.DateType):
			said = strings.Join(c.Remarks, "; ")
		case len(c.Levels) > 0:
			var names []string
			for _, l := range c.Levels {
				names = append(names, strconv.Quote(l.Text))
			}
			said = few(names, 4)
		}
		missing := ""
		if c.Missing != nil {
			missing = howMany(*c.Missing)
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", c.Name, cmp.Or(c.Type, "–"), said, missing)
	}
	t.Flush()
	fmt.Fprintf(&b, "charged: %s\n", v.cost())
	_, err := w.Write(b.Bytes())
	return err
}

func sixDigits(x float64) string { return fmt.Sprintf("%.6g", x) }

func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
