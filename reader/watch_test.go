package reader

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pawl/data/schema"
)

const watchedSchema = `version: 1
dataset: d
unit: row
columns:
  - {name: age, type: integer, lower: 0, upper: 120}
  - {name: note, type: ignore}
  - {name: ill, type: boolean}
`

// Whatever is read, the texts of all columns are seen as found, and what is read does not change.
func TestWatch(t *testing.T) {
	s, err := schema.Decode("s.yaml", []byte(watchedSchema))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"a.csv":     "age,note,ill\n07,x y,TRUE\n8,,false\n",
		"a.parquet": string(asParquet(t, 1, typed{"age", []any{"07", "8"}}, typed{"note", []any{"x y", nil}}, typed{"ill", []any{"TRUE", "false"}})),
		"a.jsonl":   "{\"age\":\"07\",\"note\":\"x y\",\"ill\":\"TRUE\"}\n{\"age\":8,\"note\":null,\"ill\":false}\n",
	} {
		var names []string
		var seen [][]string
		var plain, watched [][]float64
		keep := func(to *[][]float64) Row {
			return func(cells []float64, _ schema.Record) error { *to = append(*to, cells[:1]); return nil }
		}
		o := Options{Watch: func(n []string) func([]string) {
			names = n
			return func(texts []string) { seen = append(seen, slices.Clone(texts)) }
		}}
		if err := ReadFrom(name, strings.NewReader(content), s, o, keep(&watched)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := ReadFrom(name, strings.NewReader(content), s, Options{}, keep(&plain)); err != nil {
			t.Fatal(err)
		}
		if want := []string{"age", "note", "ill"}; !slices.Equal(names, want) {
			t.Errorf("%s: names %q", name, names)
		}
		if want := [][]string{{"07", "x y", "TRUE"}, {"8", "", "false"}}; !slices.EqualFunc(seen, want, slices.Equal) {
			t.Errorf("%s: seen %q", name, seen)
		}
		if !slices.EqualFunc(plain, watched, slices.Equal) {
			t.Errorf("%s: watching changed what is read", name)
		}
	}
	// A list in a column that is not used is no fault, watched or not.
	err = ReadFrom("a.jsonl", strings.NewReader("{\"age\":1,\"note\":[1],\"ill\":true}\n"), s, Options{Watch: func([]string) func([]string) {
		return func(texts []string) {
			if texts[1] != "" {
				t.Errorf("a list is seen as %q", texts[1])
			}
		}
	}}, func([]float64, schema.Record) error { return nil })
	if err != nil {
		t.Error(err)
	}
	// Ragged rows under the rule Default.
	var seen [][]string
	o := Options{BadRows: Default, Watch: func([]string) func([]string) {
		return func(texts []string) { seen = append(seen, slices.Clone(texts)) }
	}}
	if err := ReadFrom("a.csv", strings.NewReader("age,note,ill\n1\n1,2,true,4\n"), s, o, func([]float64, schema.Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if want := [][]string{{"1", "", ""}, {"1", "2", "true"}}; !slices.EqualFunc(seen, want, slices.Equal) {
		t.Errorf("ragged rows are seen as %q", seen)
	}
}

// A column of Parquet that is not used cannot fail, watched or not.
func TestWatchColumns(t *testing.T) {
	s, err := schema.Decode("s.yaml", []byte(watchedSchema))
	if err != nil {
		t.Fatal(err)
	}
	content := asParquet(t, 2, typed{"note", []any{"a\x00b", "c"}}, typed{"ill", []any{true, nil}}, typed{"age", []any{int64(7), int64(8)}})
	var seen [][]string
	o := Options{BadRows: Default, Watch: func([]string) func([]string) {
		return func(texts []string) { seen = append(seen, slices.Clone(texts)) }
	}}
	if err := ReadFrom("a.parquet", bytes.NewReader(content), s, o, func([]float64, schema.Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if want := [][]string{{"", "true", "7"}, {"c", "", "8"}}; !slices.EqualFunc(seen, want, slices.Equal) {
		t.Errorf("seen %q", seen)
	}
	o.BadRows = Refuse
	s.Columns[2].Missing = schema.MissingUnknown
	if err := ReadFrom("a.parquet", bytes.NewReader(content), s, o, func([]float64, schema.Record) error { return nil }); err != nil {
		t.Errorf("a column that is not used fails: %v", err)
	}
}
