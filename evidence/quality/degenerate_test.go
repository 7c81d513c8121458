package quality

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
)

// One class only, no row of the rare class, equal scores, no rows: exact or noisy, every number is
// within its range or not determined, nothing is NaN, and no model is called useful.
func TestNothingToTellIsNotDetermined(t *testing.T) {
	for _, c := range []struct {
		name                 string
		positives, negatives int
		equal                bool
	}{{"one class", 0, 800, false}, {"the other class", 800, 0, false}, {"equal scores", 60, 740, true}, {"no rows", 0, 0, false}} {
		for _, std := range []float64{0, 3} {
			rng := rand.New(rand.NewPCG(3, 9))
			var scores []float64
			var positive []bool
			for i := range c.positives + c.negatives {
				s := rng.NormFloat64()
				if c.equal {
					s = 1
				}
				scores, positive = append(scores, s), append(positive, i < c.positives)
			}
			var all *Classification
			labels := Labels{Std: std, PerUnit: 1, Rows: [2][2]float64{{float64(c.negatives), 0}, {float64(c.positives), 0}}}
			if std == 0 {
				all = JudgeAt(ExactTable(scores, positive, 1), None, false, 0)
			} else {
				fine := make([]float64, 16)
				for _, s := range scores {
					fine[FineBin(s, len(fine))]++
				}
				halves := []Half{{}, {}}
				base := Fine{fine, std}.Table(std, 1)
				for h := range halves {
					rows := make([]float64, 2*len(base.Mids))
					for i, s := range scores {
						if i%2 == h {
							rows[2*base.Bin(s)+one(positive[i])]++
						}
					}
					gaussian.noisy(rng, rows, std)
					halves[h].Table = base.Filled(rows, std)
				}
				Cross(halves)
				final, ok := halves[0].Table.Plus(halves[1].Table).Calibrate()
				all = Judge(halves, final, ok)
				for i := range labels.Rows {
					gaussian.noisy(rng, labels.Rows[i][:], std)
				}
			}
			labels.Fill(all, []string{"no", "yes"})
			if _, err := json.Marshal(all); err != nil {
				t.Errorf("%s, noise %g: %v", c.name, std, err)
			}
			check := func(what string, e *Estimate) {
				if e == nil || !e.Known() {
					return
				}
				if v, i := *e.Value, *e.Interval; !(i[0] >= 0 && i[0] <= v && v <= i[1] && i[1] <= 1) || math.IsNaN(v) {
					t.Errorf("%s, noise %g: %s is %g in %v", c.name, std, what, v, i)
				}
			}
			check("area", all.AUROC)
			check("average precision", all.AveragePrecision)
			check("balanced accuracy", &all.BalancedAccuracy)
			check("recall", all.Recall)
			check("precision", all.Precision)
			check("Brier", all.Brier)
			if std == 0 && (c.positives == 0 || c.negatives == 0) && (all.AUROC.Known() || all.BalancedAccuracy.Known()) {
				t.Errorf("%s: of one class, an area of %+v and a balanced accuracy of %+v", c.name, all.AUROC, all.BalancedAccuracy)
			}
			if v, _ := Decide(labels.Gain(), all); v == Useful {
				t.Errorf("%s, noise %g: called useful: area %+v", c.name, std, all.AUROC)
			}
		}
	}
}
