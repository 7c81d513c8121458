package images

import (
	"errors"
	"image/color"
	"os"
	"strings"
	"testing"
)

// maxFuzz keeps an input small, so that memory can be told apart from its size.
const maxFuzz = 1 << 16

// sound checks what holds of every outcome: a set that is whole, or a located error
// of one line. What cannot come of bytes in memory is a failure of the disk.
func sound(t *testing.T, set *Set, err error) {
	t.Helper()
	if err != nil {
		var f *FormatError
		if set != nil || !errors.As(err, &f) || f.File == "" || f.Msg == "" || strings.Contains(err.Error()+f.Hint(), "\n") {
			t.Fatalf("set %v with error %v", set, err)
		}
		return
	}
	if set.Len() < 1 || set.Len()*set.Size() != len(set.Bytes)+len(set.Floats) || (set.Bytes == nil) == (set.Floats == nil) {
		t.Fatalf("%d images of %d values in %d and %d", set.Len(), set.Size(), len(set.Bytes), len(set.Floats))
	}
	if set.Labels != nil && len(set.Labels) != set.Len() {
		t.Fatalf("%d labels of %d images", len(set.Labels), set.Len())
	}
	for i, l := range set.Labels {
		if l < 0 || int(l) >= len(set.Classes) {
			t.Fatalf("label %d is outside", i)
		}
	}
	// A gzip file of 64 KiB can hold 64 MiB, and no more can be kept than it holds.
	if held := cap(set.Bytes) + 4*cap(set.Floats); held > 128<<20+maxFuzz {
		t.Fatalf("%d bytes are held", held)
	}
	pixels := make([]float32, set.Size())
	set.At(set.Len()-1, pixels)
	for _, v := range pixels {
		if v-v != 0 || set.Bytes != nil && (v < 0 || v > 1) {
			t.Fatal("a value is outside of its range")
		}
	}
}

func FuzzIDX(f *testing.F) {
	f.Add(idx([]byte{1, 2, 3, 4}, 2, 1, 2), idx([]byte{0, 2}, 2))
	f.Add(zipped(idx([]byte{1}, 1, 1, 1)), zipped(idx([]byte{1}, 1)))
	f.Fuzz(func(t *testing.T, pixels, labels []byte) {
		if len(pixels)+len(labels) > maxFuzz {
			t.Skip()
		}
		set, err := IDX(source("i", pixels), source("l", labels), three)
		sound(t, set, err)
		set, err = IDX(source("i", pixels), Source{}, nil)
		sound(t, set, err)
	})
}

func FuzzCIFAR10(f *testing.F) {
	f.Add(record(9, 1, 2, 3))
	f.Add(zipped(append(record(0, 1, 2, 3), record(1, 4, 5, 6)...)))
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > maxFuzz {
			t.Skip()
		}
		set, err := CIFAR10(source("f", content))
		sound(t, set, err)
	})
}

func FuzzNPY(f *testing.F) {
	f.Add(array("<f4", "(2, 1)", float32s(1, -2)), array("<i8", "(2,)", int64s(2, 0)))
	f.Add(array("<f8", "(1, 1, 1, 1)", float64s(0.5)), array("<i4", "(1,)", []byte{1, 0, 0, 0}))
	f.Add(zipped(array("|u1", "(1, 2, 2)", []byte{1, 2, 3, 4})), array("|u1", "(1,)", []byte{1}))
	f.Fuzz(func(t *testing.T, features, labels []byte) {
		if len(features)+len(labels) > maxFuzz {
			t.Skip()
		}
		set, err := NPY(source("x", features), source("y", labels), three)
		sound(t, set, err)
		set, err = NPY(source("x", features), Source{}, nil)
		sound(t, set, err)
	})
}

func FuzzNPYHeader(f *testing.F) {
	f.Add("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }")
	f.Add(`{"shape":(2L,),"descr":'|u1',"fortran_order":True}`)
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseNPYHeader(text)
		if err != nil {
			return
		}
		for _, d := range h.shape {
			if d < 0 {
				t.Fatal("a negative dimension")
			}
		}
	})
}

func FuzzFolder(f *testing.F) {
	f.Add(grey(2, 2, 1), grey(2, 2, 7))
	f.Add(rgb(1, 3, color.RGBA{1, 2, 3, 255}), rgb(1, 3, color.RGBA{4, 5, 6, 255}))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a)+len(b) > maxFuzz {
			t.Skip()
		}
		// An image of 64 Mi values is allowed, and is no work for a fuzzer.
		if large(a) || large(b) {
			t.Skip()
		}
		set, err := Folder("d", tree(map[string][]byte{"a/1.png": a, "b/1.png": b}), nil)
		sound(t, set, err)
	})
}

// large tells a PNG header that claims more than 4,095 pixels a side.
func large(content []byte) bool {
	return len(content) > 24 && (content[16]|content[17]|content[20]|content[21]) != 0 || len(content) > 24 && (content[18]|content[22]) > 15
}

// The corpus is committed: a clone has it.
func TestCorpus(t *testing.T) {
	for _, name := range []string{"FuzzIDX", "FuzzCIFAR10", "FuzzNPY", "FuzzNPYHeader", "FuzzFolder"} {
		if files, err := os.ReadDir("testdata/fuzz/" + name); err != nil || len(files) < 2 {
			t.Errorf("%s: %d files, error %v", name, len(files), err)
		}
	}
}
