package identity

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var testKey = [32]byte{1, 2, 3}

func printOf(key [32]byte, names []string, rows [][]string) *Print {
	b := New(key, names)
	for _, row := range rows {
		b.Add(without("\x00", row))
	}
	return b.Print()
}

// without is a record in which this text stands for a null.
func without(null string, row []string) []string {
	row = slices.Clone(row)
	for i, text := range row {
		if text == null {
			row[i] = ""
		}
	}
	return row
}

// table draws a small table with many equal rows.
func table(t *rapid.T) (names []string, rows [][]string) {
	width := rapid.IntRange(1, 4).Draw(t, "width")
	for j := range width {
		names = append(names, fmt.Sprintf("c%d", j))
	}
	cell := rapid.SampledFrom([]string{"a", "b", "7", "7.5", "true", "", "x y"})
	rows = rapid.SliceOfN(rapid.SliceOfN(cell, width, width), 1, 30).Draw(t, "rows")
	return names, rows
}

func blank(row []string) bool {
	return !slices.ContainsFunc(row, func(s string) bool { return s != "" })
}

func TestOrderAndSpellingDoNotMatter(t *testing.T) {
	respelled := map[string][]string{"7": {"7", "7.0", "+7", " 7"}, "7.5": {"7.5", "07.50", "75e-1"}, "true": {"true", "TRUE", "True"}, "": {"", "NA", "\x00", " "}, "a": {"a", " a"}, "b": {"b"}, "x y": {"x y", "x y\t"}}
	rapid.Check(t, func(t *rapid.T) {
		names, rows := table(t)
		columns := rapid.Permutation(slices.Collect(indices(len(names)))).Draw(t, "columns")
		var others [][]string
		for _, r := range rapid.Permutation(rows).Draw(t, "order") {
			var row []string
			for _, j := range columns {
				row = append(row, rapid.SampledFrom(respelled[r[j]]).Draw(t, "cell"))
			}
			others = append(others, row)
			if rapid.Bool().Draw(t, "blank line") {
				others = append(others, make([]string, len(names)))
			}
		}
		var header []string
		for _, j := range columns {
			header = append(header, names[j]+rapid.SampledFrom([]string{"", " "}).Draw(t, "space"))
		}
		a, b := printOf(testKey, names, rows), printOf(testKey, header, others)
		if !bytes.Equal(a.Marshal(), b.Marshal()) {
			t.Fatalf("the prints differ: %v %v and %v %v", names, rows, header, others)
		}
		if a.Rows > 0 && Compare(a, b).Likeness != Equal {
			t.Fatal("not equal")
		}
	})
}

func indices(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func TestEveryRowCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names, rows := table(t)
		a := printOf(testKey, names, rows)
		i := rapid.IntRange(0, len(rows)-1).Draw(t, "row")
		if blank(rows[i]) {
			return
		}
		if without := printOf(testKey, names, slices.Delete(slices.Clone(rows), i, i+1)); without.Identity == a.Identity {
			t.Fatal("a row less has the same identity")
		}
		// Twice is not once, and twice another is not either: multiplicities enter.
		if twice := printOf(testKey, names, append(slices.Clone(rows), rows[i])); twice.Identity == a.Identity {
			t.Fatal("a row more has the same identity")
		}
		if four := printOf(testKey, names, append(slices.Clone(rows), rows[i], rows[i])); four.Identity == a.Identity {
			t.Fatal("two rows more have the same identity")
		}
	})
}

func TestWhatEnters(t *testing.T) {
	names, rows := []string{"a", "b"}, [][]string{{"1", "2"}, {"3", "4"}, {"1", "2"}}
	a := printOf(testKey, names, rows).Identity
	for what, other := range map[string]*Print{
		"another key":             printOf([32]byte{9}, names, rows),
		"another name":            printOf(testKey, []string{"a", "c"}, rows),
		"swapped names":           printOf(testKey, []string{"b", "a"}, rows),
		"a cell":                  printOf(testKey, names, [][]string{{"1", "2"}, {"3", "5"}, {"1", "2"}}),
		"cells that run together": printOf(testKey, names, [][]string{{"12", ""}, {"3", "4"}, {"1", "2"}}),
		"a column more":           printOf(testKey, []string{"a", "b", "z"}, [][]string{{"1", "2", ""}, {"3", "4", "x"}, {"1", "2", ""}}),
		"no rows":                 printOf(testKey, names, nil),
	} {
		if other.Identity == a {
			t.Errorf("%s has the same identity", what)
		}
	}
	// A row of JSON need not have every name, and a column of nulls is soon added.
	if printOf(testKey, []string{"a", "z", "b"}, [][]string{{"1", "", "2"}, {"3", "NA", "4"}, {"1", "", "2"}}).Identity != a {
		t.Error("a column without a cell has another identity")
	}
	if printOf(testKey, names, nil).Rows != 0 || Compare(printOf(testKey, names, nil), printOf(testKey, names, nil)).Likeness != Different {
		t.Error("empty tables are alike: nothing was copied")
	}
}

func TestVectorsPrint(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	keys, data, width := []string{}, []float32{}, 8
	for i := range 2000 {
		keys = append(keys, fmt.Sprintf("scan-%d", i))
		for range width {
			data = append(data, float32(r.NormFloat64()))
		}
	}
	a := VectorsPrint(testKey, keys, data, width)
	keys2, data2 := slices.Clone(keys), slices.Clone(data)
	slices.Reverse(keys2)
	for i := range 2000 {
		copy(data2[i*width:(i+1)*width], data[(1999-i)*width:])
	}
	if got := Compare(a, VectorsPrint(testKey, keys2, data2, width)).Likeness; got != Equal {
		t.Errorf("another order: %v", got)
	}
	if got := Compare(a, VectorsPrint(testKey, keys2, data, width)).Likeness; got != Similar {
		t.Errorf("other keys of the same vectors: %v, want similar", got)
	}
	if got := Compare(a, VectorsPrint(testKey, keys[:1900], data[:1900*width], width)).Likeness; got != Similar {
		t.Errorf("a hundred less: %v, want similar", got)
	}
	data2[0]++
	if got := Compare(VectorsPrint(testKey, keys2, data2, width), a).Likeness; got != Similar {
		t.Errorf("one number changed: %v, want similar", got)
	}
	for i := range data2 {
		data2[i] = float32(r.NormFloat64())
	}
	if got := Compare(a, VectorsPrint(testKey, keys, data2, width)).Likeness; got != Different {
		t.Errorf("other vectors behind the same keys: %v, want different", got)
	}
	if got := Compare(a, printOf(testKey, []string{"vector"}, [][]string{{"1"}})).Likeness; got != Different {
		t.Errorf("a table and vectors: %v", got)
	}
}

func TestMarshal(t *testing.T) {
	names, rows := wide(5000)
	for _, p := range []*Print{printOf(testKey, names, rows), printOf(testKey, names, nil), printOf(testKey, []string{"a"}, [][]string{{"1"}, {"1"}}), VectorsPrint(testKey, []string{"k"}, []float32{1}, 1)} {
		b := p.Marshal()
		back, err := Unmarshal(b)
		if err != nil || !bytes.Equal(back.Marshal(), b) {
			t.Fatalf("no round trip: %v", err)
		}
		for _, n := range []int{0, 1, 33, len(b) / 2, len(b) - 1} {
			if _, err := Unmarshal(b[:n]); !errors.Is(err, ErrFormat) {
				t.Errorf("%d of %d bytes: %v", n, len(b), err)
			}
		}
		if _, err := Unmarshal(append(slices.Clone(b), 0)); !errors.Is(err, ErrFormat) {
			t.Errorf("a byte more: %v", err)
		}
		for at, x := range []byte{2, 9} {
			bad := slices.Clone(b)
			bad[at] = x
			if _, err := Unmarshal(bad); !errors.Is(err, ErrFormat) {
				t.Errorf("byte %d is %d: %v", at, x, err)
			}
		}
	}
	if n := len(printOf(testKey, names, rows).Marshal()); n > 150_000 {
		t.Errorf("%d bytes", n)
	}
}

func FuzzUnmarshal(f *testing.F) {
	f.Add(printOf(testKey, []string{"a"}, [][]string{{"1"}, {"2"}}).Marshal())
	names, rows := wide(100)
	f.Add(printOf(testKey, names, rows).Marshal())
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Unmarshal(b)
		if err != nil {
			return
		}
		if !bytes.Equal(p.Marshal(), b) {
			t.Error("bytes are read that are not written")
		}
		Compare(p, p)
		Compare(p, printOf(testKey, []string{"a"}, [][]string{{"1"}, {"2"}}))
	})
}

// A print of some columns is that of a table which has only these.
func TestRecordsOfSomeColumns(t *testing.T) {
	names, rows := wide(2000)
	at := []int{16, 3, 0, 8}
	var some []string
	for _, i := range at {
		some = append(some, names[i])
	}
	beside, alone := NewRecords(testKey, some, at), NewRecords(testKey, some, nil)
	for _, row := range rows {
		beside.Add(row)
		alone.Add([]string{row[16], row[3], row[0], row[8]})
	}
	if !bytes.Equal(beside.Print().Marshal(), alone.Print().Marshal()) {
		t.Error("other cells were printed")
	}
}

func TestAddDoesNotAllocate(t *testing.T) {
	names, rows := wide(2000)
	p := New(testKey, names)
	for _, row := range rows {
		p.Add(row)
	}
	if n := testing.AllocsPerRun(1000, func() { p.Add(rows[7]) }); n != 0 {
		t.Errorf("%v allocations a row", n)
	}
}

// The sketch keeps the smallest values with exact counts, in whatever order they come.
func TestSketchIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 30, 1000, 50_000} {
		counts := map[uint64]uint32{}
		var values []uint64
		for range n {
			v := r.Uint64()
			for range 1 + r.IntN(3) {
				values, counts[v] = append(values, v), counts[v]+1
			}
		}
		r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		s := newSketch(1000)
		for _, v := range values {
			s.add(v)
		}
		kept := s.smallest()
		want := slices.Sorted(keys(counts))
		if len(kept) != min(1000, n) {
			t.Fatalf("%d kept of %d", len(kept), n)
		}
		for i, x := range kept {
			if x.value != want[i] || x.count != counts[x.value] {
				t.Fatalf("n %d: item %d is wrong", n, i)
			}
		}
		if d := distinct(len(kept), s.bound); d < .85*float64(n) || d > 1.15*float64(n) {
			t.Errorf("%d distinct values are estimated as %.0f", n, d)
		}
	}
}

func keys(m map[uint64]uint32) func(func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func TestPrintsDoNotShowValues(t *testing.T) {
	p := printOf(testKey, []string{"name"}, [][]string{{"Ada Lovelace"}, {"Ada Lovelace"}})
	if b := p.Marshal(); strings.Contains(string(b), "Ada") || strings.Contains(string(b), "name") {
		t.Error("a print holds a text of its table")
	}
}

// A print does not depend on which of several builders took a record, nor the writings of identifiers.
func TestJoin(t *testing.T) {
	names, rows := wide(30_000)
	for _, n := range []int{0, 1, 4097, 20_000} {
		for _, parts := range []int{1, 3} {
			builders, ids := make([]*Builder, parts), make([]*Writings, parts)
			for k := range builders {
				builders[k], ids[k] = New(testKey, names), NewWritings(testKey)
			}
			whole := NewWritings(testKey)
			for i, row := range rows[:n] {
				k := i * i % parts
				builders[k].Add(row)
				ids[k].Add(row[16])
				whole.Add(row[16])
			}
			for k := 1; k < parts; k++ {
				builders[0].Join(builders[k])
				ids[0].Join(ids[k])
			}
			if !bytes.Equal(builders[0].Print().Marshal(), printOf(testKey, names, rows[:n]).Marshal()) {
				t.Errorf("%d rows in %d parts give another print", n, parts)
			}
			if ids[0].Identity() != whole.Identity() {
				t.Errorf("%d identifiers in %d parts are other writings", n, parts)
			}
		}
	}
}
