package cells

import (
	"context"
	"errors"
	"os"
	"testing"
)

// An interrupted replay measures only what is left.
func TestCellsAreKept(t *testing.T) {
	dir := t.TempDir()
	measured := 0
	stop := errors.New("stop")
	replay := func(version string, fail bool) error {
		r, err := Open("x", "smoke", version, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range []string{"a", "b", "c"} {
			_, err := r.Cell(context.Background(), cell, func() ([]float64, error) {
				if fail && cell == "c" {
					return nil, stop
				}
				measured++
				return []float64{1, 2}, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := replay("1", true); !errors.Is(err, stop) {
		t.Fatalf("got %v, want the cell's error", err)
	}
	if err := replay("1", false); err != nil || measured != 3 {
		t.Fatalf("after an interruption %d cells were measured, want 3 in all (%v)", measured, err)
	}
	if err := replay("2", false); err != nil || measured != 6 {
		t.Fatalf("another version measured %d cells, want all 3 again (%v)", measured-3, err)
	}
	// A file that is cut costs time only.
	if err := os.WriteFile(dir+"/x-smoke.cells.json", []byte(`{"cells":`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := replay("2", false); err != nil || measured != 9 {
		t.Fatalf("a damaged file: %d cells, want 3 more (%v)", measured-6, err)
	}
}

// Two processes beside each other: what one has measured the other takes over, and a file
// that was damaged meanwhile is not replaced.
func TestRunsBesideEachOther(t *testing.T) {
	dir := t.TempDir()
	open := func() *File {
		r, err := Open("x", "smoke", "1", dir)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b := open(), open()
	measure := func() ([]float64, error) { return []float64{1}, nil }
	if _, err := a.Cell(t.Context(), "one", measure); err != nil {
		t.Fatal(err)
	}
	never := func() ([]float64, error) { t.Error("measured twice"); return nil, nil }
	if v, err := b.Cell(t.Context(), "one", never); err != nil || v[0] != 1 || b.Measured() != 0 || a.Measured() != 1 {
		t.Errorf("%v, %v; %d and %d measured", v, err, a.Measured(), b.Measured())
	}
	if err := os.WriteFile(a.Path(), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Cell(t.Context(), "two", measure); err == nil {
		t.Error("a damaged file was replaced")
	}
	for _, text := range []string{"{", `{"experiment":"x","scale":"smoke","version":"1","cells":{"one":[1`, "[]", "{}"} {
		if err := os.WriteFile(a.Path(), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c := open()
		if kept, err := os.ReadFile(c.Aside()); !c.Unread() || c.Kept() != 0 || err != nil || string(kept) != text {
			t.Errorf("of the damaged file %s, %d cells are used, and %q is kept as %s (%v)", text, c.Kept(), kept, c.Aside(), err)
		}
		if _, err := c.Cell(t.Context(), "one", measure); err != nil || open().Kept() != 1 {
			t.Errorf("measured again: %v", err)
		}
	}
	old, err := Open("x", "smoke", "2", dir)
	if err != nil || !old.Unread() || old.Aside() != "" {
		t.Errorf("a file of another version is not damaged: %v, kept as %q", err, old.Aside())
	}
}
