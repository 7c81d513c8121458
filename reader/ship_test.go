package reader

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"pawl/data/columnar"
)

// A table that is shipped is the same table: equal bytes name it, and equal parts are read. Whatever else arrives is
// refused: a part of it, more than it, and a field that this version does not know.
func TestShip(t *testing.T) {
	held := NewRows([]columnar.Column{{Name: "age"}, {Name: "sick"}})
	for _, age := range []int64{41, 17, 63} {
		held.Int(age)
		held.Text("yes")
		held.EndNumbered(age)
	}
	held.Null()
	held.Text("no")
	held.EndNumbered(4)
	rows, err := held.InOrder()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*Content{
		"a file":       NewContent("a.csv", Part{Name: "a.csv", Bytes: []byte("age,sick\n41,yes\n")}),
		"an empty one": NewContent("a.csv", Part{Name: "a.csv", Bytes: []byte{}}),
		"two files":    NewContent("*.csv", Part{Name: "a.csv", Bytes: []byte("age\n1\n"), Note: "note"}, Part{Name: "b.csv", Bytes: []byte("age\n2\n")}),
		"a sheet":      NewContent("a.xlsx#s", Part{Name: "a.xlsx#s", Rows: rows}),
	} {
		t.Run(name, func(t *testing.T) {
			b, err := c.Ship(nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Received(bytes.Clone(b))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c) {
				t.Errorf("%+v, want %+v", got, c)
			}
			want, _ := io.ReadAll(c.Reader())
			if digested, _ := io.ReadAll(got.Reader()); !bytes.Equal(digested, want) {
				t.Errorf("%q names it, want %q", digested, want)
			}
			for n := range b {
				if _, err := Received(b[:n]); !errors.Is(err, ErrShipped) {
					t.Fatalf("the first %d of %d bytes: %v", n, len(b), err)
				}
			}
			if _, err := Received(append(bytes.Clone(b), 0)); !errors.Is(err, ErrShipped) {
				t.Errorf("a byte more: %v", err)
			}
			if _, err := Received(bytes.Replace(b, []byte(`"size"`), []byte(`"sixe"`), 1)); !errors.Is(err, ErrShipped) {
				t.Errorf("an unknown field: %v", err)
			}
		})
	}
	for name, r := range map[string]Rows{
		"no rows at all":    {},
		"beyond the data":   {data: "ab", starts: []uint64{0, 3}},
		"backwards":         {data: "ab", starts: []uint64{0, 2, 1, 2}},
		"too few numbers":   {data: "ab", starts: []uint64{0, 1, 2}, numbers: []int64{1}},
		"a number too high": {data: "ab", starts: []uint64{0, 1, 2}, numbers: []int64{1, 3}, sorted: true},
	} {
		b, err := NewContent("x", Part{Name: "x", Rows: &r}).Ship(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Received(b); !errors.Is(err, ErrShipped) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
