package source_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pawl/data/schema"
	"pawl/data/source"
	"pawl/reader"
)

// Opening a table of many columns takes time by their number, not by its square: all of them declared, or half
// of them. By the square it took minutes.
func TestManyColumns(t *testing.T) {
	const width = 1 << 16
	names := make([]string, width)
	s := &schema.Schema{Version: 1}
	for i := range names {
		names[i] = fmt.Sprint("c", i)
		s.Columns = append(s.Columns, schema.Column{Name: names[i], Type: schema.Integer, Upper: 9})
	}
	text := strings.Join(names, ",") + "\n" + strings.Repeat("1,", width-1) + "1\n"
	begin := time.Now()
	for _, declared := range []*schema.Schema{s, {Version: 1, Columns: s.Columns[:width/2], IgnoreOthers: true}, {Version: 1, Columns: s.Columns[:width/2]}} {
		o := reader.Options{Faults: reader.NewFaults()}
		source.NewWatcher([32]byte{1}, declared, &o)
		err := reader.ReadBeside("t.csv", strings.NewReader(text), declared, o, reader.InOrder(func([]float64) error { return nil }))
		if all := len(declared.Columns) == width || declared.IgnoreOthers; all != (err == nil) {
			t.Errorf("%d columns declared: %.200v", len(declared.Columns), err)
		}
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("%d columns took %v", width, took)
	}
}
