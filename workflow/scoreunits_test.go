package workflow

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pawl/data/schema"
)

// people are persons of 8 near-equal rows each.
func people(persons int, rng *rand.Rand) table {
	s := &schema.Schema{Version: 1, Dataset: "people", NA: schema.DefaultNA, Rows: schema.RowCount{Kind: schema.RowsAbout, N: int64(8 * persons)},
		Unit: schema.Unit{Name: "person", Column: "who", MaxRows: 8}, Columns: []schema.Column{
			{Name: "who", Type: schema.Ignore},
			{Name: "x", Type: schema.Numeric, Lower: 0, Upper: 1},
			{Name: "y", Type: schema.Boolean},
		}}
	tab := table{name: "people", target: "y", schema: s}
	for i := range persons {
		x, y := rng.Float64(), 0.0
		if rng.Float64() < 0.2+0.6*x {
			y = 1
		}
		for range 8 {
			near := min(max(x+0.01*rng.NormFloat64(), 0), 1)
			tab.rows = append(tab.rows, []float64{math.NaN(), near, y})
			tab.units = append(tab.units, fmt.Sprint(i))
		}
	}
	return tab
}

// Null: the whole job, from sealed rows to the score, has intervals that hold for persons
// of 8 near-equal rows: 40 runs on tables of their own, against the model's score on
// other persons. At 95 % fewer than 32 hold with a chance of 1.3e-4. (They held in less
// than half of the runs when rows were taken as independent.)
func TestScoresOfPersonsHold(t *testing.T) {
	const runs = 40
	rng := rand.New(rand.NewPCG(800, 8))
	world := people(5000, rng)
	held := 0
	for seed := range uint64(runs) {
		tab := people(800, rng)
		in := tab.input("2", "1e-6", seed+1)
		in.Model = "linear"
		out := tab.run(t, in)
		e := newExact(out.Plan.problem, out.Model)
		for i := 0; i < len(world.rows); i += 8 {
			e.add(world.rows[i])
		}
		if truth, i := e.value(), out.Score.Interval; i[0] <= truth && truth <= i[1] {
			held++
		}
		if w := out.Score.Interval[1] - out.Score.Interval[0]; w > 0.5 {
			t.Errorf("an interval of width %.2f says nothing", w)
		}
	}
	if held < 32 {
		t.Errorf("%d of %d intervals hold", held, runs)
	}
}
