package bound

import (
	"math"
	"math/rand/v2"
	"testing"
)

func normals(rng *rand.Rand, n int, mean float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64() + mean
	}
	return x
}

// Null hypothesis: both worlds are N(0, 1), so the true ε is 0. In each of 200 repeats the
// bound may exceed 0 with probability 5 %; by the conservative counts of the exact
// intervals it is below 1 %, so that more than 10 of 200 has probability 1e-5.
func TestNullScoresGiveZero(t *testing.T) {
	for _, n := range []int{50, 500} {
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		const repeats = 200
		zero := 0
		for range repeats {
			e, err := Scores{In: normals(rng, n, 0), Out: normals(rng, n, 0)}.Epsilon(0, Printed)
			if err != nil {
				t.Fatal(err)
			}
			if e.Epsilon == 0 {
				zero++
			}
		}
		if zero < repeats*95/100 {
			t.Errorf("n = %d: bound 0 in %d of %d repeats", n, zero, repeats)
		}
	}
}

// The fault that splitting avoids, on the same data: the best threshold judged on the
// scores that chose it alarms far too often.
func TestChosenThresholdsNeedACorrection(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	const repeats, n = 200, 500
	alarms := 0
	for range repeats {
		s := Scores{In: normals(rng, n, 0), Out: normals(rng, n, 0)}
		e, err := s.EpsilonAt(s.Choose(ByEpsilon, 0, Printed), 0, Printed)
		if err != nil {
			t.Fatal(err)
		}
		if e.Epsilon > 0 {
			alarms++
		}
	}
	if alarms < repeats/10 {
		t.Errorf("%d alarms of %d without splitting: this test sees no selection bias any more", alarms, repeats)
	}
}

func TestSeparationIsFoundInBothDirections(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	in, out := normals(rng, 100, 10), normals(rng, 100, -10)
	up, err := Scores{In: in, Out: out}.Epsilon(0, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	down, err := Scores{In: out, Out: in}.Epsilon(0, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	// 50 of 50 against 0 of 50 are judged: ln(p/(1−p)), p = 0.025^(1/50).
	want, _ := Counts{50, 50, 0, 50}.Epsilon(0, 0.95)
	for name, e := range map[string]Estimate{"up": up, "down": down} {
		if math.Abs(e.Epsilon-want) > 1e-9 || e.Correction != Split || e.Counts.Positives != 50 {
			t.Errorf("%s: %+v, want %v", name, e, want)
		}
	}
	// A threshold that was declared is judged on all of them.
	fixed, err := Scores{In: in, Out: out}.EpsilonAt(Test{Threshold: 0}, 0, 0.95)
	if err != nil || math.Abs(fixed.Epsilon-3.281) > 6e-4 || fixed.Correction != Fixed {
		t.Errorf("declared threshold: %+v (%v)", fixed, err)
	}
}

// Sorted lists are split as well as shuffled ones, and ties never count for one side.
func TestSplitAndTies(t *testing.T) {
	s := Scores{}
	for i := range 1000 {
		s.In, s.Out = append(s.In, float64(i)), append(s.Out, float64(i))
	}
	e, err := s.Epsilon(0, 0.95)
	if err != nil || e.Epsilon != 0 {
		t.Errorf("equal sorted lists: %+v (%v)", e, err)
	}
	a, b := s.Halves()
	if len(a.In) != 500 || len(b.In) != 500 || math.Abs(mean(a.In)-mean(b.In)) > 60 {
		t.Errorf("halves of %d and %d, means %v and %v", len(a.In), len(b.In), mean(a.In), mean(b.In))
	}
	constant := Scores{In: make([]float64, 100), Out: make([]float64, 100)}
	if e, err := constant.Epsilon(0, 0.95); err != nil || e.Epsilon != 0 {
		t.Errorf("constant scores: %+v (%v)", e, err)
	}
}

func mean(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}

func TestChooseCountsAsAtDoes(t *testing.T) {
	// The best test of a tiny list by hand: "<= 2" is right about all of In.
	s := Scores{In: []float64{1, 2, 2, 1}, Out: []float64{3, 2.5, 4, 3}}
	for _, by := range []Criterion{ByEpsilon, ByMu} {
		chosen := s.Choose(by, 0, 0.95)
		if c := s.At(chosen); c != (Counts{4, 4, 0, 4}) {
			t.Errorf("%s: %+v has counts %+v", by, chosen, c)
		}
	}
}

func TestScoresRefuse(t *testing.T) {
	ok := []float64{1, 2, 3, 4}
	for name, s := range map[string]Scores{
		"nothing": {}, "one world": {In: ok}, "too few": {In: ok[:3], Out: ok}, "NaN": {In: []float64{1, 2, 3, math.NaN()}, Out: ok},
		"infinite": {In: ok, Out: []float64{1, 2, 3, math.Inf(1)}},
	} {
		if e, err := s.Epsilon(0, 0.95); err == nil {
			t.Errorf("%s: %+v and no error", name, e)
		}
		if v, err := Judge(s, Claim{Epsilon: 1}, Conviction); err == nil || v.Convicted {
			t.Errorf("%s: %+v and no error", name, v)
		}
	}
	s := Scores{In: ok, Out: ok}
	for _, c := range []struct{ delta, confidence float64 }{{-1, 0.95}, {1, 0.95}, {0, 0}, {0, 1}} {
		if e, err := s.Epsilon(c.delta, c.confidence); err == nil {
			t.Errorf("%+v: %+v and no error", c, e)
		}
	}
}
