package attack

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pawl/evidence/audit/bound"
)

func TestEvaluate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := shifted(rng, 5000, 5000, 1)
	claim := bound.Claim{Epsilon: 1, Delta: 1e-5}
	r, err := Evaluate(s, Options{Priors: []float64{0.5, 0.1, 0.001}, Claim: &claim, Coins: true})
	if err != nil {
		t.Fatal(err)
	}
	// N(1, 1) against N(0, 1): AUC Φ(1/√2) = 0.760, best accuracy Φ(1/2) = 0.691, TPR at
	// 1 % Φ(1−2.326) = 0.092.
	if math.Abs(r.AUC.Estimate-0.760) > 0.02 || r.Swapped || r.Members != 5000 || r.NonMembers != 5000 {
		t.Errorf("AUC %+v", r.AUC)
	}
	if v := r.Success[0]; !holds(v.Rate, 0.691) || v.Baseline != 0.5 || math.Abs(v.Ceiling-0.7310) > 1e-3 {
		t.Errorf("success %+v", v)
	}
	if r.Success[0].Exceeds || len(r.Notes) != 2 {
		t.Errorf("%+v, %q: below the ceiling", r.Success[0], r.Notes)
	}
	tight, err := Evaluate(s, Options{Claim: &bound.Claim{Epsilon: 0.5}, Coins: true})
	if r.Convicted || err == nil && !tight.Convicted {
		t.Errorf("convicted %v at a claim of 1 and %v at 0.5", r.Convicted, tight.Convicted)
	}
	if err != nil || !tight.Success[0].Exceeds || len(tight.Notes) != 3 {
		t.Errorf("ceiling 0.622: %+v, %q (%v)", tight.Success[0], tight.Notes, err)
	}
	if v := r.Success[2]; v.Rate.Estimate < 0.995 || v.Baseline != 0.999 {
		t.Errorf("success at a prior of 0.1 %%: %+v", v)
	}
	if v := r.AtRate[1]; v.Asked != 0.01 || math.Abs(v.TruePositives.Estimate-0.092) > 0.03 {
		t.Errorf("at 1 %%: %+v", v)
	}
	if r.Bound == nil || r.Bound.Epsilon <= 0.5 || r.Bound.Delta != 1e-5 || r.Bound.Guesses.Canaries != 5000 {
		t.Errorf("bound %+v", r.Bound)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func holds(i bound.Interval, v float64) bool { return i.Lower <= v && v <= i.Upper }

// An AUC of 0.3 is an attack of 0.7, and is said to be one.
func TestSwappedLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	s := shifted(rng, 2000, 2000, 1)
	straight, err := Evaluate(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Member {
		s.Member[i] = !s.Member[i]
	}
	swapped, err := Evaluate(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !swapped.Swapped || math.Abs(swapped.AUC.Estimate-straight.AUC.Estimate) > 1e-12 || !strings.Contains(strings.Join(swapped.Notes, " "), "check the labels") {
		t.Errorf("swapped labels: %+v", swapped)
	}
	if !(swapped.Success[0].Rate.Estimate > 0.65) {
		t.Errorf("success %+v", swapped.Success[0])
	}
}

// Null hypothesis: scores know nothing. 200 repeats of 400 records; the interval of the
// balanced success rate, whose error is at most 5 %, misses 1/2 in more than 10 % with
// probability below 1e-3.
func TestNullAttack(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	const repeats = 200
	above := 0
	for range repeats {
		r, err := Evaluate(shifted(rng, 200, 200, 0), Options{Rates: []float64{0.01}})
		if err != nil {
			t.Fatal(err)
		}
		if !holds(r.Success[0].Rate, 0.5) {
			above++
		}
	}
	if above > repeats/10 {
		t.Errorf("the interval misses 1/2 in %d of %d repeats", above, repeats)
	}
}

func TestPerfectAttack(t *testing.T) {
	s := Scored{}
	for i := range 2000 {
		in := i%2 == 0
		v := -1 - float64(i)
		if in {
			v = 1 + float64(i)
		}
		s.Score, s.Member = append(s.Score, v), append(s.Member, in)
	}
	r, err := Evaluate(s, Options{Coins: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.AUC.Estimate != 1 || !(r.AUC.Lower < 1) || !(r.AUC.Lower > 0.9) || r.Success[0].Rate.Estimate < 0.99 || r.AtRate[0].TruePositives.Estimate != 1 || r.Bound.Epsilon < 4 {
		t.Errorf("%+v %+v %+v", r.AUC, r.Success[0], r.Bound)
	}
}

func TestEvaluateRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	ok := shifted(rng, 20, 20, 1)
	with := func(change func(s *Scored)) Scored {
		s := Scored{Score: append([]float64{}, ok.Score...), Member: append([]bool{}, ok.Member...)}
		change(&s)
		return s
	}
	for _, c := range []struct {
		name string
		s    Scored
		o    Options
		want error
	}{
		{"NaN", with(func(s *Scored) { s.Score[3] = math.NaN() }), Options{}, ErrInput},
		{"infinite", with(func(s *Scored) { s.Score[3] = math.Inf(-1) }), Options{}, ErrInput},
		{"constant", with(func(s *Scored) { clear(s.Score) }), Options{}, ErrConstant},
		{"members only", with(func(s *Scored) {
			for i := range s.Member {
				s.Member[i] = true
			}
		}), Options{}, ErrInput},
		{"nothing", Scored{}, Options{}, ErrInput},
		{"lengths", with(func(s *Scored) { s.Member = s.Member[1:] }), Options{}, ErrInput},
		{"classes", with(func(s *Scored) { s.Class = []int{1} }), Options{}, ErrInput},
		{"three of a kind", shifted(rng, 3, 50, 1), Options{}, ErrInput},
		{"prior", ok, Options{Priors: []float64{1}}, ErrInput},
		{"rate", ok, Options{Rates: []float64{0}}, ErrInput},
		{"confidence", ok, Options{Confidence: 1}, ErrInput},
		{"claim", ok, Options{Claim: &bound.Claim{Epsilon: -1}}, bound.ErrInput},
	} {
		if r, err := Evaluate(c.s, c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v", c.name, r, err)
		}
	}
}

func TestByClass(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	var s Scored
	add := func(class, n int, shift float64) {
		part := shifted(rng, n, n, shift)
		s.Score, s.Member = append(s.Score, part.Score...), append(s.Member, part.Member...)
		for range part.Score {
			s.Class = append(s.Class, class)
		}
	}
	add(0, 1000, 0)
	add(1, 300, 2)
	add(3, 1, 1)
	all, err := ByClass(s, Options{Rates: []float64{0.01}})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 4 || all[2].Report != nil || all[3].Report != nil || all[3].Refusal == "" {
		t.Fatalf("%+v", all)
	}
	if a, b := all[0].Report.AUC, all[1].Report.AUC; a.Lower > 0.5 || b.Estimate < 0.85 {
		t.Errorf("class 0: %+v, class 1: %+v", a, b)
	}
	s.Class = nil
	if _, err := ByClass(s, Options{}); !errors.Is(err, ErrInput) {
		t.Errorf("no classes: %v", err)
	}
}
