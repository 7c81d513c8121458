package images

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNPY(t *testing.T) {
	two := array("<i8", "(2,)", int64s(2, 0))
	long := append([]byte("\x93NUMPY\x02\x00"), 0, 0, 0, 0)
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n"
	binary.LittleEndian.PutUint32(long[8:], uint32(len(header)))
	long = append(append(long, header...), float32s(1, -2)...)
	floats := func(shape [3]int, v ...float32) *Set { return &Set{Shape: shape, Floats: v} }
	for _, tt := range []struct {
		name             string
		features, labels []byte
		want             *Set
	}{
		{"table of float32", array("<f4", "(2, 3)", float32s(1, 2, 3, 4, 5, 6)), two, floats([3]int{1, 1, 3}, 1, 2, 3, 4, 5, 6)},
		{"float64 is rounded", array("<f8", "(2, 1)", float64s(0.1, -1e-300)), two, floats([3]int{1, 1, 1}, 0.1, -0)},
		{"grey bytes", array("|u1", "(2, 1, 2)", []byte{1, 2, 3, 4}), two, &Set{Shape: [3]int{1, 2, 1}, Bytes: []uint8{1, 2, 3, 4}}},
		{"colour bytes", array("|u1", "(2, 1, 1, 3)", []byte{1, 2, 3, 4, 5, 6}), two, &Set{Shape: [3]int{1, 1, 3}, Bytes: []uint8{1, 2, 3, 4, 5, 6}}},
		{"version 2", long, two, floats([3]int{1, 1, 1}, 1, -2)},
		{"gzip", zipped(long), zipped(two), floats([3]int{1, 1, 1}, 1, -2)},
		{"labels of int32", long, array("<i4", "(2,)", []byte{2, 0, 0, 0, 0, 0, 0, 0}), floats([3]int{1, 1, 1}, 1, -2)},
		{"labels of uint8", long, array("|u1", "(2,)", []byte{2, 0}), floats([3]int{1, 1, 1}, 1, -2)},
		{"one dimension is in both orders", long, npy("{'descr': '<i8', 'fortran_order': True, 'shape': (2,), }", int64s(2, 0)), floats([3]int{1, 1, 1}, 1, -2)},
		{"as Python 2 wrote it", npy(`{"descr":"<f4","fortran_order":False,"shape":(2L,1L)}`, float32s(1, -2)), two, floats([3]int{1, 1, 1}, 1, -2)},
		{"names in another order", npy("{'shape': (2, 1,), 'descr': '<f4', 'fortran_order': False}   \n", float32s(1, -2)), two, floats([3]int{1, 1, 1}, 1, -2)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := NPY(source("x", tt.features), source("y", tt.labels), three)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Labels, tt.want.Classes = []int32{2, 0}, three
			if !equal(got, tt.want) || got.Len() != 2 {
				t.Errorf("got %v %v, want %v %v", got.Bytes, got.Floats, tt.want.Bytes, tt.want.Floats)
			}
		})
	}
	t.Run("without labels", func(t *testing.T) {
		if got, err := NPY(source("x", long), Source{}, nil); err != nil || got.Len() != 2 || got.Labels != nil {
			t.Errorf("error %v", err)
		}
	})
}

func TestNPYRefuses(t *testing.T) {
	good, label := array("<f4", "(1, 2)", float32s(1, 2)), array("<i8", "(1,)", int64s(1))
	withHeader := func(header string) []byte { return npy(header, float32s(1, 2)) }
	for _, tt := range []struct {
		name             string
		features, labels []byte
		want             string
	}{
		{"empty", nil, label, "x: the file is empty"},
		{"magic cut", good[:4], label, "x: the file ends inside its header"},
		{"length cut", good[:9], label, "x: the file ends inside its header"},
		{"header cut", good[:30], label, "x: the file ends inside its header"},
		{"values cut", good[:len(good)-1], label, "x: the file ends before its last value"},
		{"values go on", append(bytes.Clone(good), 207), label, "x: the file continues after its last record"},
		{"npz", []byte("PK\x03\x04........"), label, "x: not an npy file"},
		{"version 3", append([]byte("\x93NUMPY\x03\x00"), good[8:]...), label, "another version than 1.0 and 2.0"},
		{"version 1.1", append([]byte("\x93NUMPY\x01\x01"), good[8:]...), label, "another version than 1.0 and 2.0"},
		{"long header", append([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), good[10:]...), label, "longer than 10,000 bytes"},
		{"no dictionary", withHeader("[1, 2]"), label, "the header is damaged: no dictionary"},
		{"records", withHeader("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 2)}"), label, "records with fields"},
		{"no shape", withHeader("{'descr': '<f4', 'fortran_order': False}"), label, "are needed and nothing else"},
		{"shape twice", withHeader("{'descr': '<f4', 'shape': (1, 2), 'shape': (1, 2)}"), label, "occurs twice"},
		{"another name", withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), 'x': 1}"), label, "are needed, each with"},
		{"text after it", withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)} x"), label, "nothing else"},
		{"never closed", withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2),"), label, "a name is missing"},
		{"no comma", withHeader("{'descr': '<f4' 'fortran_order': False, 'shape': (1, 2)}"), label, "a comma is missing"},
		{"no tuple", withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': 2}"), label, "each with its kind of value"},
		{"negative", withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2)}"), label, "each with its kind of value"},
		{"number too long", withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 2)}"), label, "each with its kind of value"},
		{"order is no truth", withHeader("{'descr': '<f4', 'fortran_order': 0, 'shape': (1, 2)}"), label, "each with its kind of value"},
		{"text never closed", withHeader("{'descr': '<f4"), label, "each with its kind of value"},
		{"Fortran order", withHeader("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}"), label, "x: the array is in Fortran order"},
		{"big-endian", array(">f4", "(1, 2)", float32s(1, 2)), label, "values of uint8, float32 or float64 (little-endian)"},
		{"objects", array("|O", "(1, 2)", float32s(1, 2)), label, "values of uint8, float32 or float64"},
		{"integers", array("<i8", "(1, 1)", int64s(1)), label, "values of uint8, float32 or float64"},
		{"no dimension", array("<f4", "()", float32s(1)), label, "an array of 0 dimensions; features need 2, 3 or 4"},
		{"one dimension", array("<f4", "(2,)", float32s(1, 2)), label, "an array of 1 dimensions; features need 2, 3 or 4"},
		{"five dimensions", array("<f4", "(1, 1, 1, 1, 2)", float32s(1, 2)), label, "an array of 5 dimensions"},
		{"no image", array("<f4", "(0, 2)", nil), label, "x: a dimension is zero"},
		{"no values", array("<f4", "(1, 0)", nil), label, "x: a dimension is zero"},
		{"absurd count", array("<f4", "(999999999999999999, 2)", nil), label, "the header states more than pawl reads"},
		{"product overflows", array("<f8", "(4294967296, 4294967296, 4294967296, 4294967296)", nil), label, "the header states more than pawl reads"},
		{"over 4 GiB", array("<f4", "(1073741825, 1)", nil), label, "the header states more than pawl reads"},
		{"large but allowed", array("<f4", "(1000000000, 1)", float32s(1)), array("<i8", "(1000000000,)", int64s(1)), "y: the file ends before its last label"},
		{"NaN", array("<f4", "(2, 2)", float32s(1, 2, 3, math.NaN())), array("<i8", "(2,)", int64s(1, 1)), "x: record 2: a value is not a finite float32"},
		{"infinity", array("<f4", "(1, 2)", float32s(1, math.Inf(-1))), label, "x: record 1: a value is not a finite float32"},
		{"float64 NaN", array("<f8", "(1, 2)", float64s(207, math.NaN())), label, "x: record 1: a value is not a finite float32"},
		{"beyond float32", array("<f8", "(1, 2)", float64s(207, 1e39)), label, "x: record 1: a value is not a finite float32"},
		{"fewer labels", array("<f4", "(2, 1)", float32s(1, 2)), label, "y: not as many labels as images"},
		{"labels cut", good, label[:len(label)-1], "y: the file ends before its last label"},
		{"labels go on", good, append(bytes.Clone(label), 0), "y: the file continues"},
		{"labels of floats", good, array("<f4", "(1,)", float32s(1)), "labels need values of int64, int32 or uint8"},
		{"labels as a column", good, array("<i8", "(1, 1)", int64s(1)), "labels need 1"},
		{"label too large", good, array("<i8", "(1,)", int64s(207)), "y: record 1: the label is none of the 3 declared classes"},
		{"label negative", good, array("<i8", "(1,)", int64s(-1)), "y: record 1: the label is none of the 3 declared classes"},
		{"label beyond int32", good, array("<i8", "(1,)", int64s(1<<32)), "y: record 1: the label is none of the 3 declared classes"},
		{"int32 negative", good, array("<i4", "(1,)", []byte{255, 255, 255, 255}), "y: record 1: the label is none"},
		{"gzip cut", zipped(good)[:20], label, "x: a damaged gzip file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refused(t, tt.want, func() (*Set, error) { return NPY(source("x", tt.features), source("y", tt.labels), three) })
		})
	}
}

// Values cross chunks, and come back as they were written.
func TestNPYRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 5, chunk/4 - 1, chunk / 4, chunk/4 + 1}).Draw(t, "n")
		d := 1
		if n < chunk/8 {
			d = rapid.IntRange(1, 7).Draw(t, "d")
		}
		seed := rapid.Uint32().Draw(t, "seed")
		content, want := make([]byte, 0, 4*n*d), make([]float32, 0, n*d)
		for i := range n * d {
			v := float32(int32(uint32(i)*2654435761+seed)) / 1e3
			want = append(want, v)
			content = binary.LittleEndian.AppendUint32(content, math.Float32bits(v))
		}
		set, err := NPY(source("x", array("<f4", fmt.Sprintf("(%d, %d)", n, d), content)), Source{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(set.Floats, want) || set.Len() != n {
			t.Fatal("other values")
		}
	})
}

func TestOpenNPY(t *testing.T) {
	dir := t.TempDir()
	p := Pair{filepath.Join(dir, "features.npy"), filepath.Join(dir, "labels.npy")}
	if err := os.WriteFile(p.Images, array("|u1", "(1, 2, 2)", []byte{1, 2, 3, 4}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenNPY(p, three); !os.IsNotExist(err) || !strings.Contains(err.Error(), "labels.npy") {
		t.Errorf("absent labels: %v", err)
	}
	if set, err := OpenNPY(Pair{Images: p.Images}, nil); err != nil || set.Shape != [3]int{2, 2, 1} {
		t.Errorf("error %v", err)
	}
}
