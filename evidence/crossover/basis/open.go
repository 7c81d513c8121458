package basis

import (
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
	"pawl/data/table"
	"pawl/evidence/advise"
	"pawl/evidence/crossover"
	"pawl/evidence/lab"
	"pawl/internal/request"
	"pawl/internal/usage"
	"pawl/reader"
	"pawl/workflow"
)

// Compared is what a crossover is measured on.
type Compared struct {
	Data *crossover.Data
	// StandsFor is the sensitive data set in whose place it stands, or empty.
	StandsFor         string
	Words             string // what the page says of it
	crossover.Charges        // of runs on sensitive rows
}

// Open opens data, a file, a folder or the name of a built-in data set, or what stands in for
// it, and settles the delta of the study where it has none.
func (a *Desk) Open(ctx context.Context, data string, f *Request, s *crossover.Study) (*Compared, error) {
	p, err := a.openComparison(ctx, data, f)
	if err != nil {
		return nil, err
	}
	if s.Delta == "" {
		if p.Data.Paid() && p.Data.Rows() < 1 {
			return nil, usage.New(fmt.Sprintf("%s is sensitive and its number of rows is not public: missing --delta", data), "example: --delta 1e-6")
		}
		_, s.Delta = workflow.DefaultDelta(int64(p.Data.Rows()))
	}
	if p.Data.Paid() {
		p.Words = fmt.Sprintf("sensitive data: %s; every run is charged in the ledger before it uses a row, and %s", p.Data.Name, p.Data.Scored())
		return p, nil
	}
	p.Words = fmt.Sprintf("simulation on public data: %s, %d rows to train and %d to test", p.Data.Name, p.Data.Rows(), p.Data.Tests())
	if p.StandsFor != "" {
		p.Words += fmt.Sprintf("; it stands in for %s, whose rows are read only to check that these are not a copy of them; you are responsible for ensuring that the rows of %s are public or synthetic", p.StandsFor, p.Data.Name)
	}
	return p, nil
}

func (a *Desk) openComparison(ctx context.Context, data string, f *Request) (*Compared, error) {
	if f.Pay != "" && f.StandIn != "" {
		return nil, usage.New("--pay and --stand-in exclude each other", "leave out one of them")
	}
	if _, ok := lookup(data); ok {
		switch {
		case f.StandIn != "":
			return nil, usage.New(fmt.Sprintf("--stand-in does not apply: %s is public", data), "leave out --stand-in")
		case f.Pay != "":
			return nil, usage.New(fmt.Sprintf("--pay does not apply: %s is public", data), "leave out --pay")
		}
		if flag := cmp.Or(usage.Given(f.Labels != "", "--labels"), f.ofImages(), usage.Given(f.Table.BadRows != "refuse", "--bad-rows"), usage.Given(f.Updated, "--updated")); flag != "" {
			return nil, usage.Newf("leave it out", "%s is for your own files, and data set %q is built in", flag, data)
		}
		d, err := a.openBuiltin(data, &f.Table)
		return &Compared{Data: d}, err
	}
	info, err := os.Stat(data)
	foreign := table.Foreign(data)
	if err != nil && !foreign {
		return nil, usage.New(fmt.Sprintf("%s is neither a file nor a built-in data set", data), source.NamesAdvice(data, source.Names()))
	}
	l, err := a.OpenLedger(ctx)
	if err != nil {
		return nil, err
	}
	p := &Compared{}
	if !foreign && info.IsDir() || f.Labels != "" || strings.HasSuffix(data, ".npy") {
		err = a.openOwnImages(ctx, l, data, f, p)
	} else if flag := f.ofImages(); flag != "" {
		err = usage.Newf("leave it out; the schema declares what is public about a table", "%s is for images, and %s is a table", flag, table.Shown(data))
	} else {
		err = a.openOwn(ctx, l, data, f, p)
	}
	return p, err
}

// ofImages is the first flag that means nothing for a table.
func (f *Request) ofImages() string {
	return cmp.Or(usage.Given(f.Classes != "", "--classes"), usage.Given(f.Images != "", "--images"))
}

// openOwnImages opens images of one's own and asks the ledger whether they are public.
func (a *Desk) openOwnImages(ctx context.Context, l *ledger.Ledger, data string, f *Request, p *Compared) error {
	if flag := cmp.Or(usage.Given(f.Table.Schema != "", "--schema"), usage.Given(f.Table.Test != "", "--test")); flag != "" {
		return usage.Newf("leave it out", "%s is for tables, and %s is a set of images", flag, data)
	}
	pictures, err := source.OpenOwnImages(data, f.Labels, f.Classes)
	if err != nil {
		return err
	}
	// The number of public images is public; that of sensitive ones is asked for below.
	if err := pictures.DeclareRows("--images", cmp.Or(f.Images, "public")); err != nil {
		return err
	}
	if f.Table.Target != "" && f.Table.Target != pictures.Target {
		return usage.New(fmt.Sprintf("target %q: the label of these images is %q", f.Table.Target, pictures.Target), "leave out --target")
	}
	if err := f.Table.Copies.Rename(ctx, l, data, false, &pictures.Name, &f.Updated); err != nil {
		return err
	}
	s := pictures.Schema()
	if err := source.EffectivePublic(ctx, l, pictures.Name, s); err != nil {
		return err
	}
	p.Data = &crossover.Data{Name: pictures.Name, Images: &lab.Images{Name: pictures.Name, Target: pictures.Target, Train: pictures.Train}}
	digest, err := l.Digest(ctx, pictures.Digested())
	if err != nil {
		return err
	}
	p.Data.Key = fmt.Sprintf("%s, %s, %s", pictures.Name, pictures.Target, fingerprint(digest, s))
	p.Unit = protection(s)
	if s.Public {
		owner, err := l.SensitiveUnder(ctx, digest)
		if err := source.HeldAsSensitive(data, owner, err, source.ComparedExactly, source.OtherRows); err != nil {
			return err
		}
		if _, err := f.Table.Copies.RecogniseImages(ctx, l, data, pictures, true); err != nil {
			return err
		}
	}
	switch {
	case s.Public && f.Pay != "":
		return usage.New(fmt.Sprintf("--pay does not apply: %s is public", data), "leave out --pay")
	case s.Public && f.StandIn != "":
		return usage.New(fmt.Sprintf("--stand-in does not apply: %s is public", data), "leave out --stand-in")
	case s.Public:
		return nil
	case f.Images == "":
		return usage.New("missing declaration of the number of images", "use --images public, --images N or --images about-N")
	case f.StandIn != "":
		p.StandsFor = pictures.Name
		if images, _ := lookup(f.StandIn); !images {
			return usage.New(fmt.Sprintf("--stand-in %s is not a built-in set of images", f.StandIn), "built in: "+imageNames())
		}
		if p.Data, err = a.openBuiltin(f.StandIn, &Table{}); err != nil {
			return err
		}
		return p.shrink(s.Rows.N)
	}
	different, err := f.Table.Copies.RecogniseImages(ctx, l, data, pictures, false)
	if err != nil {
		return err
	}
	p.Data.Purse = &crossover.Purse{
		Input: workflow.Input{Dataset: pictures.Name, Schema: s, Target: pictures.Target, Rows: s.Rows.N, Test: workflow.HeldOut},
		Env:   workflow.Env{Ledger: l, Updated: f.Updated, Digest: digest, Different: different},
	}
	key, err := source.ScopeKey(ctx, l, pictures.Name, s, nil)
	p.Data.Purse.Seal = func(plan *workflow.Plan) (*intake.Rows, error) { return pictures.Seal(ctx, plan, s, key) }
	return err
}

// openOwn opens a file with its schema and asks the ledger whether it is public. A
// sensitive one is compared on what stands in for it, or each run on it is paid for.
func (a *Desk) openOwn(ctx context.Context, l *ledger.Ledger, data string, f *Request, p *Compared) error {
	own := f.Table
	own.Epsilon, own.Accountant, own.Preset, own.Workflow, own.Features, own.Model = "1", "min", "balanced", "paw", "auto", "auto"
	own.Updated = f.Updated
	own.Options.DataDir = a.DataDir
	opened, err := source.OpenTable(data, own.Schema, a.DataDir)
	if err != nil {
		return err
	}
	data = opened.Path
	desk := a.desk(l)
	j, in, err := desk.OpenTable(ctx, &source.Data{Table: opened, Argument: data, Options: own.Options}, &own.Fit, workflow.Input.Sound)
	if err != nil {
		return err
	}
	f.Updated = f.Updated || own.Updated // by --same-as
	src := j.Source
	t := &lab.Table{Name: src.Name, Target: in.Target, Schema: src.Schema}
	if err := checkTarget(t); err != nil {
		return err
	}
	switch {
	case src.Schema.Public && f.Pay != "":
		return usage.New(fmt.Sprintf("--pay does not apply: %s is public", data), "leave out --pay")
	case src.Schema.Public:
		digest, err := l.Digest(ctx, src.Content.Reader())
		if err != nil {
			return err
		}
		if err := source.NotSensitive(ctx, l, data, src.Content, source.ComparedExactly, source.OtherRows); err != nil {
			return err
		}
		err = src.Printed(j.Bad, reader.InOrder(func(cells []float64) error {
			t.Rows = append(t.Rows, cells)
			return nil
		}))
		if err == nil && f.Table.Test != "" {
			_, err = desk.OpenTest(ctx, j, own.Options)
			t.Test = j.Test
		}
		if err == nil {
			_, err = f.Table.Copies.Recognise(ctx, l, src.Found())
		}
		p.Data = &crossover.Data{Name: t.Name, Key: f.key(t, fingerprint(digest, t.Schema)), Table: t}
		return err
	case f.StandIn == "":
		return a.openPaid(ctx, l, j, in, f, p, t)
	}
	p.StandsFor = src.Name
	if _, ok := lookup(f.StandIn); ok {
		p.Data, err = a.openBuiltin(f.StandIn, &Table{Fit: request.Fit{Terms: request.Terms{Delta: f.Table.Delta}}})
	} else {
		p.Data, err = a.standInFile(ctx, l, f.StandIn, src, in.Target, &f.Table.Copies)
	}
	if err != nil {
		return err
	}
	if p.Data.Images != nil || p.Data.Numeric() != numericColumn(t) {
		return usage.New(fmt.Sprintf("%s cannot stand in for %s: one predicts a class, the other a number", f.StandIn, src.Name), "choose a stand-in with the same kind of target")
	}
	return p.shrink(in.Rows)
}

func numericColumn(t *lab.Table) bool {
	return (&crossover.Data{Table: t}).Numeric()
}

// key names what runs on a file depend on.
func (f *Request) key(t *lab.Table, of string) string {
	key := fmt.Sprintf("%s, %s, %s", t.Name, t.Target, of)
	if f.Table.BadRows != "refuse" {
		key += "-" + f.Table.BadRows
	}
	return key
}

// shrink cuts a table that stands in for fewer rows to as many: a crossover falls with
// their number.
func (p *Compared) shrink(rows int64) error {
	n := int(rows)
	if n < 1 || n >= p.Data.Rows() {
		return nil
	}
	if n < 100 {
		return usage.New(fmt.Sprintf("%s has %d rows, too few for a comparison", p.StandsFor, n), "use the simple configuration")
	}
	if t := p.Data.Table; t != nil {
		test := t.Test
		cut := t.Split(n, 1)
		if test != nil {
			cut.Test = test
		}
		p.Data.Table = cut
	} else {
		p.Data.Images.Train = lab.First(p.Data.Images.Train, n)
	}
	p.Data.Key += fmt.Sprintf(", %d of its rows", n)
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

func (a *Desk) openBuiltin(name string, f *Table) (*crossover.Data, error) {
	if f.Schema != "" {
		return nil, usage.New(fmt.Sprintf("data set %q is built in and has its own schema", name), "leave out --schema")
	}
	if f.Test != "" {
		return nil, usage.New(fmt.Sprintf("data set %q is built in and has its own test rows, or is split", name), "leave out --test")
	}
	if images, _ := lookup(name); images {
		set, err := lab.OpenImages(name, a.DataDir, 1<<40, 1<<40)
		if err != nil {
			return nil, err
		}
		if f.Target != "" && f.Target != set.Target {
			return nil, usage.New(fmt.Sprintf("--target: the target of %s is %q", name, set.Target), "leave out --target")
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
	open, err := b.TrainCSV(a.DataDir)
	if err != nil {
		return nil, err
	}
	if err := source.ReadRows(b.Name, open, t.Schema, reader.Options{}, nil, false, keep(&t.Rows)); err != nil {
		return nil, err
	}
	if b.HasTest() {
		if open, err = b.TestCSV(a.DataDir); err != nil {
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
		return usage.New("missing --target, the column to predict", "columns: "+strings.Join(columnNames(t), ", "))
	}
	if t.Schema.Column(t.Target) < 0 {
		names := columnNames(t)
		return usage.New(fmt.Sprintf("target %q is not a column of the schema", t.Target), schema.Meant(t.Target, names, "columns: "+strings.Join(names, ", ")))
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
func (a *Desk) standInFile(ctx context.Context, l *ledger.Ledger, path string, src *source.Table, target string, f *source.Copies) (*crossover.Data, error) {
	if _, err := os.Stat(path); err != nil && !table.Foreign(path) {
		return nil, usage.New(fmt.Sprintf("%s is neither a file nor a built-in data set", path), source.NamesAdvice(path, source.Names()))
	}
	content, err := table.Read(path)
	if err != nil {
		return nil, err
	}
	name := table.BaseName(path)
	path = content.Name()
	if source.SameTable(content, src.Content) {
		return nil, source.StandInIsData(path)
	}
	digest, err := l.Digest(ctx, content.Reader())
	if err != nil {
		return nil, err
	}
	if err := source.NotSensitive(ctx, l, path, content, source.ComparedExactly, source.OtherRows); err != nil {
		return nil, err
	}
	t := &lab.Table{Name: name, Target: target, Schema: src.Schema}
	if err := checkTarget(t); err != nil {
		return nil, err
	}
	o := reader.Options{}
	w := source.NewWatcher(*src.PrintKey, src.Schema, &o)
	err = source.ReadRows(path, content.Reader(), src.Schema, o, nil, false, func(cells []float64, _ schema.Record) error {
		t.Rows = append(t.Rows, cells)
		return nil
	})
	if prints := w.End(err); prints != nil {
		// DATA itself may not be in the ledger yet; its rows are compared and used for nothing else.
		if err := src.Printed(reader.Default, reader.InOrder(func([]float64) error { return nil })); err != nil {
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

// fileExists says whether a file stands where a built-in data set of that name could be
// meant.
func fileExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
