package images

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Source is a file that is being read, and its name in messages.
type Source struct {
	Name   string
	Reader io.Reader
}

// chunk is how much is read at once; a multiple of every width of a value.
const chunk = 1 << 18

// stream reads a source whose content may be gzip.
type stream struct {
	name   string
	r      io.Reader
	zipped bool
}

func newStream(src Source) (*stream, error) {
	b := bufio.NewReaderSize(src.Reader, 1<<16)
	head, err := b.Peek(2)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", src.Name, err)
	}
	if len(head) == 0 {
		return nil, &FormatError{File: src.Name, Msg: "the file is empty"}
	}
	s := &stream{name: src.Name, r: b}
	// The content decides, not the ending of the name.
	if bytes.Equal(head, []byte{0x1f, 0x8b}) {
		s.zipped = true
		if s.r, err = gzip.NewReader(b); err != nil {
			return nil, s.fault(err, "")
		}
	}
	return s, nil
}

// fault tells a file that ends early from a damaged one and from a disk that fails.
func (s *stream) fault(err error, early string) error {
	var disk *fs.PathError
	switch {
	case errors.As(err, &disk):
		return fmt.Errorf("%s: %w", s.name, err)
	// A gzip stream that is cut says ErrUnexpectedEOF, one that is whole says EOF.
	case err == io.EOF:
		return &FormatError{File: s.name, Msg: early, hint: "the file may have been cut in a copy: compare its size or checksum with the original"}
	case s.zipped:
		return &FormatError{File: s.name, Msg: "a damaged gzip file", hint: "compare its size or checksum with the original"}
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

// full reads len(p) bytes; early says what is missing when the file ends before.
func (s *stream) full(p []byte, early string) error {
	for n := 0; n < len(p); {
		k, err := s.r.Read(p[n:])
		if n += k; err != nil && n < len(p) {
			return s.fault(err, early)
		}
	}
	return nil
}

// end refuses bytes after the last record.
func (s *stream) end() error {
	var one [1]byte
	for {
		n, err := s.r.Read(one[:])
		switch {
		case n > 0:
			return &FormatError{File: s.name, Msg: "the file continues after its last record"}
		case err == io.EOF:
			return nil
		case err != nil:
			return s.fault(err, "")
		}
	}
}

// bytes reads n bytes into a buffer that grows with what arrives.
func (s *stream) bytes(n int, early string) ([]uint8, error) {
	var out []uint8
	for len(out) < n {
		k := min(n-len(out), chunk)
		out = reserve(out, k, n)
		if err := s.full(out[len(out):len(out)+k], early); err != nil {
			return nil, err
		}
		out = out[:len(out)+k]
	}
	return out, nil
}

// reserve makes room for more values, doubling up to limit values in all.
func reserve[T any](s []T, more, limit int) []T {
	if cap(s)-len(s) >= more {
		return s
	}
	grown := make([]T, len(s), min(limit, max(2*cap(s), len(s)+more)))
	copy(grown, s)
	return grown
}

// Pair names the two files of a set.
type Pair struct {
	Images string
	Labels string // empty for images without labels
}

// open opens both files for read, a function that has sources.
func (p Pair) open(read func(images, labels Source) (*Set, error)) (*Set, error) {
	pixels, err := os.Open(p.Images)
	if err != nil {
		return nil, err
	}
	defer pixels.Close()
	if p.Labels == "" {
		return read(Source{p.Images, pixels}, Source{})
	}
	labels, err := os.Open(p.Labels)
	if err != nil {
		return nil, err
	}
	defer labels.Close()
	return read(Source{p.Images, pixels}, Source{p.Labels, labels})
}
