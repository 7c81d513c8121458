package encode

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"pawl/data/schema"
)

func TestFeature(t *testing.T) {
	s := testSchema()
	s.Columns[6].Missing = schema.MissingUnknown
	s.Columns = append(s.Columns, schema.Column{Name: "a=b", Type: schema.Boolean}, schema.Column{Name: "a", Type: schema.Categorical, Categories: []string{"b=c", "b"}})
	for _, c := range []struct {
		name          string
		column, level int
		fault         string
	}{
		{"age", 0, Whole, ""},
		{"grade=1", 2, 0, ""},
		{"grade=3", 2, 2, ""},
		{"grade=4", 0, 0, "whole numbers from 1 to 3"},
		{"grade=1.5", 0, 0, "no such level"},
		{"band=c", 3, 2, ""},
		{"colour=else", 4, 3, ""},
		{"colour=mauve", 0, 0, "its levels are r, g, b, else"},
		{"smoker=true", 6, 1, ""},
		{"smoker=(unknown)", 6, 2, ""},
		{"sex=(unknown)", 0, 0, "no such level"},
		{"gain=5", 0, 0, "not a list of levels"},
		{"gian", 0, 0, "not a column"},
		{"gian=5", 0, 0, "not a column"},
		{"a=b", 9, Whole, ""},
		{"a=b=c", 10, 0, ""},
		{"a=b=true", 9, 1, ""},
		{"", 0, 0, "not a column"},
		{"age=", 0, 0, "no such level"},
	} {
		column, level, err := Feature(s, c.name)
		switch {
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
			t.Errorf("%q: %v, want %q", c.name, err, c.fault)
		case c.fault == "" && (err != nil || column != c.column || level != c.level):
			t.Errorf("%q: column %d, level %d (%v), want %d and %d", c.name, column, level, err, c.column, c.level)
		}
	}
}

// A kept level has a coordinate of its own; every other is zeros among several, and the
// opposite sign of one by itself.
func TestKeptLevels(t *testing.T) {
	s := testSchema()
	s.Columns[6].Missing = schema.MissingUnknown
	o := Options{Attributes: []string{"colour=b", "colour=r", "sex=m", "smoker=(unknown)", "grade=2", "age=7", "age=50"}, Intercept: 1}
	e, err := New(s, "y", o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := e.Names(s), []string{"(intercept)", "colour=r", "colour=b", "sex=m", "smoker=(unknown)", "grade=2", "age=7", "age=50"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if got, want := e.Features(), []string{"colour", "sex", "smoker", "grade", "age"}; !slices.Equal(got, want) {
		t.Errorf("features %q, want %q", got, want)
	}
	if got, want := e.Kept(), e.Names(s)[1:]; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
	nan := math.NaN()
	for _, c := range []struct {
		name                       string
		age, grade, colour, sex, k float64
		want                       []float64
	}{
		{"all kept", 7, 2, 0, 1, nan, []float64{1, 0, 1, 1, 1, 1, 0}},
		{"none kept", 8, 1, 1, 0, 1, []float64{0, 0, -1, -1, -1, 0, 0}},
		{"others", 50, 3, 2, 0, 0, []float64{0, 1, -1, -1, -1, 0, 1}},
		{"unknown", nan, nan, nan, nan, nan, []float64{0, 0, 0, 1, 0, 0, 0}},
	} {
		x := make([]float64, e.Dim)
		e.Vector(x, []float64{c.age, 0, c.grade, 0, c.colour, c.sex, c.k, nan, 0})
		for j, v := range c.want {
			if got := x[1+j] / e.Scale; math.Abs(got-v) > 1e-12 {
				t.Errorf("%s: %s is %v, want %v", c.name, e.Names(s)[1+j], got, v)
			}
		}
	}
	// A model keeps its encoding as JSON.
	text, err := json.Marshal(e.Options)
	if err != nil {
		t.Fatal(err)
	}
	var again Options
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if f, err := New(s, "y", again); err != nil || !slices.Equal(f.Names(s), e.Names(s)) {
		t.Errorf("read again: %v", err)
	}
	for _, c := range []struct {
		name  string
		list  []string
		fault string
	}{
		{"twice", []string{"sex=m", "sex=m"}, "twice"},
		{"a level and its column", []string{"sex=m", "sex"}, "twice"},
		{"a column and its level", []string{"sex", "sex=m"}, "twice"},
		{"the target", []string{"y=true"}, "cannot be a feature"},
		{"no such level", []string{"sex=x"}, "no such level"},
	} {
		if _, err := New(s, "y", Options{Attributes: c.list}); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v, want %q", c.name, err, c.fault)
		}
	}
}
