package intake

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
)

// Parts that are joined in their order are the table that was filled row by row: the same rows, units,
// hashes, version of the data, texts and writings.
func TestPartsAreTheWhole(t *testing.T) {
	columns := []string{"c", "id", "x"}
	rapid.Check(t, func(t *rapid.T) {
		unit := perRow
		if rapid.Bool().Draw(t, "unit column") {
			unit = perUnit(rapid.IntRange(1, 3).Draw(t, "k"))
		}
		n := rapid.IntRange(0, 40).Draw(t, "rows")
		key := keyed(drawKey(t))
		whole, joined := NewBuilder(key, testSchema(unit)), NewBuilder(key, testSchema(unit))
		whole.KeepTexts([]string{"x", "c"})
		joined.KeepTexts([]string{"x", "c"})
		part := joined.Part()
		for i := range n {
			x := rapid.IntRange(0, 3).Draw(t, "x")
			id := fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "unit"))
			found := schema.Record{Unit: id, Columns: columns, Cells: []schema.Found{{Text: "b", Null: i%3 == 0}, {Text: id}, {Text: fmt.Sprint(x)}}}
			for _, b := range []*Builder{whole, part} {
				if err := b.Add([]float64{0, float64(x), 1, 0}, found); err != nil {
					t.Fatal(err)
				}
			}
			if rapid.IntRange(0, 4).Draw(t, "cut") == 0 {
				joined.Join(part)
				part = joined.Part()
			}
		}
		joined.Join(part)
		if whole.Len() != joined.Len() {
			t.Fatalf("%d rows in parts, %d in the whole", joined.Len(), whole.Len())
		}
		a, b := whole.Seal(), joined.Seal()
		if a.Assignment() != b.Assignment() {
			t.Fatalf("the parts are assigned as %v, the whole as %v", b.Assignment(), a.Assignment())
		}
		if w := sealed.WritingsOf(a); w != nil && w.Identity() != sealed.WritingsOf(b).Identity() {
			t.Fatal("the parts write identifiers in another way")
		}
		for _, scope := range []dp.Scope{dp.WholeScope, {Lower: 0, Upper: 0.5}} {
			v, err := sealed.OpenPublic(a, scope)
			if err != nil {
				t.Fatal(err)
			}
			w, err := sealed.OpenPublic(b, scope)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(v.Seeds(), w.Seeds()) || v.Len() != w.Len() {
				t.Fatal("the parts have other units")
			}
			of, _ := v.Units()
			if other, _ := w.Units(); !slices.Equal(of, other) {
				t.Fatal("the parts number units in another way")
			}
			texts := func(v *sealed.View, i int) (out []string) {
				dictionary, of := v.Texts()
				for c, k := range of(i) {
					if k != sealed.NoText {
						out = append(out, fmt.Sprint(c, dictionary[c][k]))
					}
				}
				return out
			}
			for i := range v.Len() {
				if fmt.Sprint(v.Row(i)) != fmt.Sprint(w.Row(i)) || !reflect.DeepEqual(texts(v, i), texts(w, i)) {
					t.Fatalf("row %d is %v in parts, %v in the whole", i, w.Row(i), v.Row(i))
				}
			}
		}
	})
}

// A part with dense inputs is not joined: they would be lost.
func TestPartsHaveNoInputs(t *testing.T) {
	b := NewBuilder(keyed([32]byte{1}), testSchema(perRow))
	part := b.Part()
	if err := part.AddBytes([]float64{0, 1, 1, 0}, []uint8{1, 2}, schema.Record{}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("inputs were lost")
		}
	}()
	b.Join(part)
}
