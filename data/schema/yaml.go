package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"pawl/internal/usage"
)

// place is a position in the file, counted from 1.
type place struct{ line, col int }

// field is one key of a mapping with its value; where is the key's position.
type field struct {
	key   string
	value ast.Node
	where place
}

// parseYAML reads one document of plain YAML: mappings, lists and scalars.
// Anchors, aliases, tags and merge keys are refused where they are met: nothing
// in a schema needs them and each is a way to say something twice.
func parseYAML(name string, data []byte) (body ast.Node, err error) {
	f, err := usage.ParseYAML(data)
	if err != nil {
		return nil, syntaxError(name, err)
	}
	for _, doc := range f.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			at := position(doc.Body)
			return nil, &Error{File: name, Line: at.line, Col: at.col, Msg: "a second YAML document; a schema file holds one"}
		}
		body = doc.Body
	}
	if body == nil {
		return nil, &Error{File: name, Line: 1, Col: 1, Msg: "the schema is empty", hint: "write a template with: pawl init data.csv"}
	}
	return body, nil
}

func syntaxError(name string, err error) error {
	e := &Error{File: name}
	e.Line, e.Col, e.Msg, e.hint = usage.YAML(err)
	return e
}

func position(n ast.Node) place {
	if n == nil {
		return place{1, 1}
	}
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return position(m.Values[0].Key)
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		return position(m.Key)
	}
	t := n.GetToken()
	if t == nil || t.Position == nil {
		return place{1, 1}
	}
	return place{max(1, t.Position.Line), max(1, t.Position.Column)}
}

// mapping returns the fields of a mapping in order, or an error that names what
// stands there instead. Keys outside known are faults, with the nearest one.
func (d *decoder) mapping(n ast.Node, what string, known []string) ([]field, error) {
	var pairs []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		pairs = m.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{m}
	default:
		return nil, d.fault(position(n), "", fmt.Sprintf("%s must be a mapping of keys to values", what), "")
	}
	seen := map[string]bool{}
	var out []field
	for _, p := range pairs {
		at := position(p.Key)
		key, ok := scalar(p.Key)
		if !ok {
			return nil, d.fault(at, "", "a key must be a plain word", "")
		}
		canonical, ok := findKey(key, known)
		if !ok {
			hint := "known keys: " + strings.Join(known, ", ")
			if near := Nearest(key, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			d.add(d.fault(at, "", fmt.Sprintf("unknown key %q in %s", key, what), hint))
			continue
		}
		if seen[canonical] {
			d.add(d.fault(at, "", fmt.Sprintf("key %q is given twice", canonical), ""))
			continue
		}
		seen[canonical] = true
		out = append(out, field{canonical, p.Value, at})
	}
	return out, nil
}

// aliases are other names of keys, as other tools write them.
var aliases = map[string]string{"log": "heavy_tailed", "max_contributions": "rows_per_unit"}

func findKey(key string, known []string) (string, bool) {
	if a, ok := aliases[key]; ok {
		key = a
	}
	for _, k := range known {
		if k == key {
			return k, true
		}
	}
	return "", false
}

// scalar returns the text of a scalar as it is written (numbers and booleans
// keep their literal spelling). A blank or null value is no scalar.
func scalar(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		if v.Value == nil {
			return "", false
		}
		return v.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func blank(n ast.Node) bool {
	if n == nil {
		return true
	}
	_, ok := n.(*ast.NullNode)
	return ok
}

func (d *decoder) text(f field) (string, error) {
	if blank(f.value) {
		return "", d.fault(f.where, d.column, f.key+" is blank", "fill it in")
	}
	s, ok := scalar(f.value)
	if !ok {
		return "", d.fault(position(f.value), d.column, f.key+" must be one plain value", "")
	}
	return s, nil
}

func (d *decoder) number(f field) (float64, error) {
	s, err := d.text(f)
	if err != nil {
		return 0, err
	}
	v, err := number(s)
	if err != nil {
		return 0, d.fault(position(f.value), d.column, fmt.Sprintf("%s is %v", f.key, err), "")
	}
	return v, nil
}

// number reads a finite decimal number.
func number(s string) (float64, error) {
	switch strings.ToLower(strings.TrimLeft(s, "+-.")) {
	case "nan":
		return 0, fmt.Errorf("NaN, which is not a number")
	case "inf", "infinity":
		return 0, fmt.Errorf("infinite; it must be a finite number")
	}
	if !plainNumber(s) {
		return 0, fmt.Errorf("not a number")
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, fmt.Errorf("not a number that a 64-bit float can hold")
	}
	return v, nil
}

func (d *decoder) boolean(f field) (bool, error) {
	s, err := d.text(f)
	if err != nil {
		return false, err
	}
	switch s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, d.fault(position(f.value), d.column, f.key+" must be true or false", "")
}

func (d *decoder) list(f field) ([]string, error) {
	if blank(f.value) {
		return nil, d.fault(f.where, d.column, f.key+" is blank", "fill it in, as [first, second]")
	}
	seq, ok := f.value.(*ast.SequenceNode)
	if !ok {
		return nil, d.fault(position(f.value), d.column, f.key+" must be a list", "write [first, second]")
	}
	out := make([]string, 0, len(seq.Values))
	for _, v := range seq.Values {
		s, ok := scalar(v)
		if !ok {
			return nil, d.fault(position(v), d.column, f.key+" must list plain values", "an empty text is written \"\"")
		}
		out = append(out, s)
	}
	return out, nil
}
