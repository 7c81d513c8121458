package attack

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"pawl/evidence/audit/bound"
	"pawl/internal/stattest"
)

// plainAUC and its DeLong error compare every member with every other record.
func plainAUC(s Scored) (area, standardError float64) {
	in, out := s.split()
	v10, v01 := make([]float64, len(in)), make([]float64, len(out))
	for i, a := range in {
		for j, b := range out {
			w := 0.0
			switch {
			case a > b:
				w = 1
			case a == b:
				w = 0.5
			}
			v10[i] += w / float64(len(out))
			v01[j] += w / float64(len(in))
		}
	}
	variance := 0.0
	for _, v := range [][]float64{v10, v01} {
		if len(v) > 1 {
			variance += stat.Variance(v, nil) / float64(len(v))
		}
	}
	return stat.Mean(v10, nil), math.Sqrt(variance)
}

func TestAUCMatchesItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		var s Scored
		for i := range n {
			s.Score = append(s.Score, float64(rapid.IntRange(0, 6).Draw(t, "score"))) // many ties
			s.Member = append(s.Member, i == 0 || i > 1 && rapid.Bool().Draw(t, "member"))
		}
		got, err := s.AUC(0.95)
		if errors.Is(err, ErrConstant) {
			t.Skip("equal scores have no area under a curve: a case of its own")
		}
		if err != nil {
			t.Fatal(err)
		}
		area, se := plainAUC(s)
		if math.Abs(got.Estimate-area) > 1e-12 {
			t.Fatalf("AUC %v, want %v", got.Estimate, area)
		}
		if se > 1e-6 && math.Abs(got.Upper-min(1, area+1.959963984540054*se)) > 1e-9 {
			t.Fatalf("upper end %v, want %v", got.Upper, area+1.959963984540054*se)
		}
		if !(got.Lower < got.Upper) {
			t.Fatalf("an interval of no width: %+v", got)
		}
		back, err := s.Reversed().AUC(0.95)
		if err != nil || math.Abs(back.Estimate+area-1) > 1e-12 {
			t.Fatalf("reversed %v (%v), want %v", back.Estimate, err, 1-area)
		}
	})
}

// Null hypothesis: DeLong's interval of 95 % holds the true AUC Φ(1/√2) in 95 % of
// repeats, with 60 and 80 records. The interval is asymptotic, so its rate is checked
// against 93.5 % and not 95 %; 2,000 repeats.
func TestAUCCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const repeats = 2000
	truth := distuv.UnitNormal.CDF(1 / math.Sqrt2)
	missed := 0
	for range repeats {
		i, err := shifted(rng, 60, 80, 1).AUC(0.95)
		if err != nil {
			t.Fatal(err)
		}
		if truth < i.Lower || truth > i.Upper {
			missed++
		}
	}
	if missed > repeats*65/1000 {
		stattest.Accept(t, stattest.Proportion("intervals that miss", missed, repeats, 0.065))
	}
	if missed < repeats/100 {
		t.Errorf("%d of %d miss: the interval is far too wide", missed, repeats)
	}
}

func TestAt(t *testing.T) {
	// 1000 others at 1…1000 and four members among them: one per cent are ten others.
	var s Scored
	for i := range 1000 {
		s.Score, s.Member = append(s.Score, float64(i+1)), append(s.Member, false)
	}
	for _, v := range []float64{990.5, 1, 2000, 999.5} {
		s.Score, s.Member = append(s.Score, v), append(s.Member, true)
	}
	for _, c := range []struct{ rate, tpr, fpr float64 }{{0.01, 0.75, 0.01}, {0.001, 0.5, 0.001}, {0.0015, 0.5, 0.001}, {0.5, 0.75, 0.5}} {
		at, err := s.At(c.rate, 0.95)
		if err != nil || at.Refusal != "" || at.TruePositives.Estimate != c.tpr || at.FalsePositives.Estimate != c.fpr {
			t.Errorf("at %v: %+v (%v), want TPR %v at FPR %v", c.rate, at, err, c.tpr, c.fpr)
			continue
		}
		want, _ := bound.ClopperPearson(int(4*c.tpr), 4, 0.95)
		if *at.TruePositives != want {
			t.Errorf("at %v: interval %+v, want %+v", c.rate, *at.TruePositives, want)
		}
	}
	for _, rate := range []float64{0, 1, -1, math.NaN()} {
		if at, err := s.At(rate, 0.95); err == nil {
			t.Errorf("rate %v: %+v and no error", rate, at)
		}
	}
}

// No number where the records cannot show one, in the struct or in JSON.
func TestTooFewForTheRate(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, c := range []struct {
		others int
		rate   float64
		ok     bool
	}{{999, 0.001, false}, {1000, 0.001, true}, {99, 0.01, false}, {100, 0.01, true}} {
		at, err := shifted(rng, 50, c.others, 1).At(c.rate, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(at)
		if err != nil {
			t.Fatal(err)
		}
		if (at.Refusal == "") != c.ok || (at.TruePositives != nil) != c.ok || strings.Contains(string(text), "true_positive") != c.ok {
			t.Errorf("%d others at %v: %s", c.others, c.rate, text)
		}
	}
}

// Ties at the threshold stay out together: a rate is never exceeded.
func TestTiesDoNotExceedTheRate(t *testing.T) {
	var s Scored
	for i := range 200 {
		s.Score, s.Member = append(s.Score, float64(i%2)), append(s.Member, i%4 < 2)
	}
	at, err := s.At(0.1, 0.95)
	if err != nil || at.FalsePositives.Estimate > 0.1 || at.TruePositives.Estimate != 0 {
		t.Errorf("%+v (%v)", at, err)
	}
}

func TestCurve(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	s := shifted(rng, 20_000, 20_000, 1)
	curve, err := s.Curve()
	if err != nil {
		t.Fatal(err)
	}
	if curve[0] != (Point{}) || curve[len(curve)-1] != (Point{1, 1}) || len(curve) > 600 {
		t.Errorf("%d points from %v to %v", len(curve), curve[0], curve[len(curve)-1])
	}
	small, area := 0, 0.0
	for i, p := range curve[1:] {
		q := curve[i]
		if p.FalsePositives < q.FalsePositives || p.TruePositives < q.TruePositives {
			t.Fatalf("falls from %v to %v", q, p)
		}
		if p.FalsePositives < 0.01 {
			small++
		}
		area += (p.FalsePositives - q.FalsePositives) * (p.TruePositives + q.TruePositives) / 2
	}
	auc, _ := s.AUC(0.95)
	if small < 50 {
		t.Errorf("%d points below a rate of 1 %%: nothing for a logarithmic axis", small)
	}
	if math.Abs(area-auc.Estimate) > 1e-3 {
		t.Errorf("area below the thinned curve %v, AUC %v", area, auc.Estimate)
	}
}
