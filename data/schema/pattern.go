package schema

import (
	"fmt"
	"strings"
)

// Patterns reports whether columns are declared by patterns. Expand then has to be called with
// the names of the file before the schema is used.
func (s *Schema) Patterns() bool {
	for i := range s.Columns {
		if s.Columns[i].Match {
			return true
		}
	}
	return false
}

// Expand declares every column of the file that a pattern matches and that has no entry of its
// own, in the order of the file; the first pattern that matches counts. A pattern that matches
// nothing is an error. It looks at names alone.
func (s *Schema) Expand(header []string) error {
	taken := map[string]bool{}
	for i := range s.Columns {
		if !s.Columns[i].Match {
			taken[s.Columns[i].Source()] = true
		}
	}
	var out []Column
	for i := 0; i < len(s.Columns); {
		n := sameDate(s.Columns[i:])
		entry := s.Columns[i : i+n]
		i += n
		if !entry[0].Match {
			out = append(out, entry...)
			continue
		}
		pattern, found := entry[0].Source(), false
		for _, h := range header {
			if !matches(pattern, h) {
				continue
			}
			found = true
			if taken[h] {
				continue
			}
			taken[h] = true
			for _, c := range entry {
				c.Match = false
				if c.Name = h + strings.TrimPrefix(c.Name, pattern); c.Date != nil {
					of := *c.Date
					of.Column, c.Date = h, &of
				}
				out = append(out, c)
			}
		}
		if !found {
			return &Error{Msg: fmt.Sprintf("no column of the file matches %q", pattern), hint: "* stands for any letters and ? for one; JSON lines have no header, and their columns are named one by one"}
		}
	}
	s.Columns = out
	return s.Validate()
}

// matches compares a name with a pattern of * and ?.
func matches(pattern, name string) bool {
	p, n := []rune(pattern), []rune(name)
	star, from := -1, 0
	i, j := 0, 0
	for j < len(n) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[j]):
			i, j = i+1, j+1
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
