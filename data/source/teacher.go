package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"pawl/core/identity"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/schema"
	"pawl/data/table"
	"pawl/internal/usage"
	"pawl/reader"
)

// Teacher is a public table with the columns of another, on whose rows a model is trained first.
type Teacher struct {
	Name, Path, SHA256 string
	// Rows are sealed as public ones, Len of them.
	Rows *intake.Rows
	Len  int64

	prints []*identity.Print
}

const (
	taughtWithout = "training on them without noise would release them"
	otherTeacher  = "leave out --public, or use a file whose rows are public"
)

// OpenTeacher reads a public table under the schema of src; the unit's column may be absent. A table of
// other columns or classes is refused where it differs.
func (src *Table) OpenTeacher(ctx context.Context, l *ledger.Ledger, path string, bad reader.BadRows) (*Teacher, error) {
	content, err := table.Read(path)
	if err != nil {
		return nil, err
	}
	path = content.Name()
	if SameTable(content, src.Content) {
		return nil, usage.New(fmt.Sprintf("--public %s: these are the rows of DATA itself", path), otherTeacher)
	}
	if err := NotSensitive(ctx, l, path, content, taughtWithout, otherTeacher); err != nil {
		return nil, err
	}
	s := *src.Schema
	o := reader.Options{BadRows: bad, Target: src.Target, Faults: src.faults()}
	if s.Unit.Column != "" {
		o.Optional = map[string]bool{s.Unit.Column: true}
	}
	var w Watcher
	if src.PrintKey != nil {
		w = NewWatcher(*src.PrintKey, src.Schema, &o)
	}
	// To core its rows are public, each a unit: whose they are concerns nobody.
	public := s
	public.Public, public.Unit = true, schema.Unit{Name: "row", MaxRows: 1}
	b := intake.NewBuilder(intake.SimulationKey(path, 1), &public)
	err = ReadRows(path, content.Reader(), &s, o, src.vectors, false, b.Add)
	prints := w.End(err)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, content.Reader()); err != nil {
		return nil, err
	}
	n := int64(b.Len())
	return &Teacher{Name: cmp.Or(table.BaseName(path), "public rows"), Path: path, SHA256: hex.EncodeToString(sum.Sum(nil)), Rows: b.Seal(), Len: n, prints: prints}, nil
}

// TaughtBy refuses a teacher whose rows are those of src or of a sensitive data set of the ledger, or
// resemble them, or hold those of src among others (identity.Shared). src has its prints where it is not public. The last refusal is not
// charged: it goes to somebody who reads both files. Other data sets of the ledger are not asked for single rows, since he
// need not be able to read them.
func (src *Table) TaughtBy(ctx context.Context, l *ledger.Ledger, t *Teacher) error {
	matches, err := l.Recognise(ctx, "", t.prints...)
	if err != nil {
		return err
	}
	for _, m := range matches {
		return usage.New(fmt.Sprintf("--public %s: the ledger lists these rows as the sensitive data set %q, or they resemble it closely, and %s", t.Path, m.Dataset, taughtWithout), otherTeacher)
	}
	for _, a := range src.Prints {
		for _, b := range t.prints {
			if !src.Schema.Public && (identity.Alike(a, b) != identity.Different || identity.Shared(a, b)) {
				return usage.New(fmt.Sprintf("--public %s holds rows of DATA itself, which are sensitive, and %s", t.Path, taughtWithout), otherTeacher)
			}
		}
	}
	return nil
}
