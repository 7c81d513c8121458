package onnx

import (
	"fmt"
	"strconv"
)

// MLDomain is the domain of LabelEncoder.
const MLDomain = "ai.onnx.ml"

// Graph collects nodes in the order in which they compute. Values are known by their
// names.
type Graph struct {
	nodes, initializers []message
	Inputs, Outputs     []Port
	Names               map[string]bool
	constants           map[string]string
	// Scope is where the next node belongs: the column or layer that names of nodes and
	// values start with.
	Scope string
}

// New is a graph without nodes.
func New() *Graph { return &Graph{Names: map[string]bool{}, constants: map[string]string{}} }

// Fresh is a name that starts with the scope and is not taken.
func (g *Graph) Fresh(what string) string {
	base := what
	if g.Scope != "" {
		base = g.Scope + "/" + what
	}
	name := base
	for i := 2; g.Names[name]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	g.Names[name] = true
	return name
}

// Attributes are pairs of a name and a value.
type Attributes []any

// Node adds a node of an operator with several outputs, or of another domain than ONNX's own.
func (g *Graph) Node(op, domain string, outputs, inputs []string, a Attributes) {
	var m message
	for _, in := range inputs {
		m.text(1, in)
	}
	for _, out := range outputs {
		m.text(2, out)
	}
	m.text(3, outputs[0])
	m.text(4, op)
	for i := 0; i < len(a); i += 2 {
		m.bytes(5, attribute(a[i].(string), a[i+1]))
	}
	if domain != "" {
		m.text(7, domain)
	}
	g.nodes = append(g.nodes, m)
}

// Add computes one value and returns its name.
func (g *Graph) Add(op string, a Attributes, inputs ...string) string {
	out := g.Fresh(op)
	g.Node(op, "", []string{out}, inputs, a)
	return out
}

// Op is add without Attributes.
func (g *Graph) Op(op string, inputs ...string) string { return g.Add(op, nil, inputs...) }

// Put computes the value of an output.
func (g *Graph) Put(out Port, op, domain string, a Attributes, inputs ...string) {
	g.Outputs = append(g.Outputs, out)
	g.Node(op, domain, []string{out.Name}, inputs, a)
}

// Input declares an input and returns its name.
func (g *Graph) Input(p Port) string {
	g.Inputs = append(g.Inputs, p)
	g.Names[p.Name] = true
	return p.Name
}

// Tensor stores numbers: []float32, []float64, []int32 or []int64.
func (g *Graph) Tensor(what string, values any, dims ...int) string {
	name := g.Fresh(what)
	g.initializers = append(g.initializers, tensorOf(name, dims, values))
	return name
}

// Once stores small numbers that many nodes use.
func (g *Graph) Once(values any, dims ...int) string {
	key := fmt.Sprintf("%T %v %v", values, values, dims)
	if name, ok := g.constants[key]; ok {
		return name
	}
	scope := g.Scope
	g.Scope = "constant"
	name := g.Tensor("value", values, dims...)
	g.Scope = scope
	g.constants[key] = name
	return name
}

// Float, Double, Whole and Ints are constants; To is v as numbers of a kind.
func (g *Graph) Float(v float32) string     { return g.Once([]float32{v}) }
func (g *Graph) Double(v float64) string    { return g.Once([]float64{v}) }
func (g *Graph) Ints(v ...int64) string     { return g.Once(v, len(v)) }
func (g *Graph) Whole(v int64) string       { return g.Once([]int64{v}) }
func (g *Graph) To(k Kind, v string) string { return g.Add("Cast", Attributes{"to", int64(k)}, v) }

// Reshape gives v another shape; −1 is what is left over.
func (g *Graph) Reshape(v string, dims ...int64) string { return g.Op("Reshape", v, g.Ints(dims...)) }

// Transpose gives the axes of v another order.
func (g *Graph) Transpose(v string, order ...int64) string {
	return g.Add("Transpose", Attributes{"perm", order}, v)
}

// Slice keeps [from, to) of an axis.
func (g *Graph) Slice(v string, axis, from, to int) string {
	return g.Op("Slice", v, g.Ints(int64(from)), g.Ints(int64(to)), g.Ints(int64(axis)))
}

// Unit brings every row of x, float [N, d], to a norm; rows of zeros stay.
func (g *Graph) Unit(x string, norm float64) string {
	return g.To(Floats, g.Divided(g.To(Doubles, x), norm))
}

// Divided is Unit in doubles.
func (g *Graph) Divided(x string, norm float64) string {
	length := g.Op("Sqrt", g.Add("ReduceSum", Attributes{"keepdims", int64(1)}, g.Op("Mul", x, x), g.Ints(1)))
	zero := g.Op("Equal", length, g.Double(0))
	y := g.Op("Div", x, g.Op("Where", zero, g.Double(1), length))
	if norm == 1 {
		return y
	}
	return g.Op("Mul", y, g.Double(norm))
}

// Model makes the file.
func (g *Graph) Model(name, note, version string, properties [][2]string) []byte {
	var graph message
	for _, n := range g.nodes {
		graph.bytes(1, n)
	}
	graph.text(2, name)
	for _, t := range g.initializers {
		graph.bytes(5, t)
	}
	for _, p := range g.Inputs {
		graph.bytes(11, p.info())
	}
	for _, p := range g.Outputs {
		graph.bytes(12, p.info())
	}
	var m message
	m.number(1, 8) // version of the format that goes with opset 17
	m.text(2, "pawl")
	m.text(3, version)
	m.text(6, note)
	m.bytes(7, graph)
	for _, set := range []struct {
		domain  string
		version int64
	}{{"", 17}, {MLDomain, 3}} {
		var o message
		if set.domain != "" {
			o.text(1, set.domain)
		}
		o.number(2, set.version)
		m.bytes(8, o)
	}
	for _, p := range properties {
		m.bytes(14, property(p[0], p[1]))
	}
	return m
}
