package experiments

import (
	"cmp"
	"context"
	"time"

	"pawl/evidence/cells"
)

// Run is one replay at one scale. Its cells are kept in a file, so that a replay
// that was interrupted goes on with the next cell.
type Run struct {
	*cells.File
	Scale Scale
	// DataDir is a folder with data sets that are not embedded; may be empty.
	DataDir string

	instead func(name string, measure func() ([]float64, error)) ([]float64, error) // of measuring; nil
}

// NewRun prepares a replay of the named experiment, whose cells dir keeps.
func NewRun(name string, scale Scale, version, dir string) (*Run, error) {
	f, err := cells.Open(name, string(scale), version, dir)
	return &Run{File: f, Scale: scale}, err
}

// Restored is a run in memory that holds the given cells: it measures the others.
func Restored(name string, scale Scale, known map[string][]float64) *Run {
	return &Run{File: cells.Of(name, string(scale), "", known), Scale: scale}
}

// Cell returns the values of the named cell, measured now or by an earlier run.
// The name must say everything that they depend on. Cells may be measured side by side.
func (r *Run) Cell(ctx context.Context, name string, measure func() ([]float64, error)) ([]float64, error) {
	if r.instead != nil && ctx.Err() == nil && !r.Keeps(name) {
		return r.instead(name, measure)
	}
	return r.File.Cell(ctx, name, measure)
}

// Replay runs e and completes its table.
func Replay(ctx context.Context, e Experiment, r *Run) (*Table, error) {
	start := time.Now()
	t, err := e.Run(ctx, r)
	if err != nil {
		return nil, err
	}
	t.Name, t.Title, t.Source, t.Scale = e.Name, e.Title, e.Source, r.Scale
	t.Seconds, t.Guarantee = time.Since(start).Seconds(), cmp.Or(t.Guarantee, NoGuarantee)
	for i := range t.Rows {
		if t.Rows[i].Verdict == "" {
			t.Rows[i].Judge(0, "")
		}
	}
	return t, nil
}
