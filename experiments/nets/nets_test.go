package nets

import (
	"testing"

	"pawl/experiments"
)

func TestClaims(t *testing.T) {
	r, s, n := experiments.Reproduced, experiments.SameSign, experiments.Not
	base := []float64{90, 91, 92}
	shifted := func(by, spread float64) []float64 { return []float64{90 + by - spread, 91 + by, 92 + by + spread} }
	for _, c := range []struct {
		name           string
		a, b           []float64
		better, within experiments.Verdict // within a point
	}{
		{"above on every seed", shifted(2, .1), base, r, r},
		{"above on average only", shifted(.5, 3), base, s, s},
		{"equal", base, base, n, r},
		{"half a point below", shifted(-.5, .1), base, n, r},
		{"far below", shifted(-3, .1), base, n, n},
		{"one run above", []float64{91}, []float64{90}, s, s},
		{"one run below", []float64{80}, []float64{90}, n, n},
	} {
		if got := Better("", c.a, c.b).Verdict; got != c.better {
			t.Errorf("%s: better is %q, want %q", c.name, got, c.better)
		}
		if got := Within("", c.a, c.b, 1).Verdict; got != c.within {
			t.Errorf("%s: within is %q, want %q", c.name, got, c.within)
		}
	}
}

func TestJudge(t *testing.T) {
	arms := []Arm{{Name: "a", Published: 70, Against: 1}, {Name: "b", Published: 80, Against: 0}, {Name: "c", Against: 2}}
	for _, c := range []struct {
		name string
		a, b float64
		want experiments.Verdict
	}{
		{"within a point", 70.9, 20, experiments.Reproduced},
		{"the same order", 40, 60, experiments.SameSign},
		{"the other order", 60, 40, experiments.Not},
	} {
		v := &Values{Published: [][]float64{{c.a}, {c.b}, {50}}}
		row := experiments.Row{Published: experiments.Value(70), AsPublished: experiments.Of(v.Published[0])}
		if judge(&row, arms, v, 0); row.Verdict != c.want || c.want != experiments.Reproduced && row.Why == "" {
			t.Errorf("%s: %q (%s), want %q", c.name, row.Verdict, row.Why, c.want)
		}
		alone := experiments.Row{AsPublished: experiments.Of(v.Published[2])}
		if judge(&alone, arms, v, 2); alone.Verdict != experiments.Unpublished {
			t.Errorf("a row without a published value is %q", alone.Verdict)
		}
	}
}

func TestWholeTrainsEverything(t *testing.T) {
	s, err := Net("rwt-fcn")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		net  func() (int, error)
		want int
	}{
		{"random weights", func() (int, error) { n, err := s.Compile(); return n.Parameters(), err }, 33482},
		{"whole", func() (int, error) { n, err := Whole(s).Compile(); return n.Parameters(), err }, 1362122},
	} {
		if got, err := c.net(); err != nil || got != c.want {
			t.Errorf("%s: %d parameters (%v), want %d", c.name, got, err, c.want)
		}
	}
	if _, err := Net("no such net"); err == nil {
		t.Error("an unknown net was found")
	}
}
