package space

import (
	"fmt"
	"slices"
	"strings"

	"pawl/data/schema"
)

var nameHint = "letters, digits and _, no digit first; " + strings.Join(slices.Concat(functions, quantities), ", ") + " have a meaning in constraints"

// dim is a compiled dimension.
type dim struct {
	*domain
	name string
	when []test
	// class gives the class of each value: values that no condition tells apart have
	// one class. nil where no condition tests the dimension. members lists the genes
	// of each class.
	class   []uint16
	members [][]uint64
}

// test is a compiled condition: which genes of dimension on pass, and which classes.
type test struct {
	on      int
	genes   []bool
	classes []bool
}

func (t *test) passes(genes []uint64) bool {
	g := genes[t.on]
	return g != inactive && t.genes[g]
}

// active says whether a dimension exists beside genes, in which those that it
// depends on are set.
func (d *dim) active(genes []uint64) bool {
	for i := range d.when {
		if !d.when[i].passes(genes) {
			return false
		}
	}
	return true
}

// frame is what the points of a space and of its bound copies share.
type frame struct {
	name, net string
	dims      []*dim
	// order lists the dimensions so that each follows those that its conditions test,
	// and otherwise as they are declared.
	order []int
	index map[string]int
}

func names(dims []*dim) []string {
	out := make([]string, len(dims))
	for i, d := range dims {
		out[i] = d.name
	}
	return out
}

// compileFrame checks dimensions and their conditions.
func compileFrame(def *Definition) (*frame, *fault) {
	f := &frame{name: def.Name, net: def.Net, index: map[string]int{}}
	switch {
	case len(def.Dimensions) == 0:
		return nil, faultf("dimensions", "dimensions: {layers: [1, 2, 3]}", "the space has no dimensions")
	case len(def.Dimensions) > maxDimensions:
		return nil, faultf("dimensions", "several names to choose from are one subset dimension", "%d dimensions; at most %d are possible", len(def.Dimensions), maxDimensions)
	}
	for i := range def.Dimensions {
		d := &def.Dimensions[i]
		path := "dimensions." + d.Name
		if !isName(d.Name) || slices.Contains(quantities, d.Name) || slices.Contains(functions, d.Name) {
			return nil, faultf(path, nameHint, "%q cannot name a dimension", d.Name)
		}
		if _, twice := f.index[d.Name]; twice {
			return nil, faultf(path, "leave one out, or rename it", "dimension %s is given twice", d.Name)
		}
		dom, bad := domainOf(d, path)
		if bad != nil {
			return nil, bad
		}
		f.index[d.Name] = i
		f.dims = append(f.dims, &dim{domain: dom, name: d.Name})
	}
	for i := range def.Dimensions {
		tests, bad := f.tests(def.Dimensions[i].When, def.Dimensions[i].Name, "dimensions."+def.Dimensions[i].Name+".when")
		if bad != nil {
			return nil, bad
		}
		f.dims[i].when = tests
	}
	if bad := f.sort(); bad != nil {
		return nil, bad
	}
	f.classify()
	return f, nil
}

// tests compiles conditions. of names what they belong to.
func (f *frame) tests(when []Condition, of, path string) ([]test, *fault) {
	var out []test
	for _, c := range when {
		at := path + "." + c.Dimension
		on, ok := f.index[c.Dimension]
		if !ok {
			return nil, faultf(at, "the dimensions are "+strings.Join(names(f.dims), ", "), "%s: %q is not a dimension%s", of, c.Dimension, near(c.Dimension, names(f.dims)))
		}
		d := f.dims[on]
		switch {
		case d.continuous():
			return nil, faultf(at, "give it a number of steps", "%s: a condition cannot test %s, which is continuous", of, d.name)
		case d.kind == Set:
			return nil, faultf(at, "use a constraint on size("+d.name+")", "%s: a condition cannot test %s, which is a set", of, d.name)
		case d.count > maxValues:
			return nil, faultf(at, "give it a step, or a number of steps", "%s: a condition cannot test %s, which has more than %d values", of, d.name, maxValues)
		}
		t := test{on: on, genes: make([]bool, d.count)}
		passing := 0
		for g := range d.count {
			pass, bad := c.passes(d.value(g))
			if bad != "" {
				return nil, faultf(at, `such as 2, [relu, tanh] or ">= 2"`, "%s: %s", of, bad)
			}
			if pass {
				t.genes[g] = true
				passing++
			}
		}
		for _, v := range c.Values {
			if _, is := d.gene(v); !is && (c.Operator == "in" || c.Operator == "!=") {
				return nil, faultf(at, "its values are "+d.describe(), "%s: %s never is %v", of, d.name, v)
			}
		}
		if passing == 0 {
			return nil, faultf(at, "its values are "+d.describe(), "%s can never be active: no value of %s passes", of, d.name)
		}
		out = append(out, t)
	}
	return out, nil
}

// passes evaluates a condition for one value; bad says why it cannot.
func (c *Condition) passes(v Value) (pass bool, bad string) {
	switch c.Operator {
	case "in":
		if len(c.Values) == 0 {
			return false, "a condition lists no values"
		}
		return slices.ContainsFunc(c.Values, v.Equal), ""
	case "!=":
		if len(c.Values) != 1 {
			return false, "!= compares with one value"
		}
		return !v.Equal(c.Values[0]), ""
	case "<", "<=", ">", ">=":
		if len(c.Values) != 1 || c.Values[0].kind != Number || v.kind != Number {
			return false, c.Operator + " compares a dimension of numbers with a number"
		}
		return compareNumbers(c.Operator, v.number, c.Values[0].number), ""
	}
	return false, fmt.Sprintf("%q is not a comparison", c.Operator)
}

// describe lists the choices for a message.
func (d *domain) describe() string {
	switch {
	case d.names != nil:
		return fmt.Sprintf("sets of %d to %d of %s", d.least, d.most, strings.Join(d.names, ", "))
	case d.continuous():
		return fmt.Sprintf("%v to %v", NumberValue(d.low), NumberValue(d.high))
	case d.values == nil:
		return fmt.Sprintf("%v to %v", d.value(0), d.value(d.count-1))
	}
	var list []string
	for i, v := range d.values {
		if i == 12 {
			list = append(list, "…")
			break
		}
		list = append(list, v.String())
	}
	return strings.Join(list, ", ")
}

// sort orders the dimensions by their conditions.
func (f *frame) sort() *fault {
	const (
		open = 1 + iota
		done
	)
	state := make([]int, len(f.dims))
	var trail []string
	var visit func(i int) *fault
	visit = func(i int) *fault {
		d := f.dims[i]
		trail = append(trail, d.name)
		defer func() { trail = trail[:len(trail)-1] }()
		switch state[i] {
		case open:
			from := slices.Index(trail, d.name)
			return faultf("dimensions."+d.name+".when", "drop one of the conditions", "conditions form a circle: %s", strings.Join(trail[from:], " needs "))
		case done:
			return nil
		}
		state[i] = open
		for _, t := range d.when {
			if bad := visit(t.on); bad != nil {
				return bad
			}
		}
		state[i] = done
		f.order = append(f.order, i)
		return nil
	}
	for i := range f.dims {
		if bad := visit(i); bad != nil {
			return bad
		}
	}
	return nil
}

// classify groups the values of each tested dimension by the tests that they pass.
func (f *frame) classify() {
	tests := make([][]*test, len(f.dims))
	for _, d := range f.dims {
		for i := range d.when {
			tests[d.when[i].on] = append(tests[d.when[i].on], &d.when[i])
		}
	}
	for i, d := range f.dims {
		if tests[i] == nil {
			continue
		}
		seen := map[string]uint16{}
		d.class = make([]uint16, d.count)
		pattern := make([]byte, len(tests[i]))
		for g := range d.count {
			for k, t := range tests[i] {
				pattern[k] = '0'
				if t.genes[g] {
					pattern[k] = '1'
				}
			}
			c, ok := seen[string(pattern)]
			if !ok {
				c = uint16(len(seen))
				seen[string(pattern)] = c
				d.members = append(d.members, nil)
				for _, t := range tests[i] {
					t.classes = append(t.classes, t.genes[g])
				}
			}
			d.class[g] = c
			d.members[c] = append(d.members[c], g)
		}
	}
}

// near suggests the name that someone may have meant.
func near(name string, all []string) string {
	if best := schema.Nearest(name, all); best != "" {
		return "; did you mean " + best + "?"
	}
	return ""
}
