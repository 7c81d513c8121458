package convex

import (
	"context"
	"errors"
	"math"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
)

func TestPublishedCalibration(t *testing.T) {
	const r = 2
	for _, tc := range []struct {
		name       string
		p          Published
		reg, scale float64
	}{
		{"2021", Published{Formula: Diffprivlib2021, Epsilon: 10, C: 0.5}, 2, 4 / (10 - 2*math.Log(1.5))},
		{"2025", Published{Formula: Diffprivlib2025, Epsilon: 10, C: 0.5}, 2, 4 / (10 - 2*math.Log(1.25))},
		{"replace one", Published{Formula: ReplaceOneFormula, Epsilon: 10, C: 0.5}, 2, 4 / (10 - 2*math.Log(1.5))},
		// 2·ln(1 + 0.5/0.5) > 1: a rises by 0.5/(e^{1/4}−1) − 0.5.
		{"2021, raised", Published{Formula: Diffprivlib2021, Epsilon: 1, C: 1}, 1 + 0.5/math.Expm1(0.25) - 0.5, 8},
		{"replace one, raised", Published{Formula: ReplaceOneFormula, Epsilon: 1, C: 1}, 1 / math.Expm1(0.25), 8},
		{"a norm from the data", Published{Formula: Diffprivlib2021, Epsilon: 10, C: 0.5, DataNorm: 4}, 2, 8 / (10 - 2*math.Log(2))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reg, scale, err := tc.p.calibrate(r)
			if err != nil || math.Abs(reg/tc.reg-1) > 1e-12 || math.Abs(scale/tc.scale-1) > 1e-12 {
				t.Errorf("got %.12g, %.12g (%v), want %.12g, %.12g", reg, scale, err, tc.reg, tc.scale)
			}
		})
	}
	for _, p := range []Published{{Formula: "own", Epsilon: 1, C: 1}, {Formula: Diffprivlib2021, C: 1}, {Formula: Diffprivlib2021, Epsilon: 1}, {Formula: Diffprivlib2021, Epsilon: math.NaN(), C: 1}} {
		if _, _, err := p.calibrate(r); err == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
}

// The weights solve the published problem in raw coordinates, on the noise of the
// named stream; sensitive rows are refused.
func TestFitPublishedSolvesTheRawProblem(t *testing.T) {
	s := testSchema(1)
	s.Public = true
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	cells := []float64{0.5, 1, 2, 1, -0.5, 0, 1, 0, 0.1, 1, 0, 1, -0.9, 0, 2, 0}
	rows := sealed.New("d", s, cells, make([]uint64, 4))
	fits := []Published{
		{Formula: Diffprivlib2021, Epsilon: 1, C: 1, Target: lastCell}, {Formula: ReplaceOneFormula, Epsilon: 5, C: 10, Target: lastCell},
		{Formula: Diffprivlib2021, Epsilon: 1e9, C: 1, Target: func(c []float64) float64 { return 1 - lastCell(c) }},
	}
	all, err := FitPublished(context.Background(), rows, dp.WholeScope, enc, fits, entropy.Seeded(3))
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, enc.Dim)
	for i, v := range all {
		reg, scale, err := fits[i].calibrate(1 / enc.Scale)
		if err != nil {
			t.Fatal(err)
		}
		// Gradient in raw coordinates without b must be −b: its norm is Gamma(d)·scale.
		g := make([]float64, enc.Dim)
		for j := range g {
			g[j] = reg * v[j] * enc.Scale
		}
		for r := range 4 {
			row := cells[r*4 : r*4+4]
			enc.Vector(x, row)
			p := 1/(1+math.Exp(-dot(x, v))) - fits[i].Target(row)
			axpy(p/enc.Scale, x, g)
		}
		size := norm(g) / scale
		if i == 2 {
			if norm(g) > 1e-4 {
				t.Errorf("without noise the raw gradient is %g", norm(g))
			}
			continue
		}
		// Gamma(6) lies within (0.2, 40) but for 1e-7.
		if size < 0.2 || size > 40 {
			t.Errorf("fit %d: noise of %g scales", i, size)
		}
	}
	s.Public = false
	hidden := sealed.New("d", s, cells, make([]uint64, 4))
	if _, err := FitPublished(context.Background(), hidden, dp.WholeScope, enc, fits, entropy.Seeded(3)); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("sensitive rows: %v", err)
	}
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
