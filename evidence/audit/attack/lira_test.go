package attack

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLiRAByHand(t *testing.T) {
	// Record 0: in models 0 and 1 (scores 3, 5), out of 2 and 3 (0, 2). Record 1 the other
	// way round.
	s := Shadows{
		Score: [][]float64{{3, 1}, {5, 2}, {0, 4}, {2, 8}},
		In:    [][]bool{{true, false}, {true, false}, {false, true}, {false, true}},
	}
	target := []float64{4, 6}
	density := func(x, mean, variance float64) float64 { return -(x-mean)*(x-mean)/(2*variance) - math.Log(variance)/2 }
	// Variances within: in 2 and 8, out 2 and 0.5; pooled 5 and 1.25.
	for _, c := range []struct {
		name string
		l    LiRA
		want []float64
	}{
		{"online", LiRA{}, []float64{density(4, 4, 5) - density(4, 1, 1.25), density(6, 6, 5) - density(6, 1.5, 1.25)}},
		{"offline", LiRA{Offline: true}, []float64{3 / math.Sqrt(1.25), 4.5 / math.Sqrt(1.25)}},
	} {
		r, err := c.l.Scores(target, s)
		if err != nil || !r.Pooled || r.Floored != 0 {
			t.Fatalf("%s: %+v, %v", c.name, r, err)
		}
		for i := range target {
			if math.Abs(r.Score[i]-c.want[i]) > 1e-12 {
				t.Errorf("%s: record %d has %v, want %v", c.name, i, r.Score[i], c.want[i])
			}
		}
	}
}

// A record's own variance counts from PooledBelow models of a kind on.
func TestLiRAOwnVariance(t *testing.T) {
	s := Shadows{}
	for m := range PooledBelow {
		v := float64(m%2)*2 - 1
		s.Score = append(s.Score, []float64{v, 10 * v})
	}
	own, err := LiRA{Offline: true}.Scores([]float64{1, 1}, s)
	if err != nil || own.Pooled || math.Abs(own.Score[0]/own.Score[1]-10) > 1e-9 {
		t.Errorf("%+v, %v", own, err)
	}
	pooled, err := LiRA{Offline: true, Pooled: true}.Scores([]float64{1, 1}, s)
	if err != nil || !pooled.Pooled || pooled.Score[0] != pooled.Score[1] {
		t.Errorf("%+v, %v", pooled, err)
	}
}

// Two shadow models that always say the same: finite scores, and a count of floors.
func TestLiRAOfConstantConfidences(t *testing.T) {
	s := Shadows{Score: [][]float64{{7, 7}, {7, 7}, {7, 7}, {7, 7}}, In: [][]bool{{true, true}, {true, true}, {false, false}, {false, false}}}
	for _, l := range []LiRA{{}, {Offline: true}} {
		r, err := l.Scores([]float64{7, 8}, s)
		if err != nil || r.Floored == 0 || slices.ContainsFunc(r.Score, notFinite) {
			t.Errorf("%+v: %+v, %v", l, r, err)
		}
	}
}

func TestLiRARefuses(t *testing.T) {
	one := Shadows{Score: [][]float64{{1, 2}}}
	two := Shadows{Score: [][]float64{{1, 2}, {3, 4}}}
	oneIn := Shadows{Score: [][]float64{{1}, {2}, {3}}, In: [][]bool{{true}, {false}, {false}}}
	for _, c := range []struct {
		name   string
		l      LiRA
		target []float64
		s      Shadows
	}{
		{"no shadows", LiRA{Offline: true}, []float64{1}, Shadows{}},
		{"one shadow", LiRA{Offline: true}, []float64{1, 2}, one},
		{"online without models that saw the record", LiRA{}, []float64{1, 2}, two},
		{"online with one", LiRA{}, []float64{1}, oneIn},
		{"lengths", LiRA{Offline: true}, []float64{1}, two},
		{"memberships", LiRA{Offline: true}, []float64{1, 2}, Shadows{Score: two.Score, In: [][]bool{{true, true}}}},
		{"no records", LiRA{Offline: true}, nil, two},
		{"NaN", LiRA{Offline: true}, []float64{1, math.NaN()}, two},
		{"NaN of a shadow", LiRA{Offline: true}, []float64{1}, Shadows{Score: [][]float64{{1}, {math.NaN()}}}},
	} {
		if r, err := c.l.Scores(c.target, c.s); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %+v, %v", c.name, r, err)
		}
	}
}

// world draws a target and shadows: a record's logit is N(difficulty, 1), and 2 higher
// under a model that was trained on it; difficulties are spread by 3.
func world(rng *rand.Rand, records, models int, lift float64) (target []float64, member []bool, s Shadows) {
	difficulty := make([]float64, records)
	for i := range difficulty {
		difficulty[i] = 3 * rng.NormFloat64()
	}
	draw := func() (scores []float64, in []bool) {
		for _, d := range difficulty {
			trained := rng.Float64() < 0.5
			v := d + rng.NormFloat64()
			if trained {
				v += lift
			}
			scores, in = append(scores, v), append(in, trained)
		}
		return scores, in
	}
	target, member = draw()
	for range models {
		scores, in := draw()
		s.Score, s.In = append(s.Score, scores), append(s.In, in)
	}
	return target, member, s
}

// LiRA knows how hard a record is; a threshold on the score does not. Where models do not
// remember, neither finds anything (five standard errors, probability 6e-7 each).
func TestLiRABeatsTheThreshold(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	target, member, s := world(rng, 4000, 32, 2)
	plain, err := Scored{Score: target, Member: member}.At(0.01, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []LiRA{{}, {Offline: true}} {
		r, err := l.Scores(target, s)
		if err != nil {
			t.Fatal(err)
		}
		at, err := Scored{Score: r.Score, Member: member}.At(0.01, 0.95)
		if err != nil || at.TruePositives.Lower < 3*plain.TruePositives.Upper {
			t.Errorf("%+v: TPR at 1 %% %+v (%v), threshold %+v", l, at.TruePositives, err, plain.TruePositives)
		}
	}
	target, member, s = world(rng, 4000, 32, 0)
	for _, l := range []LiRA{{}, {Offline: true}} {
		r, err := l.Scores(target, s)
		if err != nil {
			t.Fatal(err)
		}
		auc, err := Scored{Score: r.Score, Member: member}.AUC(0.95)
		if err != nil || math.Abs(auc.Estimate-0.5) > 5*0.0092 {
			t.Errorf("%+v: AUC %+v (%v) where nothing is remembered", l, auc, err)
		}
	}
}

func TestRMIAByHand(t *testing.T) {
	target := []float64{0.9, 0.2}
	shadows := Shadows{Score: [][]float64{{0.5, 0.4}, {0.3, 0.4}}, In: [][]bool{{true, false}, {false, false}}}
	population, populationShadows := []float64{0.5, 0.4, 0.1}, Shadows{Score: [][]float64{{0.5, 0.8, 0.1}}}
	// Offline share 1: p(z) = p_out, ratios of z 1, 0.5, 1. p(x₀) = (0.5+0.3)/2, ratio 2.25;
	// p(x₁) = 0.4, ratio 0.5.
	for _, c := range []struct {
		gamma float64
		want  []float64
	}{{1, []float64{1, 1.0 / 3}}, {2, []float64{1, 0}}, {4, []float64{1.0 / 3, 0}}, {0, []float64{1, 0}}} {
		got, err := RMIA{Gamma: c.gamma, Offline: 1}.Scores(target, shadows, population, populationShadows)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("γ = %v: %v (%v), want %v", c.gamma, got, err, c.want)
		}
	}
	// Offline share 0.3 of p_out = 0.4: ((1.3)·0.4 + 0.7)/2 = 0.61.
	ratio, err := RMIA{Offline: 0.3}.ratios([]float64{0.61}, Shadows{Score: [][]float64{{0.4}}})
	if err != nil || math.Abs(ratio[0]-1) > 1e-12 {
		t.Errorf("ratio %v (%v), want 1", ratio, err)
	}
}

func TestRMIAFindsMembers(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 3))
	squash := func(logits []float64) []float64 {
		p := make([]float64, len(logits))
		for i, v := range logits {
			p[i] = sigmoid(v)
		}
		return p
	}
	for _, c := range []struct {
		lift, low, high float64
	}{{2, 0.65, 1}, {0, 0.5 - 5*0.0092, 0.5 + 5*0.0092}} {
		logits, member, shadows := world(rng, 4000, 2, c.lift)
		for m := range shadows.Score {
			shadows.Score[m] = squash(shadows.Score[m])
		}
		other, _, otherShadows := world(rng, 2000, 2, 0)
		for m := range otherShadows.Score {
			otherShadows.Score[m] = squash(otherShadows.Score[m])
		}
		otherShadows.In, shadows.In = nil, nil
		scores, err := RMIA{Offline: 0.3, Gamma: 1}.Scores(squash(logits), shadows, squash(other), otherShadows)
		if err != nil {
			t.Fatal(err)
		}
		auc, err := Scored{Score: scores, Member: member}.AUC(0.95)
		if err != nil || auc.Estimate < c.low || auc.Estimate > c.high {
			t.Errorf("lift %v: AUC %+v (%v)", c.lift, auc, err)
		}
	}
}

func TestRMIARefuses(t *testing.T) {
	target, shadows := []float64{0.5}, Shadows{Score: [][]float64{{0.5}}}
	for _, c := range []struct {
		name               string
		r                  RMIA
		target, population []float64
		s, ps              Shadows
	}{
		{"γ", RMIA{Gamma: 0.5}, target, target, shadows, shadows},
		{"share", RMIA{Offline: 2}, target, target, shadows, shadows},
		{"population", RMIA{}, target, nil, shadows, shadows},
		{"records", RMIA{}, nil, target, shadows, shadows},
		{"a logit", RMIA{}, []float64{3}, target, shadows, shadows},
		{"NaN", RMIA{}, []float64{math.NaN()}, target, shadows, shadows},
		{"members in the population", RMIA{}, target, target, shadows, Shadows{Score: [][]float64{{0.5}}, In: [][]bool{{true}}}},
		{"in every model", RMIA{}, target, target, Shadows{Score: [][]float64{{0.5}}, In: [][]bool{{true}}}, shadows},
		{"no shadows", RMIA{}, target, target, Shadows{}, shadows},
	} {
		if r, err := c.r.Scores(c.target, c.s, c.population, c.ps); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v, %v", c.name, r, err)
		}
	}
}
