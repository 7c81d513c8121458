package intake

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
	"pawl/internal/stattest"
)

func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }

// testSchema is public so that tests can look at what was sealed.
func testSchema(u schema.Unit) *schema.Schema {
	return &schema.Schema{Version: 1, Public: true, Unit: u, Columns: []schema.Column{
		{Name: "id", Type: schema.Ignore},
		{Name: "x", Type: schema.Numeric, Lower: 0, Upper: 100},
		{Name: "c", Type: schema.Categorical, Categories: []string{"a", "b", "c"}},
		{Name: "f", Type: schema.Boolean},
	}}
}

func perUnit(k int) schema.Unit { return schema.Unit{Name: "person", Column: "id", MaxRows: k} }

var perRow = schema.Unit{Name: "row", MaxRows: 1}

type row struct {
	x    float64
	unit string
}

type fataler interface{ Fatal(...any) }

func keyed(key [32]byte) *Key { return sealed.NewKey("d", key, [32]byte{}) }

func seal(t fataler, u schema.Unit, key [32]byte, rows []row) *Rows {
	b := NewBuilder(keyed(key), testSchema(u))
	for _, r := range rows {
		if err := b.Add([]float64{math.NaN(), r.x, 1, 0}, schema.Record{Unit: r.unit}); err != nil {
			t.Fatal(err)
		}
	}
	return b.Seal()
}

// numbers returns the x of all rows of a scope, in order.
func numbers(t fataler, r *Rows, scope dp.Scope) []float64 {
	v, err := sealed.OpenPublic(r, scope)
	if err != nil {
		t.Fatal(err)
	}
	var out []float64
	for i := range v.Len() {
		out = append(out, v.Row(i)[1])
	}
	return out
}

func drawKey(t *rapid.T) (key [32]byte) {
	copy(key[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
	return key
}

// drawUnit draws the rows of one unit; x tells units apart and repeats inside.
func drawUnit(t *rapid.T, u int) []row {
	var rows []row
	for range rapid.IntRange(0, 7).Draw(t, "rows") {
		rows = append(rows, row{float64(10*u + rapid.IntRange(0, 5).Draw(t, "x")), fmt.Sprint("unit ", u)})
	}
	return rows
}

func ofUnit(xs []float64, u int) []float64 {
	var out []float64
	for _, x := range xs {
		if int(x)/10 == u {
			out = append(out, x)
		}
	}
	slices.Sort(out)
	return out
}

// Which rows of a unit stay depends on that unit only: not on other units and not
// on the order of the file. At most k stay, and all where there are no more.
func TestBoundLooksAtOneUnitOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, k := drawKey(t), rapid.IntRange(1, 3).Draw(t, "k")
		var all []row
		alone := map[int][]float64{}
		units := rapid.IntRange(1, 5).Draw(t, "units")
		sizes := map[int]int{}
		for u := range units {
			rows := drawUnit(t, u)
			alone[u] = ofUnit(numbers(t, seal(t, perUnit(k), key, rows), dp.WholeScope), u)
			sizes[u] = len(rows)
			all = append(all, rows...)
		}
		all = rapid.Permutation(all).Draw(t, "order")
		together := numbers(t, seal(t, perUnit(k), key, all), dp.WholeScope)
		total := 0
		for u := range units {
			kept := ofUnit(together, u)
			if !slices.Equal(kept, alone[u]) {
				t.Fatalf("unit %d keeps %v among others and %v alone", u, kept, alone[u])
			}
			if len(kept) != min(k, sizes[u]) {
				t.Fatalf("unit %d of %d rows keeps %d, want %d", u, sizes[u], len(kept), min(k, sizes[u]))
			}
			total += len(kept)
		}
		if total != len(together) {
			t.Fatalf("%d rows were sealed, %d belong to units", len(together), total)
		}
	})
}

// The rows that stay are those of lowest keyed hash, not the first of the file.
func TestBoundKeepsLowestHash(t *testing.T) {
	first := 0
	const trials = 400
	for i := range trials {
		key := [32]byte{byte(i), byte(i >> 8), 1}
		if numbers(t, seal(t, perUnit(1), key, []row{{1, "u"}, {2, "u"}}), dp.WholeScope)[0] == 1 {
			first++
		}
	}
	// Null: either row has the lower hash under half of the keys; |z| <= 4.89 has a
	// false-alarm rate of 1e-6.
	stattest.Accept(t, stattest.Proportion("first row stays", first, trials, 0.5))
}

// A unit lies in one scope, the same in every table sealed with the key, whatever
// else is in it; all its rows lie there together.
func TestUnitStaysInItsScope(t *testing.T) {
	cut := dp.Scope{Lower: 0, Upper: 0.5}
	rest := dp.Scope{Lower: 0.5, Upper: 1}
	rapid.Check(t, func(t *rapid.T) {
		key := drawKey(t)
		mine := []row{{1, "unit 0"}, {2, "unit 0"}}
		var others []row
		for u := range 4 {
			others = append(others, drawUnit(t, u+1)...)
		}
		where := func(rows []row) bool {
			r := seal(t, perUnit(3), key, rows)
			a, b := ofUnit(numbers(t, r, cut), 0), ofUnit(numbers(t, r, rest), 0)
			if len(a)+len(b) != 2 || len(a) == 1 {
				t.Fatalf("a unit of two rows is split %v, %v", a, b)
			}
			return len(a) == 2
		}
		if where(mine) != where(append(others, mine...)) {
			t.Fatal("other units' rows moved a unit to another scope")
		}
	})
}

// Null: a unit falls below the cut with the cut's chance, under a random key.
// Proportions of 20 keys × 500 units at a false-alarm rate of 1e-6.
func TestScopesHaveTheirShare(t *testing.T) {
	var units []row
	for u := range 500 {
		units = append(units, row{0, fmt.Sprint(u)})
	}
	for _, cut := range []float64{0.1, 0.5, 0.8} {
		n := 0
		for k := range 20 {
			n += len(numbers(t, seal(t, perUnit(1), [32]byte{byte(k), 7}, units), dp.Scope{Lower: 0, Upper: cut}))
		}
		stattest.Accept(t, stattest.Proportion("scope", n, 20*500, cut))
	}
}

// Different keys give different scopes, and the same key the same.
func TestKeyDecidesTheScopes(t *testing.T) {
	var units []row
	for u := range 64 {
		units = append(units, row{float64(u), fmt.Sprint(u)})
	}
	half := func(key byte) []float64 {
		return numbers(t, seal(t, perUnit(1), [32]byte{key}, units), dp.Scope{Lower: 0, Upper: 0.5})
	}
	if !slices.Equal(half(1), half(1)) {
		t.Error("one key gives two splits")
	}
	if slices.Equal(half(1), half(2)) {
		t.Error("two keys give one split")
	}
}

// Where rows are units, equal rows are units of their own and all stay.
func TestEqualRowsAllStay(t *testing.T) {
	rows := []row{{1, "same"}, {1, "same"}, {1, "same"}, {2, "other"}}
	if got := numbers(t, seal(t, perRow, [32]byte{1}, rows), dp.WholeScope); !reflect.DeepEqual(got, []float64{1, 1, 1, 2}) {
		t.Errorf("sealed %v, want all four rows", got)
	}
	if got := numbers(t, seal(t, perUnit(1), [32]byte{1}, rows), dp.WholeScope); len(got) != 2 {
		t.Errorf("one row per unit: sealed %v, want two rows", got)
	}
}

// Cells are held to the schema whoever parsed them, and the caller's slice is
// neither kept nor changed.
func TestAddHoldsCellsToTheSchema(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		name  string
		cells []float64
		ok    bool
		x     float64
	}{
		{"plain", []float64{nan, 5, 2, 1}, true, 5},
		{"unknown", []float64{nan, nan, nan, nan}, true, nan},
		{"clipped above", []float64{nan, 101, 0, 0}, true, 100},
		{"clipped below", []float64{nan, -inf, 0, 0}, true, 0},
		{"clipped infinity", []float64{nan, inf, 0, 0}, true, 100},
		{"no such level", []float64{nan, 5, 3, 1}, false, 0},
		{"negative level", []float64{nan, 5, -1, 1}, false, 0},
		{"between levels", []float64{nan, 5, 0.5, 1}, false, 0},
		{"infinite level", []float64{nan, 5, inf, 1}, false, 0},
		{"not a boolean", []float64{nan, 5, 1, 2}, false, 0},
		{"too few cells", []float64{nan, 5, 1}, false, 0},
		{"too many cells", []float64{nan, 5, 1, 1, 1}, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := NewBuilder(keyed([32]byte{}), testSchema(perRow))
			before := fmt.Sprint(tt.cells)
			err := b.Add(tt.cells, schema.Record{Unit: "u"})
			if (err == nil) != tt.ok || (b.units.len() == 0) == tt.ok {
				t.Fatalf("Add: %v, empty %v; want ok %v", err, (b.units.len() == 0), tt.ok)
			}
			if fmt.Sprint(tt.cells) != before {
				t.Fatalf("the caller's cells became %v", tt.cells)
			}
			for i := range tt.cells {
				tt.cells[i] = 77
			}
			if got := numbers(t, b.Seal(), dp.WholeScope); tt.ok && fmt.Sprint(got) != fmt.Sprint([]float64{tt.x}) {
				t.Fatalf("sealed %v, want %v", got, tt.x)
			}
		})
	}
}

// Shorts differ from what was added by half a step at most, and by more only beyond ±1.
func TestShortInputs(t *testing.T) {
	s := testSchema(perRow)
	s.Rows = schema.RowCount{Kind: schema.RowsDeclared, N: 2}
	b := NewBuilder(keyed([32]byte{}), s)
	cells := []float64{math.NaN(), 1, 1, 0}
	inputs := [][]float32{{0, 1, -1, 0.25, 1e-5}, {1.5, -7, 0.1, -0.016, 3e-5}}
	for _, in := range inputs {
		if err := b.AddShorts(slices.Clone(cells), in, schema.Record{Raw: []byte("r")}); err != nil {
			t.Fatal(err)
		}
	}
	for name, err := range map[string]error{
		"NaN":            b.AddShorts(cells, []float32{0, 0, 0, 0, float32(math.NaN())}, schema.Record{Raw: []byte("r")}),
		"no record":      b.AddShorts(cells, make([]float32, 5), schema.Record{}),
		"another length": b.AddShorts(cells, make([]float32, 4), schema.Record{Raw: []byte("r")}),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	v, err := sealed.OpenPublic(b.Seal(), dp.WholeScope)
	if err != nil || v.Len() != 2 || v.InputDim() != 5 {
		t.Fatalf("%d rows of %d, %v", v.Len(), v.InputDim(), err)
	}
	got := make([]float32, 5)
	for i, in := range inputs {
		v.Input(i, got)
		for j, x := range in {
			if d := math.Abs(float64(got[j] - min(max(x, -1), 1))); d > 0.50001/math.MaxInt16 {
				t.Errorf("row %d: %v reads as %v", i, x, got[j])
			}
		}
	}
}
