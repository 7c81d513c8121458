package sum

import (
	"context"
	"errors"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
	"pawl/data/schema"
)

// Under zero-out a row takes the place of another, so a release that counts the null row moves by what two rows add.
// Each is refused before a row is read, and goes on where null rows add nothing or do not exist.
func TestNullRowsAddNothing(t *testing.T) {
	s := &schema.Schema{Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{
		{Name: "number", Type: schema.Numeric, Lower: -1, Upper: 1}, {Name: "y", Type: schema.Numeric, Lower: -1, Upper: 1}}}
	enc, err := encode.New(s, "y", encode.Options{Linear: true})
	if err != nil {
		t.Fatal(err)
	}
	inputs := sealed.NewWithInputs("d", s, []float64{.5, 1}, []uint64{0}, sealed.Inputs{Dim: 2, Floats: []float32{.5, 1}})
	cell := func(cells []float64) int { // as learners have it, unknown cells are a level of their own
		if y := cells[1]; y == y {
			return int(y)
		}
		return 2
	}
	missing := func(cells []float64) float64 { // and so is a missing target
		if y := cells[1]; y == y {
			return y
		}
		return 0
	}
	known := func(cells []float64) float64 { return cells[1] }
	cells := func(inputs bool, row func(cells []float64, input []float32, add *Tally)) Cells {
		return Cells{Scope: dp.WholeScope, Size: 3, L1: 1, Event: dp.DiscreteLaplace{NoiseMultiplier: 1}, Inputs: inputs, Row: row}
	}
	linear := func(target func([]float64) float64) Linear {
		return Linear{Privacy: Privacy{Scope: dp.WholeScope, ClippingNorm: 1, NoiseMultiplier: 1, Steps: 1, SamplingRate: 1},
			Encoding: enc, Outputs: 1, Target: target, Loss: Residual}
	}
	terms := func(target func([]float64) float64) Terms {
		return Terms{Scope: dp.WholeScope, NoiseMultiplier: 1, ClippingNorm: 1, CountShare: .5, Rounds: 1, Outputs: 1, Loss: Residual,
			Terms: []Term{{Levels: 3, Level: cell}}, Target: target}
	}
	regression := func(target func([]float64) float64) Regression {
		return Regression{Scope: dp.WholeScope, NoiseMultiplier: 1, Encoding: enc, Target: target}
	}
	vector := func(x, cells []float64) int { x[0] = 1; return 0 }
	inGroup := func(x, cells []float64) int { return 0 }
	left := func(x, cells []float64) int { x[0] = cells[0]; return 0 } // no number, so the row is left out
	type release struct {
		event dp.Event
		run   func(p *sealed.Permit) error
	}
	of := func(c Cells) release {
		return release{c.Event, func(p *sealed.Permit) error { _, err := c.Release(context.Background(), p, inputs); return err }}
	}
	ofMoments := func(m Moments) release {
		m.Scope, m.Event, m.Groups, m.Norm = dp.WholeScope, dp.Gaussian{NoiseMultiplier: 1}, 1, 1
		return release{m.Event, func(p *sealed.Permit) error { _, err := m.Release(context.Background(), p, inputs); return err }}
	}
	ofLinear := func(l Linear) release {
		return release{l.Event(), func(p *sealed.Permit) error { _, err := l.Open(p, inputs); return err }}
	}
	ofTerms := func(x Terms) release {
		return release{x.Event(), func(p *sealed.Permit) error {
			run, err := x.Open(p, inputs)
			if err == nil {
				run.Close()
			}
			return err
		}}
	}
	ofRegression := func(r Regression) release {
		return release{r.Event(), func(p *sealed.Permit) error { _, err := r.Release(context.Background(), p, inputs); return err }}
	}
	for name, c := range map[string]struct {
		counts bool
		release
	}{
		"a level of missing values": {true, of(cells(false, func(c []float64, _ []float32, add *Tally) { add.Add(cell(c), 1) }))},
		"known levels":              {false, of(cells(false, func(c []float64, _ []float32, add *Tally) { add.Add(int(max(c[1], -1)), int64(min(1, max(c[1], 0)))) }))},
		"levels, out of range":      {false, of(cells(false, func(c []float64, _ []float32, add *Tally) { add.Add(cell(c)+1, 1) }))},
		"inputs":                    {false, of(cells(true, func(_ []float64, x []float32, add *Tally) { add.Add(0, int64(x[1])) }))},
		"inputs of nothing":         {true, of(cells(true, func(_ []float64, x []float32, add *Tally) { add.Add(0, 1-int64(x[1])) }))},
		"number of vectors":         {true, ofMoments(Moments{Features: 2, Counts: true, Row: inGroup})},
		"vectors of a null":         {true, ofMoments(Moments{Features: 2, Sums: true, Row: vector})},
		"zeros of a null":           {false, ofMoments(Moments{Features: 2, Products: true, Row: inGroup})},
		"no vector":                 {false, ofMoments(Moments{Features: 2, Counts: true, Row: left})},
		"inputs, centred":           {true, ofMoments(Moments{Features: 2, Squares: true, Centre: []float64{0, .5}})},
		"inputs, as they are":       {false, ofMoments(Moments{Features: 2, Sums: true})},
		"linear, missing":           {true, ofLinear(linear(missing))},
		"linear":                    {false, ofLinear(linear(known))},
		"terms, missing":            {true, ofTerms(terms(missing))},
		"terms":                     {false, ofTerms(terms(known))},
		"regression, missing":       {true, ofRegression(regression(missing))},
		"regression":                {false, ofRegression(regression(known))},
	} {
		permit := func(rel dp.Relation) *sealed.Permit {
			p, err := sealed.NewPermit("1", "d", rel, 1, c.event, entropy.Seeded(1))
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		for _, rel := range []dp.Relation{dp.AddOrRemoveOne, dp.ReplaceOne} {
			if err := c.run(permit(rel)); err != nil {
				t.Errorf("%s under %v: %v", name, rel, err)
			}
		}
		p := permit(dp.ZeroOut)
		if err := c.run(p); errors.Is(err, sealed.ErrNullCounts) != c.counts || !c.counts && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p.Opened() == c.counts {
			t.Errorf("%s: rows opened: %v", name, p.Opened())
		}
	}
}
