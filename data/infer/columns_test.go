package infer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pawl/data/schema"
)

// Types follow from levels, their masses and bins.
func TestPropose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(f func() float64) []float64 {
		var values []float64
		for range 1000 {
			values = append(values, f())
		}
		return release(r, values, 10)
	}
	missing := func(n float64) *float64 { return &n }
	number := draw(func() float64 { return 50 + 10*r.NormFloat64() })
	dates := draw(func() float64 {
		v, ok := dateNumber(fmt.Sprintf("%d-%02d-%02d", 2013+r.IntN(2), 1+r.IntN(12), 1+r.IntN(28)))
		if !ok {
			t.Fatal("no date")
		}
		return v
	})
	for _, c := range []struct {
		name       string
		column     Column
		numbers    bool // may be numbers
		want       schema.Type
		categories string
	}{
		{"numbers without a level", Column{Missing: missing(3), Bins: number}, true, schema.Numeric, ""},
		{"numbers with some levels", Column{Missing: missing(0), Levels: []Level{{"50", 60}, {"51", 55}}, Bins: number}, true, schema.Numeric, ""},
		{"texts", Column{Missing: missing(0), Levels: []Level{{"b", 600}, {"a", 380}}}, false, schema.Categorical, "a b"},
		{"half of them texts", Column{Missing: missing(500), Levels: []Level{{"b", 300}, {"a", 180}}}, false, schema.Categorical, "a b"},
		{"yes and no", Column{Missing: missing(0), Levels: []Level{{"Yes", 700}, {"No", 290}}}, false, schema.Boolean, ""},
		{"no alone", Column{Missing: missing(0), Levels: []Level{{"no", 960}}}, false, schema.Categorical, "no"},
		{"a letter alone", Column{Missing: missing(0), Levels: []Level{{"f", 960}}}, false, schema.Categorical, "f"},
		{"two of one answer", Column{Missing: missing(0), Levels: []Level{{"yes", 500}, {"1", 480}}}, false, schema.Categorical, "1 yes"},
		{"0 and 1", Column{Missing: missing(0), Levels: []Level{{"0", 900}, {"1", 95}}}, false, schema.Boolean, ""},
		{"0, 1 and more", Column{Missing: missing(0), Levels: []Level{{"0", 700}, {"1", 190}}}, false, schema.Categorical, "0 1"},
		{"1 and 2", Column{Missing: missing(0), Levels: []Level{{"1", 600}, {"2", 390}}}, false, schema.Categorical, "1 2"},
		{"0 alone", Column{Missing: missing(0), Levels: []Level{{"0", 960}}, Bins: draw(func() float64 { return 0 })}, true, schema.Categorical, "0"},
		{"0, and a few of 1", Column{Missing: missing(0), Levels: []Level{{"0", 930}}, Bins: draw(func() float64 { return float64(r.IntN(12) / 11) })}, true, schema.Categorical, "0"},
		{"1 alone", Column{Missing: missing(0), Levels: []Level{{"3", 960}}, Bins: draw(func() float64 { return 3 })}, true, schema.Categorical, "3"},
		{"dates", Column{Missing: missing(0), Bins: dates}, true, "date", ""},
		{"dates, some of them common", Column{Missing: missing(0), Levels: []Level{{"2013-02-20", 60}, {"2013-02-21", 55}}, Bins: dates}, true, "date", ""},
		{"microseconds", Column{Missing: missing(0), Bins: draw(func() float64 { return 1.7e15 + 1e12*r.Float64() })}, true, "", ""},
		{"nothing", Column{Missing: missing(0), Bins: draw(func() float64 { return 1e300 })[:0:0]}, true, "", ""},
		{"few numbers among texts that did not come out", Column{Missing: missing(0), Bins: release(r, slices.Repeat([]float64{7}, 100), 10)}, true, "", ""},
		{"a text that no schema can hold", Column{Missing: missing(0), Levels: []Level{{"a\x01", 600}}}, false, "", ""},
	} {
		if len(c.column.Bins) == 0 {
			c.column.Bins = nil
		}
		c.column.Asked = Asked{Levels: true, Numbers: true}
		released := Released{Schema: &schema.Schema{}, Forecast: Forecast{Rows: 1000, RowsPerUnit: 1, LevelDev: 10, BinDev: 10}, Columns: []Column{c.column}}
		if got := released.MayBeNumbers(0); got != c.numbers {
			t.Errorf("%s: may be numbers: %v", c.name, got)
		}
		p := released.Propose()[0]
		if p.Type != c.want || strings.Join(p.Categories, " ") != c.categories || p.Type == schema.Numeric && !(p.Lower < p.Upper) {
			t.Errorf("%s: %+v, want %s %s", c.name, p, c.want, c.categories)
		}
		if p.Type == "date" && !(p.FromYear >= 2009 && p.FromYear <= 2013 && p.ToYear >= 2014 && p.ToYear <= 2018) {
			t.Errorf("%s: from %d to %d", c.name, p.FromYear, p.ToYear)
		}
	}
}

func TestForecast(t *testing.T) {
	f := Forecast{Rows: 5875, RowsPerUnit: 140, Levels: 21, Numbers: 21, LevelDev: 300, Threshold: 1900, BinDev: 100}
	if f.Units() > 42 || !f.Nothing() {
		t.Errorf("42 persons: %g units, nothing %v", f.Units(), f.Nothing())
	}
	if f.Persons = 3000; f.Nothing() || f.Holds95() != 2394 || f.Bounds(4) != 800 {
		t.Errorf("3000 persons: %g, %g", f.Holds95(), f.Bounds(4))
	}
	for _, line := range f.Lines("persons") {
		if !strings.Contains(line, "persons (") {
			t.Errorf("forecast: %s", line)
		}
	}
	if levels := (&Forecast{Rows: 100, Levels: 1, LevelDev: 30, Threshold: 150}); !levels.Nothing() || !strings.Contains(levels.Lines("rows")[0], "more than there are") {
		t.Errorf("levels alone: %v", levels.Lines("rows"))
	}
	for x, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -999: "-999"} {
		if got := count(x); got != want {
			t.Errorf("%g is written %s", x, got)
		}
	}
}

func TestDates(t *testing.T) {
	for cell, want := range map[string]int{"1900-01-01": 1900, "2013-08-14": 2013, "2013-12-31 23:59:59": 2013, "2014-01-01T00:00:00": 2014, "1850-01-01": 1900, "2400-01-01": 2155} {
		v, ok := dateNumber(cell)
		if !ok || year(v) != want {
			t.Errorf("%s: year %d, %v", cell, year(v), ok)
		}
	}
	for _, cell := range []string{"", "2013", "2013-13-01", "2013-08-14x", "14.08.2013", "2013-08-1", "-2013-08-14"} {
		if _, ok := dateNumber(cell); ok {
			t.Errorf("%q is a date", cell)
		}
	}
}
