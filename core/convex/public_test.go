package convex

import (
	"context"
	"errors"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
)

// What a simulation on public rows gives has the noise of a paid release, from streams of its own;
// sensitive rows are refused.
func TestPublicObjectives(t *testing.T) {
	s := testSchema(1)
	s.Public = true
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	cells := []float64{0.5, 1, 2, 1, -0.5, 0, 1, 0, 0.1, 1, 0, 1, -0.9, 0, 2, 0}
	rows := sealed.New("d", s, cells, make([]uint64, 4))
	private := *s
	private.Public = false
	hidden := sealed.New("d", &private, cells, make([]uint64, 4))
	o := Objective{Scope: dp.WholeScope, Epsilon: 1, Regularization: 2, ResidualCap: 1, Encoding: enc, Target: lastCell}
	if _, err := PerturbObjectivesPublic(context.Background(), hidden, dp.AddOrRemoveOne, []Objective{o}, entropy.Seeded(3)); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("sensitive rows without a permit: %v", err)
	}
	free, err := PerturbObjectivesPublic(context.Background(), rows, dp.AddOrRemoveOne, []Objective{o, o}, entropy.Seeded(3))
	if err != nil {
		t.Fatal(err)
	}
	permit := permitWith(t, entropy.Seeded(3), "d", dp.Compose{Events: []dp.Event{o.Event(), o.Event()}})
	paid, err := PerturbObjectives(context.Background(), permit, rows, []Objective{o, o})
	if err != nil {
		t.Fatal(err)
	}
	// Both have the noise that is claimed, each from streams of its own.
	cal, err := o.calibrate(dp.AddOrRemoveOne, 1)
	if err != nil {
		t.Fatal(err)
	}
	view, _ := mustOpen(t, s, cells, enc)
	streams := eventStreams(t, entropy.Seeded(3), o.Event(), o.Event())
	for i := range paid {
		for name, fit := range map[string]struct {
			w    []float64
			from *entropy.Source
		}{"paid": {paid[i], streams[i]}, "public": {free[i], entropy.Seeded(3).Split("fit", uint64(i))}} {
			want, finishing := replay(streamsOf(fit.from), cal, enc.Dim)
			axpy(-1, finishing, fit.w)
			b, _ := dense(view, enc, 1, cal.regularization, fit.w)
			axpy(-1, want, b)
			if g := norm(b); !(g <= certificate*1.01) {
				t.Errorf("%s fit %d: ‖∇J‖ = %g", name, i, g)
			}
		}
	}
}
