package images

import (
	"encoding/binary"
	"fmt"
	"math"
)

// OpenNPY reads an npy file of features and one of labels; gzip is told by content.
func OpenNPY(p Pair, classes []string) (*Set, error) {
	return p.open(func(features, labels Source) (*Set, error) { return NPY(features, labels, classes) })
}

// NPY reads arrays that numpy.save wrote, versions 1.0 and 2.0, in C order.
// Features have the shape (n, d), (n, height, width) or (n, height, width,
// channels), of uint8, or of float32 or float64 in little-endian order; a float64
// is rounded to float32. NaN, infinities and numbers beyond float32 are refused.
// Labels have the shape (n,), of int64, int32 or uint8, and count classes from 0.
// With a nil labels.Reader the set has no labels and classes are not used.
//
// Errors are *FormatError, or of the underlying reader.
func NPY(features, labels Source, classes []string) (*Set, error) {
	s, h, err := openNPY(features)
	if err != nil {
		return nil, err
	}
	var shape [3]int64
	switch n := len(h.shape); n {
	case 2:
		shape = [3]int64{1, 1, h.shape[1]}
	case 3:
		shape = [3]int64{h.shape[1], h.shape[2], 1}
	case 4:
		shape = [3]int64(h.shape[1:])
	default:
		return nil, &FormatError{File: s.name, Msg: fmt.Sprintf("an array of %d dimensions; features need 2, 3 or 4, with images along the first", n)}
	}
	width := map[string]int64{"|u1": 1, "<f4": 4, "<f8": 8}[h.kind]
	if width == 0 {
		return nil, &FormatError{File: s.name, Msg: "features need values of uint8, float32 or float64 (little-endian)", hint: `save array.astype("<f4")`}
	}
	// A float64 is stored as float32, so 4 bytes of memory a value.
	n, err := total(s.name, h.shape[0], shape, min(width, 4))
	if err != nil {
		return nil, err
	}
	set := &Set{Shape: [3]int{int(shape[0]), int(shape[1]), int(shape[2])}}
	if labels.Reader != nil {
		if set.Labels, err = npyLabels(labels, h.shape[0], classes); err != nil {
			return nil, err
		}
		set.Classes = classes
	}
	const early = "the file ends before its last value"
	switch width {
	case 1:
		set.Bytes, err = s.bytes(n, early)
	case 4:
		set.Floats, err = values(s, n, 4, early, func(record int, raw []byte) (float32, error) {
			return s.finite(record/set.Size()+1, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		})
	case 8:
		set.Floats, err = values(s, n, 8, early, func(record int, raw []byte) (float32, error) {
			// Beyond float32 the conversion gives an infinity.
			return s.finite(record/set.Size()+1, float32(math.Float64frombits(binary.LittleEndian.Uint64(raw))))
		})
	}
	if err != nil {
		return nil, err
	}
	if err := s.end(); err != nil {
		return nil, err
	}
	return set, nil
}

func openNPY(src Source) (*stream, npyHeader, error) {
	s, err := newStream(src)
	if err != nil {
		return nil, npyHeader{}, err
	}
	h, err := readNPYHeader(s)
	if err != nil {
		return nil, h, err
	}
	if h.fortran && len(h.shape) > 1 {
		return nil, h, &FormatError{File: src.Name, Msg: "the array is in Fortran order: its first index runs fastest",
			hint: "save numpy.ascontiguousarray(array)"}
	}
	return s, h, nil
}

func npyLabels(src Source, count int64, classes []string) ([]int32, error) {
	if err := checkClasses(src.Name, classes); err != nil {
		return nil, err
	}
	s, h, err := openNPY(src)
	if err != nil {
		return nil, err
	}
	if len(h.shape) != 1 {
		return nil, &FormatError{File: src.Name, Msg: fmt.Sprintf("an array of %d dimensions; labels need 1", len(h.shape)), hint: "save labels.ravel()"}
	}
	if h.shape[0] != count {
		return nil, &FormatError{File: src.Name, Msg: "not as many labels as images", hint: "take both files from the same split"}
	}
	width := map[string]int{"|u1": 1, "<i4": 4, "<i8": 8}[h.kind]
	out, err := values(s, int(count), width, "the file ends before its last label", func(i int, raw []byte) (int32, error) {
		var v int64
		switch width {
		case 1:
			v = int64(raw[0])
		case 4:
			v = int64(int32(binary.LittleEndian.Uint32(raw)))
		case 8:
			v = int64(binary.LittleEndian.Uint64(raw))
		}
		return label(src.Name, i+1, v, classes)
	})
	if err != nil {
		return nil, err
	}
	return out, s.end()
}

func (s *stream) finite(record int, v float32) (float32, error) {
	if v-v != 0 { // NaN and the infinities
		return 0, &FormatError{File: s.name, Record: record, Msg: "a value is not a finite float32",
			hint: "replace it by a constant that does not depend on the data, or leave the record out"}
	}
	return v, nil
}

// values reads n values of width bytes into a slice that grows with what arrives.
func values[T any](s *stream, n, width int, early string, value func(i int, raw []byte) (T, error)) ([]T, error) {
	if width == 0 {
		return nil, &FormatError{File: s.name, Msg: "labels need values of int64, int32 or uint8 (little-endian)", hint: `save labels.astype("<i8")`}
	}
	var out []T
	raw := make([]byte, min(n, chunk/width)*width)
	for len(out) < n {
		k := min(n-len(out), chunk/width) * width
		if err := s.full(raw[:k], early); err != nil {
			return nil, err
		}
		out = reserve(out, k/width, n)
		for at := 0; at < k; at += width {
			v, err := value(len(out), raw[at:at+width])
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
	}
	return out, nil
}
