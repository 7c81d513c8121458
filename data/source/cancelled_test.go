package source_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"pawl/core/intake"
	"pawl/data/images"
	"pawl/data/source"
	"pawl/reader"
)

// doubled is a front end that counts the images it is asked for.
type doubled struct{ images int }

func (d *doubled) HasPrefix() bool   { return true }
func (d *doubled) ShortInputs() bool { return false }
func (d *doubled) Inputs(set *images.Set, visit func(i int, input []float32) error) error {
	for i := range set.Len() {
		d.images++
		if err := visit(i, []float32{1, 2}); err != nil {
			return err
		}
	}
	return nil
}

// Rows and images are sealed for minutes: an interrupt ends that at the next one.
func TestSealingStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &source.Images{Name: "digits", Target: "digit", Train: &images.Set{Shape: [3]int{1, 1, 1}, Bytes: make([]byte, 9), Labels: make([]int32, 9), Classes: []string{"a", "b"}}}
	front := &doubled{}
	if _, err := p.Seal(ctx, front, p.Schema(), intake.SimulationKey("digits", 1)); !errors.Is(err, context.Canceled) || front.images != 1 {
		t.Errorf("images: %v after %d of 9", err, front.images)
	}

	t.Chdir(t.TempDir())
	schema := "version: 1\nunit: row\nrows: public\ncolumns:\n  - {name: n, type: integer, lower: 0, upper: 9}\n  - {name: sick, type: categorical, categories: [\"no\", \"yes\"]}\n"
	for name, text := range map[string]string{"t.yaml": schema, "t.csv": "n,sick\n" + strings.Repeat("1,no\n", 9)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	table, err := source.OpenTable("t.csv", "t.yaml", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Seal(ctx, reader.Refuse, intake.SimulationKey("t", 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a table: %v", err)
	}
	if rows, err := table.Seal(t.Context(), reader.Refuse, intake.SimulationKey("t", 1)); err != nil || rows == nil {
		t.Errorf("a table that nobody interrupts: %v", err)
	}
}
