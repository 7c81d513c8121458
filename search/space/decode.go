package space

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/goccy/go-yaml/ast"

	"pawl/internal/usage"
)

// Version is the version of space files that Decode understands.
const Version = 1

// maxBytes bounds a file.
const maxBytes = 1 << 20

// Load reads a space file. Faults are *Error with file, line and column.
func Load(path string) (*Space, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("search space: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("search space: %w", err)
	}
	return Decode(path, data)
}

// Decode reads a space from YAML (docs/SPACES.md); file stands for it in errors.
// Faults are *Error: unknown and duplicate keys, dimensions without values,
// conditions that never or only in a circle hold, constraints that no point
// satisfies.
func Decode(file string, data []byte) (s *Space, err error) {
	fail := func(line, col int, msg, hint string) (*Space, error) {
		return nil, &Error{File: file, Line: line, Col: col, Msg: msg, hint: hint}
	}
	switch {
	case len(data) > maxBytes:
		return fail(1, 1, "a space file larger than 1 MiB", "write ranges instead of long lists")
	}
	root, err := parse(data)
	if err != nil {
		return nil, syntaxError(file, err)
	}
	r := &reader{places: map[string]ast.Node{"": root}}
	d, bad := r.document(root)
	if bad == nil {
		s, bad = compile(d)
	}
	if bad != nil {
		line, col := r.place(bad.path)
		return fail(line, col, bad.msg, bad.hint)
	}
	return s, nil
}

// parse returns the one document of a file.
func parse(data []byte) (ast.Node, error) {
	file, err := usage.ParseYAML(data)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, fmt.Errorf("a space file holds one YAML document")
	}
	return file.Docs[0].Body, nil
}

// syntaxError gives the parser's own place and words.
func syntaxError(file string, err error) error {
	e := &Error{File: file}
	e.Line, e.Col, e.Msg, e.hint = usage.YAML(err)
	e.hint = cmp.Or(e.hint, "the manual, with an example: docs/SPACES.md")
	return e
}

func (r *reader) document(root ast.Node) (d Definition, bad *fault) {
	keys := []string{"version", "name", "title", "source", "note", "net", "dimensions", "constraints"}
	entries, bad := r.mapping(root, "", "a space file", keys)
	if bad != nil {
		return d, bad
	}
	version := false
	for _, e := range entries {
		switch e.key {
		case "version":
			v, bad := r.scalar(e.value, "version", "version")
			if bad != nil || v.kind != Number || v.number != Version {
				return d, faultf("version", "start the file with: version: 1", "version must be %d", Version)
			}
			version = true
		case "name":
			d.Name, bad = r.text(e.value, "name")
		case "title":
			d.Title, bad = r.text(e.value, "title")
		case "source":
			d.Source, bad = r.text(e.value, "source")
		case "note":
			d.Note, bad = r.text(e.value, "note")
		case "net":
			d.Net, bad = r.text(e.value, "net")
		case "dimensions":
			d.Dimensions, bad = r.dimensions(e.value)
		case "constraints":
			d.Constraints, bad = r.constraints(e.value)
		}
		if bad != nil {
			return d, bad
		}
	}
	if !version {
		return d, faultf("", "start the file with: version: 1", "version must be %d", Version)
	}
	return d, nil
}
