package experiments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// guess stands for the values of a cell that was not measured.
var guess = slices.Repeat([]float64{0.5}, 64)

// errFound ends a replay at the cell that was asked for.
var errFound = errors.New("experiments: the cell was measured")

// Pending lists the cells of e that r does not keep, as far as they can be told without the
// values of others: it goes through the replay with guesses.
func Pending(ctx context.Context, e Experiment, r *Run) (names []string) {
	probe := r.probe()
	var mu sync.Mutex
	probe.instead = func(name string, _ func() ([]float64, error)) ([]float64, error) {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		return slices.Clone(guess), nil
	}
	through(ctx, e, probe)
	return names
}

// Guessing is a run of the same replay that measures nothing: it guesses the values of cells that r does not keep. nil
// where r is one.
func (r *Run) Guessing() *Run {
	if r.instead != nil {
		return nil
	}
	probe := r.probe()
	probe.instead = func(string, func() ([]float64, error)) ([]float64, error) { return slices.Clone(guess), nil }
	return probe
}

// Measure measures one cell of e, and no other.
func Measure(ctx context.Context, e Experiment, r *Run, name string) (values []float64, err error) {
	probe := r.probe()
	err = fmt.Errorf("%s has no cell %q that can be measured alone", e.Name, name)
	probe.instead = func(asked string, measure func() ([]float64, error)) ([]float64, error) {
		if asked != name {
			return slices.Clone(guess), nil
		}
		values, err = measure()
		return nil, errFound
	}
	through(ctx, e, probe)
	return values, err
}

// through runs a replay with guesses. What it makes of them, a fault included, means nothing.
func through(ctx context.Context, e Experiment, r *Run) {
	defer func() { _ = recover() }()
	_, _ = e.Run(ctx, r)
}

// probe is a run of the same replay that keeps nothing.
func (r *Run) probe() *Run { return &Run{File: r.Copy(), Scale: r.Scale, DataDir: r.DataDir} }
