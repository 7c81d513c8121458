package sum

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
)

func rowsOf(public bool, n int) *sealed.Rows {
	s := &schema.Schema{Public: public, Unit: schema.Unit{Name: "row", MaxRows: 3},
		Columns: []schema.Column{{Name: "number", Type: schema.Integer, Lower: 0, Upper: 100}}}
	cells := make([]float64, n)
	for i := range cells {
		cells[i] = float64(i)
	}
	return sealed.New("d", s, cells, make([]uint64, n))
}

// Whatever a row tries to add, and in whatever order, what it moves is within the bound of
// the noise; and what is within the bound arrives.
func TestCellsHoldRowsToTheirBound(t *testing.T) {
	type addition struct {
		cell int
		n    int64
	}
	rapid.Check(t, func(t *rapid.T) {
		const size = 6
		number := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, largest, -largest, largest + 1}))
		additions := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) addition {
			return addition{rapid.IntRange(-2, size+1).Draw(t, "cell"), number.Draw(t, "n")}
		}), 0, 8).Draw(t, "additions")
		bound := rapid.SampledFrom([]int64{1, 2, 3, 9, largest, largest * largest / 2}).Draw(t, "bound")
		c := Cells{Scope: dp.WholeScope, Size: size, L1: bound, L2Squared: bound, Event: dp.DiscreteLaplace{NoiseMultiplier: 1},
			Row: func(_ []float64, _ []float32, add *Tally) {
				for _, a := range additions {
					add.Add(a.cell, a.n)
				}
			}}
		cost := func(n int64) float64 { return math.Abs(float64(n)) }
		if rapid.Bool().Draw(t, "Gaussian") {
			c.Event, cost = dp.DiscreteGaussian{NoiseMultiplier: 1}, func(n int64) float64 { return float64(n) * float64(n) }
		}
		sums, err := c.Public(rowsOf(true, 1))
		if err != nil {
			t.Fatal(err)
		}
		moved := 0.0
		for _, v := range sums {
			moved += cost(v)
		}
		if moved > float64(bound) {
			t.Fatalf("a row that adds %v moves the cells by %g, more than %d: %v", additions, moved, bound, sums)
		}
		asked, last := 0.0, -1
		for _, a := range additions {
			if a.cell <= last || a.cell >= size || !(math.Abs(float64(a.n)) <= largest) {
				return
			}
			asked, last = asked+cost(a.n), a.cell
		}
		if asked <= float64(bound) && moved != asked {
			t.Fatalf("a row that adds %v within its bound of %d left %v", additions, bound, sums)
		}
	})
}

// What is without meaning is refused before a row is read and before an event is used, and
// nothing leaves without the event that pays for it.
// Two numbers for one cell would have squares that say too little of their sum.
func TestNoCellTwice(t *testing.T) {
	c := Cells{Scope: dp.WholeScope, Size: 3, L2Squared: 2, Event: dp.DiscreteGaussian{NoiseMultiplier: 1}, Row: func(_ []float64, _ []float32, add *Tally) {
		for _, cell := range []int{1, 1, 0} {
			add.Add(cell, 1)
		}
	}}
	if sums, err := c.Public(rowsOf(true, 1)); err != nil || !slices.Equal(sums, []int64{0, 1, 0}) {
		t.Errorf("%v, %v", sums, err)
	}
}

func TestRefusals(t *testing.T) {
	count := func(_ []float64, _ []float32, add *Tally) { add.Add(0, 1) }
	good := Cells{Scope: dp.WholeScope, Event: dp.DiscreteLaplace{NoiseMultiplier: 2}, Size: 1, L1: 1, L2Squared: 1, Row: count}
	moments := Moments{Scope: dp.WholeScope, Event: dp.Gaussian{NoiseMultiplier: 2}, Groups: 1, Features: 1, Norm: 1, Counts: true,
		Row: func(_, _ []float64) int { return 0 }}
	permit := func(e dp.Event) *sealed.Permit {
		p, err := sealed.NewPermit("p", "d", dp.AddOrRemoveOne, 3, e, entropy.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, bad := range map[string]func(*Cells){
		"no noise":        func(c *Cells) { c.Event = dp.DiscreteLaplace{} },
		"noise is no law": func(c *Cells) { c.Event = dp.Gaussian{NoiseMultiplier: 2} },
		"no event":        func(c *Cells) { c.Event = nil },
		"no bound":        func(c *Cells) { c.L1 = 0 },
		"no cells":        func(c *Cells) { c.Size = 0 },
		"too many cells":  func(c *Cells) { c.Size = MostCells + 1 },
		"no rows' part":   func(c *Cells) { c.Row = nil },
	} {
		c, p := good, permit(good.Event)
		bad(&c)
		if got, err := c.Release(t.Context(), p, rowsOf(false, 2)); err == nil || got != nil || p.Opened() {
			t.Errorf("%s: %v, %v, opened %v", name, got, err, p.Opened())
		}
	}
	for name, bad := range map[string]func(*Moments){
		"nothing asked for":   func(m *Moments) { m.Counts = false },
		"no group":            func(m *Moments) { m.Groups = 0 },
		"products by group":   func(m *Moments) { m.Products, m.Groups = true, 2 },
		"inputs of no length": func(m *Moments) { m.Row = nil },
		"no noise":            func(m *Moments) { m.Event.NoiseMultiplier = 0 },
		"noise underflows":    func(m *Moments) { m.Event.NoiseMultiplier, m.Norm = 1e-250, 1e-100 },
	} {
		m, p := moments, permit(moments.Event)
		bad(&m)
		if got, err := m.Release(t.Context(), p, rowsOf(false, 2)); err == nil || got != nil || p.Opened() {
			t.Errorf("%s: %v, %v, opened %v", name, got, err, p.Opened())
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, release := range map[string]func(context.Context, *sealed.Permit, *sealed.Rows) error{
		"cells": func(ctx context.Context, p *sealed.Permit, r *sealed.Rows) error {
			_, err := good.Release(ctx, p, r)
			return err
		},
		"moments": func(ctx context.Context, p *sealed.Permit, r *sealed.Rows) error {
			_, err := moments.Release(ctx, p, r)
			return err
		},
	} {
		for _, p := range []*sealed.Permit{nil, permit(dp.DiscreteLaplace{NoiseMultiplier: 3}), permit(dp.Gaussian{NoiseMultiplier: 3})} {
			if err := release(t.Context(), p, rowsOf(false, 2)); !errors.Is(err, sealed.ErrNotReserved) {
				t.Errorf("%s without their charge: %v", name, err)
			}
		}
		p := permit(dp.Compose{Events: []dp.Event{good.Event, moments.Event}})
		if err := release(cancelled, p, rowsOf(false, 2)); !errors.Is(err, context.Canceled) || p.Opened() {
			t.Errorf("%s, cancelled: %v, opened %v", name, err, p.Opened())
		}
		if err := release(t.Context(), p, rowsOf(false, 2)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := release(t.Context(), p, rowsOf(false, 2)); !errors.Is(err, sealed.ErrNotReserved) {
			t.Errorf("%s twice on one charge: %v", name, err)
		}
	}
	if _, err := good.Public(rowsOf(false, 2)); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("exact cells of a sensitive data set: %v", err)
	}
	if _, err := moments.Public(t.Context(), rowsOf(false, 2)); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("exact moments of a sensitive data set: %v", err)
	}
	if _, err := moments.SimulatePublic(rowsOf(false, 2), entropy.Seeded(1)); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("simulated moments of a sensitive data set: %v", err)
	}
}
