package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pawl/data/schema"
)

// lying is text that does not lie in memory, and counts how often it is read.
type lying struct {
	text  string
	reads int
}

func (l *lying) Size() int64       { return int64(len(l.text)) }
func (l *lying) Reader() io.Reader { return &lyingReader{of: l, Reader: strings.NewReader(l.text)} }

type lyingReader struct {
	io.Reader
	of   *lying
	read bool
}

func (c *lyingReader) Read(b []byte) (int, error) {
	if !c.read {
		c.read = true
		c.of.reads++
	}
	return c.Reader.Read(b)
}

// The receiver of a table's bytes gets all that was parsed, from the same reading. For a reading that stops before the
// end, and for a table in memory, whole is false.
func TestHanded(t *testing.T) {
	var csv, json strings.Builder
	csv.WriteString("age,ward\n")
	for i := range 100_000 {
		fmt.Fprintf(&csv, "%d,%c\n", i%100, 'a'+i%2)
		fmt.Fprintf(&json, `{"age": %d, "ward": "%c"}`+"\n", i%100, 'a'+i%2)
	}
	bad := strings.Replace(csv.String(), "\n99,b\n", "\n99,c\n", 1)
	failed := errors.New("no key")
	for _, c := range []struct {
		name, file, text string
		fails            error
		whole            bool
		faulty           bool
	}{
		{"CSV", "a.csv", csv.String(), nil, true, false},
		{"JSON lines", "a.jsonl", json.String(), nil, true, false},
		{"a fault", "a.csv", bad, nil, false, true},
		{"no digest", "a.csv", csv.String(), failed, true, false},
	} {
		for _, beside := range []bool{false, true} {
			from := &lying{text: c.text}
			content := NewContent(c.file, Part{Name: c.file, Stored: from})
			var got bytes.Buffer
			r, done := content.Handed(func(r io.Reader) error {
				if c.fails != nil {
					return c.fails
				}
				_, err := io.Copy(&got, r)
				return err
			})
			var err error
			if beside {
				err = ReadBeside("unused", r, visits, Options{}, func() Stretch { return Stretch{Row: func([]float64, schema.Record) error { return nil }} })
			} else {
				err = ReadFrom("unused", r, visits, Options{}, func([]float64, schema.Record) error { return nil })
			}
			whole, fault := done()
			// A fault may be found before or after the last bytes were read.
			if (err != nil) != c.faulty || !c.faulty && whole != c.whole || fault != c.fails {
				t.Errorf("%s: whole %v, %v, %v", c.name, whole, err, fault)
			}
			if whole && c.fails == nil && got.String() != c.text {
				t.Errorf("%s: %d bytes are not those that were read", c.name, got.Len())
			}
			if from.reads != 1 {
				t.Errorf("%s: %d readings", c.name, from.reads)
			}
			if lines, err := lines(t, content, Options{}); !c.faulty && (err != nil || len(lines) != 100_000 || from.reads != 2) {
				t.Errorf("%s: the next reading has %d rows, %v", c.name, len(lines), err)
			}
		}
	}
	_, done := NewContent("a.csv", part("a.csv", csv.String())).Handed(func(io.Reader) error { panic("it lies in memory") })
	if whole, err := done(); whole || err != nil {
		t.Error("a table in memory was handed on")
	}
}
