package dfs

import (
	"math"
	"math/rand/v2"
	"testing"

	"pawl/data/dataset"
	"pawl/experiments/formulas"
)

// made has two classes that share no feature of theirs, and a common one.
func made(rows int) *Source {
	s := &Source{features: 50, byClass: make([][][]dataset.Entry, 2)}
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range s.byClass {
		for range rows {
			v := float32(.5 + .2*rng.Float64())
			row := []dataset.Entry{{Feature: 0, Value: v}, {Feature: int32(1 + k), Value: v}, {Feature: int32(3 + rng.IntN(47)), Value: v / 4}}
			s.byClass[k] = append(s.byClass[k], row)
		}
	}
	return s
}

// Without noise, and with as much as a huge ε asks for, the classes are told apart by a
// few features; at a tiny ε nobody can.
func TestStudyFollowsTheNoise(t *testing.T) {
	s := made(trainRows + testRows)
	all := []formulas.Arm{
		{Ranking: formulas.Distance, Count: 2, Epsilon: math.Inf(1), Noise: formulas.Published},
		{Ranking: formulas.Distance, Count: 2, Epsilon: 1e4, Noise: formulas.Analytic},
		{Ranking: formulas.Distance, Count: 2, Epsilon: .001, Noise: formulas.Analytic},
		{Ranking: formulas.InOrder, Epsilon: 1e4, Noise: formulas.Analytic},
	}
	const replicates = 20
	study := formulas.SelectionStudy{Data: s, Procedure: formulas.CutThenNoise, Arms: all, Delta: 1e-4, Replicates: replicates, Seed: 1}
	published, err := study.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	study.Procedure, s.All = formulas.ClassSums, true
	private, err := study.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mean := func(v []float64, i int) float64 {
		sum := 0.0
		for _, e := range v[i*replicates:][:replicates] {
			sum += e / replicates
		}
		return sum
	}
	for i, most := range []float64{.05, .05, 0, .05} {
		if most == 0 {
			// A coin over 20 × 200 points stays within 0.45 but for 1e-9.
			if mean(published, i) < .4 || mean(private, i) < .4 {
				t.Errorf("%+v: errors %g and %g at hardly any signal", all[i], mean(published, i), mean(private, i))
			}
			continue
		}
		if e := mean(published, i); e > most {
			t.Errorf("%+v: error %g", all[i], e)
		}
		if e := mean(private, i); e > most {
			t.Errorf("%+v, honest: error %g", all[i], e)
		}
	}
}
