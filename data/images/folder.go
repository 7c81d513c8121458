package images

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// maxPNG bounds one PNG file.
const maxPNG = 64 << 20

// OpenFolder reads a folder of PNG files.
func OpenFolder(dir string, classes []string) (*Set, error) {
	return Folder(dir, os.DirFS(dir), classes)
}

// Folder reads the PNG files of a folder with one sub-folder a class. Images come
// in the order of the classes, then of the names. Where classes is nil they are the
// names of the sub-folders, sorted: that makes those names public facts. Declared
// classes may lack a sub-folder, and no other sub-folder may be there. Names that
// begin with a dot are passed over; other files are refused.
//
// All images have the first one's size and channels: 1 for grey, 3 for RGB, 8 bits
// each. Errors are *FormatError, or of the file system.
func Folder(name string, dir fs.FS, classes []string) (*Set, error) {
	found, err := list(name, dir, ".", true)
	if err != nil {
		return nil, err
	}
	if classes == nil {
		if classes = found; len(found) < 2 {
			return nil, &FormatError{File: name, Msg: "the folder has fewer than two sub-folders, one for the images of each class",
				hint: "declare with --classes those of which there is no image"}
		}
	}
	if err := checkClasses(name, classes); err != nil {
		return nil, err
	}
	set := &Set{Classes: slices.Clone(classes)}
	for _, folder := range found {
		if !slices.Contains(classes, folder) {
			return nil, &FormatError{File: path.Join(name, folder), Msg: "the sub-folder is none of the declared classes"}
		}
	}
	for l, class := range classes {
		if !slices.Contains(found, class) {
			continue
		}
		files, err := list(name, dir, class, false)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if err := set.addPNG(name, dir, path.Join(class, file)); err != nil {
				return nil, err
			}
			set.Labels = append(set.Labels, int32(l))
		}
	}
	if len(set.Labels) == 0 {
		return nil, &FormatError{File: name, Msg: "the folder has no PNG file in its sub-folders"}
	}
	return set, nil
}

// list returns the sorted names of sub-folders, or of PNG files, and refuses what
// is neither hidden nor of that kind.
func list(name string, dir fs.FS, at string, folders bool) ([]string, error) {
	entries, err := fs.ReadDir(dir, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out := []string{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		where := path.Join(at, e.Name())
		info, err := fs.Stat(dir, where) // follows a link, as opening will
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		isPNG := info.Mode().IsRegular() && strings.EqualFold(path.Ext(e.Name()), ".png")
		if folders && !info.IsDir() || !folders && !isPNG {
			msg := "not a PNG file"
			if folders {
				msg = "not a sub-folder: every image must be in the folder of its class"
			}
			return nil, &FormatError{File: path.Join(name, where), Msg: msg, hint: "move it out of the folder"}
		}
		out = append(out, e.Name())
	}
	slices.Sort(out)
	return out, nil
}

func (set *Set) addPNG(name string, dir fs.FS, file string) error {
	refuse := func(msg, hint string) error { return &FormatError{File: path.Join(name, file), Msg: msg, hint: hint} }
	f, err := dir.Open(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxPNG+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(content) > maxPNG {
		return refuse("a file of more than 64 MiB", "")
	}
	// The header alone first: a small file can claim a huge image.
	config, err := png.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return refuse("a damaged PNG file, or another format under that name", "")
	}
	if _, err := total(path.Join(name, file), 1, [3]int64{int64(config.Height), int64(config.Width), 3}, 1); err != nil {
		return err
	}
	first := len(set.Labels) == 0
	if !first && (config.Height != set.Shape[0] || config.Width != set.Shape[1]) {
		return refuse("another height or width than the first image of the folder", "bring all images to one size")
	}
	decoded, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		return refuse("a damaged PNG file", "")
	}
	pixels, channels, err := flat(decoded)
	if err != nil {
		return refuse(err.Error(), "save it as 8-bit grey or RGB, without transparency")
	}
	if first {
		set.Shape = [3]int{config.Height, config.Width, channels}
	}
	if channels != set.Shape[2] {
		return refuse("grey where the first image of the folder is in colour, or the other way round", "save all images as grey or all as RGB")
	}
	if int64(len(set.Bytes)+len(pixels)) > MaxBytes {
		return refuse("more images than pawl reads: 4 GiB in total", "")
	}
	set.Bytes = append(set.Bytes, pixels...)
	return nil
}

// flat returns the pixels of a grey or an RGB image, row by row.
func flat(m image.Image) (pixels []uint8, channels int, err error) {
	w, h := m.Bounds().Dx(), m.Bounds().Dy()
	switch m := m.(type) {
	case *image.Gray:
		for y := range h {
			pixels = append(pixels, m.Pix[y*m.Stride:y*m.Stride+w]...)
		}
		return pixels, 1, nil
	case *image.RGBA: // the decoder's answer for RGB without transparency
		pixels = make([]uint8, 0, 3*w*h)
		for y := range h {
			for row := m.Pix[y*m.Stride:][:4*w]; len(row) > 0; row = row[4:] {
				pixels = append(pixels, row[0], row[1], row[2])
			}
		}
		return pixels, 3, nil
	case *image.Gray16, *image.RGBA64, *image.NRGBA64:
		return nil, 0, errors.New("16 bits per channel; 8 are needed")
	case *image.Paletted:
		return nil, 0, errors.New("palette colours; grey or RGB is needed")
	}
	return nil, 0, errors.New("transparency; grey or RGB without transparency is needed")
}
