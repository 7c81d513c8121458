package space

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// quantities are names in constraints that the network answers.
var quantities = []string{"parameters", "trainable_parameters"}

// functions take dimensions or terms; size takes one subset.
var functions = []string{"sum", "min", "max", "size"}

// operand is the value of a term: absent where it names a dimension that is not
// active.
type operand struct {
	number float64
	text   string
	absent bool
}

// term is a part of a constraint. eval must not fail: types are checked before.
type term struct {
	kind Kind
	eval func(env *environment) operand
}

// environment is what terms read.
type environment struct {
	genes  []uint64
	bound  []func(Point) (float64, error)
	point  func() Point
	failed bool
}

// check is a compiled constraint.
type check struct {
	text  string
	terms []term
	links []string
	when  []test
	// reads lists the dimensions, asks the quantities by position.
	reads, asks []int
}

// holds says whether every link of the chain does. A link with an absent side does;
// one with a NaN does not.
func (c *check) holds(env *environment) bool {
	for i := range c.when {
		if !c.when[i].passes(env.genes) {
			return true
		}
	}
	left := c.terms[0].eval(env)
	for i, op := range c.links {
		right := c.terms[i+1].eval(env)
		if !left.absent && !right.absent && !compare(op, left, right, c.terms[i].kind == Text) {
			return false
		}
		left = right
	}
	return !env.failed
}

func compare(op string, a, b operand, text bool) bool {
	switch {
	case op == "==" && text:
		return a.text == b.text
	case op == "!=" && text:
		return a.text != b.text
	}
	return compareNumbers(op, a.number, b.number)
}

func compareNumbers(op string, a, b float64) bool {
	switch op {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "==":
		return a == b
	case "!=":
		return a != b
	}
	return false
}

// parseCheck reads a chain of comparisons.
func parseCheck(text string, dims []*dim) (c *check, err error) {
	p := &expression{dims: dims, check: &check{text: text}}
	if p.tokens, err = tokens(text); err != nil {
		return nil, err
	}
	for {
		t, err := p.sum()
		if err != nil {
			return nil, err
		}
		p.check.terms = append(p.check.terms, t)
		op := p.next()
		if op == "" {
			break
		}
		if !slices.Contains([]string{"<", "<=", ">", ">=", "==", "!="}, op) {
			return nil, fmt.Errorf("%q stands where a comparison should", op)
		}
		p.check.links = append(p.check.links, op)
	}
	if len(p.check.links) == 0 {
		return nil, fmt.Errorf("it compares nothing")
	}
	for i, op := range p.check.links {
		a, b := p.check.terms[i].kind, p.check.terms[i+1].kind
		if a != b && (a == Text || b == Text) {
			return nil, fmt.Errorf("a word cannot be compared with a number")
		}
		if a == Text && op != "==" && op != "!=" {
			return nil, fmt.Errorf("words can only be compared for equality; %s does not apply to them", op)
		}
	}
	if len(p.check.reads) == 0 && len(p.check.asks) == 0 {
		return nil, fmt.Errorf("it names no dimension")
	}
	return p.check, nil
}

type expression struct {
	tokens []string
	dims   []*dim
	check  *check
	depth  int
}

func (p *expression) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *expression) next() string {
	t := p.peek()
	if t != "" {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *expression) sum() (term, error) { return p.binary(p.product, "+", "-") }

func (p *expression) product() (term, error) { return p.binary(p.atom, "*", "/") }

func (p *expression) binary(part func() (term, error), ops ...string) (term, error) {
	left, err := part()
	for err == nil && slices.Contains(ops, p.peek()) {
		op := p.next()
		var right term
		if right, err = part(); err != nil {
			break
		}
		if left.kind == Text || right.kind == Text {
			return term{}, fmt.Errorf("%s has no meaning for words", op)
		}
		left = arithmetic(op, left, right)
	}
	return left, err
}

func arithmetic(op string, a, b term) term {
	return term{Number, func(env *environment) operand {
		x, y := a.eval(env), b.eval(env)
		if x.absent || y.absent {
			return operand{absent: true}
		}
		switch op {
		case "+":
			x.number += y.number
		case "-":
			x.number -= y.number
		case "*":
			x.number *= y.number
		case "/":
			x.number /= y.number
		}
		return x
	}}
}

// maxDepth bounds brackets, so that a hostile file cannot exhaust the stack.
const maxDepth = 50

func (p *expression) atom() (term, error) {
	if p.depth++; p.depth > maxDepth {
		return term{}, fmt.Errorf("brackets are nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	t := p.next()
	switch {
	case t == "":
		return term{}, fmt.Errorf("it ends where a number or a dimension should follow")
	case t == "(":
		inner, err := p.sum()
		if err == nil && p.next() != ")" {
			err = fmt.Errorf("a bracket is not closed")
		}
		return inner, err
	case t == "-":
		inner, err := p.atom()
		if err == nil && inner.kind == Text {
			err = fmt.Errorf("- has no meaning for words")
		}
		return arithmetic("-", constant(0), inner), err
	case t[0] == '"':
		s, err := strconv.Unquote(t)
		return term{Text, func(*environment) operand { return operand{text: s} }}, err
	case t[0] == '.' || '0' <= t[0] && t[0] <= '9':
		x, err := strconv.ParseFloat(t, 64)
		if err != nil {
			err = fmt.Errorf("%q is not a number", t)
		}
		return constant(x), err
	case !isName(t):
		return term{}, fmt.Errorf("%q stands where a number or a dimension should", t)
	case p.peek() == "(":
		return p.call(t)
	}
	return p.name(t)
}

func constant(x float64) term {
	return term{Number, func(*environment) operand { return operand{number: x} }}
}

func (p *expression) name(t string) (term, error) {
	if i := slices.Index(quantities, t); i >= 0 {
		p.check.asks = append(p.check.asks, i)
		return term{Number, func(env *environment) operand {
			x, err := env.bound[i](env.point())
			env.failed = env.failed || err != nil
			return operand{number: x}
		}}, nil
	}
	i := slices.IndexFunc(p.dims, func(d *dim) bool { return d.name == t })
	if i < 0 {
		return term{}, fmt.Errorf("%s is not a dimension%s", t, near(t, names(p.dims)))
	}
	d := p.dims[i]
	if d.kind == Set {
		return term{}, fmt.Errorf("%s is a set; size(%s) is its number of names", t, t)
	}
	p.check.reads = append(p.check.reads, i)
	kind := Number
	if d.kind == Text {
		kind = Text
	}
	return term{kind, func(env *environment) operand {
		g := env.genes[i]
		if g == inactive {
			return operand{absent: true}
		}
		v := d.value(g)
		return operand{number: v.number, text: v.text}
	}}, nil
}

// call reads the arguments of a function.
func (p *expression) call(name string) (term, error) {
	p.next()
	if name == "size" {
		t := p.next()
		i := slices.IndexFunc(p.dims, func(d *dim) bool { return d.name == t && d.kind == Set })
		if i < 0 || p.next() != ")" {
			return term{}, fmt.Errorf("size takes one subset dimension")
		}
		p.check.reads = append(p.check.reads, i)
		return term{Number, func(env *environment) operand {
			g := env.genes[i]
			return operand{number: float64(subsetSize(g)), absent: g == inactive}
		}}, nil
	}
	if !slices.Contains(functions, name) {
		return term{}, fmt.Errorf("there is no function %s; there are %s", name, strings.Join(functions, ", "))
	}
	var args []term
	for {
		a, err := p.sum()
		if err != nil {
			return term{}, err
		}
		if a.kind == Text {
			return term{}, fmt.Errorf("%s has no meaning for words", name)
		}
		args = append(args, a)
		switch p.next() {
		case ",":
			continue
		case ")":
			return aggregate(name, args), nil
		}
		return term{}, fmt.Errorf("a bracket is not closed")
	}
}

// aggregate takes the present ones of its arguments: none give the sum 0, and no
// smallest or largest.
func aggregate(name string, args []term) term {
	return term{Number, func(env *environment) operand {
		out := operand{absent: name != "sum"}
		for _, a := range args {
			x := a.eval(env)
			switch {
			case x.absent:
			case name == "sum":
				out.number += x.number
			case out.absent:
				out = x
			case name == "min":
				out.number = min(out.number, x.number)
			case name == "max":
				out.number = max(out.number, x.number)
			}
		}
		return out
	}}
}

// tokens splits a constraint.
func tokens(text string) ([]string, error) {
	var out []string
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		n := 1
		switch c := rest[0]; {
		case c == '"':
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("a quotation mark is not closed")
			}
			n = len(quoted)
		case letter(c):
			for n < len(rest) && (letter(rest[n]) || digit(rest[n])) {
				n++
			}
		case digit(c) || c == '.':
			for n < len(rest) && (digit(rest[n]) || letter(rest[n]) || rest[n] == '.' || (rest[n] == '-' || rest[n] == '+') && (rest[n-1] == 'e' || rest[n-1] == 'E')) {
				n++
			}
		case strings.IndexByte("<>=!", c) >= 0:
			if n < len(rest) && rest[1] == '=' {
				n = 2
			}
		case strings.IndexByte("+-*/(),", c) < 0:
			return nil, fmt.Errorf("%q has no meaning here", string([]rune(rest)[:1]))
		}
		out = append(out, rest[:n])
		rest = rest[n:]
	}
	return out, nil
}

func letter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func digit(c byte) bool { return '0' <= c && c <= '9' }

// isName says whether s can name a dimension: letters, digits and _, no digit first.
func isName(s string) bool {
	for i := range len(s) {
		if !(letter(s[i]) || i > 0 && digit(s[i])) {
			return false
		}
	}
	return s != ""
}
