package convex

import (
	"context"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
)

// Fits that start from a common center are as good as any: each has its own noise, is
// certified for its own target, cap and regularization, and one that differs from the
// fit before does not use its center.
func TestManyFitsAreCertified(t *testing.T) {
	s := testSchema(1)
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	var cells []float64
	for i := range 60 {
		cells = append(cells, float64(i%7)/7, float64(i%2), float64(i%3), float64(i*i%5%2))
	}
	rows := sealed.New("d", s, cells, make([]uint64, 60))
	plain := Objective{Scope: dp.WholeScope, Epsilon: 1, Regularization: 2, ResidualCap: 1, Encoding: enc, Target: lastCell}
	flipped, capped, louder := plain, plain, plain
	flipped.Target = func(c []float64) float64 { return 1 - lastCell(c) }
	capped.ResidualCap = 0.5
	louder.Epsilon, louder.Regularization = 0.1, 20
	var all []Objective
	for _, o := range []Objective{plain, flipped, capped, louder} {
		for range 8 {
			all = append(all, o)
		}
	}
	all = append(all, plain, flipped, plain)
	var events []dp.Event
	for _, o := range all {
		events = append(events, o.Event())
	}
	got, err := PerturbObjectives(context.Background(), permitWith(t, entropy.Seeded(5), "d", dp.Compose{Events: events}), rows, all)
	if err != nil {
		t.Fatal(err)
	}
	view, _ := mustOpen(t, s, cells, enc)
	flip := append([]float64(nil), cells...)
	for i := 3; i < len(flip); i += 4 {
		flip[i] = 1 - flip[i]
	}
	flippedView, _ := mustOpen(t, s, flip, enc)
	streams := eventStreams(t, entropy.Seeded(5), events...)
	for i, w := range got {
		o := all[i]
		cal, err := o.calibrate(dp.AddOrRemoveOne, 1)
		if err != nil {
			t.Fatal(err)
		}
		want, finishing := replay(streamsOf(streams[i]), cal, enc.Dim)
		axpy(-1, finishing, w)
		v := view
		if o.Target(cells[:4]) != lastCell(cells[:4]) {
			v = flippedView
		}
		b, _ := dense(v, enc, o.ResidualCap, cal.regularization, w)
		axpy(-1, want, b)
		if g := norm(b); !(g <= certificate*1.01) {
			t.Errorf("fit %d: ‖∇J‖ = %g", i, g)
		}
	}
}
