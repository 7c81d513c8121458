package space

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

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
				bad = faultf(at, "linear or log", "%s: %q is not a scale", d.Name, s)
			}
			d.Range.Log = s == "log"
		case "steps":
			if x, bad = r.number(e.value, at, d.Name+".steps"); bad == nil && !(x >= 2 && x <= maxValues) {
				bad = faultf(at, fmt.Sprintf("2 to %d, both ends included", maxValues), "%s cannot have %v steps", d.Name, NumberValue(x))
			}
			d.Range.Steps = int(x)
			if bad == nil && float64(d.Range.Steps) != x {
				bad = faultf(at, "such as steps: 7", "%s: steps must be a whole number", d.Name)
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
			return "", nil, faultf(path, `such as ">= 2" or "!= relu"`, "%s: %q is not a condition", of, v.text)
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
