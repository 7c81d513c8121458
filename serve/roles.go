package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"pawl/internal/usage"
)

// Role is what somebody may do.
type Role string

// The roles. All of them read every page; an analyst also starts jobs where they are allowed, an
// officer verifies logs, and a steward does both and changes budgets.
const (
	Analyst Role = "analyst"
	Officer Role = "officer"
	Steward Role = "steward"
)

// ParseRole reads one of the three words.
func ParseRole(text string) (Role, error) {
	switch r := Role(text); r {
	case Analyst, Officer, Steward:
		return r, nil
	}
	return "", fmt.Errorf("%.40q is not a role: want analyst, officer or steward", text)
}

func (r Role) verifies() bool { return r == Officer || r == Steward }
func (r Role) acts() bool     { return r == Steward }
func (r Role) runs() bool     { return r == Analyst || r == Steward }

// Person is whoever asks.
type Person struct {
	Name string
	Role Role
}

// mostPersons bounds a file of roles.
const mostPersons = 10_000

// ReadRoles reads who has which role: one person a line, a name and a role, with # before a remark.
// name is what errors call the file; each has its line, and none is taken for a role by halves.
func ReadRoles(in io.Reader, name string) ([]Person, error) {
	var all []Person
	seen := map[string]int{}
	lines := bufio.NewScanner(in)
	n := 0
	fault := func(format string, args ...any) error {
		return usage.Newf("one person per line: ann analyst", "%s:%d: %s", name, n, fmt.Sprintf(format, args...))
	}
	for lines.Scan() {
		n++
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return nil, fault("want a name and a role, found %d words", len(fields))
		}
		if !plainName(fields[0]) {
			return nil, fault("a name is 1 to 100 printable characters")
		}
		role, err := ParseRole(fields[1])
		if err != nil {
			return nil, fault("%v", err)
		}
		if first := seen[fields[0]]; first > 0 {
			return nil, fault("%s already has a role, in line %d", fields[0], first)
		}
		if seen[fields[0]] = n; len(all) == mostPersons {
			return nil, fault("more than %d people", mostPersons)
		}
		all = append(all, Person{fields[0], role})
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		n++
		return nil, fault("%v", err)
	} else if err != nil {
		return nil, err // of the file, not of a line
	}
	if len(all) == 0 {
		return nil, usage.New(name+" names nobody", "one person per line: ann analyst")
	}
	return all, nil
}

// plainName says whether a user may be called so.
func plainName(name string) bool {
	if name == "" || len(name) > 100 {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar })
}
