package images

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"runtime"
	"strings"
	"testing"
)

func zipped(content []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(content)
	z.Close()
	return b.Bytes()
}

// idx is an IDX file of unsigned bytes whose header has these dimensions.
func idx(content []byte, dims ...uint32) []byte {
	out := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		out = binary.BigEndian.AppendUint32(out, d)
	}
	return append(out, content...)
}

// npy is an npy file of version 1 with this header.
func npy(header string, content []byte) []byte {
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	return append(append(out, header...), content...)
}

func array(kind, shape string, content []byte) []byte {
	return npy(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", kind, shape), content)
}

func float32s(values ...float64) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
	}
	return out
}

func float64s(values ...float64) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

func int64s(values ...int64) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, uint64(v))
	}
	return out
}

// record is one record of the CIFAR-10 layout, with the planes all of one level.
func record(label, red, green, blue byte) []byte {
	out := []byte{label}
	for _, level := range []byte{red, green, blue} {
		out = append(out, bytes.Repeat([]byte{level}, cifarPlane)...)
	}
	return out
}

func encoded(m image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func grey(w, h int, level uint8) []byte {
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = level + uint8(i)
	}
	return encoded(m)
}

func rgb(w, h int, c color.RGBA) []byte {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, c)
		}
	}
	return encoded(m)
}

func source(name string, content []byte) Source { return Source{name, bytes.NewReader(content)} }

// refused checks that a reader refuses hostile content with a located error of one
// line, without a value, and without memory for what the header claims.
func refused(t *testing.T, want string, read func() (*Set, error)) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	set, err := read()
	runtime.ReadMemStats(&after)
	var f *FormatError
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a *FormatError", err)
	}
	if set != nil {
		t.Error("a set comes with the error")
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
	if strings.Contains(err.Error()+f.Hint(), "\n") || strings.Contains(err.Error()+f.Hint(), secret) {
		t.Errorf("error %q (%s) has a line end or a value", err, f.Hint())
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes were allocated for a small file", used)
	}
}

// secret is a value of hostile files that no message may repeat.
const secret = "207"
