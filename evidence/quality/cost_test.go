package quality

import (
	"math"
	"testing"
)

// Labels at costs are compared with the cheaper constant, row by row.
func TestCostGain(t *testing.T) {
	l := Labels{Rows: [2][2]float64{{800, 100}, {20, 80}}, PerUnit: 1}
	for _, c := range []struct {
		d    Decision
		want float64
	}{
		// Flagging none costs 100 misses, these labels 20 misses and 100 alarms.
		{Decision{FalseNegative: 1, FalsePositive: 1}, (100 - 120) / 1000.},
		{Decision{FalseNegative: 5, FalsePositive: 1}, (500 - 200) / 1000.},
		// Flagging all costs 900 alarms, these labels 20·20 + 100.
		{Decision{FalseNegative: 20, FalsePositive: 1}, (900 - 500) / 1000.},
	} {
		g, ok := l.CostGain(c.d)
		if !ok || !g.Known() || math.Abs(*g.Value-c.want) > 1e-9 || !(g.Interval[0] < c.want && c.want < g.Interval[1]) {
			t.Errorf("%+v: %+v, want %g", c.d, g, c.want)
		}
		v, of := Decide(Estimate{}, &Classification{CostGain: &g})
		if useful := c.want > 0; useful != (v == Useful && of == ForLabels) {
			t.Errorf("%+v: verdict %s for %s", c.d, v, of)
		}
	}
	if _, ok := l.CostGain(Decision{Recall: .5}); ok {
		t.Error("a recall has no costs")
	}
}
