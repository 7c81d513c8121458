// Package images reads labelled images and arrays strictly: IDX, the binary
// layout of CIFAR-10, folders of PNG files, and npy. A file that does not say one
// thing only is refused with the record at fault, and no message repeats a value.
//
// Memory is bounded by what a file holds, not by what its header claims: sizes are
// checked before anything is allocated and buffers grow with the bytes that arrive.
package images

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"pawl/data/schema"
)

// MaxBytes bounds the values of one set as they are stored: 4 GiB.
const MaxBytes int64 = 4 << 30

const (
	maxInt   = int(^uint(0) >> 1)
	maxSide  = 1 << 14 // height and width in pixels
	maxSize  = 1 << 26 // values of one image
	maxCount = 1<<31 - 1
)

// Set is a list of images of one shape with their labels. Image i takes Size()
// values from i·Size() on, row by row, the channels of a pixel together (NHWC).
// Either Bytes or Floats holds them, the other is nil.
type Set struct {
	// Shape is height, width, channels. Rows of an npy table with d numbers
	// have the shape 1, 1, d.
	Shape  [3]int
	Bytes  []uint8
	Floats []float32
	// Labels are indices into Classes; nil where the source has none.
	Labels []int32
	// Classes are declared, or the names of a folder's sub-folders: public facts,
	// never collected from labels.
	Classes []string
}

// Size is the number of values of one image: height × width × channels.
func (s *Set) Size() int { return s.Shape[0] * s.Shape[1] * s.Shape[2] }

// Len is the number of images.
func (s *Set) Len() int {
	if s.Size() == 0 {
		return 0
	}
	return (len(s.Bytes) + len(s.Floats)) / s.Size()
}

// At writes image i to dst: bytes as value/255, floats as they are. It panics
// unless len(dst) is Size() and i is in [0, Len()).
func (s *Set) At(i int, dst []float32) {
	size := s.Size()
	if len(dst) != size || i < 0 || i >= s.Len() {
		panic(fmt.Sprintf("images: image %d of %d into %d values, want %d values", i, s.Len(), len(dst), size))
	}
	if s.Floats != nil {
		copy(dst, s.Floats[i*size:])
		return
	}
	for k, b := range s.Bytes[i*size : (i+1)*size] {
		// Division, not a multiplication by 1/255: 255 has to become exactly 1.
		dst[k] = float32(b) / 255
	}
}

// Format writes the public facts alone, whatever the verb: %v would print pixels
// and labels.
func (s Set) Format(f fmt.State, _ rune) {
	text, _ := s.MarshalText()
	_, _ = f.Write(text)
}

// MarshalText keeps pixels and labels out of JSON and of logs.
func (s Set) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "images of %dx%dx%d in %d classes", s.Shape[0], s.Shape[1], s.Shape[2], len(s.Classes)), nil
}

// checkClasses refuses a list of classes that cannot be right. File is where the
// labels are from.
func checkClasses(file string, classes []string) error {
	if len(classes) < 2 {
		return &FormatError{File: file, Msg: "labels need a list of at least two classes",
			hint: "declare the classes: they are a public fact and never read from the labels"}
	}
	sorted := slices.Sorted(slices.Values(classes))
	if sorted[0] == "" || len(slices.Compact(sorted)) < len(classes) {
		return &FormatError{File: file, Msg: "the list of classes has an empty name or a name twice"}
	}
	return nil
}

// label returns a label as an index, or an error that locates it.
func label(file string, record int, value int64, classes []string) (int32, error) {
	if value < 0 || value >= int64(len(classes)) {
		return 0, &FormatError{File: file, Record: record, Msg: fmt.Sprintf("the label is none of the %d declared classes", len(classes)),
			hint: "labels count from 0 in the order of the declared classes"}
	}
	return int32(value), nil
}

// total returns how many values count images of a shape have, or why it refuses
// them: nothing is allocated for a header that cannot be true.
func total(file string, count int64, shape [3]int64, bytesPerValue int64) (int, error) {
	for _, d := range append(shape[:], count) {
		if d <= 0 {
			return 0, &FormatError{File: file, Msg: "a dimension is zero: the file holds no image"}
		}
	}
	tooLarge := &FormatError{File: file, Msg: "the header states more than pawl reads: 4 GiB in total, 16,384 pixels per side, 64 Mi values per image",
		hint: "check the header for damage, or split the file"}
	size := int64(1)
	for i, d := range shape {
		if i < 2 && d > maxSide || d > maxSize/size {
			return 0, tooLarge
		}
		size *= d
	}
	if count > maxCount || count > MaxBytes/(size*bytesPerValue) || count*size > int64(maxInt) {
		return 0, tooLarge
	}
	return int(count * size), nil
}

// Reader gives the set as bytes, for a digest: equal sets, and hardly any others,
// give equal bytes.
func (s *Set) Reader() io.Reader {
	head := fmt.Appendf(nil, "%v %q ", s.Shape, s.Classes)
	readers := []io.Reader{bytes.NewReader(head), bytes.NewReader(s.Bytes)}
	tail := make([]byte, 0, 4*(len(s.Floats)+len(s.Labels)))
	for _, v := range s.Floats {
		tail = binary.LittleEndian.AppendUint32(tail, math.Float32bits(v))
	}
	for _, l := range s.Labels {
		tail = binary.LittleEndian.AppendUint32(tail, uint32(l))
	}
	return io.MultiReader(append(readers, bytes.NewReader(tail))...)
}

// Some are the set's images of the given numbers, in that order.
func (s *Set) Some(of []int) *Set {
	out := &Set{Shape: s.Shape, Classes: s.Classes}
	n := s.Size()
	for _, i := range of {
		if s.Bytes != nil {
			out.Bytes = append(out.Bytes, s.Bytes[i*n:(i+1)*n]...)
		} else {
			out.Floats = append(out.Floats, s.Floats[i*n:(i+1)*n]...)
		}
		out.Labels = append(out.Labels, s.Labels[i])
	}
	return out
}

// Found is image i as it was found, whatever a front end makes of it: its shape, the
// name of its class and its values. Equal images of one class have equal records.
func (s *Set) Found(i int) schema.Record {
	size, class := s.Size(), ""
	raw := make([]byte, 0, 4*size+64)
	for _, d := range s.Shape {
		raw = binary.AppendUvarint(raw, uint64(d))
	}
	if s.Labels != nil && s.Labels[i] >= 0 {
		// A class without a name goes by its number; no name begins with a NUL.
		if class = fmt.Sprintf("\x00%d", s.Labels[i]); int(s.Labels[i]) < len(s.Classes) {
			class = s.Classes[s.Labels[i]]
		}
	}
	raw = append(binary.AppendUvarint(raw, uint64(len(class))), class...)
	if s.Floats == nil {
		return schema.Record{Raw: append(raw, s.Bytes[i*size:(i+1)*size]...)}
	}
	for _, v := range s.Floats[i*size : (i+1)*size] {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return schema.Record{Raw: raw}
}
