package images

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCIFAR10(t *testing.T) {
	first, second := record(9, 1, 2, 3), record(0, 4, 5, 6)
	for _, tt := range []struct {
		name  string
		files [][]byte
	}{
		{"one file", [][]byte{append(bytes.Clone(first), second...)}},
		{"two files", [][]byte{first, second}},
		{"gzip", [][]byte{zipped(first), second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sources []Source
			for _, f := range tt.files {
				sources = append(sources, source("f", f))
			}
			set, err := CIFAR10(sources...)
			if err != nil {
				t.Fatal(err)
			}
			if set.Len() != 2 || set.Shape != [3]int{32, 32, 3} || !cmp.Equal(set.Labels, []int32{9, 0}) || !cmp.Equal(set.Classes, CIFAR10Classes()) {
				t.Errorf("%d images, labels %v, %v", set.Len(), set.Labels, set)
			}
			want := append(bytes.Repeat([]byte{1, 2, 3}, cifarPlane), bytes.Repeat([]byte{4, 5, 6}, cifarPlane)...)
			if !bytes.Equal(set.Bytes, want) {
				t.Error("the planes do not become pixels")
			}
		})
	}
}

func TestCIFAR10Refuses(t *testing.T) {
	good := record(1, 2, 3, 4)
	for _, tt := range []struct {
		name  string
		files [][]byte
		want  string
	}{
		{"no file", nil, "CIFAR-10: no file was named"},
		{"empty", [][]byte{{}}, "f0: the file is empty"},
		{"empty gzip", [][]byte{zipped(nil)}, "f0: the file is empty"},
		{"record cut", [][]byte{good[:3000]}, "f0: the file ends inside a record of 3,073 bytes"},
		{"label alone", [][]byte{append(bytes.Clone(good), 1)}, "f0: the file ends inside a record"},
		{"second file cut", [][]byte{good, good[:9]}, "f1: the file ends inside a record"},
		{"label outside", [][]byte{append(bytes.Clone(good), record(207, 1, 1, 1)...)}, "f0: record 2: the label is none of the 10 declared classes"},
		{"gzip cut", [][]byte{zipped(good)[:20]}, "f0: a damaged gzip file"},
		{"gzip checksum cut", [][]byte{zipped(good)[:len(zipped(good))-5]}, "f0: a damaged gzip file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refused(t, tt.want, func() (*Set, error) {
				var sources []Source
				for i, f := range tt.files {
					sources = append(sources, source("f"+string(rune('0'+i)), f))
				}
				return CIFAR10(sources...)
			})
		})
	}
}

// Every byte of every plane has one place.
func TestCIFAR10Places(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := []byte{3}
		for i, seed := 0, rapid.Uint32().Draw(t, "seed"); i < 3*cifarPlane; i++ {
			content = append(content, byte((uint32(i)*2654435761+seed)>>24))
		}
		y, x, c := rapid.IntRange(0, 31).Draw(t, "y"), rapid.IntRange(0, 31).Draw(t, "x"), rapid.IntRange(0, 2).Draw(t, "c")
		set, err := CIFAR10(source("f", content))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := set.Bytes[(y*32+x)*3+c], content[1+c*1024+y*32+x]; got != want {
			t.Fatalf("pixel (%d, %d), channel %d: got %d, want %d", y, x, c, got, want)
		}
	})
}
