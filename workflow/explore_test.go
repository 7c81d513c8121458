package workflow

import (
	"bytes"
	"context"
	"math"
	"testing"
)

func TestExplore(t *testing.T) {
	type job struct {
		name, eps, delta string
		runs             int
	}
	for _, j := range []job{{"breast-cancer", "0.1", "5e-4", 200}, {"breast-cancer", "1", "5e-4", 200}, {"breast-cancer", "5", "5e-4", 200},
		{"wdbc", "0.05", "2e-4", 60}, {"wdbc", "0.1", "2e-4", 60}, {"wdbc", "1", "2e-4", 60}} {
		tab := builtin(t, j.name)
		for _, c := range []float64{0.5, 1, 2, 4} {
			for _, g := range []float64{0.25, 0.5, 1, 2} {
				var d []float64
				for seed := range j.runs {
					in := tab.input(j.eps, j.delta, uint64(seed))
					plan, err := NewPlan(in)
					if err != nil {
						t.Fatal(err)
					}
					plan.Recipe = plan.Recipe.Scaled(c, g)
					out, err := plan.Run(context.Background(), Env{Ledger: memoryLedger(), Rows: tab.seal(t, *in.Seed), Test: tab.test, Digest: bytes.Repeat([]byte{7}, 32)})
					if err != nil {
						t.Fatal(err)
					}
					d = append(d, *out.Score.Exact-*out.Score.ExactBaseline)
				}
				m, v := 0.0, 0.0
				for _, x := range d {
					m += x / float64(len(d))
				}
				for _, x := range d {
					v += (x - m) * (x - m) / float64(len(d)-1)
				}
				t.Logf("%s eps %s c*%g G*%g: minus majority %.4f ± %.4f", j.name, j.eps, c, g, m, math.Sqrt(v/float64(len(d))))
			}
		}
	}
}
