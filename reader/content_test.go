package reader

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pawl/data/columnar"
	"pawl/data/schema"
)

func part(name, text string) Part { return Part{Name: name, Bytes: []byte(text)} }

var visits = &schema.Schema{Version: schema.Version, Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{
	{Name: "age", Type: schema.Integer, Lower: 0, Upper: 120}, {Name: "ward", Type: schema.Categorical, Categories: []string{"a", "b"}}}}

// lines are the rows of a table, one text each.
func lines(t *testing.T, c *Content, o Options) ([]string, error) {
	t.Helper()
	var all []string
	err := ReadFrom("unused", c.Reader(), visits, o, func(cells []float64, found schema.Record) error {
		all = append(all, fmt.Sprint(cells, found.Columns, found.Cells))
		return nil
	})
	return all, err
}

func TestPartsAreOneTable(t *testing.T) {
	whole, err := lines(t, NewContent("visits.csv", part("visits.csv", "age,ward\n1,a\n2,b\n3,a\n4,b\n")), Options{})
	if err != nil || len(whole) != 4 {
		t.Fatal(whole, err)
	}
	// Columns in another order, another format, a part without rows.
	many, err := lines(t, NewContent("visits-*", part("visits-1.csv", "age,ward\n1,a\n"), part("visits-2.csv", "ward,age\nb,2\n"), part("visits-3.csv", "age,ward\n"),
		part("visits-4.jsonl", `{"ward": "a", "age": 3}`+"\n"), part("visits-5.tsv", "ward\tage\nb\t4\n")), Options{})
	if err != nil || !slices.Equal(many, whole) {
		t.Errorf("%v, %v; want %v", many, err, whole)
	}
}

func TestFaultsNameTheirPart(t *testing.T) {
	good := part("visits-1.csv", "age,ward\n1,a\n")
	for _, tt := range []struct {
		second Part
		want   string
	}{
		{part("visits-2.csv", "age,wards\n1,a\n"), `visits-2.csv:1: the column "ward" of visits-1.csv is missing here: parts of one table have the same columns`},
		{part("visits-2.csv", "age,ward,hiv\n1,a,0\n"), `visits-2.csv:1: column "hiv": there is no such column in visits-1.csv: parts of one table have the same columns`},
		{part("visits-2.csv", ""), `visits-2.csv: the file is empty; a header line with the names of the columns is needed`},
		{part("visits-2.csv", "ward,age\na,1\nb,x\n"), `visits-2.csv:3: column "age": not a whole number (digits with an optional sign, point and exponent, no spaces)`},
		{part("visits-2.csv", "ward,age\na\n"), `visits-2.csv:2: fewer cells than columns in the header`},
	} {
		_, err := lines(t, NewContent("visits-*.csv", good, tt.second), Options{})
		if err == nil || err.Error() != tt.want {
			t.Errorf("%q: %v, want %s", tt.second.Bytes, err, tt.want)
		}
	}
	_, err := lines(t, NewContent("visits-*.csv", part("a.csv", "age,ward\n"), part("b.csv", "ward,age\n")), Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "visits-*.csv: ") {
		t.Errorf("no rows: %v", err)
	}
}

// A short record of a part whose columns stand in another order has the default of what it
// lacks, as in one file.
func TestShortRecordsOfPartsGetDefaults(t *testing.T) {
	s := *visits
	s.Columns = slices.Clone(s.Columns)
	s.Columns[0].Missing, s.Columns[0].MissingNumber = schema.MissingValue, 7
	got := 0.0
	c := NewContent("p", part("a.csv", "age,ward\n1,a\n"), part("b.csv", "ward,age\nb\n"))
	err := ReadFrom("", c.Reader(), &s, Options{BadRows: Default}, func(cells []float64, _ schema.Record) error { got = cells[0]; return nil })
	if err != nil || got != s.Columns[0].Default() {
		t.Errorf("%v, %v", got, err)
	}
}

// A part whose first line is a row shows nothing of it.
func TestHeaderlessPartsShowNoCell(t *testing.T) {
	_, err := lines(t, NewContent("p", part("a.csv", "age,ward,dose,seen\n1,a,1,2\n"), part("b.csv", "CANARY42,x,y,z\n")), Options{})
	if err == nil || strings.Contains(err.Error(), "CANARY42") || strings.Contains(err.Error(), "ward") || !strings.HasPrefix(err.Error(), "b.csv:1: its columns are not those of a.csv") {
		t.Error(err)
	}
	_, err = lines(t, NewContent("p", part("a.csv", "CANARY42,x,y,z\n1,a,1,2\n"), part("b.csv", "age,ward,dose,seen\n")), Options{})
	if err == nil || strings.Contains(err.Error(), "CANARY42") {
		t.Error(err)
	}
}

func sum(t *testing.T, c *Content) [32]byte {
	t.Helper()
	b, err := io.ReadAll(c.Reader())
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(b)
}

// The digest is of all parts in their order, each with its length: cells do not move from one
// part to the next. That of one file is of its bytes alone.
func TestDigestCoversAllParts(t *testing.T) {
	a, b := part("a", "age,ward\n1,a\n"), part("b", "age,ward\n2,b\n")
	all := [][32]byte{sum(t, NewContent("x", a, b)), sum(t, NewContent("x", b, a)), sum(t, NewContent("x", a)),
		sum(t, NewContent("x", part("ab", string(a.Bytes)+string(b.Bytes)))), sum(t, NewContent("x", part("a", string(a.Bytes)+"age"), part("b", ",ward\n2,b\n")))}
	for i := range all {
		if slices.Contains(all[:i], all[i]) {
			t.Errorf("digest %d is that of another table", i)
		}
	}
	if sum(t, NewContent("x", a)) != sha256.Sum256(a.Bytes) {
		t.Error("the digest of one file is not that of its bytes")
	}
}

var ageAndWard = []columnar.Column{{Name: "age", Kind: columnar.Integer}, {Name: "ward", Kind: columnar.Text}}

// held makes rows of pairs; "-" is a null.
func held(t *testing.T, rows ...[2]string) *Content {
	t.Helper()
	b := NewRows(ageAndWard)
	for _, r := range rows {
		for _, cell := range r {
			if cell == "-" {
				b.Null()
			} else {
				b.Text(cell)
			}
		}
		b.End()
	}
	r, err := b.Unordered()
	if err != nil {
		t.Fatal(err)
	}
	return NewContent("clinic", Part{Name: "clinic", Rows: r})
}

// A server may give rows in another order each time: the digest and the order in which rows are
// visited, on which random choices by place rest, stay. Answers come in the order given.
func TestRowsHaveAnOrderOfTheirOwn(t *testing.T) {
	var rows [][2]string
	for i := range 300 {
		rows = append(rows, [2]string{fmt.Sprint(i % 40), []string{"a", "b", "-"}[i%3]})
	}
	s := *visits
	s.Columns = slices.Clone(s.Columns)
	s.Columns[1].Missing = schema.MissingUnknown
	visit := func(c *Content) (all []string) {
		err := ReadFrom("", c.Reader(), &s, Options{}, func(cells []float64, _ schema.Record) error { all = append(all, fmt.Sprint(cells)); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	one := held(t, rows...)
	given := visit(one.AsGiven())
	slices.Reverse(rows)
	other := held(t, rows...)
	if sum(t, one) != sum(t, other) || !slices.Equal(visit(one), visit(other)) {
		t.Error("the order of rows changes the table")
	}
	back := visit(other.AsGiven())
	slices.Reverse(back)
	if !slices.Equal(given, back) || slices.Equal(given, visit(one)) {
		t.Error("the order given is lost")
	}
	if rows[0][1] = "b"; sum(t, held(t, rows...)) == sum(t, one) {
		t.Error("another cell is the same table")
	}
	rows[0][0], rows[0][1] = rows[0][0]+"b", ""
	if x, y := held(t, rows[0]), held(t, [2]string{rows[0][0][:1], rows[0][0][1:]}); sum(t, x) == sum(t, y) {
		t.Error("a cell takes letters of the next")
	}
}

func TestFaultsOfRows(t *testing.T) {
	for _, tt := range []struct {
		rows [][2]string
		want string
	}{
		{nil, "clinic: there are no rows"},
		{[][2]string{{"1", "a"}, {"2", "b"}, {"x", "a"}}, `clinic: row 3: column "age": not a whole number (digits with an optional sign, point and exponent, no spaces)`},
		{[][2]string{{"1", "a\x00"}}, `clinic: row 1: column "ward": a NUL byte`},
		{[][2]string{{"1", "\xff"}}, `clinic: row 1: column "ward": not UTF-8 text`},
		{[][2]string{{"1", strings.Repeat("a", maxCell+1)}}, `clinic: row 1: column "ward": longer than 1 MiB`},
		{[][2]string{{"-", "a"}}, `clinic: row 1: column "age": ` + schema.ErrMissing.Error()},
	} {
		if _, err := lines(t, held(t, tt.rows...), Options{}); err == nil || err.Error() != tt.want {
			t.Errorf("%.40q: %v, want %s", tt.rows, err, tt.want)
		}
	}
	b := NewRows([]columnar.Column{ageAndWard[0], {Name: "ward", Kind: columnar.Unsupported, Type: "bytea"}})
	b.Int(1)
	b.Null()
	b.End()
	r, err := b.InOrder()
	if err != nil {
		t.Fatal(err)
	}
	_, err = lines(t, NewContent("clinic", Part{Name: "clinic", Rows: r}), Options{})
	var fault *PositionError
	if !errors.As(err, &fault) || fault.Column != "ward" || !strings.Contains(err.Error(), "bytea") {
		t.Errorf("a type that cannot be read: %v", err)
	}
	b = NewRows(ageAndWard)
	b.Int(1)
	b.End()
	if _, err := b.Unordered(); err == nil {
		t.Error("a row may lack a cell")
	}
}

// Numbers are written as in the other formats, so that a copy is recognised.
func TestNumbersOfRows(t *testing.T) {
	b := NewRows([]columnar.Column{{Name: "x", Kind: columnar.Text}})
	var want []string
	for _, v := range []float64{0, -3, 7, 1e15, 1e16, 0.1, -1.5e-7, 1e300} {
		b.Float(v)
		b.End()
		c := columnarText(t, v)
		want = append(want, c)
	}
	b.Int(-5)
	b.End()
	want = append(want, "-5")
	b.Bytes(bytes.Repeat([]byte("é"), 3))
	b.End()
	want = append(want, "ééé")
	r, err := b.InOrder()
	if err != nil {
		t.Fatal(err)
	}
	in, err := NewRecords("", NewContent("x", Part{Name: "x", Rows: r}).Reader(), Keys{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		row, err := in.Next()
		if err != nil || row[0] != want[i] {
			t.Errorf("row %d: %v, %v; want %s", i, row, err, want[i])
		}
	}
}

// columnarText is how a number of a Parquet file reads.
func columnarText(t *testing.T, v float64) string {
	t.Helper()
	var b bytes.Buffer
	if err := columnar.WriteParquet(&b, []columnar.Data{{Name: "x", Floats: []float64{v}}}); err != nil {
		t.Fatal(err)
	}
	in, err := NewRecords("x.parquet", bytes.NewReader(b.Bytes()), Keys{})
	if err != nil {
		t.Fatal(err)
	}
	row, err := in.Next()
	if err != nil {
		t.Fatal(err)
	}
	return row[0]
}
