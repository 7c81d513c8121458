package reader

import (
	"bufio"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// charmaps are the encodings of one byte a letter (schema.Encodings).
var charmaps = map[string]*charmap.Charmap{
	"latin-1": charmap.ISO8859_1, "latin-2": charmap.ISO8859_2, "latin-9": charmap.ISO8859_15,
	"windows-1250": charmap.Windows1250, "windows-1251": charmap.Windows1251, "windows-1252": charmap.Windows1252,
	"windows-1253": charmap.Windows1253, "windows-1254": charmap.Windows1254, "windows-1257": charmap.Windows1257,
}

// invalid stands in decoded text for what the encoding has not. It is no UTF-8: the cell
// that holds it is malformed, at its line, as it is in a file of UTF-8.
const invalid = 0xff

// letters turns one byte at a time into UTF-8.
type letters struct {
	in    *bufio.Reader
	of    [256]string
	left  string
	plain [256]bool // ASCII, which stays as it is
}

// newLetters refuses the control characters of 0x80 to 0x9f, which no table holds: they are
// letters of another encoding, or of none.
func newLetters(in *bufio.Reader, m *charmap.Charmap) *letters {
	l := &letters{in: in}
	for i := range l.of {
		r := m.DecodeByte(byte(i))
		switch {
		case r == utf8.RuneError || r >= 0x80 && r < 0xa0:
			l.of[i] = string([]byte{invalid})
		default:
			l.of[i], l.plain[i] = string(r), r == rune(i) && i < utf8.RuneSelf
		}
	}
	return l
}

// Read fills p as far as one peek into the file does.
func (l *letters) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if l.left != "" {
			k := copy(p[n:], l.left)
			n, l.left = n+k, l.left[k:]
			continue
		}
		if n > 0 && l.in.Buffered() == 0 {
			return n, nil
		}
		b, err := l.in.ReadByte()
		if err != nil {
			if n > 0 {
				return n, nil
			}
			return 0, err
		}
		if l.plain[b] {
			p[n] = b
			n++
			continue
		}
		l.left = l.of[b]
	}
	return n, nil
}

// pairs turns UTF-16 into UTF-8.
type pairs struct {
	in    *bufio.Reader
	order binary.ByteOrder
	left  []byte
	space [utf8.UTFMax]byte
	ahead []uint16 // a unit that was read too early
}

func (u *pairs) unit() (uint16, error) {
	if len(u.ahead) > 0 {
		c := u.ahead[0]
		u.ahead = u.ahead[:0]
		return c, nil
	}
	var b [2]byte
	if _, err := io.ReadFull(u.in, b[:]); err == io.ErrUnexpectedEOF {
		return 0xdc00, nil // half of a unit at the end: no letter
	} else if err != nil {
		return 0, err
	}
	return u.order.Uint16(b[:]), nil
}

// Read fills p as far as one peek into the file does.
func (u *pairs) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(u.left) > 0 {
			k := copy(p[n:], u.left)
			n, u.left = n+k, u.left[k:]
			continue
		}
		if n > 0 && u.in.Buffered() < 4 && len(u.ahead) == 0 {
			return n, nil
		}
		c, err := u.unit()
		if err != nil {
			if n > 0 {
				return n, nil
			}
			return 0, err
		}
		r := rune(c)
		if utf16.IsSurrogate(r) {
			r = utf8.RuneError
			if c < 0xdc00 { // the first half of a pair
				low, err := u.unit()
				if err == nil {
					if r = utf16.DecodeRune(rune(c), rune(low)); r == utf8.RuneError {
						u.ahead = append(u.ahead, low)
					}
				} else if err != io.EOF {
					return n, err
				}
			}
			if r == utf8.RuneError {
				u.left = append(u.space[:0], invalid)
				continue
			}
		}
		u.left = utf8.AppendRune(u.space[:0], r)
	}
	return n, nil
}
