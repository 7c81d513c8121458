package images

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
)

// maxHeader bounds the header of an npy file; that of a plain array has about 128
// bytes, and NumPy itself refuses longer ones.
const maxHeader = 10000

// npyHeader is what stands before the values of an npy file.
type npyHeader struct {
	kind    string // of the values as NumPy writes it: |u1, <f4, <f8, <i8 …
	fortran bool
	shape   []int64
}

// readNPYHeader reads versions 1 and 2: magic, version, length of the header as
// uint16 or uint32 (little-endian), then a Python dictionary in Latin-1.
func readNPYHeader(s *stream) (npyHeader, error) {
	var h npyHeader
	refuse := func(msg, hint string) (npyHeader, error) {
		return h, &FormatError{File: s.name, Msg: msg, hint: hint}
	}
	const early = "the file ends inside its header"
	var start [8]byte
	if err := s.full(start[:], early); err != nil {
		return h, err
	}
	if string(start[:6]) != "\x93NUMPY" {
		return refuse("not an npy file: its first bytes are none of that format", "an npz file is a ZIP archive of npy files: unpack it first")
	}
	width := 2
	switch version := [2]byte(start[6:]); version {
	case [2]byte{1, 0}:
	case [2]byte{2, 0}:
		width = 4
	default:
		return refuse("an npy file of another version than 1.0 and 2.0", "save it again with numpy.save, without field names")
	}
	var length [4]byte
	if err := s.full(length[:width], early); err != nil {
		return h, err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > maxHeader {
		return refuse("the header is longer than 10,000 bytes", "save a plain array, without field names")
	}
	text := make([]byte, n)
	if err := s.full(text, early); err != nil {
		return h, err
	}
	h, err := parseNPYHeader(string(text))
	if err != nil {
		return refuse("the header is damaged: "+err.Error(), "save the array again with numpy.save")
	}
	return h, nil
}

// pythonText takes tokens from the front of a Python literal.
type pythonText string

func (p *pythonText) skip() { *p = pythonText(strings.TrimLeft(string(*p), " \t\r\n")) }

// take removes a token when it comes next.
func (p *pythonText) take(token string) bool {
	p.skip()
	rest, ok := strings.CutPrefix(string(*p), token)
	if ok {
		*p = pythonText(rest)
	}
	return ok
}

func (p *pythonText) quoted() (string, bool) {
	for _, quote := range []string{"'", `"`} {
		if p.take(quote) {
			text, rest, ok := strings.Cut(string(*p), quote)
			*p = pythonText(rest)
			return text, ok && !strings.ContainsAny(text, "\\\n")
		}
	}
	return "", false
}

func (p *pythonText) number() (int64, bool) {
	p.skip()
	rest := strings.TrimLeft(string(*p), "0123456789")
	digits := string(*p)[:len(*p)-len(rest)]
	n, err := strconv.ParseInt(digits, 10, 64)
	// Python 2 wrote 60000L.
	*p = pythonText(strings.TrimPrefix(rest, "L"))
	return n, err == nil
}

func (p *pythonText) tuple() ([]int64, bool) {
	if !p.take("(") {
		return nil, false
	}
	out := []int64{}
	for !p.take(")") {
		n, ok := p.number()
		if !ok {
			return nil, false
		}
		out = append(out, n)
		if !p.take(",") && !strings.HasPrefix(string(*p), ")") {
			return nil, false
		}
	}
	return out, true
}

func parseNPYHeader(text string) (h npyHeader, err error) {
	p := pythonText(text)
	if !p.take("{") {
		return h, errors.New("no dictionary")
	}
	seen := map[string]bool{}
	for !p.take("}") {
		key, ok := p.quoted()
		if !ok || seen[key] || !p.take(":") {
			return h, errors.New("a name is missing or occurs twice")
		}
		seen[key] = true
		switch key {
		case "descr":
			if p.skip(); strings.HasPrefix(string(p), "[") {
				return h, errors.New("records with fields, not a plain array")
			}
			h.kind, ok = p.quoted()
		case "fortran_order":
			if h.fortran = p.take("True"); !h.fortran {
				ok = p.take("False")
			}
		case "shape":
			h.shape, ok = p.tuple()
		default:
			ok = false
		}
		if !ok {
			return h, errors.New("descr, fortran_order and shape are needed, each with its kind of value")
		}
		if !p.take(",") {
			if p.skip(); !strings.HasPrefix(string(p), "}") {
				return h, errors.New("a comma is missing")
			}
		}
	}
	if p.skip(); p != "" || len(seen) != 3 {
		return h, errors.New("descr, fortran_order and shape are needed and nothing else")
	}
	return h, nil
}
