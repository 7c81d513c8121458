package intake

import (
	"fmt"
	"strings"
	"testing"

	"pawl/data/schema"
)

// Texts are kept of the rows that stay, by name of the column and in the order of the request.
func TestTextsOfKeptRows(t *testing.T) {
	s := &schema.Schema{Unit: schema.Unit{Name: "id", Column: "id", MaxRows: 1}, Columns: []schema.Column{{Name: "id", Type: schema.Ignore}}}
	b := NewBuilder(SimulationKey("d", 1), s)
	b.KeepTexts([]string{"z", "absent", "a"})
	columns := []string{"a", "id", "z"}
	for i := range 6 {
		id := fmt.Sprint(i / 2)
		cells := []schema.Found{{Text: fmt.Sprint("a", i)}, {Text: id}, {Text: "same", Null: i == 5}}
		if err := b.Add([]float64{0}, schema.Record{Unit: id, Columns: columns, Cells: cells}); err != nil {
			t.Fatal(err)
		}
	}
	keep := []bool{true, false, true, false, false, true}
	got := b.texts.kept(keep)
	var rows []string
	for i := 0; i < len(got.Of); i += 3 {
		var row []string
		for c, at := range got.Of[i : i+3] {
			if at < 0 {
				row = append(row, "-")
			} else {
				row = append(row, got.Dictionary[c][at])
			}
		}
		rows = append(rows, strings.Join(row, " "))
	}
	if want := "[same - a0 same - a2 - - a5]"; fmt.Sprint(rows) != want {
		t.Errorf("kept %v, want %s", rows, want)
	}
	if text := fmt.Sprintf("%v %+v %#v", b.Seal(), b, *b); strings.Contains(text, "same") || strings.Contains(text, "a2") {
		t.Error("sealed texts are printed")
	}
}
