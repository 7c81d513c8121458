package model

import (
	"math"
	"slices"
	"strconv"
	"testing"
)

// Of a linear model other columns cancel: the effects of two values differ by what their scores do
// in any row.
func TestEffectsOfALinearModelAreItsScores(t *testing.T) {
	m := linear(t, "y", 1)
	e, err := m.Explain()
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Columns) == 0 || len(e.Outputs) != 1 || e.Outputs[0] != m.Classes()[1] {
		t.Fatalf("%+v", e)
	}
	for i, c := range e.Columns {
		if i > 0 && c.Importance > e.Columns[i-1].Importance {
			t.Errorf("column %s is more important than the one before", c.Column)
		}
		at := m.Schema.Column(c.Column)
		values, names := points(&m.Schema.Columns[at])
		row := slices.Clone(additiveRows[0])
		score := func(v float64) float64 {
			var s [1]float64
			row[at] = v
			m.Scores(s[:], row, nil)
			return s[0]
		}
		sum := 0.0
		for j, v := range c.Values {
			if v.Value != names[j] {
				t.Errorf("%s: value %d is %q, want %q", c.Column, j, v.Value, names[j])
			}
			sum += v.Effects[0]
			got, want := v.Effects[0]-c.Values[0].Effects[0], score(values[j])-score(values[0])
			if math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s = %s: effect %g, want %g", c.Column, v.Value, got, want)
			}
		}
		if math.Abs(sum) > 1e-9 {
			t.Errorf("%s: effects have the mean %g", c.Column, sum)
		}
	}
}

// Every kind of model of a table is explained, within the bounds that the schema declares; the
// rest says why not.
func TestExplain(t *testing.T) {
	for name, m := range map[string]*Model{
		"linear classes": linear(t, "colour", 4), "additive": additive(t, "y", 1, 16), "additive classes": additive(t, "colour", 4, 256), "additive number": additive(t, "cost", 1, 5),
	} {
		e, err := m.Explain()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := m.Explain()
		for i, c := range e.Columns {
			if err != nil || again.Columns[i].Importance != c.Importance {
				t.Errorf("%s: another call says otherwise", name)
			}
			if c.Column == m.Target {
				t.Errorf("%s: explained by its target", name)
			}
			declared := m.Schema.Columns[m.Schema.Column(c.Column)]
			for _, v := range c.Values {
				if x, err := strconv.ParseFloat(v.Value, 64); err == nil && len(declared.Levels()) == 0 && (x < declared.Lower || x > declared.Upper) {
					t.Errorf("%s: %s = %g lies outside its bounds", name, c.Column, x)
				}
				for _, x := range v.Effects {
					if x-x != 0 {
						t.Errorf("%s: %s = %s has the effect %g", name, c.Column, v.Value, x)
					}
				}
			}
		}
	}
	constant := &Model{Task: Classification, Kind: Constant, Schema: testSchema(), Target: "y"}
	if _, err := constant.Explain(); err == nil {
		t.Error("a constant is explained")
	}
}
