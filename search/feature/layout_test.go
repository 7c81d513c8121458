package feature_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pawl/data/schema"
	"pawl/search/feature"
)

const visits = `version: 1
unit: row
rows: about 500
columns:
  - {name: age, type: integer, lower: 0, upper: 100}
  - {name: ward, type: categorical, categories: [a, b, c], missing: unknown}
  - {name: grade, type: categorical, ordered: true, categories: [low, mid, high]}
  - {name: smoker, type: boolean}
  - {name: note, type: ignore}
  - {name: returned, type: boolean}
`

func TestLayout(t *testing.T) {
	s, err := schema.Decode("visits.yaml", []byte(visits))
	if err != nil {
		t.Fatal(err)
	}
	l, err := feature.NewLayout(s, "returned", 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range l.Domain.Columns(feature.ColumnLevel) {
		names = append(names, c.Name)
	}
	if want := []string{"age", "ward=a", "ward=b", "ward=c", "grade", "smoker"}; !slices.Equal(names, want) {
		t.Errorf("columns: got %v, want %v", names, want)
	}
	if l.Domain.Rows != 500 || l.Domain.Classes != 2 || l.Domain.Attributes[0].Levels != feature.DefaultBins || l.Domain.Attributes[1].Levels != 4 {
		t.Errorf("domain: got %+v", l.Domain)
	}
	nan, missing := math.NaN(), feature.Missing
	for _, c := range []struct {
		name  string
		cells []float64
		want  []uint16
	}{
		{"all known", []float64{55, 2, 1, 1, nan, 0}, []uint16{5, 2, 1, 1, 0}},
		{"bounds", []float64{100, 0, 2, 0, nan, 1}, []uint16{9, 0, 2, 0, 1}},
		{"unknown as declared", []float64{0, nan, 0, 0, nan, 1}, []uint16{0, 3, 0, 0, 1}},
		{"unknown where it is not declared", []float64{nan, 1, nan, nan, nan, nan}, []uint16{missing, 1, missing, missing, missing}},
	} {
		codes := make([]uint16, 5)
		l.Codes(codes, c.cells)
		if !slices.Equal(codes, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, codes, c.want)
		}
	}
	for _, target := range []string{"note", "nothing"} {
		if _, err := feature.NewLayout(s, target, 0); !errors.Is(err, feature.ErrShape) {
			t.Errorf("target %q: got %v", target, err)
		}
	}
	if _, err := feature.NewLayout(s, "returned", 1); err == nil {
		t.Error("one bin should be refused")
	}
}
