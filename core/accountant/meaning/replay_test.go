package meaning

import (
	"math"
	"testing"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// Figure 6 of the adaptive-optimizers paper: composing all candidates is cheaper
// than random stopping up to 14 candidates at 5,000 rows and 26 at 60,000.
func TestReplayFigure6(t *testing.T) {
	for _, c := range []struct {
		rows, delta      float64
		crossing         int
		liuTalwar, total float64
	}{{5000, 1e-4, 14, 32.38, 31.78}, {60000, 1e-5, 26, 2.764, 2.738}} {
		r := Replay{Relation: dp.AddOrRemoveOne, Event: dp.Repeat{Count: 10000,
			Event: dp.PoissonSampled{Rate: 250 / c.rows, Event: dp.Gaussian{NoiseMultiplier: 4}}}}
		both := func(k int) (lt, ma float64) {
			lt, err := r.LiuTalwar(k, c.delta)
			if err != nil {
				t.Fatal(err)
			}
			ma, err = r.ComposedCandidates(k, c.delta)
			if err != nil {
				t.Fatal(err)
			}
			return lt, ma
		}
		lt, ma := both(c.crossing)
		if math.Abs(lt-c.liuTalwar) > 0.006*c.liuTalwar/10 || math.Abs(ma-c.total) > 0.006*c.total/10 {
			t.Errorf("n=%v, %d candidates: random stopping %.4f and composition %.4f, want %v and %v", c.rows, c.crossing, lt, ma, c.liuTalwar, c.total)
		}
		if lt < ma {
			t.Errorf("n=%v: composition is not cheaper at %d", c.rows, c.crossing)
		}
		if lt, ma := both(c.crossing + 1); lt > ma {
			t.Errorf("n=%v: composition is still cheaper at %d (%.4f against %.4f)", c.rows, c.crossing+1, ma, lt)
		}
		// The guarantee is never below the replay.
		g, err := accountant.Epsilon(dp.Select{Runs: dp.RandomStopping{Gamma: 1 / float64(c.crossing), Delta2: c.delta / 2}, Event: r.Event}, dp.AddOrRemoveOne, c.delta, accountant.MethodRDP)
		if err == nil && !math.IsInf(g.Epsilon, 1) && g.Epsilon < 0.5*lt {
			t.Errorf("n=%v: guarantee %v is far below the replay %v", c.rows, g.Epsilon, lt)
		}
	}
}
