package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"

	"pawl/advise"
	"pawl/crossover"
	"pawl/dataset"
	"pawl/experiments/lab"
	"pawl/reader"
	"pawl/schema"
	"pawl/workflow"
)

// publicData is what a crossover is measured on.
type publicData struct {
	data *crossover.Data
	// standsFor is the sensitive data set in whose place it stands, or empty.
	standsFor string
	words     string
}

// openPublic opens DATA, or what stands in for it, and settles the delta.
func (a *app) openPublic(ctx context.Context, data string, f *crossoverFlags, s *crossover.Study) (*publicData, error) {
	p, err := a.openComparison(ctx, data, f, s)
	if err != nil {
		return nil, err
	}
	if s.Delta == "" {
		s.Delta = crossover.DefaultDelta(p.data.Rows())
	}
	p.words = fmt.Sprintf("simulation on public data: %s, %d rows to train and %d to test", p.data.Name, p.data.Rows(), p.data.Tests())
	if p.standsFor != "" {
		p.words += fmt.Sprintf("; it stands in for %s, of which no row is used for this", p.standsFor)
	}
	return p, nil
}

func (a *app) openComparison(ctx context.Context, data string, f *crossoverFlags, s *crossover.Study) (*publicData, error) {
	if f.pay && f.standIn != "" {
		return nil, &usageError{"--pay and --stand-in exclude each other", "leave out one of them"}
	}
	if _, ok := lookup(data); ok {
		if f.standIn != "" {
			return nil, &usageError{fmt.Sprintf("%s is public: nothing need stand in for it", data), "leave out --stand-in"}
		}
		d, err := a.openBuiltin(data, &f.table)
		return &publicData{data: d}, err
	}
	j, in, err := a.openOwn(ctx, data, &f.table)
	if err != nil {
		return nil, err
	}
	src := j.source
	switch {
	case src.schema.Public:
		t, err := a.ownTable(ctx, src, in.Target, f.table.test, j.bad)
		return &publicData{data: ofTable(t, src.content)}, err
	case f.standIn == "":
		return nil, a.refuseCrossover(data, in, f, s)
	}
	p := &publicData{standsFor: src.name}
	if _, ok := lookup(f.standIn); ok {
		p.data, err = a.openBuiltin(f.standIn, &fitFlags{delta: f.table.delta})
	} else {
		p.data, err = standInFile(f.standIn, src, in.Target)
	}
	if err != nil {
		return nil, err
	}
	return p, p.shrink(in.Rows)
}

// shrink cuts a table that stands in for fewer rows to as many: a crossover falls with
// their number.
func (p *publicData) shrink(rows int64) error {
	n := int(rows)
	if n < 1 || n >= p.data.Rows() {
		return nil
	}
	if n < 100 {
		return &usageError{fmt.Sprintf("%s has %d rows: too few for a comparison of what is trained", p.standsFor, n), "take the simple configuration"}
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

func (a *app) openBuiltin(name string, f *fitFlags) (*crossover.Data, error) {
	if f.schema != "" {
		return nil, &usageError{fmt.Sprintf("data set %q is built in and brings its own schema", name), "leave out --schema"}
	}
	if f.test != "" {
		return nil, &usageError{fmt.Sprintf("data set %q is built in and brings its own test rows, or is split", name), "leave out --test"}
	}
	if images, _ := lookup(name); images {
		set, err := lab.OpenImages(name, a.dataDir, 1<<40, 1<<40)
		if err != nil {
			return nil, err
		}
		if f.target != "" && f.target != set.Target {
			return nil, &usageError{fmt.Sprintf("%s: the target is %q", name, set.Target), "leave out --target"}
		}
		return &crossover.Data{Name: set.Name, Key: set.Name, Images: set}, nil
	}
	b, _ := dataset.Lookup(name)
	t := &lab.Table{Name: b.Name, Target: b.Target, Schema: b.Schema()}
	t.Schema.SetBuckets(advise.TextBuckets)
	if f.target != "" {
		t.Target = f.target
	}
	keep := func(to *[][]float64) reader.Row {
		return func(cells []float64, _ string) error {
			*to = append(*to, cells)
			return nil
		}
	}
	open, err := b.TrainCSV(a.dataDir)
	if err != nil {
		return nil, err
	}
	if err := readRows(b.Name, open, t.Schema, reader.Options{}, nil, false, keep(&t.Rows)); err != nil {
		return nil, err
	}
	if b.HasTest() {
		if open, err = b.TestCSV(a.dataDir); err != nil {
			return nil, err
		}
		if err := readRows(b.Name+" (test)", open, t.Schema, reader.Options{}, nil, false, keep(&t.Test)); err != nil {
			return nil, err
		}
	}
	return &crossover.Data{Name: t.Name, Key: t.Name + ", " + t.Target, Table: t}, checkTarget(t)
}

// checkTarget refuses a target before anything is said about configurations.
func checkTarget(t *lab.Table) error {
	if t.Target == "" {
		return &usageError{"no target: name the column to predict with --target", ""}
	}
	if t.Schema.Column(t.Target) < 0 {
		var names []string
		for _, c := range t.Schema.Columns {
			names = append(names, c.Name)
		}
		advice := "columns: " + strings.Join(names, ", ")
		if near := schema.Nearest(t.Target, names); near != "" {
			advice = fmt.Sprintf("did you mean %q? %s", near, advice)
		}
		return &usageError{fmt.Sprintf("target %q is not a column of the schema", t.Target), advice}
	}
	return nil
}

// openOwn opens a file with its schema and asks the ledger whether it is public.
func (a *app) openOwn(ctx context.Context, data string, f *fitFlags) (*job, workflow.Input, error) {
	if info, err := os.Stat(data); err == nil && info.IsDir() {
		return nil, workflow.Input{}, &usageError{fmt.Sprintf("%s: own images are sensitive, and are not compared on", data), "compare on a built-in set of images: " + imageNames()}
	}
	if _, err := os.Stat(data); os.IsNotExist(err) {
		return nil, workflow.Input{}, &usageError{fmt.Sprintf("%s: neither a file nor a built-in data set", data), namesAdvice(data, dataNames())}
	}
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return nil, workflow.Input{}, err
	}
	defer store.Close()
	own := *f
	own.epsilon, own.accountant, own.preset, own.workflow, own.features, own.model = "1", "min", "balanced", "paw", "auto", "auto"
	return a.openTable(ctx, l, data, &own)
}

func imageNames() string {
	var names []string
	for _, i := range dataset.ListImages() {
		names = append(names, i.Name)
	}
	return strings.Join(names, ", ")
}

// ownTable reads a public file.
func (a *app) ownTable(ctx context.Context, src *source, target, test string, bad reader.BadRows) (*lab.Table, error) {
	t := &lab.Table{Name: src.name, Target: target, Schema: src.schema}
	if err := checkTarget(t); err != nil {
		return nil, err
	}
	err := src.each(bad, func(cells []float64, _ string) error {
		t.Rows = append(t.Rows, cells)
		return nil
	})
	if err != nil || test == "" {
		return t, err
	}
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	_, t.Test, err = a.openTest(ctx, l, src, test, bad)
	return t, err
}

func ofTable(t *lab.Table, content []byte) *crossover.Data {
	if t == nil {
		return nil
	}
	sum := sha256.Sum256(content)
	return &crossover.Data{Name: t.Name, Key: fmt.Sprintf("%s, %s, %x", t.Name, t.Target, sum[:6]), Table: t}
}

// standInFile reads rows that stand in for those of src. They are public, or synthetic, by
// the operator's word.
func standInFile(path string, src *source, target string) (*crossover.Data, error) {
	if !fileExists(path) {
		return nil, &usageError{fmt.Sprintf("%s: neither a file nor a built-in data set", path), namesAdvice(path, dataNames())}
	}
	content, err := readFile(path)
	if err != nil {
		return nil, err
	}
	if sameTable(content, src.content) {
		return nil, &usageError{fmt.Sprintf("%s: holds the rows of DATA itself, and those are sensitive", path), "other rows of the same schema: public ones, or synthetic ones"}
	}
	t := &lab.Table{Name: baseName(path), Target: target, Schema: src.schema}
	if err := checkTarget(t); err != nil {
		return nil, err
	}
	err = readRows(path, bytes.NewReader(content), src.schema, reader.Options{}, nil, false, func(cells []float64, _ string) error {
		t.Rows = append(t.Rows, cells)
		return nil
	})
	return ofTable(t, content), err
}

// refuseCrossover says what the runs would cost.
func (a *app) refuseCrossover(data string, in workflow.Input, f *crossoverFlags, s *crossover.Study) error {
	const advice = "--stand-in NAME compares on public data in its place (pawl data list), --stand-in FILE on synthetic rows of the same schema"
	if in.Delta = f.table.delta; in.Delta == "" {
		if in.Rows < 1 {
			return &usageError{fmt.Sprintf("%s is sensitive, and every run of a comparison would have to be paid for", data), advice + "; for the price give --delta"}
		}
		in.Delta = crossover.DefaultDelta(int(in.Rows))
	}
	seeds := s.Seeds
	if seeds == 0 {
		seeds = 5
	}
	total, runs, err := crossover.Price(in, s.Specs, s.Epsilons, seeds)
	if err != nil {
		return err
	}
	words := fmt.Sprintf("%s is sensitive: %d runs, each paid for, would cost epsilon %s in all at delta %s", data, runs, roundedUp(total), in.Delta)
	if f.pay {
		return &usageError{words + "; a comparison that is paid for is not offered", advice}
	}
	return &usageError{words, advice}
}
