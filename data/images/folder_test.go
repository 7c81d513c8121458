package images

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// tree is a folder with these files.
func tree(files map[string][]byte) fstest.MapFS {
	out := fstest.MapFS{}
	for name, content := range files {
		out[name] = &fstest.MapFile{Data: content, Mode: 0o644}
	}
	return out
}

func TestFolder(t *testing.T) {
	red, blue := rgb(2, 1, color.RGBA{200, 1, 2, 255}), rgb(2, 1, color.RGBA{3, 4, 100, 255})
	greys := map[string][]byte{"cat/2.png": grey(2, 1, 20), "cat/1.PNG": grey(2, 1, 10), "ant/x.png": grey(2, 1, 30),
		".git/config": []byte("hidden"), "cat/.thumbs": []byte("hidden")}
	for _, tt := range []struct {
		name    string
		files   map[string][]byte
		classes []string
		want    *Set
	}{
		{"classes are the sorted folders", greys, nil,
			&Set{Shape: [3]int{1, 2, 1}, Bytes: []uint8{30, 31, 10, 11, 20, 21}, Labels: []int32{0, 1, 1}, Classes: []string{"ant", "cat"}}},
		{"declared classes keep their order", greys, []string{"cat", "bee", "ant"},
			&Set{Shape: [3]int{1, 2, 1}, Bytes: []uint8{10, 11, 20, 21, 30, 31}, Labels: []int32{0, 0, 2}, Classes: []string{"cat", "bee", "ant"}}},
		{"colour", map[string][]byte{"a/1.png": red, "b/1.png": blue}, nil,
			&Set{Shape: [3]int{1, 2, 3}, Bytes: []uint8{200, 1, 2, 200, 1, 2, 3, 4, 100, 3, 4, 100}, Labels: []int32{0, 1}, Classes: []string{"a", "b"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Folder("d", tree(tt.files), tt.classes)
			if err != nil {
				t.Fatal(err)
			}
			if !equal(got, tt.want) {
				t.Errorf("got %v of %v, labels %v, %v", got.Bytes, got.Shape, got.Labels, got.Classes)
			}
		})
	}
}

// huge is a PNG file whose header claims more pixels than it has.
func huge(w, h uint32) []byte {
	out := bytes.Clone(grey(1, 1, 0))
	binary.BigEndian.PutUint32(out[16:], w)
	binary.BigEndian.PutUint32(out[20:], h)
	binary.BigEndian.PutUint32(out[29:], crc32.ChecksumIEEE(out[12:29]))
	return out
}

func TestFolderRefuses(t *testing.T) {
	good := grey(2, 2, 1)
	damaged := bytes.Clone(good)
	damaged[len(damaged)-20] ^= 1
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 2, 2)), nil); err != nil {
		t.Fatal(err)
	}
	clear := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	palette := image.NewPaletted(image.Rect(0, 0, 2, 2), color.Palette{color.Black, color.White})
	for _, tt := range []struct {
		name    string
		files   map[string][]byte
		classes []string
		want    string
	}{
		{"empty", nil, nil, "d: the folder has fewer than two sub-folders"},
		{"one class", map[string][]byte{"a/1.png": good}, nil, "d: the folder has fewer than two sub-folders"},
		{"no image", map[string][]byte{"a/.x": good, "b/.x": good}, nil, "d: the folder has no PNG file"},
		{"undeclared class", map[string][]byte{"a/1.png": good, "b/1.png": good}, []string{"a", "c"}, "d/b: the sub-folder is none of the declared classes"},
		{"file beside the folders", map[string][]byte{"a/1.png": good, "b/1.png": good, "2.png": good}, nil, "d/2.png: not a sub-folder"},
		{"other file", map[string][]byte{"a/1.png": good, "b/1.jpg": photo.Bytes()}, nil, "d/b/1.jpg: not a PNG file"},
		{"folder in a folder", map[string][]byte{"a/1.png": good, "b/c.png/1.png": good}, nil, "d/b/c.png: not a PNG file"},
		{"jpeg by that name", map[string][]byte{"a/1.png": good, "b/1.png": photo.Bytes()}, nil, "d/b/1.png: a damaged PNG file, or another format"},
		{"nothing in it", map[string][]byte{"a/1.png": good, "b/1.png": {}}, nil, "d/b/1.png: a damaged PNG file"},
		{"cut", map[string][]byte{"a/1.png": good, "b/1.png": good[:len(good)-16]}, nil, "d/b/1.png: a damaged PNG file"},
		{"damaged", map[string][]byte{"a/1.png": good, "b/1.png": damaged}, nil, "d/b/1.png: a damaged PNG file"},
		{"another width", map[string][]byte{"a/1.png": good, "b/1.png": grey(3, 2, 1)}, nil, "d/b/1.png: another height or width"},
		{"another height", map[string][]byte{"a/1.png": good, "b/1.png": grey(2, 3, 1)}, nil, "d/b/1.png: another height or width"},
		{"grey and colour", map[string][]byte{"a/1.png": good, "b/1.png": rgb(2, 2, color.RGBA{1, 2, 3, 255})}, nil, "d/b/1.png: grey where"},
		{"transparency", map[string][]byte{"a/1.png": good, "b/1.png": encoded(clear)}, nil, "d/b/1.png: transparency"},
		{"palette", map[string][]byte{"a/1.png": good, "b/1.png": encoded(palette)}, nil, "d/b/1.png: palette colours"},
		{"16 bits", map[string][]byte{"a/1.png": encoded(image.NewGray16(image.Rect(0, 0, 2, 2))), "b/1.png": good}, nil, "d/a/1.png: 16 bits per channel"},
		{"16 bits of colour", map[string][]byte{"a/1.png": encoded(image.NewNRGBA64(image.Rect(0, 0, 2, 2))), "b/1.png": good}, nil, "d/a/1.png: 16 bits per channel"},
		{"absurd width", map[string][]byte{"a/1.png": huge(1<<30, 1), "b/1.png": good}, nil, "d/a/1.png: the header states more than pawl reads"},
		{"absurd area", map[string][]byte{"a/1.png": huge(1<<14, 1<<14), "b/1.png": good}, nil, "d/a/1.png: the header states more than pawl reads"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refused(t, tt.want, func() (*Set, error) { return Folder("d", tree(tt.files), tt.classes) })
		})
	}
}

func TestOpenFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"no/1.png", "yes/1.png"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), grey(2, 2, 9), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := OpenFolder(dir, nil)
	if err != nil || !cmp.Equal(set.Classes, []string{"no", "yes"}) || set.Len() != 2 {
		t.Errorf("error %v", err)
	}
	if _, err := OpenFolder(filepath.Join(dir, "absent"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent folder: %v", err)
	}
	if err := os.Symlink(filepath.Join(dir, "no"), filepath.Join(dir, "linked")); err != nil {
		t.Skip("no symbolic links here")
	}
	if set, err := OpenFolder(dir, nil); err != nil || set.Len() != 3 {
		t.Errorf("with a link: %v", err)
	}
}
