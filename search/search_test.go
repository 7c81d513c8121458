package search_test

import (
	"errors"
	"math"
	"testing"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/search"
)

// mnist is the papers' training: lots of 100 of 60,000, 500 epochs.
func mnist(epsilon float64) search.Job {
	return search.Job{
		Trial: search.Trial{
			Train: func(x float64) dp.Event {
				return dp.Repeat{Count: 300_000, Event: dp.PoissonSampled{Rate: 1. / 600, Event: dp.Gaussian{NoiseMultiplier: x}}}
			},
			Score: func(x float64) []dp.Event { return []dp.Event{dp.DiscreteGaussian{NoiseMultiplier: x}} },
		},
		Relation: dp.AddOrRemoveOne, Epsilon: epsilon, Delta: 1e-5, Accountant: accountant.MethodRDP,
	}
}

func of(t *testing.T, kind search.Kind, change func(*search.Strategy)) search.Strategy {
	t.Helper()
	s, err := search.New(kind)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&s)
	}
	return s
}

// The totals of methods of selection at a base of 2.106 are those that the reference
// accountant gives.
func TestTotalsAtBase(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   search.Kind
		change func(*search.Strategy)
		want   float64
		within float64
	}{
		{"ps 10 eta 1", search.PS, func(s *search.Strategy) { s.Mean, s.Eta = 10, 1 }, 4.21, .01},
		{"ps 10 eta 0", search.PS, func(s *search.Strategy) { s.Mean = 10 }, 3.55, .01},
		{"ps 10 eta -1/2", search.PS, func(s *search.Strategy) { s.Mean, s.Eta = 10, -.5 }, 3.13, .01},
		{"ps 30 eta 0", search.PS, func(s *search.Strategy) { s.Mean = 30 }, 3.89, .01},
		{"ps 100 eta 0", search.PS, func(s *search.Strategy) { s.Mean = 100 }, 4.22, .01},
		{"rs 400", search.RS, nil, 4.55, .01},
		{"grid 30", search.Grid, func(s *search.Strategy) { s.Candidates = 30 }, 15.4, .1},
		{"grid 10", search.Grid, func(s *search.Strategy) { s.Candidates = 10 }, 7.83, .02},
		{"mgrs 40 20 10", search.MGRS, nil, 9.36, .1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, j := of(t, c.kind, c.change), mnist(0)
			j.Scopes = s.Divide(dp.WholeScope)
			q, err := s.At(j, 2.106)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(q.Epsilon-c.want) > c.within {
				t.Errorf("total %.4f, want %.3f within %g", q.Epsilon, c.want, c.within)
			}
		})
	}
}

// A quote's total is what its event costs, at most what was asked and nearly all of it.
func TestQuoteReaccounts(t *testing.T) {
	for _, kind := range search.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			s := of(t, kind, nil)
			if kind == search.RS {
				s.Mean = 40
			}
			j := mnist(2.11)
			j.Scopes = s.Divide(dp.Scope{Lower: 0, Upper: 0.9})
			q, err := s.Quote(j)
			var dear *search.TooDearError
			if errors.As(err, &dear) && kind == search.PSPoisson {
				return // its bound is loose at this base
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := accountant.Epsilon(q.Event, j.Relation, j.Delta, j.Accountant)
			if err != nil || r.Epsilon != q.Epsilon {
				t.Fatalf("re-accounted %v (%v), quoted %v", r.Epsilon, err, q.Epsilon)
			}
			if !(q.Epsilon <= 2.11) || q.Epsilon < 2.11*.98 {
				t.Errorf("total %.5f of 2.11", q.Epsilon)
			}
			if q.BaseEpsilon > q.Epsilon*(1+1e-6) {
				t.Errorf("base %.4f above the total %.4f", q.BaseEpsilon, q.Epsilon)
			}
			stored, err := dp.EncodeEvent(q.Event)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := dp.DecodeEvent(stored); err != nil {
				t.Error(err)
			}
		})
	}
}

// A score on other units is free: without it the total is the same.
func TestScoreIsFree(t *testing.T) {
	s, j := of(t, search.PS, nil), mnist(2.11)
	j.Scopes = s.Divide(dp.WholeScope)
	with, err := s.Quote(j)
	if err != nil {
		t.Fatal(err)
	}
	j.Score = func(float64) []dp.Event { return []dp.Event{dp.NoOp{}} }
	without, err := s.Quote(j)
	if err != nil {
		t.Fatal(err)
	}
	if with.Noise > without.Noise*1.001 {
		t.Errorf("noise %.5f with a score, %.5f without", with.Noise, without.Noise)
	}
	// Scored on the units that train, it is not.
	j = mnist(2.11)
	j.Scopes = search.Scopes{Train: dp.WholeScope, Validate: dp.WholeScope, Final: dp.WholeScope}
	same, err := s.Quote(j)
	if err != nil {
		t.Fatal(err)
	}
	if same.Noise < with.Noise*1.2 {
		t.Errorf("noise %.4f where a unit pays for both, %.4f where it pays for one", same.Noise, with.Noise)
	}
}

// Disjoint units cost the larger of choice and training; the same units cost both.
func TestSplitAndSubset(t *testing.T) {
	var base [2]float64
	for i, kind := range []search.Kind{search.Split, search.Subset} {
		s, j := of(t, kind, nil), mnist(2.11)
		j.Scopes = s.Divide(dp.WholeScope)
		q, err := s.Quote(j)
		if err != nil {
			t.Fatal(err)
		}
		base[i] = q.BaseEpsilon
	}
	if base[0] < 2.1 || base[1] > 1.8 || base[1] < 0.8 {
		t.Errorf("the winner's training costs %.3f on other units and %.3f on the same", base[0], base[1])
	}
}

func TestTooDear(t *testing.T) {
	s, j := of(t, search.Grid, func(s *search.Strategy) { s.Candidates = 10_000 }), mnist(0.5)
	// A training that always costs at least 0.05.
	j.Train = func(x float64) dp.Event { return dp.Pure{Epsilon: 0.05 + 1/x} }
	j.Scopes = s.Divide(dp.WholeScope)
	_, err := s.Quote(j)
	var dear *search.TooDearError
	if !errors.As(err, &dear) {
		t.Fatalf("%v", err)
	}
	if dear.Fits < 9 || dear.Fits > 100 {
		t.Errorf("the largest search that fits has %d trainings", dear.Fits)
	}
}

// A training about which only (ε, δ) is known has no Rényi curve and stands in no
// selection.
func TestApproximateIsRefused(t *testing.T) {
	s, j := of(t, search.PS, nil), mnist(1)
	j.Train = func(x float64) dp.Event { return dp.Approximate{Epsilon: 1 / x, Delta: 1e-9} }
	j.Scopes = s.Divide(dp.WholeScope)
	if q, err := s.Quote(j); err == nil {
		t.Errorf("priced at %v", q.Epsilon)
	}
}

func TestRandomSearchPublished(t *testing.T) {
	got, err := search.RandomSearchPublished(2.11, .05, .04, 5000, 400)
	if err != nil || math.Abs(got-3.512) > .001 {
		t.Errorf("%v (%v), the paper's is 3.512", got, err)
	}
	one := dp.Repeat{Count: 300_000, Event: dp.PoissonSampled{Rate: 1. / 600, Event: dp.Gaussian{NoiseMultiplier: 2}}}
	p, _ := search.PublishedFor(search.PAAS, one)
	if math.Abs(p.Replayed-22.35) > .05 {
		t.Errorf("54 trainings compose to %v", p.Replayed)
	}
}

func TestDivideIsAPartition(t *testing.T) {
	within := dp.Scope{Lower: 0, Upper: 0.9}
	for _, kind := range search.Kinds() {
		s := of(t, kind, nil)
		c := s.Divide(within)
		switch kind {
		case search.None, search.Public:
			if c.Final != within {
				t.Errorf("%s trains on %v", kind, c.Final)
			}
			continue
		case search.Split:
			if overlap(c.Final, c.Train) || overlap(c.Final, c.Validate) {
				t.Errorf("split trains on units that chose: %+v", c)
			}
		}
		if overlap(c.Train, c.Validate) || !covers(within, c.Train) || !covers(within, c.Validate) {
			t.Errorf("%s: %+v", kind, c)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, kind := range search.Kinds() {
		s := of(t, kind, nil)
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		for _, bad := range []float64{math.NaN(), 0, -1, math.Inf(1)} {
			b := s
			b.Mean, b.Sizes, b.Candidates, b.Population, b.Share = bad, []float64{bad}, int(min(bad, 0)), 0, bad
			if err := b.Check(); kind != search.None && err == nil {
				t.Errorf("%s accepts %v", kind, bad)
			}
		}
	}
	if _, err := search.New("best"); err == nil {
		t.Error("an unknown strategy was accepted")
	}
}

// overlap reports whether a unit can belong to both scopes.
func overlap(a, b dp.Scope) bool { return a.Lower < b.Upper && b.Lower < a.Upper }

// covers reports whether every unit of the inner scope belongs to the outer one.
func covers(outer, inner dp.Scope) bool {
	return outer.Lower <= inner.Lower && inner.Upper <= outer.Upper
}
