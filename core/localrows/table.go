// Package localrows releases rows themselves, each with separate noise, as local
// differential privacy would collect it; or, of a public data set, as they are.
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

// ErrRelation is wrapped where a release has no guarantee under the neighbouring
// relation of the permit.
var ErrRelation = errors.New("the release has no guarantee under this neighbouring relation")

// Table releases a table of rows, each with separate noise: what local differential
// privacy would collect, drawn in one place. Any model may then be trained on it, any
// number of times.
//
//	X_i = x_i·min(1, Norm/‖x_i‖) + N(0, (NoiseMultiplier·2·Norm)² I)
//
// and, with Label, a class that is the row's own with probability 1−LabelNoise and uniform
// over Classes otherwise. As many rows leave as Rows says, in a uniformly random order:
// where the scope holds more, a uniformly random choice of them, and where it holds
// fewer, rows of zeros with uniform classes beside them. A vector that is not finite is one of
// zeros, a class outside [0, Classes) a uniform one.
//
// # Guarantee
//
// Under ReplaceOne, with one row per unit, neighbours' scopes differ in one row that
// is another, is gone or has come. In each case the two random tables (before noise) can be
// drawn jointly so that they differ in one place at most: where the order falls on the row,
// by the other row or a row of zeros, and where only one scope is larger than Rows, by a
// row that was not chosen. Given that draw the tables are fixed, their vectors differ by
// 2·Norm at most in one place and their classes in the same: a Gaussian mechanism of
// sensitivity 2·Norm and one randomised response (a uniform class is an average of
// responses, whose divergence is no larger). Hockey-stick divergences are jointly
// convex, so the average over draws is bounded by the same pair: the events compose.
//
// If PublicLabels declares that classes are known, neighbours have equal classes by that
// declaration, and only their vectors have a price. It needs the whole scope, because a
// unit in its place may have another scope and take its class along.
//
// Under AddOrRemoveOne the number of rows is private and a table of them is refused.
type Table struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Rows is the public number of rows that leave.
	Rows int
	// Features is the length of a row's vector, Norm the bound on its length.
	Features int
	Norm     float64
	// Row fills x, Features zeros, with a vector made of a row's cells; where it is nil,
	// the dense input is the vector.
	Row func(x, cells []float64)
	// Label maps a row's cells to its class; nil releases no classes.
	Label   func(cells []float64) int
	Classes int
	// LabelNoise is the probability with which a class is replaced by a uniform one.
	LabelNoise float64
	// PublicLabels declares the classes of all rows public: they leave as they are, −1
	// where there is none.
	PublicLabels bool
}

// Noisy is what Table releases.
type Noisy struct {
	Rows, Features int
	// X is Rows×Features, row-major.
	X []float64
	// Labels are the classes of the rows, nil where none were asked for.
	Labels []int
	// StdDev is the standard deviation of the noise in a coordinate; 0 where the data
	// set is public.
	StdDev float64
}

// Events are what Release costs, in order.
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

// Public returns the exact rows of a public data set, scaled to Norm and in the order of
// the file, as many as there are; it fails for every other.
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
