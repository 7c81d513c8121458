package images

import (
	"encoding/binary"
	"fmt"
)

// OpenIDX reads a pair of IDX files, as MNIST has them; gzip is told by content.
func OpenIDX(p Pair, classes []string) (*Set, error) {
	return p.open(func(images, labels Source) (*Set, error) { return IDX(images, labels, classes) })
}

// IDX reads images of unsigned bytes (three dimensions: count, height, width) and
// their labels (one dimension). With a nil labels.Reader the set has no labels and
// classes are not used. The layout is big-endian:
//
//	0 0 type dimensions | one uint32 a dimension | values, the last dimension fastest
//
// Errors are *FormatError, or of the underlying reader.
func IDX(images, labels Source, classes []string) (*Set, error) {
	s, dims, err := idxHeader(images, 3, "images need 3: count, height, width")
	if err != nil {
		return nil, err
	}
	n, err := total(images.Name, dims[0], [3]int64{dims[1], dims[2], 1}, 1)
	if err != nil {
		return nil, err
	}
	set := &Set{Shape: [3]int{int(dims[1]), int(dims[2]), 1}}
	if labels.Reader != nil {
		// Before the pixels, which are much larger.
		if set.Labels, err = idxLabels(labels, dims[0], classes); err != nil {
			return nil, err
		}
		set.Classes = classes
	}
	if set.Bytes, err = s.bytes(n, "the file ends before its last image"); err != nil {
		return nil, err
	}
	if err := s.end(); err != nil {
		return nil, err
	}
	return set, nil
}

func idxLabels(src Source, count int64, classes []string) ([]int32, error) {
	if err := checkClasses(src.Name, classes); err != nil {
		return nil, err
	}
	s, dims, err := idxHeader(src, 1, "labels need 1: count")
	if err != nil {
		return nil, err
	}
	if dims[0] != count {
		return nil, &FormatError{File: src.Name, Msg: "not as many labels as images", hint: "take both files from the same split"}
	}
	raw, err := s.bytes(int(count), "the file ends before its last label")
	if err != nil {
		return nil, err
	}
	out := make([]int32, len(raw))
	for i, b := range raw {
		if out[i], err = label(src.Name, i+1, int64(b), classes); err != nil {
			return nil, err
		}
	}
	return out, s.end()
}

func idxHeader(src Source, dimensions int, want string) (*stream, []int64, error) {
	s, err := newStream(src)
	if err != nil {
		return nil, nil, err
	}
	var magic [4]byte
	const early = "the file ends inside its header"
	if err := s.full(magic[:], early); err != nil {
		return nil, nil, err
	}
	switch {
	case magic[0] != 0 || magic[1] != 0 || magic[2] == 0:
		return nil, nil, &FormatError{File: src.Name, Msg: "not an IDX file: its first bytes are none of that format"}
	case magic[2] != 8:
		return nil, nil, &FormatError{File: src.Name, Msg: "an IDX file of other values than unsigned bytes", hint: "write it with type 0x08"}
	case int(magic[3]) != dimensions:
		return nil, nil, &FormatError{File: src.Name, Msg: fmt.Sprintf("an IDX file of %d dimensions; %s", magic[3], want),
			hint: "the file of the images comes first, then that of the labels"}
	}
	dims := make([]int64, dimensions)
	for i := range dims {
		var d [4]byte
		if err := s.full(d[:], early); err != nil {
			return nil, nil, err
		}
		dims[i] = int64(binary.BigEndian.Uint32(d[:]))
	}
	return s, dims, nil
}
