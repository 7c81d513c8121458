package replay

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	exprlang "github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
	yamlast "github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"pawl/data/dataset"
	"pawl/experiments"
)

// scope are the names that an expression can use.
type scope map[string]any

// expression is a scalar that is evaluated, or a list or map of values.
type expression struct {
	source  string
	line    int
	place   string // file and line
	program *vm.Program
	free    []string // names that it uses
	tree    *value   // a list or a map; then the rest is empty
}

func (e *expression) given() bool { return e.program != nil || e.tree != nil }

// UnmarshalYAML compiles a scalar, and takes lists and maps as they are.
func (e *expression) UnmarshalYAML(n yamlast.Node) error {
	switch n.(type) {
	case *yamlast.SequenceNode, *yamlast.MappingNode, *yamlast.MappingValueNode:
		e.tree = &value{}
		return e.tree.UnmarshalYAML(n)
	}
	v, err := plain(n)
	if err != nil {
		return err
	}
	source, ok := v.(string)
	if !ok {
		source = literal(v)
	}
	return e.compile(source, line(n))
}

func literal(v any) string {
	if v == nil {
		return "nil"
	}
	return fmt.Sprint(v)
}

func (e *expression) compile(source string, at int) (err error) {
	e.source, e.line = source, at
	c := &uses{bound: map[string]bool{}}
	e.program, err = exprlang.Compile(source, exprlang.AllowUndefinedVariables(), exprlang.Patch(c), exprlang.DisableBuiltin("mean"))
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		return fmt.Errorf("[%d:1] %q: %s", at, source, text)
	}
	for _, n := range c.used {
		if !c.bound[n] {
			e.free = append(e.free, n)
		}
	}
	return nil
}

// uses collects what an expression uses and what it declares.
type uses struct {
	used  []string
	bound map[string]bool
}

func (c *uses) Visit(n *ast.Node) {
	switch n := (*n).(type) {
	case *ast.IdentifierNode:
		if !slices.Contains(c.used, n.Value) {
			c.used = append(c.used, n.Value)
		}
	case *ast.VariableDeclaratorNode:
		c.bound[n.Name] = true
	}
}

// in evaluates.
func (e *expression) in(s scope) (any, error) {
	if e.tree != nil {
		return e.tree.in(s)
	}
	v, err := exprlang.Run(e.program, map[string]any(s))
	var missing *dataset.FileError
	switch {
	case errors.As(err, &missing):
		return nil, missing // says what to get, and from where: no fault of the file
	case err != nil:
		text, _, _ := strings.Cut(err.Error(), "\n")
		return nil, &located{fmt.Sprintf("%s: %q: %s", e.place, e.source, text), err}
	}
	return v, nil
}

// located is an error in words that say where it is.
type located struct {
	text string
	err  error
}

func (p *located) Error() string { return p.text }
func (p *located) Unwrap() error { return p.err }

// truth evaluates to true or false; what is not given is unless.
func (e *expression) truth(s scope, unless bool) (bool, error) {
	if !e.given() {
		return unless, nil
	}
	v, err := e.in(s)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("%s: %q is %v, neither true nor false", e.place, e.source, v)
	}
	return b, nil
}

// number evaluates to a number.
func (e *expression) number(s scope) (float64, error) {
	v, err := e.in(s)
	if err != nil {
		return 0, err
	}
	f, ok := float(v)
	if !ok {
		return 0, fmt.Errorf("%s: %q is %v, no number", e.place, e.source, v)
	}
	return f, nil
}

// text is words with expressions in braces, each with a verb of fmt if it likes: {d.Mean:%+.1f}.
type text struct {
	line  int
	place string
	words []string // one more than parts
	parts []part
}

type part struct {
	expression
	verb string
}

func (t *text) given() bool { return t.words != nil }

// UnmarshalYAML compiles the expressions.
func (t *text) UnmarshalYAML(n yamlast.Node) error {
	v, err := plain(n)
	if err != nil {
		return err
	}
	return t.parse(fmt.Sprint(v), line(n))
}

var verb = regexp.MustCompile(`^(?s)(.*):(%[-+# 0-9.]*[a-zA-Z])$`)

func (t *text) parse(s string, at int) error {
	t.line = at
	for {
		before, rest, ok := strings.Cut(s, "{")
		t.words = append(t.words, before)
		if !ok {
			return nil
		}
		end := closing(rest)
		if end < 0 {
			return fmt.Errorf("[%d:1] %q: a brace is not closed", at, s)
		}
		var p part
		source := rest[:end]
		if m := verb.FindStringSubmatch(source); m != nil {
			source, p.verb = m[1], m[2]
		}
		if err := p.compile(source, at); err != nil {
			return err
		}
		t.parts, s = append(t.parts, p), rest[end+1:]
	}
}

// closing is the place of the brace that ends an expression, −1 for none.
func closing(s string) int {
	depth, quote, escaped := 0, rune(0), false
	for i, r := range s {
		switch {
		case quote != 0:
			if r == quote && !escaped {
				quote = 0
			}
			escaped = r == '\\' && !escaped
		case r == '"' || r == '\'':
			quote = r
		case r == '{':
			depth++
		case r == '}' && depth == 0:
			return i
		case r == '}':
			depth--
		}
	}
	return -1
}

func (t *text) in(s scope) (string, error) {
	var b strings.Builder
	for i, w := range t.words {
		b.WriteString(w)
		if i == len(t.parts) {
			break
		}
		v, err := t.parts[i].in(s)
		if err != nil {
			return "", err
		}
		format := t.parts[i].verb
		if format == "" {
			format = "%v"
		}
		b.WriteString(sprintf(format, v))
	}
	return b.String(), nil
}

var verbs = regexp.MustCompile(`%[-+# 0-9.]*([a-zA-Z%])`)

// sprintf is fmt.Sprintf, where numbers are what their verb wants.
func sprintf(format string, args ...any) string {
	all := slices.Clone(args)
	i := 0
	for _, m := range verbs.FindAllStringSubmatch(format, -1) {
		if m[1] == "%" || i >= len(all) {
			continue
		}
		f, ok := float(all[i])
		switch {
		case ok && strings.Contains("eEfFgG", m[1]):
			all[i] = f
		case ok && m[1] == "d":
			all[i] = int(f)
		}
		i++
	}
	return fmt.Sprintf(format, all...)
}

func float(v any) (float64, bool) {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return float64(r.Int()), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return float64(r.Uint()), true
	case reflect.Float32, reflect.Float64:
		return r.Float(), true
	}
	return 0, false
}

// value is what YAML says, with texts in place of strings. A text that is one expression is its value.
type value struct {
	scalar any
	text   *text
	list   []*value
	fields []valueField // of a map
	scale  bool         // a map of smoke, quick and paper
}

type valueField struct {
	name  string
	value *value
}

// UnmarshalYAML reads any node.
func (v *value) UnmarshalYAML(n yamlast.Node) error {
	switch n := n.(type) {
	case *yamlast.SequenceNode:
		v.list = []*value{}
		for _, item := range n.Values {
			one := &value{}
			if err := one.UnmarshalYAML(item); err != nil {
				return err
			}
			v.list = append(v.list, one)
		}
		return nil
	case *yamlast.MappingNode, *yamlast.MappingValueNode:
		v.fields = []valueField{}
		scales := 0
		for _, mv := range mapping(n) {
			f := valueField{name: key(mv), value: &value{}}
			if err := f.value.UnmarshalYAML(mv.Value); err != nil {
				return err
			}
			v.fields = append(v.fields, f)
			if slices.Contains(experiments.Scales, experiments.Scale(f.name)) {
				scales++
			}
		}
		v.scale = scales == len(experiments.Scales) && scales == len(v.fields)
		return nil
	}
	p, err := plain(n)
	if err != nil {
		return err
	}
	if s, ok := p.(string); ok && strings.Contains(s, "{") {
		v.text = &text{}
		return v.text.parse(s, line(n))
	}
	v.scalar = p
	return nil
}

func (v *value) in(s scope) (any, error) {
	switch {
	case v.text != nil:
		if t := v.text; len(t.parts) == 1 && t.words[0] == "" && t.words[1] == "" && t.parts[0].verb == "" {
			return t.parts[0].in(s)
		}
		return v.text.in(s)
	case v.list != nil:
		out := []any{}
		for _, item := range v.list {
			one, err := item.in(s)
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		}
		return out, nil
	case v.scale:
		for _, f := range v.fields {
			if f.name == s["scale"] {
				return f.value.in(s)
			}
		}
	case v.fields != nil:
		out := map[string]any{}
		for _, f := range v.fields {
			one, err := f.value.in(s)
			if err != nil {
				return nil, err
			}
			out[f.name] = one
		}
		return out, nil
	}
	return v.scalar, nil
}

// values are names with values, in any order.
type values []valueField

// UnmarshalYAML reads a map.
func (v *values) UnmarshalYAML(n yamlast.Node) error {
	one := &value{}
	if err := one.UnmarshalYAML(n); err != nil {
		return err
	}
	if one.fields == nil {
		return fmt.Errorf("[%d:1] want names with values", line(n))
	}
	*v = one.fields
	return nil
}

// fields are names with expressions, in order; fields0 are expressions alone.
type (
	fields  []field
	fields0 []*expression
	field   struct {
		name  string
		value *expression
	}
)

// UnmarshalYAML reads a map.
func (f *fields) UnmarshalYAML(n yamlast.Node) error {
	for _, mv := range mapping(n) {
		one := field{key(mv), &expression{}}
		if err := one.value.UnmarshalYAML(mv.Value); err != nil {
			return err
		}
		*f = append(*f, one)
	}
	if *f == nil {
		return fmt.Errorf("[%d:1] want names with values", line(n))
	}
	return nil
}

// UnmarshalYAML reads a list.
func (f *fields0) UnmarshalYAML(n yamlast.Node) error {
	list, ok := n.(*yamlast.SequenceNode)
	if !ok {
		return fmt.Errorf("[%d:1] want a list", line(n))
	}
	for _, item := range list.Values {
		one := &expression{}
		if err := one.UnmarshalYAML(item); err != nil {
			return err
		}
		*f = append(*f, one)
	}
	return nil
}

func mapping(n yamlast.Node) []*yamlast.MappingValueNode {
	switch n := n.(type) {
	case *yamlast.MappingNode:
		return n.Values
	case *yamlast.MappingValueNode:
		return []*yamlast.MappingValueNode{n}
	}
	return nil
}

func key(mv *yamlast.MappingValueNode) string {
	if s, ok := mv.Key.(*yamlast.StringNode); ok {
		return s.Value
	}
	return mv.Key.GetToken().Value
}

func line(n yamlast.Node) int { return n.GetToken().Position.Line }

// plain is the value of a scalar.
func plain(n yamlast.Node) (any, error) {
	switch n := n.(type) {
	case *yamlast.StringNode:
		// The library takes 1e3 for a text.
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil && n.Token.Type == token.StringType && n.Value[0] <= '9' {
			return f, nil
		}
		return n.Value, nil
	case *yamlast.LiteralNode:
		return n.Value.Value, nil
	case *yamlast.IntegerNode:
		return strconv.Atoi(fmt.Sprint(n.Value))
	case *yamlast.FloatNode:
		return n.Value, nil
	case *yamlast.BoolNode:
		return n.Value, nil
	case *yamlast.NullNode:
		return nil, nil
	case *yamlast.InfinityNode:
		return n.Value, nil
	}
	return nil, fmt.Errorf("[%d:1] want a text, number, list or map", line(n))
}
