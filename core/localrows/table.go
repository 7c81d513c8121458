// Package localrows releases rows themselves: each with separate noise, as local differential
// privacy would collect it, or the exact rows of a public data set.
package localrows

import (
	"context"
	"errors"
	"fmt"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
	"pawl/core/sum"
)

// ErrRelation is wrapped if a release has no guarantee under the neighbouring relation of the
// permit.
var ErrRelation = errors.New("the release has no guarantee under this neighbouring relation")

// Table releases a table of rows, each with separate noise: what local differential
// privacy would collect, drawn in one place. Any model may then be trained on it, any
// number of times.
//
//	X_i = x_i·min(1, Norm/‖x_i‖) + N(0, (NoiseMultiplier·2·Norm)² I)
//
// and, with Label, a class that is the row's own with probability 1−LabelNoise and uniform over
// Classes otherwise. Exactly Rows rows are released, in a uniformly random order: a uniformly
// random choice if the scope holds more, and padded with rows of zeros and uniform classes if it
// holds fewer. A vector that is not finite counts as zeros, a class outside [0, Classes) as a
// uniform one.
//
// # Guarantee
//
// Under ReplaceOne, with one row per unit, neighbours' scopes differ in one row that is replaced,
// removed or added. In each case the two random tables (before noise) can be drawn jointly so that
// they differ in at most one place: at the row's place in the order, by the other row or a row of
// zeros, or, if only one scope is larger than Rows, by a row that was not chosen. Given that draw
// the tables are fixed, their vectors differ by at most 2·Norm in one place and their classes in
// the same place: a Gaussian mechanism of sensitivity 2·Norm and one randomised response (a uniform
// class is an average of responses, whose divergence is no larger). Hockey-stick divergences are
// jointly convex, so the average over draws is bounded by the same pair: the events compose.
//
// If PublicLabels declares that classes are known, neighbours have equal classes by that
// declaration, and only their vectors have a price. This needs the whole scope, because the unit
// that replaces another may lie in another scope, with its class.
//
// Under AddOrRemoveOne the number of rows is private, so a table of them is refused.
type Table struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Rows is the public number of released rows.
	Rows int
	// Features is the length of a row's vector, Norm the bound on its L2 norm.
	Features int
	Norm     float64
	// Row fills x, Features zeros, with a vector computed from a row's cells; if Row is nil, the dense
	// input is the vector.
	Row func(x, cells []float64)
	// Label maps a row's cells to its class; nil releases no classes.
	Label   func(cells []float64) int
	Classes int
	// LabelNoise is the probability with which a class is replaced by a uniform one.
	LabelNoise float64
	// PublicLabels declares the classes of all rows public: they are released exactly, −1 for none.
	PublicLabels bool
}

// Noisy is the release of a Table.
type Noisy struct {
	Rows, Features int
	// X is Rows×Features, row-major.
	X []float64
	// Labels are the classes of the rows, nil if none were requested.
	Labels []int
	// StdDev is the standard deviation of the noise in a coordinate; 0 for a public data set.
	StdDev float64
}

// Events returns the cost of Release, in order.
func (l Table) Events() []dp.Event {
	events := []dp.Event{dp.Gaussian{NoiseMultiplier: l.NoiseMultiplier}}
	if l.Label != nil && !l.PublicLabels {
		events = append(events, dp.RandomizedResponse{NoiseProbability: l.LabelNoise, Categories: l.Classes})
	}
	return events
}

func (l Table) validate() error {
	switch {
	case l.Features < 1 || l.Rows < 1 || l.Rows > sum.MostCells/l.Features:
		return fmt.Errorf("localrows: a table of %d rows of %d features", l.Rows, l.Features)
	case l.Label != nil && l.Classes < 2:
		return fmt.Errorf("localrows: a table with %d classes", l.Classes)
	case l.Label == nil && l.PublicLabels:
		return errors.New("localrows: public classes without a function that gives them")
	case l.Label != nil && !l.PublicLabels && !(l.LabelNoise > 0 && l.LabelNoise <= 1):
		return fmt.Errorf("localrows: the noise of classes must lie in (0, 1], got %g", l.LabelNoise)
	case l.PublicLabels && l.Scope != dp.WholeScope:
		return errors.New("localrows: classes are public for the whole scope only")
	}
	return sum.Positive("norm", l.Norm)
}

// Release returns the noisy table.
func (l Table) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (table *Noisy, err error) {
	defer sealed.Contain(&err)
	if err := l.validate(); err != nil {
		return nil, err
	}
	switch {
	case permit == nil:
		return nil, sealed.ErrNotReserved
	case permit.Relation() != dp.ReplaceOne:
		return nil, fmt.Errorf("localrows: a table of rows shows their number: %w (%v); replace_one is needed", ErrRelation, permit.Relation())
	case permit.MaxRows() != 1:
		return nil, fmt.Errorf("localrows: a table of rows needs 1 row per unit, not %d", permit.MaxRows())
	}
	events := l.Events()
	if err := errors.Join(ctx.Err(), sum.Positive("noise multiplier", l.NoiseMultiplier)); err != nil {
		return nil, err
	}
	view, err := sealed.Open(rows, permit, l.Scope, events[0])
	if err != nil {
		return nil, err
	}
	var response *entropy.Source
	for _, e := range events[1:] {
		again, err := sealed.Open(rows, permit, l.Scope, e)
		if err != nil {
			return nil, err
		}
		response = again.Noise()
	}
	// Not the named result: a fault in the noise would hand it out as it is.
	noisy, err := l.fill(view, choose(view.Noise().Split("order"), view.Len(), l.Rows))
	if err != nil {
		return nil, err
	}
	noisy.StdDev = l.NoiseMultiplier * 2 * l.Norm * (1 + 1e-12)
	if err := noise.Perturb(view.Noise().Split("features"), noisy.X, noisy.StdDev); err != nil {
		return nil, err
	}
	if len(events) > 1 {
		respond(response, noisy.Labels, l.Classes, l.LabelNoise)
	}
	return noisy, nil
}

// Public returns all rows of a public data set, exact, scaled to Norm and in the order of the file,
// and an error for any other.
func (l Table) Public(rows *sealed.Rows) (table *Noisy, err error) {
	defer sealed.Contain(&err)
	if err := l.validate(); err != nil {
		return nil, err
	}
	view, err := sealed.OpenPublic(rows, l.Scope)
	if err != nil {
		return nil, err
	}
	order := make([]int, view.Len())
	for i := range order {
		order[i] = i
	}
	return l.fill(view, order)
}

// fill makes the table of the rows of an order; one that does not exist is zeros without
// a class.
func (l Table) fill(view *sealed.View, order []int) (*Noisy, error) {
	dim, at := l.Features, sum.Vectors(view, sum.OneGroup(l.Row))
	if l.Row == nil && view.InputDim() != dim {
		return nil, fmt.Errorf("localrows: inputs of %d numbers, want %d", view.InputDim(), dim)
	}
	t := &Noisy{Rows: len(order), Features: dim, X: make([]float64, len(order)*dim)}
	if l.Label != nil {
		t.Labels = make([]int, len(order))
	}
	row := view.Rows()
	for slot, i := range order {
		class := -1
		if i < view.Len() {
			x := t.X[slot*dim : (slot+1)*dim]
			if at(i, x); !sum.Bound(x, l.Norm) {
				clear(x)
			}
			if l.Label != nil {
				if c := l.Label(row(i)); c >= 0 && c < l.Classes {
					class = c
				}
			}
		}
		if t.Labels != nil {
			t.Labels[slot] = class
		}
	}
	return t, nil
}

// choose returns the first size numbers of a uniformly random order of 0 … max(n, size)−1.
func choose(src *entropy.Source, n, size int) []int {
	all := make([]int, max(n, size))
	for i := range all {
		all[i] = i
	}
	for i := range size {
		j := i + int(src.Uint64n(uint64(len(all)-i)))
		all[i], all[j] = all[j], all[i]
	}
	return all[:size]
}

// respond is randomised response on each class; no class gives a uniform one.
func respond(src *entropy.Source, labels []int, classes int, chance float64) {
	for i, c := range labels {
		if src.Bernoulli(chance) || c < 0 {
			labels[i] = int(src.Uint64n(uint64(classes)))
		}
	}
}
