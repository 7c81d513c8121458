package space

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

const (
	// DrawTries is the number of draws after which a component whose constraints no
	// draw satisfied gives up.
	DrawTries = 100_000
	// trials and enough: a component that is drawn until it satisfies its constraints
	// must do so in 20 of 10,000 draws. Then one draw in 500 does or, with chance
	// 0.3 %, one in 1,000 at the least, and all of DrawTries fail with a chance below
	// 1e-43.
	trials, enough = 10_000, 20
)

// Space is a checked search space. It is immutable and may be used by several
// goroutines at once, each with its own Source.
type Space struct {
	definition Definition
	frame      *frame
	checks     []*check
	bound      []func(Point) (float64, error)
	reads      [][]int // dimensions that each bound quantity depends on
	unbound    []string
	components []*component
	// of gives the component of each dimension.
	of []int
}

// New checks a definition. Faults are *Error with the definition's name in place of
// a file.
func New(d Definition) (*Space, error) {
	s, bad := compile(clone(d))
	if bad != nil {
		name := d.Name
		if name == "" {
			name = "search space"
		}
		return nil, &Error{File: name, Msg: bad.msg, hint: bad.hint}
	}
	return s, nil
}

func clone(d Definition) Definition {
	d.Dimensions, d.Constraints = slices.Clone(d.Dimensions), slices.Clone(d.Constraints)
	return d
}

func compile(d Definition) (*Space, *fault) {
	f, bad := compileFrame(&d)
	if bad != nil {
		return nil, bad
	}
	s := &Space{definition: d, frame: f, bound: make([]func(Point) (float64, error), len(quantities)), reads: make([][]int, len(quantities))}
	for i, c := range d.Constraints {
		path := fmt.Sprintf("constraints.%d", i)
		k, err := parseCheck(c.Check, f.dims)
		if err != nil {
			return nil, faultf(path, `such as units_1 >= units_2, sum(a, b) >= 1, or activation != "relu"`, "constraint %q: %v", c.Check, err)
		}
		var bad *fault
		if k.when, bad = f.tests(c.When, "constraint "+fmt.Sprintf("%q", c.Check), path+".when"); bad != nil {
			return nil, bad
		}
		s.checks = append(s.checks, k)
	}
	for i, name := range quantities {
		if slices.ContainsFunc(s.checks, func(c *check) bool { return slices.Contains(c.asks, i) }) {
			s.unbound = append(s.unbound, name)
		}
	}
	return s, s.assemble()
}

// assemble groups dimensions into components and counts each.
func (s *Space) assemble() *fault {
	group := make([]int, len(s.frame.dims))
	for i := range group {
		group[i] = i
	}
	var root func(i int) int
	root = func(i int) int {
		if group[i] != i {
			group[i] = root(group[i])
		}
		return group[i]
	}
	join := func(dims []int) {
		for _, i := range dims[min(1, len(dims)):] {
			// The smaller number leads, so that components keep the order of the file.
			a, b := root(dims[0]), root(i)
			group[max(a, b)] = min(a, b)
		}
	}
	for i, d := range s.frame.dims {
		for _, t := range d.when {
			join([]int{i, t.on})
		}
	}
	needs := make([][]int, len(s.checks))
	for k, c := range s.checks {
		needs[k] = slices.Clone(c.reads)
		for _, t := range c.when {
			needs[k] = append(needs[k], t.on)
		}
		for _, q := range c.asks {
			needs[k] = append(needs[k], s.reads[q]...)
		}
		join(needs[k])
	}
	for _, r := range s.reads {
		join(r)
	}
	s.of = make([]int, len(group))
	s.components = nil
	at := map[int]int{}
	for i := range group {
		r := root(i)
		if _, ok := at[r]; !ok {
			at[r] = len(s.components)
			s.components = append(s.components, &component{frame: s.frame})
		}
		s.of[i] = at[r]
	}
	for _, i := range s.frame.order {
		c := s.components[s.of[i]]
		c.dims = append(c.dims, i)
	}
	for k, c := range s.checks {
		if s.waits(c) {
			continue
		}
		// What depends on no dimension holds for all points or for none: any component
		// will do.
		p := s.components[0]
		if len(needs[k]) > 0 {
			p = s.components[s.of[needs[k][0]]]
		}
		p.checks = append(p.checks, c)
	}
	for q, f := range s.bound {
		if f != nil {
			p := s.components[0]
			if len(s.reads[q]) > 0 {
				p = s.components[s.of[s.reads[q][0]]]
			}
			p.valid = append(p.valid, f)
		}
	}
	for _, c := range s.components {
		if bad := s.count(c); bad != nil {
			return bad
		}
	}
	return nil
}

// waits says whether a constraint asks for a quantity that is not bound yet.
func (s *Space) waits(c *check) bool {
	return slices.ContainsFunc(c.asks, func(q int) bool { return s.bound[q] == nil })
}

// count builds a component and refuses what no search could use.
func (s *Space) count(c *component) *fault {
	first := "dimensions." + s.frame.dims[c.dims[0]].name
	if !c.build() {
		return faultf(first, "fewer conditions that depend on each other", "the conditions around %s have more than %d outcomes", s.frame.dims[c.dims[0]].name, maxStructures)
	}
	for j, i := range c.dims {
		if !slices.ContainsFunc(c.structures, func(st []int16) bool { return st[j] >= 0 }) {
			return faultf("dimensions."+s.frame.dims[i].name+".when", "its conditions contradict each other, or those of the dimensions they test", "%s can never be active", s.frame.dims[i].name)
		}
	}
	if c.free() {
		return nil
	}
	c.list(s)
	switch {
	case c.listed && len(c.accepted) == 0:
		return s.none(c, fmt.Sprintf("none of the %d points", c.raw()))
	case !c.listed:
		src := pcg(1)
		genes, hits := s.blank(), 0
		for range trials {
			c.draw(src, genes)
			if c.satisfied(s, genes) {
				hits++
			}
		}
		if hits < enough {
			return s.none(c, fmt.Sprintf("%d of %d points drawn at random", hits, trials))
		}
	}
	return nil
}

func (s *Space) none(c *component, what string) *fault {
	path, text := "dimensions."+s.frame.dims[c.dims[0]].name, "that the network can be built"
	if len(c.checks) > 0 {
		text = fmt.Sprintf("%q", c.checks[0].text)
		path = fmt.Sprintf("constraints.%d", slices.Index(s.checks, c.checks[0]))
		if len(c.checks) > 1 {
			text += fmt.Sprintf(" and %d more", len(c.checks)-1)
		}
	}
	return faultf(path, "loosen the constraint, or leave out values that it excludes", "%s satisfied: %s", what, text)
}

// satisfied says whether the genes of a component pass its constraints.
func (c *component) satisfied(s *Space, genes []uint64) bool {
	env := &environment{genes: genes, bound: s.bound}
	env.point = func() Point { return Point{s.frame, slices.Clone(genes)} }
	for _, k := range c.checks {
		if !k.holds(env) {
			return false
		}
	}
	for _, f := range c.valid {
		if _, err := f(env.point()); err != nil {
			return false
		}
	}
	return true
}

// blank is a gene for each dimension, all inactive.
func (s *Space) blank() []uint64 {
	genes := make([]uint64, len(s.frame.dims))
	for i := range genes {
		genes[i] = inactive
	}
	return genes
}

// Quantity is a number that a network has: "parameters" or "trainable_parameters".
type Quantity struct {
	Name string
	// Of names the dimensions that it depends on; those that the space lacks are
	// passed over.
	Of []string
	// Value computes it from a point of which only those dimensions are set. An error
	// excludes the point: a network that cannot be built is no candidate.
	Value func(Point) (float64, error)
}

// Bind returns the space with its constraints on the network's size in force. Points
// of both spaces are the same kind of point. It fails where no point is left.
func (s *Space) Bind(all ...Quantity) (*Space, error) {
	out := *s
	out.bound, out.reads = slices.Clone(s.bound), slices.Clone(s.reads)
	for _, q := range all {
		i := slices.Index(quantities, q.Name)
		if i < 0 {
			return nil, fmt.Errorf("search space %s: %q is not a quantity; there are %s", s.definition.Name, q.Name, strings.Join(quantities, ", "))
		}
		out.bound[i], out.reads[i] = q.Value, nil
		for _, name := range q.Of {
			if k, ok := s.frame.index[name]; ok {
				out.reads[i] = append(out.reads[i], k)
			}
		}
	}
	out.unbound = slices.DeleteFunc(slices.Clone(s.unbound), func(name string) bool { return out.bound[slices.Index(quantities, name)] != nil })
	if bad := out.assemble(); bad != nil {
		return nil, &Error{File: s.definition.Name, Msg: bad.msg, hint: bad.hint}
	}
	return &out, nil
}

// Unbound lists the quantities that have to be bound before points can be drawn.
func (s *Space) Unbound() []string { return slices.Clone(s.unbound) }

func (s *Space) ready() error {
	if len(s.unbound) > 0 {
		return fmt.Errorf("search space %s: %w: %s", s.definition.Name, ErrUnbound, strings.Join(s.unbound, ", "))
	}
	return nil
}

// Definition returns what the space was made of.
func (s *Space) Definition() Definition { return clone(s.definition) }

// Name is the name of the space.
func (s *Space) Name() string { return s.definition.Name }

// Net says what builds a network from a point, see Definition.Net.
func (s *Space) Net() string { return s.definition.Net }

// Dimensions lists the names of the dimensions as they are declared.
func (s *Space) Dimensions() []string { return names(s.frame.dims) }

// Size is the number of points of a space.
type Size struct {
	// Points is the number of canonical points; with Continuous, of combinations of
	// the finite choices.
	Points *big.Int
	// Exact is false where constraints were not counted, so that Points is a bound.
	Exact bool
	// Continuous says that a continuous range takes part.
	Continuous bool
}

// String is the size in words.
func (n Size) String() string {
	text := n.Points.String()
	if !n.Exact {
		text = "at most " + text
	}
	if n.Continuous {
		return "continuous (" + text + " finite choices)"
	}
	return text
}

// Size counts the points. Constraints on unbound quantities are not counted.
func (s *Space) Size() Size {
	out := Size{Points: big.NewInt(1), Exact: len(s.unbound) == 0}
	for _, c := range s.components {
		n, exact := c.points()
		out.Points.Mul(out.Points, n)
		out.Exact = out.Exact && exact
		out.Continuous = out.Continuous || c.continuous
	}
	return out
}

// Values lists the choices of a dimension, or nil for a range of more than 4,096
// numbers, a continuous one or a subset.
func (s *Space) Values(dimension string) []Value {
	i, ok := s.frame.index[dimension]
	if !ok {
		return nil
	}
	d := s.frame.dims[i]
	if d.continuous() || d.kind == Set || d.count > maxValues {
		return nil
	}
	var out []Value
	for g := range d.count {
		out = append(out, d.value(g))
	}
	return out
}
