package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// node is what YAML says. One of the parts is given: a program, the words of a text, a list, fields, or a scalar.
type node struct {
	source  string
	line    int
	place   string      // file and line
	program *vm.Program // of an expression
	free    []string    // names that it uses
	words   []string    // of a text, one more than parts
	parts   []part
	list    []*node
	fields  []field // of a map, in order
	scale   bool    // a map of smoke, quick and paper
	scalar  any
	given   bool
}

// part is an expression in a text, with a verb of fmt if it likes: {d.Mean:%+.1f}.
type part struct {
	node
	verb string
}

type field struct {
	name  string
	value *node
}

// form says what the scalars of YAML are.
type form int

const (
	plainly form = iota // what they are; a text with braces has expressions, and is its value where it is just one
	inWords             // texts
	inCode              // expressions; those in lists and maps are plain
	listed              // expressions in a list
	called              // expressions in a map
	valued              // what they are, in a map
)

type (
	// value is anything, with texts in place of strings.
	value struct{ node }
	// text is words with expressions in braces.
	text struct{ node }
	// expression is a scalar that is evaluated, or a list or map of values.
	expression struct{ node }
	// expressions are a list of them; named are names with them, in order, and settings names with values, in any.
	expressions struct{ node }
	named       struct{ node }
	settings    struct{ node }
)

// UnmarshalYAML reads any node.
func (v *value) UnmarshalYAML(ctx context.Context, n yamlast.Node) error {
	return v.read(ctx, n, plainly)
}

// UnmarshalYAML compiles the expressions.
func (t *text) UnmarshalYAML(ctx context.Context, n yamlast.Node) error {
	return t.read(ctx, n, inWords)
}

// UnmarshalYAML compiles a scalar, and takes lists and maps as they are.
func (e *expression) UnmarshalYAML(ctx context.Context, n yamlast.Node) error {
	return e.read(ctx, n, inCode)
}

// UnmarshalYAML reads a list.
func (l *expressions) UnmarshalYAML(ctx context.Context, n yamlast.Node) error {
	return l.read(ctx, n, listed)
}

// UnmarshalYAML reads a map.
func (l *named) UnmarshalYAML(ctx context.Context, n yamlast.Node) error {
	return l.read(ctx, n, called)
}

// UnmarshalYAML reads a map.
func (l *settings) UnmarshalYAML(ctx context.Context, n yamlast.Node) error {
	return l.read(ctx, n, valued)
}

func (v *node) self() *node { return v }

// inFile is the key of the file's name in the context that it is read with.
type inFile struct{}

func (v *node) read(ctx context.Context, n yamlast.Node, as form) error {
	v.given, v.line = true, n.GetToken().Position.Line
	v.place = fmt.Sprintf("%v:%d", ctx.Value(inFile{}), v.line)
	each := plainly
	if as == listed || as == called {
		each = inCode
	}
	switch n := n.(type) {
	case *yamlast.SequenceNode:
		v.list = make([]*node, len(n.Values))
		for i, item := range n.Values {
			v.list[i] = &node{}
			if err := v.list[i].read(ctx, item, each); err != nil {
				return err
			}
		}
	case yamlast.MapNode:
		v.fields = []field{}
		scales := 0
		for at := n.MapRange(); at.Next(); {
			f := field{at.Key().GetToken().Value, &node{}}
			if name, ok := at.Key().(*yamlast.StringNode); ok {
				f.name = name.Value
			}
			if err := f.value.read(ctx, at.Value(), each); err != nil {
				return err
			}
			v.fields = append(v.fields, f)
			if slices.Contains(experiments.Scales, experiments.Scale(f.name)) {
				scales++
			}
		}
		v.scale = scales == len(experiments.Scales) && scales == len(v.fields)
	}
	switch several := v.list != nil || v.fields != nil; {
	case as == listed && v.list == nil:
		return fmt.Errorf("[%d:1] want a list", v.line)
	case as == called && len(v.fields) == 0, as == valued && v.fields == nil:
		return fmt.Errorf("[%d:1] want names with values", v.line)
	case as == inWords && several:
		return fmt.Errorf("[%d:1] want a text", v.line)
	case several:
		return nil
	}
	scalar, err := plain(n)
	if err != nil {
		return err
	}
	switch s, ok := scalar.(string); {
	case as == inCode && scalar == nil:
		return v.compile("nil")
	case as == inCode:
		return v.compile(fmt.Sprint(scalar))
	case as == inWords || ok && strings.Contains(s, "{"):
		return v.parse(fmt.Sprint(scalar))
	}
	v.scalar = scalar
	return nil
}

// visit shows a node and all that it has.
func (v *node) visit(see func(*node)) {
	see(v)
	for i := range v.parts {
		see(&v.parts[i].node)
	}
	for _, one := range v.list {
		one.visit(see)
	}
	for _, one := range v.fields {
		one.value.visit(see)
	}
}

// uses says whether an expression of the node uses one of the names.
func (v *node) uses(one func(name string) bool) (some bool) {
	v.visit(func(e *node) { some = some || slices.ContainsFunc(e.free, one) })
	return some
}

func (v *node) compile(source string) (err error) {
	v.source = source
	c := &uses{bound: map[string]bool{}}
	v.program, err = exprlang.Compile(source, exprlang.AllowUndefinedVariables(), exprlang.Patch(c), exprlang.DisableBuiltin("mean"))
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		return fmt.Errorf("[%d:1] %q: %s", v.line, source, text)
	}
	v.free = slices.DeleteFunc(c.used, func(name string) bool { return c.bound[name] })
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

var verb = regexp.MustCompile(`^(?s)(.*):(%[-+# 0-9.]*[a-zA-Z])$`)

// parse compiles the expressions of a text.
func (v *node) parse(s string) error {
	for {
		before, rest, ok := strings.Cut(s, "{")
		v.words = append(v.words, before)
		if !ok {
			return nil
		}
		end := closing(rest)
		if end < 0 {
			return fmt.Errorf("[%d:1] %q: a brace is not closed", v.line, s)
		}
		p, source := part{node: node{line: v.line, place: v.place}}, rest[:end]
		if m := verb.FindStringSubmatch(source); m != nil {
			source, p.verb = m[1], m[2]
		}
		if err := p.compile(source); err != nil {
			return err
		}
		v.parts, s = append(v.parts, p), rest[end+1:]
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

// in evaluates. A text that is one expression is its value.
func (v *node) in(s scope) any {
	switch {
	case v.program != nil:
		return v.evaluate(s)
	case len(v.parts) == 1 && v.words[0] == "" && v.words[1] == "" && v.parts[0].verb == "":
		return v.parts[0].evaluate(s)
	case v.words != nil:
		return v.join(s)
	case v.list != nil:
		out := make([]any, len(v.list))
		for i, item := range v.list {
			out[i] = item.in(s)
		}
		return out
	case v.scale:
		return v.fields[slices.IndexFunc(v.fields, func(f field) bool { return f.name == s["scale"] })].value.in(s)
	case v.fields != nil:
		out := map[string]any{}
		for _, f := range v.fields {
			out[f.name] = f.value.in(s)
		}
		return out
	}
	return v.scalar
}

func (v *node) evaluate(s scope) any {
	got, err := exprlang.Run(v.program, map[string]any(s))
	var missing *dataset.FileError
	var refused refusal
	switch {
	case errors.As(err, &missing):
		experiments.Check(missing) // says what to get, and from where: no fault of the file
	case errors.As(err, &refused):
		experiments.Check(&located{v.place + ": " + string(refused), err})
	case err != nil:
		text, _, _ := strings.Cut(err.Error(), "\n")
		experiments.Check(&located{fmt.Sprintf("%s: %q: %s", v.place, v.source, text), err})
	}
	return got
}

// refusal is what a table says of what it lacks.
type refusal string

func (r refusal) Error() string { return string(r) }

// located is an error in words that say where it is.
type located struct {
	text string
	err  error
}

func (p *located) Error() string { return p.text }
func (p *located) Unwrap() error { return p.err }

// in evaluates to words, "" where no text is given.
func (t *text) in(s scope) string { return t.join(s) }

func (v *node) join(s scope) string {
	var b strings.Builder
	for i, w := range v.words {
		b.WriteString(w)
		if i < len(v.parts) {
			b.WriteString(sprintf(cmp.Or(v.parts[i].verb, "%v"), v.parts[i].evaluate(s)))
		}
	}
	return b.String()
}

// truth evaluates to true or false; what is not given is unless.
func (e *expression) truth(s scope, unless bool) bool {
	if !e.given {
		return unless
	}
	return only(e, s, "neither true nor false", func(v any) (is, ok bool) { is, ok = v.(bool); return is, ok })
}

// number evaluates to a number, series to several, optional to a number or to nil, as what is not given does.
func (e *expression) number(s scope) float64   { return only(e, s, "no number", float) }
func (e *expression) series(s scope) []float64 { return only(e, s, "no series", series) }
func (e *expression) optional(s scope) *float64 {
	return only(e, s, "no number", func(v any) (*float64, bool) {
		f, ok := float(v)
		if v == nil {
			return nil, true
		}
		return &f, ok
	})
}

// verdict is one that a file gives itself.
func (e *expression) verdict(s scope, to *experiments.Verdict) {
	if e.given {
		*to = experiments.Verdict(fmt.Sprint(e.in(s)))
	}
}

// only evaluates to what is of a kind; none says what others are.
func only[T any](e *expression, s scope, none string, of func(v any) (T, bool)) T {
	v := e.in(s)
	got, ok := of(v)
	if !ok {
		experiments.Check(fmt.Errorf("%s: %q is %v, %s", e.place, e.source, v, none))
	}
	return got
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

// plain is the value of a scalar.
func plain(n yamlast.Node) (any, error) {
	switch n := n.(type) {
	case *yamlast.StringNode:
		// The library takes 1e3 for a text.
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil && n.Token.Type == token.StringType && n.Value[0] <= '9' {
			return f, nil
		}
		return n.Value, nil
	case *yamlast.IntegerNode:
		return strconv.Atoi(fmt.Sprint(n.Value))
	case *yamlast.LiteralNode:
		return n.Value.Value, nil
	case *yamlast.FloatNode, *yamlast.BoolNode, *yamlast.NullNode, *yamlast.InfinityNode:
		return n.(yamlast.ScalarNode).GetValue(), nil
	}
	return nil, fmt.Errorf("[%d:1] want a text, number, list or map", n.GetToken().Position.Line)
}
