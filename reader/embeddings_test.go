package reader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/data/schema"
)

// npy writes float32 rows as numpy.save does.
func npy(shape string, values ...float32) []byte {
	head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }", shape)
	head += strings.Repeat(" ", 64-(10+len(head)+1)%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	b = append(b, head...)
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func put(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEmbeddings(t *testing.T) {
	key := typed{"key", []any{"a", "b", "c"}}
	x, y := typed{"x", []any{1.0, 3.0, 5.0}}, typed{"y", []any{2.0, 4.0, 6.0}}
	array := put(t, "e.npy", npy("(3, 2)", 1, 2, 3, 4, 5, 6))
	if err := os.WriteFile(strings.TrimSuffix(array, ".npy")+".keys", []byte("\ufeffa\r\nb\nc"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		o    EmbeddingFiles
	}{
		{"npy", EmbeddingFiles{Path: array, Width: 2}},
		{"npy, keys named", EmbeddingFiles{Path: array, Keys: put(t, "names", []byte("a\nb\nc\n"))}},
		{"parquet", EmbeddingFiles{Path: put(t, "e.parquet", asParquet(t, 2, x, key, y))}},
		{"arrow, key named", EmbeddingFiles{Path: put(t, "e.arrow", asArrow(t, key, x, y)), KeyColumn: "key"}},
		{"parquet of lists", EmbeddingFiles{Path: put(t, "l.parquet", asParquetLists(t, []string{"a", "b", "c"}, []float32{1, 2, 3, 4, 5, 6}, 2, 2, 2))}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := LoadEmbeddings(tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if e.Len() != 3 || e.Width() != 2 {
				t.Errorf("%d vectors of %d", e.Len(), e.Width())
			}
			if v, ok := e.Join("b"); !ok || !cmp.Equal(v, []float32{3, 4}) || cap(v) != 2 {
				t.Errorf("b: %v %v", v, ok)
			}
			if _, ok := e.Join("d"); ok {
				t.Error("a key that is not there was joined")
			}
		})
	}
}

func TestEmbeddingsRefuse(t *testing.T) {
	key := typed{"key", []any{"SECRET1", "SECRET2", "SECRET3"}}
	x := typed{"x", []any{1.0, 3.0, 5.0}}
	parquet := func(c ...typed) EmbeddingFiles {
		return EmbeddingFiles{Path: put(t, "e.parquet", asParquet(t, 2, c...))}
	}
	array := func(content []byte, keys string) EmbeddingFiles {
		return EmbeddingFiles{Path: put(t, "e.npy", content), Keys: put(t, "e.keys", []byte(keys))}
	}
	wide := parquet(key, x)
	wide.Width = 3
	named := parquet(key, x)
	named.KeyColumn = "kye"
	number := parquet(key, x)
	number.KeyColumn = "x"
	for _, tt := range []struct {
		name string
		o    EmbeddingFiles
		want string
	}{
		{"key twice", parquet(typed{"key", []any{"a", "SECRET", "SECRET"}}, x), `row 3 (row group 2): column "key": the key occurs in an earlier row`},
		{"key absent", parquet(typed{"key", []any{"a", nil, "b"}}, x), `row 2 (row group 1): column "key": the key is missing`},
		{"null", parquet(key, typed{"x", []any{1.0, nil, 1.0}}), "row 2 (row group 1): a number is null, NaN, infinite"},
		{"NaN", parquet(key, typed{"x", []any{1.0, 1.0, math.NaN()}}), "row 3 (row group 2): a number is null, NaN, infinite"},
		{"beyond float32", parquet(key, typed{"x", []any{1e300, 1.0, 1.0}}), "row 1 (row group 1): a number is null, NaN, infinite"},
		{"other width", wide, "vectors of 1 numbers, and 3 are needed"},
		{"key column misspelt", named, `no column "kye"`},
		{"key of floats", number, `column "x": of type DOUBLE; keys are`},
		{"two keys", parquet(key, typed{"id", []any{int64(1), int64(2), int64(3)}}, x), `both "key" and "id" could be the key`},
		{"no key", parquet(x), "no column of texts or whole numbers"},
		{"no numbers", parquet(key), "no column of numbers"},
		{"a boolean", parquet(key, x, typed{"b", []any{true, true, true}}), `column "b": of type BOOLEAN`},
		{"lists of two lengths", EmbeddingFiles{Path: put(t, "l.parquet", asParquetLists(t, []string{"a", "b"}, []float32{1, 2, 3}, 2, 1))}, "row 2 (row group 1): a vector of another length"},
		{"npy NaN", array(npy("(2, 1)", 1, float32(math.NaN())), "a\nb"), "record 2: a value is not a finite float32"},
		{"npy keys too few", array(npy("(2, 1)", 1, 2), "a"), "e.keys: not as many keys as"},
		{"npy key twice", array(npy("(2, 1)", 1, 2), "SECRET\nSECRET\n"), "e.keys: row 2: the key occurs in an earlier row"},
		{"npy blank key", array(npy("(2, 1)", 1, 2), "a\n\n"), "e.keys: row 2: the key is missing"},
		{"npy of images", array(npy("(1, 2, 2)", 1, 2, 3, 4), "a\n"), "shape (n, d)"},
		{"npy cut", array(npy("(2, 1)", 1), "a\nb"), "ends before its last value"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := LoadEmbeddings(tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := LoadEmbeddings(EmbeddingFiles{Path: put(t, "lonely.npy", npy("(1, 1)", 1))}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without keys: %v", err)
	}
}

func TestReadJoined(t *testing.T) {
	s, err := schema.Decode("s.yaml", []byte("version: 1\nunit: row\ncolumns:\n  - {name: photo, type: ignore}\n  - {name: sick, type: boolean}\n"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := LoadEmbeddings(EmbeddingFiles{Path: put(t, "e.parquet", asParquet(t, 9, typed{"photo", []any{"a", "b"}}, typed{"x", []any{1.0, 3.0}}))})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text string
		o          Options
		whole      bool
		want       [][]float32
		err        string
	}{
		{"other order", "sick,photo\nyes,b\nno,a\n", Options{}, true, [][]float32{{3}, {1}}, ""},
		{"shared", "photo,sick\nb,no\nb,no\na,no\n", Options{}, true, [][]float32{{3}, {3}, {1}}, ""},
		{"a part", "photo,sick\nb,no\n", Options{}, false, [][]float32{{3}}, ""},
		{"vector left over", "photo,sick\nb,no\n", Options{}, true, nil, "e.parquet: holds vectors with keys that no row of f.csv has"},
		{"row left over", "photo,sick\nb,no\nSECRET,no\n", Options{}, false, nil, `f.csv:3: column "photo": no vector has this key in `},
		{"key missing", "photo,sick\n,no\n", Options{}, false, nil, `f.csv:2: column "photo": the key is missing`},
		{"by default", "photo,sick\nb,no\nSECRET,no\n\"\xff\",no\n", Options{BadRows: Default}, true, [][]float32{{3}, {0}, {0}}, ""},
		{"column absent", "sick\nno\n", Options{}, false, nil, `no column "photo"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got [][]float32
			err := ReadJoined("f.csv", strings.NewReader(tt.text), s, tt.o, "photo", tt.whole, e, func(cells []float64, found schema.Record, v []float32) error {
				got = append(got, v)
				return nil
			})
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "SECRET") {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if d := cmp.Diff(tt.want, got); err != nil || d != "" {
				t.Errorf("%v %s", err, d)
			}
		})
	}
	table := asParquet(t, 1, typed{"photo", []any{"b", "SECRET"}}, typed{"sick", []any{true, true}})
	err = ReadJoined("f.parquet", bytes.NewReader(table), s, Options{}, "photo", false, e, func([]float64, schema.Record, []float32) error { return nil })
	if err == nil || !strings.Contains(err.Error(), `f.parquet: row 2 (row group 2): column "photo": no vector`) || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("Parquet: %v", err)
	}
}
