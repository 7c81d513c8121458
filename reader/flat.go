package reader

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// flat is one object of texts, numbers, truth values and nulls whose texts have no escapes, as most lines are.
type flat struct {
	keys  []string
	cells []cell
	known []string // the names of an earlier line
}

// mostFlat is how many names an object may have that is compared name by name.
const mostFlat = 64

// read reports whether a line is such an object, with no name twice, and keeps what it holds: what object would tell of
// it. What other lines are is for object to say.
func (f *flat) read(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	f.keys, f.cells = f.keys[:0], f.cells[:0]
	at := blank(s, 0)
	if at == len(s) || s[at] != '{' {
		return false
	}
	like := true // so far the names are those of the earlier line, none of which it has twice
	for at = blank(s, at+1); len(f.keys) < mostFlat; at = blank(s, at+1) {
		key, end, ok := quoted(s, at)
		if at = blank(s, end); !ok || at == len(s) || s[at] != ':' {
			return false
		}
		n := len(f.keys)
		if like = like && n < len(f.known) && f.known[n] == key; !like && slices.Contains(f.keys, key) {
			return false
		}
		c, end, ok := flatCell(s, blank(s, at+1))
		if at = blank(s, end); !ok || at == len(s) {
			return false
		}
		f.keys, f.cells = append(f.keys, key), append(f.cells, c)
		switch s[at] {
		case ',':
		case '}':
			if !like {
				f.known = append(f.known[:0], f.keys...)
			}
			return blank(s, at+1) == len(s)
		default:
			return false
		}
	}
	return false
}

// flatCell reads the value that begins at a place; end is behind it.
func flatCell(s string, at int) (c cell, end int, ok bool) {
	if c.text, end, ok = quoted(s, at); ok {
		if len(c.text) > maxCell {
			c.bad = faultOf(c.text)
		}
		return c, end, true
	}
	switch rest := s[at:]; {
	case strings.HasPrefix(rest, "null"):
		return cell{null: true}, at + 4, true
	case strings.HasPrefix(rest, "true"):
		return cell{text: rest[:4], typed: true}, at + 4, true
	case strings.HasPrefix(rest, "false"):
		return cell{text: rest[:5], typed: true}, at + 5, true
	}
	end = numberEnd(s, at)
	return cell{text: s[at:end], typed: true}, end, end > at
}

// blank is the first place from at on that is no white space of JSON.
func blank(s string, at int) int {
	for at < len(s) && (s[at] == ' ' || s[at] == '\t' || s[at] == '\n' || s[at] == '\r') {
		at++
	}
	return at
}

// quoted reads a text without escapes; end is behind its quote.
func quoted(s string, at int) (text string, end int, ok bool) {
	if at == len(s) || s[at] != '"' {
		return "", at, false
	}
	for end = at + 1; end < len(s) && s[end] >= ' ' && s[end] != '\\'; end++ {
		if s[end] == '"' {
			return s[at+1 : end], end + 1, true
		}
	}
	return "", at, false
}

// numberEnd is the end of the number of JSON that begins at a place, which itself is returned where none does.
func numberEnd(s string, at int) int {
	i := at
	digits := func() bool {
		begin := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > begin
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if first := i; !digits() || s[first] == '0' && i > first+1 {
		return at
	}
	if i < len(s) && s[i] == '.' {
		if i++; !digits() {
			return at
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return at
		}
	}
	return i
}
