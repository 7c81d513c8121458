package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/evidence/advise"
	"pawl/evidence/crossover"
	"pawl/experiments/lab"
	"pawl/internal/request"
	"pawl/reader"
	"pawl/workflow"
)

// compared is what a crossover is measured on.
type compared struct {
	data *crossover.Data
	// standsFor is the sensitive data set in whose place it stands, or empty.
	standsFor         string
	words             string
	crossover.Charges                            // of runs on sensitive rows
	store             interface{ Close() error } // of the ledger that pays, nil for none
}

func (p *compared) close() {
	if p.store != nil {
		p.store.Close()
	}
}

// openCompared opens DATA, or what stands in for it, and settles the delta.
func (a *app) openCompared(ctx context.Context, data string, f *crossoverFlags, s *crossover.Study) (*compared, error) {
	p, err := a.openComparison(ctx, data, f)
	if err != nil {
		return nil, err
	}
	if s.Delta == "" {
		if p.data.Paid() && p.data.Rows() < 1 {
			p.close()
			return nil, &usageError{fmt.Sprintf("%s is sensitive and its number of rows is not public: missing --delta", data), "example: --delta 1e-6"}
		}
		_, s.Delta = workflow.DefaultDelta(int64(p.data.Rows()))
	}
	if p.data.Paid() {
		p.words = fmt.Sprintf("sensitive data: %s; every run is charged in the ledger before it uses a row, and %s", p.data.Name, p.data.Scored())
		return p, nil
	}
	p.words = fmt.Sprintf("simulation on public data: %s, %d rows to train and %d to test", p.data.Name, p.data.Rows(), p.data.Tests())
	if p.standsFor != "" {
		p.words += fmt.Sprintf("; it stands in for %s, whose rows are read only to check that these are not a copy of them; you are responsible for ensuring that the rows of %s are public or synthetic", p.standsFor, p.data.Name)
	}
	return p, nil
}

func (a *app) openComparison(ctx context.Context, data string, f *crossoverFlags) (*compared, error) {
	if f.pay != "" && f.standIn != "" {
		return nil, &usageError{"--pay and --stand-in exclude each other", "leave out one of them"}
	}
	if _, ok := lookup(data); ok {
		switch {
		case f.standIn != "":
			return nil, &usageError{fmt.Sprintf("--stand-in does not apply: %s is public", data), "leave out --stand-in"}
		case f.pay != "":
			return nil, &usageError{fmt.Sprintf("--pay does not apply: %s is public", data), "leave out --pay"}
		}
		for _, c := range []struct {
			given bool
			flag  string
		}{{f.labels != "", "--labels"}, {f.classes != "", "--classes"}, {f.images != "", "--images"}, {f.table.BadRows != "refuse", "--bad-rows"}, {f.updated, "--updated"}} {
			if c.given {
				return nil, &usageError{fmt.Sprintf("%[2]s is for your own files, and data set %[1]q is built in", data, c.flag), "leave it out"}
			}
		}
		d, err := a.openBuiltin(data, &f.table)
		return &compared{data: d}, err
	}
	info, err := os.Stat(data)
	if err != nil {
		return nil, &usageError{fmt.Sprintf("%s is neither a file nor a built-in data set", data), source.NamesAdvice(data, source.Names())}
	}
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return nil, err
	}
	p := &compared{store: store}
	if info.IsDir() || f.labels != "" || strings.HasSuffix(data, ".npy") {
		err = a.openOwnImages(ctx, l, data, f, p)
	} else {
		err = f.tablesOnly(data)
		if err == nil {
			err = a.openOwn(ctx, l, data, f, p)
		}
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// tablesOnly refuses flags that mean nothing for a table.
func (f *crossoverFlags) tablesOnly(data string) error {
	for _, c := range []struct{ value, flag string }{{f.classes, "--classes"}, {f.images, "--images"}} {
		if c.value != "" {
			return &usageError{fmt.Sprintf("%s is for images, and %s is a table", c.flag, data), "leave it out; the schema declares what is public about a table"}
		}
	}
	return nil
}

// openOwnImages opens images of one's own and asks the ledger whether they are public.
func (a *app) openOwnImages(ctx context.Context, l *ledger.Ledger, data string, f *crossoverFlags, p *compared) error {
	for _, c := range []struct{ value, flag string }{{f.table.Schema, "--schema"}, {f.table.Test, "--test"}} {
		if c.value != "" {
			return &usageError{fmt.Sprintf("%s is for tables, and %s is a set of images", c.flag, data), "leave it out"}
		}
	}
	pictures, err := source.OpenOwnImages(data, f.labels, f.classes)
	if err != nil {
		return err
	}
	// The number of public images is public; that of sensitive ones is asked for below.
	if err := pictures.DeclareRows("--images", cmp.Or(f.images, "public")); err != nil {
		return err
	}
	if f.table.Target != "" && f.table.Target != pictures.Target {
		return &usageError{fmt.Sprintf("target %q: the label of these images is %q", f.table.Target, pictures.Target), "leave out --target"}
	}
	if err := f.table.Copies.Rename(ctx, l, data, false, &pictures.Name, &f.updated); err != nil {
		return err
	}
	s := pictures.Schema()
	if err := source.EffectivePublic(ctx, l, pictures.Name, s); err != nil {
		return err
	}
	p.data = &crossover.Data{Name: pictures.Name, Images: &lab.Images{Name: pictures.Name, Target: pictures.Target, Train: pictures.Train}}
	digest, err := l.Digest(ctx, pictures.Digested())
	if err != nil {
		return err
	}
	p.data.Key = fmt.Sprintf("%s, %s, %s", pictures.Name, pictures.Target, fingerprint(digest, s))
	p.Unit = protection(s)
	if s.Public {
		owner, err := l.SensitiveUnder(ctx, digest)
		if err := source.HeldAsSensitive(data, owner, err, source.ComparedExactly, source.OtherRows); err != nil {
			return err
		}
		if _, err := f.table.Copies.RecogniseImages(ctx, l, data, pictures, true); err != nil {
			return err
		}
	}
	switch {
	case s.Public && f.pay != "":
		return &usageError{fmt.Sprintf("--pay does not apply: %s is public", data), "leave out --pay"}
	case s.Public && f.standIn != "":
		return &usageError{fmt.Sprintf("--stand-in does not apply: %s is public", data), "leave out --stand-in"}
	case s.Public:
		return nil
	case f.images == "":
		return &usageError{"missing declaration of the number of images", "use --images public, --images N or --images about-N"}
	case f.standIn != "":
		p.standsFor = pictures.Name
		if images, _ := lookup(f.standIn); !images {
			return &usageError{fmt.Sprintf("--stand-in %s is not a built-in set of images", f.standIn), "built in: " + imageNames()}
		}
		if p.data, err = a.openBuiltin(f.standIn, &tableFlags{}); err != nil {
			return err
		}
		return p.shrink(s.Rows.N)
	}
	different, err := f.table.Copies.RecogniseImages(ctx, l, data, pictures, false)
	if err != nil {
		return err
	}
	p.data.Purse = &crossover.Purse{
		Input: workflow.Input{Dataset: pictures.Name, Schema: s, Target: pictures.Target, Rows: s.Rows.N, Test: workflow.HeldOut},
		Env:   workflow.Env{Ledger: l, Updated: f.updated, Digest: digest, Different: different},
	}
	key, err := source.ScopeKey(ctx, l, pictures.Name, s, nil)
	p.data.Purse.Seal = func(plan *workflow.Plan) (*intake.Rows, error) { return pictures.Seal(plan, s, key) }
	return err
}

// openOwn opens a file with its schema and asks the ledger whether it is public. A
// sensitive one is compared on what stands in for it, or each run on it is paid for.
func (a *app) openOwn(ctx context.Context, l *ledger.Ledger, data string, f *crossoverFlags, p *compared) error {
	own := f.table
	own.Epsilon, own.Accountant, own.Preset, own.Workflow, own.Features, own.Model = "1", "min", "balanced", "paw", "auto", "auto"
	own.Updated = f.updated
	own.Options.DataDir = a.dataDir
	opened, err := source.OpenTable(data, own.Schema, a.dataDir)
	if err != nil {
		return err
	}
	desk := a.desk(l)
	j, in, err := desk.OpenTable(ctx, &source.Data{Table: opened, Argument: data, Options: own.Options}, &own.Fit)
	if err != nil {
		return err
	}
	f.updated = f.updated || own.Updated // by --same-as
	src := j.Source
	t := &lab.Table{Name: src.Name, Target: in.Target, Schema: src.Schema}
	if err := checkTarget(t); err != nil {
		return err
	}
	switch {
	case src.Schema.Public && f.pay != "":
		return &usageError{fmt.Sprintf("--pay does not apply: %s is public", data), "leave out --pay"}
	case src.Schema.Public:
		digest, err := l.Digest(ctx, bytes.NewReader(src.Content))
		if err != nil {
			return err
		}
		if err := source.NotSensitive(ctx, l, data, src.Content, source.ComparedExactly, source.OtherRows); err != nil {
			return err
		}
		err = src.Printed(j.Bad, func(cells []float64, _ schema.Record) error {
			t.Rows = append(t.Rows, cells)
			return nil
		})
		if err == nil && f.table.Test != "" {
			_, err = desk.OpenTest(ctx, j, own.Options)
			t.Test = j.Test
		}
		if err == nil {
			_, err = f.table.Copies.Recognise(ctx, l, src.Found())
		}
		p.data = &crossover.Data{Name: t.Name, Key: f.key(t, fingerprint(digest, t.Schema)), Table: t}
		return err
	case f.standIn == "":
		return a.openPaid(ctx, l, j, in, f, p, t)
	}
	p.standsFor = src.Name
	if _, ok := lookup(f.standIn); ok {
		p.data, err = a.openBuiltin(f.standIn, &tableFlags{Fit: request.Fit{Delta: f.table.Delta}})
	} else {
		p.data, err = a.standInFile(ctx, l, f.standIn, src, in.Target, &f.table.Copies)
	}
	if err != nil {
		return err
	}
	if p.data.Images != nil || p.data.Numeric() != numericColumn(t) {
		return &usageError{fmt.Sprintf("%s cannot stand in for %s: one predicts a class, the other a number", f.standIn, src.Name), "choose a stand-in with the same kind of target"}
	}
	return p.shrink(in.Rows)
}

func numericColumn(t *lab.Table) bool {
	return (&crossover.Data{Table: t}).Numeric()
}

// key names what runs on a file depend on.
func (f *crossoverFlags) key(t *lab.Table, of string) string {
	key := fmt.Sprintf("%s, %s, %s", t.Name, t.Target, of)
	if f.table.BadRows != "refuse" {
		key += "-" + f.table.BadRows
	}
	return key
}

// shrink cuts a table that stands in for fewer rows to as many: a crossover falls with
// their number.
func (p *compared) shrink(rows int64) error {
	n := int(rows)
	if n < 1 || n >= p.data.Rows() {
		return nil
	}
	if n < 100 {
		return &usageError{fmt.Sprintf("%s has %d rows, too few for a comparison", p.standsFor, n), "use the simple configuration"}
	}
	if t := p.data.Table; t != nil {
		test := t.Test
		cut := t.Split(n, 1)
		if test != nil {
			cut.Test = test
		}
		p.data.Table = cut
	} else {
		p.data.Images.Train = lab.First(p.data.Images.Train, n)
	}
	p.data.Key += fmt.Sprintf(", %d of its rows", n)
	return nil
}

// lookup finds a built-in data set, unless a file of that name is meant.
func lookup(name string) (images, ok bool) {
	if fileExists(name) {
		return false, false
	}
	if _, ok := dataset.Images(name); ok {
		return true, true
	}
	_, ok = dataset.Lookup(name)
	return false, ok
}

func (a *app) openBuiltin(name string, f *tableFlags) (*crossover.Data, error) {
	if f.Schema != "" {
		return nil, &usageError{fmt.Sprintf("data set %q is built in and has its own schema", name), "leave out --schema"}
	}
	if f.Test != "" {
		return nil, &usageError{fmt.Sprintf("data set %q is built in and has its own test rows, or is split", name), "leave out --test"}
	}
	if images, _ := lookup(name); images {
		set, err := lab.OpenImages(name, a.dataDir, 1<<40, 1<<40)
		if err != nil {
			return nil, err
		}
		if f.Target != "" && f.Target != set.Target {
			return nil, &usageError{fmt.Sprintf("--target: the target of %s is %q", name, set.Target), "leave out --target"}
		}
		return &crossover.Data{Name: set.Name, Key: set.Name, Images: set}, nil
	}
	b, _ := dataset.Lookup(name)
	t := &lab.Table{Name: b.Name, Target: b.Target, Schema: b.Schema()}
	t.Schema.SetBuckets(advise.TextBuckets)
	if f.Target != "" {
		t.Target = f.Target
	}
	keep := func(to *[][]float64) reader.Row {
		return func(cells []float64, _ schema.Record) error {
			*to = append(*to, cells)
			return nil
		}
	}
	open, err := b.TrainCSV(a.dataDir)
	if err != nil {
		return nil, err
	}
	if err := source.ReadRows(b.Name, open, t.Schema, reader.Options{}, nil, false, keep(&t.Rows)); err != nil {
		return nil, err
	}
	if b.HasTest() {
		if open, err = b.TestCSV(a.dataDir); err != nil {
			return nil, err
		}
		if err := source.ReadRows(b.Name+" (test)", open, t.Schema, reader.Options{}, nil, false, keep(&t.Test)); err != nil {
			return nil, err
		}
	}
	return &crossover.Data{Name: t.Name, Key: t.Name + ", " + t.Target, Table: t}, checkTarget(t)
}

func columnNames(t *lab.Table) (names []string) {
	for _, c := range t.Schema.Columns {
		names = append(names, c.Name)
	}
	return names
}

// checkTarget refuses a target before anything is said about configurations.
func checkTarget(t *lab.Table) error {
	if t.Target == "" {
		return &usageError{"missing --target, the column to predict", "columns: " + strings.Join(columnNames(t), ", ")}
	}
	if t.Schema.Column(t.Target) < 0 {
		names := columnNames(t)
		advice := "columns: " + strings.Join(names, ", ")
		if near := schema.Nearest(t.Target, names); near != "" {
			advice = fmt.Sprintf("did you mean %q? %s", near, advice)
		}
		return &usageError{fmt.Sprintf("target %q is not a column of the schema", t.Target), advice}
	}
	return nil
}

func imageNames() string {
	var names []string
	for _, i := range dataset.ListImages() {
		names = append(names, i.Name)
	}
	return strings.Join(names, ", ")
}

// standInFile reads rows that stand in for those of src. They are public, or synthetic, by
// the operator's word.
func (a *app) standInFile(ctx context.Context, l *ledger.Ledger, path string, src *source.Table, target string, f *source.Copies) (*crossover.Data, error) {
	if !fileExists(path) {
		return nil, &usageError{fmt.Sprintf("%s is neither a file nor a built-in data set", path), source.NamesAdvice(path, source.Names())}
	}
	content, err := source.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if source.SameTable(content, src.Content) {
		return nil, source.StandInIsData(path)
	}
	digest, err := l.Digest(ctx, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	if err := source.NotSensitive(ctx, l, path, content, source.ComparedExactly, source.OtherRows); err != nil {
		return nil, err
	}
	t := &lab.Table{Name: source.BaseName(path), Target: target, Schema: src.Schema}
	if err := checkTarget(t); err != nil {
		return nil, err
	}
	o := reader.Options{}
	w := source.NewWatcher(*src.PrintKey, src.Schema, &o)
	err = source.ReadRows(path, bytes.NewReader(content), src.Schema, o, nil, false, func(cells []float64, _ schema.Record) error {
		t.Rows = append(t.Rows, cells)
		return nil
	})
	if prints := w.End(err); prints != nil {
		// DATA itself may not be in the ledger yet; its rows are compared and used for nothing else.
		if err := src.Printed(reader.Default, func([]float64, schema.Record) error { return nil }); err != nil {
			return nil, err
		}
		d := src.Found()
		d.StandsIn, d.Tests = true, []source.Tested{{Path: path, Prints: prints}}
		if _, err := f.Recognise(ctx, l, d); err != nil {
			return nil, err
		}
	}
	return &crossover.Data{Name: t.Name, Key: fmt.Sprintf("%s, %s, %s", t.Name, t.Target, fingerprint(digest, t.Schema)), Table: t}, err
}
