package images

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var three = []string{"a", "b", "c"}

func TestIDX(t *testing.T) {
	pixels, labels := idx([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 2, 2, 3), idx([]byte{2, 0}, 2)
	want := &Set{Shape: [3]int{2, 3, 1}, Bytes: []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, Labels: []int32{2, 0}, Classes: three}
	for _, tt := range []struct {
		name           string
		pixels, labels []byte
	}{
		{"plain", pixels, labels},
		{"gzip", zipped(pixels), zipped(labels)},
		{"one of them gzip", pixels, zipped(labels)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := IDX(source("i", tt.pixels), source("l", tt.labels), three)
			if err != nil {
				t.Fatal(err)
			}
			if got.Len() != 2 || got.Size() != 6 {
				t.Errorf("length %d, size %d", got.Len(), got.Size())
			}
			if !equal(got, want) {
				t.Error("another set was read")
			}
		})
	}
	t.Run("without labels", func(t *testing.T) {
		got, err := IDX(source("i", pixels), Source{}, nil)
		if err != nil || got.Len() != 2 || got.Labels != nil {
			t.Errorf("error %v", err)
		}
	})
}

// equal compares all fields; cmp would print the public text of both.
func equal(a, b *Set) bool {
	return a.Shape == b.Shape && cmp.Equal(a.Bytes, b.Bytes) && cmp.Equal(a.Floats, b.Floats) && cmp.Equal(a.Labels, b.Labels) &&
		cmp.Equal(a.Classes, b.Classes)
}

func TestIDXRefuses(t *testing.T) {
	one, label := idx([]byte{1, 2}, 1, 1, 2), idx([]byte{1}, 1)
	for _, tt := range []struct {
		name           string
		pixels, labels []byte
		want           string
	}{
		{"empty", nil, label, "i: the file is empty"},
		{"empty gzip", zipped(nil), label, "i: the file ends inside its header"},
		{"header cut", one[:3], label, "i: the file ends inside its header"},
		{"dimensions cut", one[:9], label, "i: the file ends inside its header"},
		{"pixels cut", one[:len(one)-1], label, "i: the file ends before its last image"},
		{"no pixels", one[:16], label, "i: the file ends before its last image"},
		{"too many pixels", append(bytes.Clone(one), 207), label, "i: the file continues after its last record"},
		{"wrong magic", append([]byte{1}, one[1:]...), label, "i: not an IDX file"},
		{"text", []byte("label,pixel1\n"), label, "i: not an IDX file"},
		{"zeros", make([]byte, 16), label, "i: not an IDX file"},
		{"floats", append([]byte{0, 0, 13}, one[3:]...), label, "other values than unsigned bytes"},
		{"files swapped", label, one, "an IDX file of 1 dimensions; images need 3"},
		{"images twice", one, one, "l: an IDX file of 3 dimensions; labels need 1"},
		{"no image", idx(nil, 0, 28, 28), idx(nil, 0), "i: a dimension is zero"},
		{"no height", idx(nil, 1, 0, 28), label, "i: a dimension is zero"},
		{"no width", idx(nil, 1, 28, 0), label, "i: a dimension is zero"},
		{"absurd count", idx(nil, 1<<32-1, 28, 28), label, "the header states more than pawl reads"},
		{"absurd side", idx(nil, 1, 1<<20, 1), label, "the header states more than pawl reads"},
		{"product overflows", idx(nil, 1<<32-1, 1<<32-1, 1<<32-1), label, "the header states more than pawl reads"},
		{"large but allowed", idx(make([]byte, 9), 1<<18, 128, 128), idx(nil, 1<<18), "the file ends before its last label"},
		{"fewer labels", idx([]byte{1, 2}, 2, 1, 1), label, "l: not as many labels as images"},
		{"more labels", one, idx([]byte{1, 1}, 2), "l: not as many labels as images"},
		{"labels cut", idx([]byte{1, 2}, 2, 1, 1), idx([]byte{1}, 2), "l: the file ends before its last label"},
		{"labels go on", one, append(bytes.Clone(label), 1), "l: the file continues"},
		{"label outside", idx([]byte{1, 2}, 2, 1, 1), idx([]byte{1, 207}, 2), "l: record 2: the label is none of the 3 declared classes"},
		{"gzip cut", zipped(one)[:12], label, "i: a damaged gzip file"},
		{"gzip checksum cut", zipped(one)[:len(zipped(one))-4], label, "i: a damaged gzip file"},
		{"gzip head only", []byte{0x1f, 0x8b, 8}, label, "i: a damaged gzip file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refused(t, tt.want, func() (*Set, error) { return IDX(source("i", tt.pixels), source("l", tt.labels), three) })
		})
	}
}

func TestClassesAreDeclared(t *testing.T) {
	for _, tt := range []struct {
		name    string
		classes []string
		want    string
	}{
		{"none", nil, "need a list of at least two classes"},
		{"one", []string{"a"}, "need a list of at least two classes"},
		{"twice", []string{"a", "b", "a"}, "a name twice"},
		{"empty", []string{"a", ""}, "an empty name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refused(t, tt.want, func() (*Set, error) {
				return IDX(source("i", idx([]byte{1}, 1, 1, 1)), source("l", idx([]byte{0}, 1)), tt.classes)
			})
		})
	}
}

// A bomb is read as far as its header says, and not as far as it goes.
func TestGzipBomb(t *testing.T) {
	bomb := zipped(append(idx(nil, 1, 1, 2), make([]byte, 32<<20)...))
	refused(t, "continues after its last record", func() (*Set, error) {
		return IDX(source("i", bomb), source("l", idx([]byte{1}, 1)), three)
	})
}

func TestIDXRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, h, w := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "h"), rapid.IntRange(1, 4).Draw(t, "w")
		pixels := rapid.SliceOfN(rapid.Byte(), n*h*w, n*h*w).Draw(t, "pixels")
		labels := rapid.SliceOfN(rapid.ByteRange(0, 2), n, n).Draw(t, "labels")
		set, err := IDX(source("i", idx(pixels, uint32(n), uint32(h), uint32(w))), source("l", idx(labels, uint32(n))), three)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(set.Bytes, pixels) || set.Len() != n || set.Shape != [3]int{h, w, 1} {
			t.Fatal("other pixels")
		}
		for i, l := range labels {
			if set.Labels[i] != int32(l) {
				t.Fatal("other labels")
			}
		}
	})
}

func TestOpenIDX(t *testing.T) {
	dir := t.TempDir()
	p := Pair{filepath.Join(dir, "i.gz"), filepath.Join(dir, "l")}
	if _, err := OpenIDX(p, three); !os.IsNotExist(err) {
		t.Errorf("absent files: %v", err)
	}
	for path, content := range map[string][]byte{p.Images: zipped(idx([]byte{4}, 1, 1, 1)), p.Labels: idx([]byte{2}, 1)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := OpenIDX(p, three)
	if err != nil || set.Labels[0] != 2 || set.Bytes[0] != 4 {
		t.Errorf("error %v", err)
	}
	if set, err = OpenIDX(Pair{Images: p.Images}, nil); err != nil || set.Labels != nil {
		t.Errorf("without labels: %v", err)
	}
}
