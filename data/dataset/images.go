package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"pawl/data/images"
)

// ImageSet is a built-in data set of images. None is part of the program.
type ImageSet struct {
	Info
	// Public says that the data set is a public benchmark: exact numbers may be shown.
	Public bool
	Shape  [3]int // height, width, channels
	// Mirrored says that mirror images have the same class and that features of both pay, which is known by kind:
	// photographs, not digits.
	Mirrored bool
	Classes  []string

	aliases []string
	// train and test index Files.
	train, test []int
	// read makes a set of the files of train or test.
	read func(files []images.Source, classes []string) (*images.Set, error)
	// positions indexes the file of a split that says which of the publisher's
	// images the split holds; negative where it holds them all.
	positions int
	module    module
	origin    origin
}

// Images finds a built-in data set of images by its name, or another name in common use.
func Images(name string) (*ImageSet, bool) {
	for _, s := range imageSets() {
		for _, n := range append([]string{s.Name}, s.aliases...) {
			if strings.EqualFold(n, name) {
				return &s, true
			}
		}
	}
	return nil, false
}

// ListImages describes the built-in data sets of images.
func ListImages() []Info {
	all := imageSets()
	out := make([]Info, len(all))
	for i := range all {
		out[i] = all[i].Info
	}
	return out
}

// Train returns the training images. Files are looked for in dataDir, in the folder
// that the environment variable PAWL_DATA names, and in UserDataDir. MNIST, which a
// Go module carries, is then asked of the go command, where there is one: that may
// use the network; a checked copy stays in the user's cache. The content of every
// file is checked against its SHA-256. Errors are *FileError, or of the file system.
func (s *ImageSet) Train(dataDir string) (*images.Set, error) {
	return s.split(s.train, s.Rows, dataDir)
}

// Test is Train for the official test set.
func (s *ImageSet) Test(dataDir string) (*images.Set, error) {
	return s.split(s.test, s.TestRows, dataDir)
}

// TrainPositions says which of the publisher's images, counted from 0, the images of
// Train are; nil when they are all, in the publisher's order.
func (s *ImageSet) TrainPositions(dataDir string) ([]int, error) {
	return s.positionsOf(s.train, s.Rows, dataDir)
}

// TestPositions is TrainPositions for the official test set.
func (s *ImageSet) TestPositions(dataDir string) ([]int, error) {
	return s.positionsOf(s.test, s.TestRows, dataDir)
}

func (s *ImageSet) split(which []int, rows int, dataDir string) (*images.Set, error) {
	var sources []images.Source
	for _, i := range which {
		content, err := s.contentOrModule(s.Files[i], dataDir)
		if err != nil {
			return nil, err
		}
		sources = append(sources, images.Source{Name: s.Files[i].Path, Reader: bytes.NewReader(content)})
	}
	set, err := s.read(sources, s.Classes)
	if err != nil {
		return nil, fmt.Errorf("data set %q: %w", s.Name, err)
	}
	// Checksums have fixed the content, so this is a fault of the program.
	if set.Len() != rows || set.Shape != s.Shape {
		return nil, fmt.Errorf("data set %q: the files do not hold %d images of %v", s.Name, rows, s.Shape)
	}
	return set, nil
}

func (s *ImageSet) positionsOf(which []int, rows int, dataDir string) ([]int, error) {
	if s.positions < 0 {
		return nil, nil
	}
	content, err := s.content(s.Files[which[s.positions]], dataDir)
	if err != nil {
		return nil, err
	}
	out, err := parsePositions(content)
	if err == nil && len(out) != rows {
		err = fmt.Errorf("not one position for each of %d images", rows)
	}
	if err != nil {
		return nil, fmt.Errorf("data set %q: %w", s.Name, err)
	}
	return out, nil
}

func (s *ImageSet) contentOrModule(f File, dataDir string) ([]byte, error) {
	content, err := s.content(f, dataDir)
	var missing *FileError
	if !errors.As(err, &missing) || !missing.absent || s.module == (module{}) {
		return content, err
	}
	cache, dirErr := cacheDir()
	if dirErr != nil {
		return nil, err
	}
	if moduleErr := s.fromModule(context.Background(), cache); moduleErr != nil {
		missing.Msg += "; " + moduleErr.Error()
		return nil, missing
	}
	return s.content(f, dataDir)
}
