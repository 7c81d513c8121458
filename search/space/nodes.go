package space

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

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
		return nil, faultf(path, "such as dimensions: {layers: [1, 2, 3]}", "%s must be keys with values", what)
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
	case *ast.IntegerNode:
		if value, err := ValueOf(v.Value); err == nil {
			return value, nil
		}
	case *ast.FloatNode:
		if value, err := ValueOf(v.Value); err == nil {
			return value, nil
		}
	}
	return Value{}, faultf(path, "quote a word that has signs in it; anchors and nested lists have no use here", "%s must be a number, a word, true or false", what)
}

// note remembers a place. What has a key is found at its key.
func (r *reader) note(path string, n ast.Node) {
	if _, known := r.places[path]; !known {
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
	return "", faultf(path, "in quotation marks", "%s must be text", path)
}

func (r *reader) number(n ast.Node, path, what string) (float64, *fault) {
	v, bad := r.scalar(n, path, what)
	if bad != nil || v.kind != Number {
		return 0, faultf(path, "such as 0.5", "%s must be a number", what)
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
