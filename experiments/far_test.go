package experiments

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// The cells of a replay can be told without measuring them, but for those whose names depend on values of others; each can be
// measured alone, with the values that it has in the whole replay.
func TestCellsElsewhere(t *testing.T) {
	measured := map[string]int{}
	e := Experiment{Name: "e", Run: func(ctx context.Context, r *Run) (*Table, error) {
		var sum float64
		for _, name := range []string{"a", "b", "c"} {
			v, err := r.Cell(ctx, name, func() ([]float64, error) {
				measured[name]++
				return []float64{float64(name[0]), 7}, nil
			})
			if err != nil {
				return nil, err
			}
			sum += v[0]
			v[0] = 0 // a replay may do with them as it likes
		}
		if sum < 3 {
			return nil, errors.New("no such values")
		}
		_, err := r.Cell(ctx, "late", func() ([]float64, error) { measured["late"]++; return []float64{sum}, nil })
		return &Table{}, err
	}}
	r, err := NewRun("e", Smoke, "v", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Keep("b", []float64{98, 7}, 1); err != nil {
		t.Fatal(err)
	}
	if got := Pending(t.Context(), e, r); !slices.Equal(got, []string{"a", "c", "late"}) {
		t.Errorf("pending: %q", got)
	}
	if got, err := Measure(t.Context(), e, r, "c"); err != nil || !slices.Equal(got, []float64{99, 7}) {
		t.Errorf("c alone: %v, %v", got, err)
	}
	if _, err := Measure(t.Context(), e, r, "d"); err == nil {
		t.Error("a cell that is none was measured")
	}
	if len(measured) != 1 || measured["c"] != 1 || r.Keeps("c") {
		t.Errorf("measured %v", measured)
	}
	if _, err := Replay(t.Context(), e, r); err != nil {
		t.Fatal(err)
	}
	if measured["b"] != 0 || measured["a"] != 1 || measured["late"] != 1 {
		t.Errorf("measured %v", measured)
	}
}
