package intake

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/data/schema"
	"pawl/internal/stattest"
	"pawl/reader"
)

// hashes are those of the rows' units, in the order of the rows.
func hashes(key [32]byte, u schema.Unit, records []schema.Record) ([]uint64, string) {
	s := &schema.Schema{Unit: u}
	all := newUnits(keyed(key), s)
	for _, r := range records {
		all.add(&r)
	}
	rule := all.rule()
	h, _, _ := all.assign()
	return h, rule
}

func found(texts ...string) schema.Record {
	r := schema.Record{Columns: names[:len(texts)]}
	for _, t := range texts {
		r.Cells = append(r.Cells, schema.Found{Text: t})
	}
	return r
}

var names = []string{"a", "b", "c"}

// difference counts what is in one multiset of units and not in the other.
func difference(x, y []uint64) (more, less int) {
	count := map[uint64]int{}
	for _, h := range x {
		count[h]++
	}
	for _, h := range y {
		count[h]--
	}
	for _, n := range count {
		more, less = more+max(n, 0), less+max(-n, 0)
	}
	return more, less
}

// Where rows are units, one copy of a record more or less is one unit more or less, and
// one record in another's place is one of each, whatever the order of the file: the
// statement that the ledger's prices are for, on tables with many equal rows.
func TestOneCopyIsOneUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := drawKey(t)
		kinds := rapid.IntRange(1, 6).Draw(t, "distinct records")
		draw := func() schema.Record {
			k := rapid.IntRange(0, kinds-1).Draw(t, "record")
			return found(fmt.Sprint(k%2), fmt.Sprint(k/2))
		}
		var all []schema.Record
		for range rapid.IntRange(0, 40).Draw(t, "rows") {
			all = append(all, draw())
		}
		before, rule := hashes(key, perRow, all)
		if again, same := hashes(key, perRow, rapid.Permutation(all).Draw(t, "order")); same != rule {
			t.Fatal("the order of rows makes another assignment")
		} else if more, less := difference(before, again); more+less != 0 {
			t.Fatalf("the order of rows moves %d units", more)
		}
		more := rapid.Permutation(append(slices.Clone(all), draw())).Draw(t, "order of more")
		after, other := hashes(key, perRow, more)
		if in, out := difference(after, before); in != 1 || out != 0 {
			t.Fatalf("one row more: %d units come and %d go", in, out)
		}
		if other == rule {
			t.Fatal("another version of the rows has the same assignment")
		}
		if len(all) == 0 {
			return
		}
		replaced := slices.Clone(all)
		replaced[rapid.IntRange(0, len(all)-1).Draw(t, "at")] = draw()
		after, _ = hashes(key, perRow, replaced)
		if in, out := difference(after, before); in > 1 || in != out {
			t.Fatalf("one row in another's place: %d units come and %d go", in, out)
		}
	})
}

// Equal rows lie in all scopes, each copy for itself. Null: a copy falls below the cut
// with the cut's chance; proportions at a false-alarm rate of 1e-6.
func TestEqualRowsAreSpreadOverScopes(t *testing.T) {
	const copies, keys = 500, 20
	for _, cut := range []float64{0.1, 0.5, 0.8} {
		scope, n, both := dp.Scope{Lower: 0, Upper: cut}, 0, 0
		for k := range keys {
			h, _ := hashes([32]byte{byte(k), 3}, perRow, slices.Repeat([]schema.Record{found("1", "yes")}, copies))
			if len(h) != len(maps.Collect(func(yield func(uint64, bool) bool) {
				for _, x := range h {
					if !yield(x, true) {
						return
					}
				}
			})) {
				t.Fatal("two copies are one unit")
			}
			for i, x := range h {
				if scope.Contains(x) {
					n++
				}
				if i%2 == 1 && scope.Contains(x) && scope.Contains(h[i-1]) {
					both++
				}
			}
		}
		stattest.Accept(t, stattest.Proportion("copies below the cut", n, keys*copies, cut))
		stattest.Accept(t, stattest.Proportion("pairs of copies below the cut", both, keys*copies/2, cut*cut))
	}
}

// Records are told apart by everything that a mechanism can tell apart.
func TestRecordsAreToldApart(t *testing.T) {
	null := found("", "x")
	null.Cells[0].Null = true
	renamed := found("1", "x")
	renamed.Columns = []string{"a", "z"}
	joined, other := found("1", "x"), found("1", "x")
	joined.Raw, other.Raw = []byte("vector"), []byte("rotcev")
	all := []schema.Record{joined, other, found("1", "x"), found("1x", ""), found("", "1x"), found("1.0", "x"), found("1", "x", ""), found("", "x"), null, renamed,
		{Raw: []byte("1x")}, {Raw: []byte("c1x")}}
	seen := map[uint64]int{}
	for i, r := range all {
		h, _ := hashes([32]byte{1}, perRow, []schema.Record{r})
		if j, ok := seen[h[0]]; ok {
			t.Errorf("records %d and %d are one", i, j)
		}
		seen[h[0]] = i
	}
}

// The rows that a unit keeps are chosen by record and running number: a unit whose most
// frequent row has the lowest hash does not keep copies of that row alone.
func TestBoundCountsCopiesOneByOne(t *testing.T) {
	alone := 0
	for k := range 200 {
		s := &schema.Schema{Unit: perUnit(2)}
		u := newUnits(keyed([32]byte{byte(k), 9}), s)
		for i := range 8 {
			r := found(fmt.Sprint(i / 4)) // four copies of each of two rows
			r.Unit = "one"
			u.add(&r)
		}
		_, unit, keep := u.assign()
		n := 0
		for i, ok := range keep {
			if ok && i/4 == 0 {
				n++
			}
		}
		if len(unit) != 2 || unit[0] != unit[1] {
			t.Fatalf("kept %v", unit)
		}
		if n != 1 {
			alone++
		}
	}
	// Two of eight rows at random: both of one kind with chance 3/7.
	stattest.Accept(t, stattest.Proportion("both rows of one kind", alone, 200, 3.0/7))
}

// Two readings of the same bytes that give a person two identifiers are two assignments.
func TestOtherReadingsAreOtherAssignments(t *testing.T) {
	const text = "1,m\xfcller,1\n2,m\xfcller,2\n"
	rule := func(file string) string {
		s, err := schema.Decode("s", []byte("version: 1\nunit: id\nrows_per_unit: 2\nfile: "+file+"\ncolumns: [{name: id, type: ignore}, {name: y, type: integer, lower: 0, upper: 9}, {name: z, type: ignore}]"))
		if err != nil {
			t.Fatal(err)
		}
		u := newUnits(keyed([32]byte{1}), s)
		err = reader.ReadFrom("f.csv", strings.NewReader(text), s, reader.Options{BadRows: reader.Default}, func(_ []float64, found schema.Record) error {
			u.add(&found)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return u.rule()
	}
	seen := map[string]string{}
	for _, file := range []string{
		"{header: false, encoding: latin-1, names: [y, id, z]}",
		"{header: false, encoding: windows-1251, names: [y, id, z]}", // who is written in other letters
		"{header: false, encoding: latin-1, names: [id, z, y]}",      // another column
		"{header: false, encoding: latin-1, names: [y, id, z], quote: none}",
	} {
		r := rule(file)
		if other, ok := seen[r]; ok {
			t.Errorf("%s and %s are one assignment: %s", file, other, r)
		}
		seen[r] = file
	}
	for _, file := range []string{
		`{header: false, encoding: cp1251, names: [z, id, y]}`,
		`{header: false, encoding: windows-1251, names: [y, id, z], thousands: "'", trim: true}`,
	} {
		if r := rule(file); seen[r] == "" {
			t.Errorf("%s: %s is a new assignment", file, r)
		}
	}
}

// Hashes of units of a column are those of earlier versions, so that charges that were
// booked by scope stay with the persons they were for. Do NOT edit the value.
func TestUnitsOfAColumnKeepTheirScopes(t *testing.T) {
	r := found("x")
	r.Unit = "patient 7"
	h, rule := hashes([32]byte{1, 2, 3}, perUnit(1), []schema.Record{r})
	if got, want := fmt.Sprintf("%016x", h[0]), "09697dec33cbbb5f"; got != want || rule != "column id" {
		t.Errorf("hash %s of %s, want %s of column id", got, rule, want)
	}
}

// edit is one way to write a table and its schema.
type edit struct {
	columns            []int // order in the file
	rows               []int
	kinds              []int
	upper              float64
	reversed, other    bool
	format             string
	digits             int
	quoted, blank, end bool
}

// write gives the file and the schema of some rows of (number, level, flag).
func (e edit) write(t fataler, rows [][3]int, unit string) (name string, content []byte, s *schema.Schema) {
	header := []string{"n", "level", "flag", "who"}
	cell := func(row, column int) string {
		r := rows[row]
		switch column {
		case 0:
			return fmt.Sprintf("%.*f", e.digits, float64(r[0])/2)
		case 1:
			return string(rune('p' + r[1]))
		case 2:
			return []string{"no", "yes"}[r[2]]
		}
		return fmt.Sprint("u", r[0]%3)
	}
	var b bytes.Buffer
	if e.format == "jsonl" {
		for _, row := range e.rows {
			object := map[string]string{}
			for _, c := range e.columns {
				object[header[c]] = cell(row, c)
			}
			line, _ := json.Marshal(object)
			fmt.Fprintf(&b, "%s\n", line)
		}
	} else {
		separator := map[string]string{"csv": ",", "csv.gz": ",", "tsv": "\t"}[e.format]
		newline := "\n"
		if e.end {
			newline = "\r\n"
		}
		line := func(cells func(c int) string) {
			for i, c := range e.columns {
				if i > 0 {
					b.WriteString(separator)
				}
				if text := cells(c); e.quoted && e.format != "tsv" {
					b.WriteString(`"` + text + `"`)
				} else {
					b.WriteString(text)
				}
			}
			b.WriteString(newline)
		}
		line(func(c int) string { return header[c] })
		for _, row := range e.rows {
			line(func(c int) string { return cell(row, c) })
		}
		if e.blank {
			b.WriteString(newline + newline)
		}
	}
	content = b.Bytes()
	if e.format == "csv.gz" {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		content = z.Bytes()
	}
	levels := []string{"p", "q", "r"}
	if e.reversed {
		slices.Reverse(levels)
	}
	declared := "version: 1\nunit: " + unit + "\n"
	if unit != "row" {
		declared += "rows_per_unit: 2\n"
	}
	declared += "columns:\n"
	kinds := []string{
		[]string{fmt.Sprintf("numeric, lower: 0, upper: %g", e.upper), "ignore", "numeric, lower: -5, upper: 1, missing: unknown"}[e.kinds[0]],
		[]string{fmt.Sprintf("categorical, categories: [%s], other: %v", strings.Join(levels, ", "), e.other), "ignore", "text, buckets: 7"}[e.kinds[1]],
		[]string{"boolean", "ignore", "categorical, categories: ['yes', maybe], other: true"}[e.kinds[2]],
		"ignore",
	}
	for i := range header {
		c := e.columns[(i+1)%len(header)] // the schema has an order of its own
		declared += fmt.Sprintf("  - {name: %s, type: %s}\n", header[c], kinds[c])
	}
	s, err := schema.Decode("s.yaml", []byte(declared))
	if err != nil {
		t.Fatal(err, declared)
	}
	return "f." + e.format, content, s
}

// A thousand random edits of schema and format: either no unit moves, or the entry has
// another assignment, whose costs the ledger adds. Edits of the schema alone, and ways to
// write the same cells, never make another one.
func TestNoEditMovesAUnit(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 1))
	rows := make([][3]int, 60)
	for i := range rows {
		rows[i] = [3]int{rng.IntN(4), rng.IntN(3), rng.IntN(2)}
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	for _, unit := range []string{"row", "who"} {
		read := func(e edit) (map[string][]uint64, string) {
			name, content, s := e.write(t, rows, unit)
			u := newUnits(keyed([32]byte{4}), s)
			var of []string
			err := reader.ReadFrom(name, bytes.NewReader(content), s, reader.Options{}, func(_ []float64, found schema.Record) error {
				u.add(&found)
				number := slices.Index(found.Columns, "n")
				level, flag := slices.Index(found.Columns, "level"), slices.Index(found.Columns, "flag")
				of = append(of, strings.TrimRight(found.Cells[number].Text, "0")+found.Cells[level].Text+found.Cells[flag].Text)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			rule := u.rule()
			units := map[string][]uint64{}
			h := make([]uint64, len(of))
			if unit == "row" {
				h, _, _ = u.assign()
			} else {
				for i := range h {
					h[i] = u.key.at(int32(i)).high
				}
			}
			for i, r := range of {
				units[r] = append(units[r], h[i])
			}
			for r := range units {
				slices.Sort(units[r])
			}
			return units, rule
		}
		plain := edit{columns: []int{0, 1, 2, 3}, rows: order, kinds: []int{0, 0, 0}, upper: 9, format: "csv", digits: 1}
		want, rule := read(plain)
		others := 0
		for range 500 {
			e := edit{columns: rng.Perm(4), rows: rng.Perm(len(rows)), kinds: []int{rng.IntN(3), rng.IntN(3), rng.IntN(3)}, upper: 1 + math.Floor(9*rng.Float64()),
				reversed: rng.IntN(2) == 0, other: rng.IntN(2) == 0, format: []string{"csv", "csv.gz", "tsv", "jsonl"}[rng.IntN(4)], digits: 1 + rng.IntN(5)/4,
				quoted: rng.IntN(2) == 0, blank: rng.IntN(2) == 0, end: rng.IntN(2) == 0}
			if slices.Equal(e.kinds, []int{1, 1, 1}) {
				e.kinds[rng.IntN(3)] = 0 // a schema uses a column
			}
			got, now := read(e)
			if e.digits == plain.digits && now != rule {
				t.Fatalf("unit %s: %+v makes the assignment %q of %q", unit, e, now, rule)
			}
			if now != rule {
				others++
				continue
			}
			if !maps.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("unit %s: %+v moves units within one assignment", unit, e)
			}
		}
		if (others == 0) == (unit == "row") {
			t.Errorf("unit %s: %d edits of the cells make another assignment", unit, others)
		}
	}
}
