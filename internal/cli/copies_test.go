package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pawl/core/identity"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/data/columnar"
	"pawl/data/source"
	"pawl/store/memory"
)

// writeCopies writes other forms of clinic.csv, and a clinic of other people.
func writeCopies(dir string) error {
	content, err := os.ReadFile(filepath.Join(dir, "clinic.csv"))
	if err != nil {
		return err
	}
	var rows [][]string
	for line := range strings.Lines(string(content)) {
		rows = append(rows, strings.Split(strings.TrimSpace(line), ","))
	}
	// Columns and rows in the opposite order, with the line ends of another system.
	var turned strings.Builder
	for i := range rows {
		row := rows[0]
		if i > 0 {
			row = rows[len(rows)-i]
		}
		turned.WriteString(strings.Join([]string{row[5], row[4], row[3], row[2], row[1], row[0]}, ",") + "\r\n")
	}
	stored, err := clinicParquet(rows)
	if err != nil {
		return err
	}
	other := filepath.Join(dir, "other")
	return errors.Join(os.WriteFile(filepath.Join(dir, "turned.csv"), []byte(turned.String()), 0o644),
		os.WriteFile(filepath.Join(dir, "clinic.parquet"), stored, 0o644), os.Mkdir(other, 0o755), writeClinic(other, 2900))
}

// clinicParquet stores numbers as numbers.
func clinicParquet(rows [][]string) ([]byte, error) {
	columns := make([]columnar.Data, len(rows[0]))
	for j, name := range rows[0] {
		c := &columns[j]
		c.Name = name
		for _, row := range rows[1:] {
			if name != "age" && name != "stay" {
				c.Texts = append(c.Texts, row[j])
				continue
			}
			x, err := strconv.ParseFloat(row[j], 64)
			if err != nil {
				return nil, err
			}
			c.Floats = append(c.Floats, x)
		}
	}
	var b bytes.Buffer
	err := columnar.WriteParquet(&b, columns)
	return b.Bytes(), err
}

// At a terminal one question is asked, and its answer counts.
func TestAnswersAboutCopies(t *testing.T) {
	ctx := context.Background()
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
	key, err := l.PrintKey(ctx)
	if err != nil {
		t.Fatal(err)
	}
	rows := func(n int) *identity.Print {
		b := identity.New(key, []string{"x"})
		for i := range n {
			b.Add([]string{"row " + strconv.Itoa(i)})
		}
		return b.Print()
	}
	if err := l.Create(ctx, ledger.Budget{Dataset: "known", Epsilon: "1", Delta: "0", Relation: 1}); err != nil {
		t.Fatal(err)
	}
	if err := l.Keep(ctx, "known", rows(1000)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, answer string
		f            source.Copies
		terminal     bool
		same, reason string // "" for a refusal
	}{
		{name: "nobody to ask", answer: "yes\n"},
		{name: "yes", answer: "yes\n", terminal: true, same: "known"},
		{name: "y", answer: "Y\n", terminal: true, same: "known"},
		{name: "same", answer: "Same.\n", terminal: true, same: "known"},
		{name: "a reason", answer: "different\n other people \n", terminal: true, reason: "other people"},
		{name: "asked again", answer: "what?\nd\nother people\n", terminal: true, reason: "other people"},
		{name: "no reason", answer: "different\n\n", terminal: true},
		{name: "no reason in words", answer: "different\nnope\n", terminal: true},
		{name: "a reason at once", answer: "other people of course\n", terminal: true},
		{name: "unclear", answer: "known\n1\n--same-as known\nd\nother people\n", terminal: true},
		{name: "no", answer: "no\n", terminal: true},
		{name: "nothing", answer: "\n", terminal: true},
		{name: "the end", terminal: true},
		{name: "flags", f: source.Copies{Different: true, Reason: "said before"}, reason: "said before"},
	} {
		var said strings.Builder
		a := &app{streams: streams{in: strings.NewReader(c.answer), out: io.Discard, err: &said, person: func() bool { return c.terminal }}}
		f := c.f
		if a.interactive() {
			f.Ask = asking(a)
		}
		got, err := f.Recognise(ctx, l, source.Found{Path: "new.csv", Name: "new", Prints: []*identity.Print{rows(990)}})
		var same *source.SameError
		switch {
		case c.same != "":
			if !errors.As(err, &same) || same.Name != c.same || !errors.Is(err, ledger.ErrRefused) {
				t.Errorf("%s: %v", c.name, err)
			}
		case c.reason != "":
			if err != nil || len(got) != 1 || got[0].Other != "known" || got[0].Reason != c.reason {
				t.Errorf("%s: %v, %v", c.name, got, err)
			}
		default:
			if !errors.Is(err, ledger.ErrRefused) || errors.As(err, &same) || !strings.Contains(hint(err), "--same-as known") || !strings.Contains(hint(err), "--different --reason WHY") {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if asked := strings.Contains(said.String(), "?"); asked != c.terminal {
			t.Errorf("%s: asked %q", c.name, said.String())
		}
		if strings.ContainsAny(said.String(), "0123456789%") {
			t.Errorf("%s: the question says how much: %q", c.name, said.String())
		}
		// Equal rows are refused whatever is said.
		if _, err := (&source.Copies{Different: true, Reason: "no"}).Recognise(ctx, l, source.Found{Path: "new.csv", Name: "new", Prints: []*identity.Print{rows(1000)}}); !errors.Is(err, ledger.ErrRefused) {
			t.Errorf("%s: equal rows: %v", c.name, err)
		}
	}
	// The answer yes runs the command again as that data set.
	f, runs := source.Copies{}, []string{}
	err = f.Again(func() error {
		if runs = append(runs, f.SameAs); f.SameAs == "" {
			return &source.SameError{Name: "known"}
		}
		return nil
	})
	if err != nil || strings.Join(runs, ",") != ",known" {
		t.Errorf("runs %q, %v", runs, err)
	}
}
