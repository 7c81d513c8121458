package workflow

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/model"
	"pawl/search"
	"pawl/search/space"
)

// A row moves the numbers of a metric by one row in L1, and so in L2, and by nothing where its target is
// not known, whatever the model says of it; and they say what the metric is.
func TestMetricsCountOneRow(t *testing.T) {
	for _, target := range []string{"y", "g", "amount"} {
		tab := small(2000, nil)
		in := tab.input("3", "1e-6", 1)
		in.Target, in.Model = target, "linear"
		plan, err := NewPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := plan.Run(context.Background(), Env{Ledger: memoryLedger(), Rows: tab.seal(t, 1), Digest: bytes.Repeat([]byte{7}, 32)})
		if err != nil {
			t.Fatal(err)
		}
		p, m := plan.problem, out.Model
		if m.Kind != model.Linear {
			t.Fatalf("%s: the model is %s", target, m.Kind)
		}
		for i := range m.Weights {
			m.Weights[i] *= 20 // probabilities beyond what is clipped
		}
		want := map[Metric]float64{}
		predict, probabilities := m.Predictor(), m.Prober()
		right, of, n := make([]float64, 3), make([]float64, 3), 0.0
		rng := rand.New(rand.NewPCG(1, 9))
		var rows [][]float64
		for i := range 600 {
			cells := append([]float64(nil), tab.rows[i]...)
			cells[rng.IntN(len(cells))] = math.NaN()
			if i%3 == 0 {
				cells[p.targetColumn] = tab.rows[i][p.targetColumn]
			}
			rows = append(rows, cells)
			y, x := cells[p.targetColumn], predict(cells)
			if y != y {
				continue
			}
			n++
			if p.task == model.Regression {
				e := min(math.Abs(x-y)/100, 1)
				want[ByAbsoluteError], want[BySquaredError] = want[ByAbsoluteError]-e, want[BySquaredError]+e*e
				continue
			}
			q := make([]float64, len(m.Classes()))
			probabilities(q, cells)
			if of[int(y)]++; x == y {
				right[int(y)]++
				want[ByAccuracy]++
			}
			want[ByLogLoss] -= min(-math.Log(q[int(y)]), lossBound)
			q[int(y)]--
			for _, d := range q {
				want[ByBrier] -= d * d / 2
			}
		}
		for by := range want {
			want[by] /= n
		}
		want[BySquaredError] = -math.Sqrt(want[BySquaredError])
		for k := range m.Classes() {
			want[ByBalancedAccuracy] += right[k] / of[k] / float64(len(m.Classes()))
		}
		clipped := false
		for _, by := range Metrics(p.task) {
			q := p.measure(by, m, false)
			add, value := q.exactly()
			for _, cells := range rows {
				at, next := q.bin(cells, nil)
				if (at < 0) != math.IsNaN(cells[p.targetColumn]) || at >= q.bins || !(next >= 0 && next <= 1) || next > 0 && at == q.bins-1 || q.counted && next != 0 {
					t.Fatalf("%s by %s: a row lies in bin %d of %d and %g in the next", target, by, at, q.bins, next)
				}
				clipped = clipped || next == 1
				add(cells, nil)
			}
			if got, counted := value(); counted != n || math.Abs(got-want[by]) > 1e-9 || got < q.worst {
				t.Errorf("%s by %s: %g of %g rows, want %g of %g; the worst is %g", target, by, got, counted, want[by], n, q.worst)
			}
		}
		if p.task == model.Classification && !clipped {
			t.Errorf("%s: no loss was clipped", target)
		}
	}
}

// A search by a metric books the noise that its values have, and runs with no less.
func TestSearchByAMetric(t *testing.T) {
	s, _ := space.Lookup("tabular")
	for target, by := range map[string]Metric{"y": ByLogLoss, "g": ByBalancedAccuracy, "amount": BySquaredError} {
		tab := small(1500, nil)
		in := tab.input("4", "1e-5", 3)
		in.Target = target
		settings := SearchSettings{Space: s, Strategy: search.Strategy{Kind: search.PS, Mean: 2, Validation: .1}, Metric: by}
		plan, err := NewTableSearchPlan(in, settings)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plan.Stages[0].What, "chosen by "+string(by)) {
			t.Errorf("%s: the plan says %q", by, plan.Stages[0].What)
		}
		h := plan.job.(*searching)
		if got := h.family().Score(h.quote.ScoreNoise); len(got) != 1 || got[0] != (dp.DiscreteGaussian{NoiseMultiplier: h.quote.ScoreNoise}) {
			t.Errorf("%s: a value is booked as %v", by, got)
		}
		out, err := plan.Run(context.Background(), Env{Ledger: memoryLedger(), Rows: tab.seal(t, 1), Digest: bytes.Repeat([]byte{7}, 32)})
		if err != nil {
			t.Fatal(err)
		}
		if out.Chosen == nil || (*out.Chosen > 0) != (by == ByBalancedAccuracy) {
			t.Errorf("%s: chosen by %v", by, out.Chosen)
		}
		h.quote.ScoreNoise *= 0.99
		l := ledger.New(memoryStore(), freeAccountant{}, ledger.Options{User: "tester"})
		if err := l.Create(context.Background(), ledger.Budget{Dataset: "small", Epsilon: "1000", Delta: "1e-4", Unit: "row", Relation: dp.AddOrRemoveOne}); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Run(context.Background(), Env{Ledger: l, Rows: tab.seal(t, 1), Digest: bytes.Repeat([]byte{7}, 32)}); err == nil {
			t.Errorf("%s: ran with less noise than it booked", by)
		}
		settings.Metric = Metrics(plan.problem.task)[0]
		named, err := NewTableSearchPlan(in, settings)
		settings.Metric = ""
		plain, err2 := NewTableSearchPlan(in, settings)
		if err != nil || err2 != nil || named.digest(nil) != plain.digest(nil) || plain.digest(nil) == plan.digest(nil) {
			t.Errorf("%s: searches by the rule's metric, by its name and by another are to be two computations (%v, %v)", by, err, err2)
		}
		settings.Metric = "auroc"
		if _, err := NewTableSearchPlan(in, settings); err == nil || !strings.Contains(err.Error(), "no public bound on how much one row changes it") {
			t.Errorf("a search by AUROC: %v", err)
		}
	}
}
