package space

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
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
		return fail(1, 1, "a space file larger than 1 MiB", "")
	case !utf8.Valid(data):
		return fail(1, 1, "not UTF-8 text", "")
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

// parse returns the one document of a file. The parser is another project's: a panic
// in it becomes an error.
func parse(data []byte) (body ast.Node, err error) {
	defer func() {
		if recover() != nil {
			body, err = nil, fmt.Errorf("not readable as YAML")
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, fmt.Errorf("a space file holds one YAML document")
	}
	return file.Docs[0].Body, nil
}

var positioned = regexp.MustCompile(`^\[(\d+):(\d+)\] (.*)`)

// syntaxError gives the parser's own place and words.
func syntaxError(file string, err error) error {
	e := &Error{File: file, Line: 1, Col: 1, hint: "a whole example: pawl search --show-space fcn"}
	first, _, _ := strings.Cut(err.Error(), "\n")
	if m := positioned.FindStringSubmatch(first); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		e.Col, _ = strconv.Atoi(m[2])
		first = m[3]
	}
	e.Msg = "YAML: " + first
	return e
}

// reader turns nodes into a Definition and remembers where each part stands.
type reader struct{ places map[string]ast.Node }

// place is where a path stands, or the nearest one above it.
func (r *reader) place(path string) (line, col int) {
	for {
		if n, ok := r.places[path]; ok {
			return start(n)
		}
		path = path[:max(0, strings.LastIndexByte(path, '.'))]
	}
}

// start is the first character of a node. A mapping's token is its first colon.
func start(n ast.Node) (line, col int) {
	switch m := n.(type) {
	case *ast.MappingNode:
		if len(m.Values) > 0 && !m.IsFlowStyle {
			n = m.Values[0].Key
		}
	case *ast.MappingValueNode:
		n = m.Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line, t.Position.Column
	}
	return 1, 1
}

// entry is a key with its value.
type entry struct {
	key   string
	name  ast.Node
	value ast.Node
}

// mapping lists the entries of a mapping and remembers the place of each. keys, where
// not nil, are those that have a meaning.
func (r *reader) mapping(n ast.Node, path, what string, keys []string) ([]entry, *fault) {
	var pairs []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		pairs = m.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{m}
	default:
		return nil, faultf(path, "", "%s must be keys with values", what)
	}
	var out []entry
	for _, p := range pairs {
		k, ok := p.Key.(*ast.StringNode)
		at := join(path, p.Key.String())
		if ok {
			at = join(path, k.Value)
		}
		_, twice := r.places[at]
		if !twice || !ok {
			r.places[at] = p.Key
		}
		switch {
		case !ok:
			return nil, faultf(at, "anchors, merges and numbers have no use here", "%s: a key must be a word", what)
		case keys == nil && !isName(k.Value):
			// A dot would also make the paths ambiguous by which places are remembered.
			r.places[at] = p.Key
			return nil, faultf(at, nameHint, "%s: %q cannot name a dimension", what, k.Value)
		case keys != nil && !slices.Contains(keys, k.Value):
			return nil, faultf(at, "the keys are "+strings.Join(keys, ", "), "%s: unknown key %q%s", what, k.Value, near(k.Value, keys))
		case twice:
			r.places[at] = p.Key
			return nil, faultf(at, "leave one out", "%s: %q is given twice", what, k.Value)
		}
		out = append(out, entry{k.Value, p.Key, p.Value})
	}
	return out, nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// scalar is a number, word or flag.
func (r *reader) scalar(n ast.Node, path, what string) (Value, *fault) {
	r.note(path, n)
	switch v := n.(type) {
	case *ast.BoolNode:
		return FlagValue(v.Value), nil
	case *ast.StringNode:
		if v.Token.Type == token.StringType {
			// 1e-3 is a number to a person and a word to YAML.
			if x, err := strconv.ParseFloat(v.Value, 64); err == nil {
				if value, err := ValueOf(x); err == nil {
					return value, nil
				}
			}
		}
		return TextValue(v.Value), nil
	case *ast.IntegerNode, *ast.FloatNode:
		x, err := strconv.ParseFloat(strings.ReplaceAll(n.String(), "_", ""), 64)
		if err == nil {
			if value, err := ValueOf(x); err == nil {
				return value, nil
			}
		}
	}
	return Value{}, faultf(path, "", "%s must be a number, a word, true or false", what)
}

// note remembers a place that no mapping has remembered.
func (r *reader) note(path string, n ast.Node) {
	if _, known := r.places[path]; !known || strings.Contains(path, ".") {
		r.places[path] = n
	}
}

func (r *reader) list(n ast.Node, path, what string) ([]Value, *fault) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, faultf(path, "such as [1, 2, 4]", "%s must be a list", what)
	}
	out := []Value{}
	for i, e := range seq.Values {
		v, bad := r.scalar(e, fmt.Sprintf("%s.%d", path, i), what)
		if bad != nil {
			return nil, bad
		}
		out = append(out, v)
	}
	return out, nil
}

// text is a word.
func (r *reader) text(n ast.Node, path string) (string, *fault) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, nil
	case *ast.LiteralNode:
		return v.Value.Value, nil
	}
	return "", faultf(path, "", "%s must be text", path)
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

func (r *reader) dimensions(n ast.Node) ([]Dimension, *fault) {
	entries, bad := r.mapping(n, "dimensions", "dimensions", nil)
	if bad != nil {
		return nil, bad
	}
	var out []Dimension
	for _, e := range entries {
		d, bad := r.dimension(e)
		if bad != nil {
			return nil, bad
		}
		out = append(out, d)
	}
	return out, nil
}

func (r *reader) dimension(e entry) (d Dimension, bad *fault) {
	path := "dimensions." + e.key
	d.Name = e.key
	switch e.value.(type) {
	case *ast.SequenceNode:
		d.Values, bad = r.list(e.value, path+".values", e.key)
		return d, bad
	case *ast.MappingNode, *ast.MappingValueNode:
		return r.long(d, e.value, path)
	case *ast.NullNode:
		return d, nil // has no values, which is said where all ways are checked
	}
	v, bad := r.scalar(e.value, path+".values", e.key)
	d.Values = []Value{v}
	return d, bad
}

// long reads a dimension with keys.
func (r *reader) long(d Dimension, n ast.Node, path string) (Dimension, *fault) {
	keys := []string{"values", "integers", "reals", "subset", "scale", "steps", "step", "size", "when"}
	entries, bad := r.mapping(n, path, d.Name, keys)
	if bad != nil {
		return d, bad
	}
	given := map[string]bool{}
	for _, e := range entries {
		given[e.key] = true
	}
	only := func(key string, with ...string) *fault {
		if given[key] && !slices.ContainsFunc(with, func(k string) bool { return given[k] }) {
			return faultf(path+"."+key, key+" belongs to "+strings.Join(with, " and "), "%s: %s has no meaning here", d.Name, key)
		}
		return nil
	}
	if given["integers"] && given["reals"] {
		return d, faultf(path+".reals", "give one of values, integers, reals, subset", "%s has its values in two ways", d.Name)
	}
	for _, bad := range []*fault{only("scale", "integers", "reals"), only("steps", "integers", "reals"), only("step", "integers"), only("size", "subset")} {
		if bad != nil {
			return d, bad
		}
	}
	if given["integers"] || given["reals"] {
		d.Range = &Range{Integer: given["integers"]}
	}
	size := []float64(nil)
	for _, e := range entries {
		at := path + "." + e.key
		var bad *fault
		var x float64
		switch e.key {
		case "values":
			d.Values, bad = r.list(e.value, at, d.Name+".values")
		case "integers", "reals":
			var ends []float64
			if ends, bad = r.pair(e.value, at, d.Name+"."+e.key); bad == nil {
				d.Range.Low, d.Range.High = ends[0], ends[1]
			}
		case "scale":
			var s string
			if s, bad = r.text(e.value, at); bad == nil && s != "linear" && s != "log" {
				bad = faultf(at, "linear or log", "%s: %q is no scale", d.Name, s)
			}
			d.Range.Log = s == "log"
		case "steps":
			if x, bad = r.number(e.value, at, d.Name+".steps"); bad == nil && !(x >= 2 && x <= maxValues) {
				bad = faultf(at, fmt.Sprintf("2 to %d, both ends included", maxValues), "%s cannot have %v steps", d.Name, NumberValue(x))
			}
			d.Range.Steps = int(x)
			if bad == nil && float64(d.Range.Steps) != x {
				bad = faultf(at, "", "%s: steps must be a whole number", d.Name)
			}
		case "step":
			if x, bad = r.number(e.value, at, d.Name+".step"); bad == nil && x == 0 {
				bad = faultf(at, "1 or more", "%s: step must be above 0", d.Name)
			}
			d.Range.Step = x
		case "subset":
			d.Subset, bad = r.subset(e.value, at, d.Name)
		case "size":
			size, bad = r.pair(e.value, at, d.Name+".size")
		case "when":
			d.When, bad = r.conditions(e.value, at, d.Name)
		}
		if bad != nil {
			return d, bad
		}
	}
	if d.Subset != nil {
		d.Subset.Min, d.Subset.Max = 1, len(d.Subset.Of)
		if size != nil {
			if size[0] != float64(int(size[0])) || size[1] != float64(int(size[1])) {
				return d, faultf(path+".size", fmt.Sprintf("size: [1, %d]", len(d.Subset.Of)), "%s: a size is a whole number", d.Name)
			}
			d.Subset.Min, d.Subset.Max = int(size[0]), int(size[1])
		}
	}
	return d, nil
}

func (r *reader) subset(n ast.Node, path, name string) (*Subset, *fault) {
	values, bad := r.list(n, path, name+".subset")
	if bad != nil {
		return nil, bad
	}
	s := &Subset{}
	for i, v := range values {
		if v.kind != Text {
			return nil, faultf(fmt.Sprintf("%s.%d", path, i), "quote it", "%s: a subset lists names", name)
		}
		s.Of = append(s.Of, v.text)
	}
	return s, nil
}

func (r *reader) number(n ast.Node, path, what string) (float64, *fault) {
	v, bad := r.scalar(n, path, what)
	if bad != nil || v.kind != Number {
		return 0, faultf(path, "", "%s must be a number", what)
	}
	return v.number, nil
}

// pair is [low, high], or one number for both.
func (r *reader) pair(n ast.Node, path, what string) ([]float64, *fault) {
	if _, list := n.(*ast.SequenceNode); !list {
		if x, bad := r.number(n, path, what); bad == nil && strings.HasSuffix(path, ".size") {
			return []float64{x, x}, nil
		}
		return nil, faultf(path, "such as [1, 64]", "%s must be two numbers", what)
	}
	values, bad := r.list(n, path, what)
	if bad != nil {
		return nil, bad
	}
	if len(values) != 2 || values[0].kind != Number || values[1].kind != Number {
		return nil, faultf(path, "such as [1, 64]", "%s must be two numbers", what)
	}
	return []float64{values[0].number, values[1].number}, nil
}

// conditions reads {layers: ">= 2", activation: [relu, tanh]}.
func (r *reader) conditions(n ast.Node, path, of string) ([]Condition, *fault) {
	entries, bad := r.mapping(n, path, of+": when", nil)
	if bad != nil {
		return nil, bad
	}
	var out []Condition
	for _, e := range entries {
		at := path + "." + e.key
		c := Condition{Dimension: e.key, Operator: "in"}
		if _, list := e.value.(*ast.SequenceNode); list {
			c.Values, bad = r.list(e.value, at, of+": when")
		} else {
			var v Value
			if v, bad = r.scalar(e.value, at, of+": when"); bad == nil {
				c.Operator, c.Values, bad = operator(v, at, of)
			}
		}
		if bad != nil {
			return nil, bad
		}
		if len(c.Values) == 0 {
			return nil, faultf(at, `such as 2, [relu, tanh] or ">= 2"`, "%s: a condition lists no values", of)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, faultf(path, "leave when out", "%s: when lists no condition", of)
	}
	return out, nil
}

// operator splits a text such as ">= 2" or "!= relu".
func operator(v Value, path, of string) (string, []Value, *fault) {
	if v.kind != Text {
		return "in", []Value{v}, nil
	}
	for _, op := range []string{"<=", ">=", "!=", "<", ">"} {
		rest, ok := strings.CutPrefix(v.text, op)
		if !ok {
			continue
		}
		w, left, err := parseScalar(strings.TrimSpace(rest), "")
		if err != nil || left != "" {
			return "", nil, faultf(path, `such as ">= 2" or "!= relu"`, "%s: %q is no condition", of, v.text)
		}
		return op, []Value{w}, nil
	}
	return "in", []Value{v}, nil
}

func (r *reader) constraints(n ast.Node) ([]Constraint, *fault) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, faultf("constraints", "constraints: [units_1 >= units_2]", "constraints must be a list")
	}
	var out []Constraint
	for i, e := range seq.Values {
		path := fmt.Sprintf("constraints.%d", i)
		r.places[path] = e
		var c Constraint
		var bad *fault
		switch e.(type) {
		case *ast.MappingNode, *ast.MappingValueNode:
			entries, b := r.mapping(e, path, "a constraint", []string{"check", "when"})
			if b != nil {
				return nil, b
			}
			for _, k := range entries {
				if k.key == "check" {
					c.Check, bad = r.text(k.value, path+".check")
				} else {
					c.When, bad = r.conditions(k.value, path+".when", "a constraint")
				}
				if bad != nil {
					return nil, bad
				}
			}
		default:
			if c.Check, bad = r.text(e, path); bad != nil {
				return nil, bad
			}
		}
		out = append(out, c)
	}
	return out, nil
}
