package export

import (
	"fmt"
	"strconv"
)

// mlDomain is the domain of LabelEncoder.
const mlDomain = "ai.onnx.ml"

// graph collects nodes in the order in which they compute. Values are known by their
// names.
type graph struct {
	nodes, initializers []message
	inputs, outputs     []Port
	names               map[string]bool
	constants           map[string]string
	// scope is where the next node belongs: the column or layer that names of nodes and
	// values start with.
	scope string
}

func newGraph() *graph { return &graph{names: map[string]bool{}, constants: map[string]string{}} }

// fresh is a name that starts with the scope and is not taken.
func (g *graph) fresh(what string) string {
	base := what
	if g.scope != "" {
		base = g.scope + "/" + what
	}
	name := base
	for i := 2; g.names[name]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	g.names[name] = true
	return name
}

// attributes are pairs of a name and a value.
type attributes []any

func (g *graph) node(op, domain string, outputs, inputs []string, a attributes) {
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

// add computes one value and returns its name.
func (g *graph) add(op string, a attributes, inputs ...string) string {
	out := g.fresh(op)
	g.node(op, "", []string{out}, inputs, a)
	return out
}

// op is add without attributes.
func (g *graph) op(op string, inputs ...string) string { return g.add(op, nil, inputs...) }

// put computes the value of an output.
func (g *graph) put(out Port, op, domain string, a attributes, inputs ...string) {
	g.outputs = append(g.outputs, out)
	g.node(op, domain, []string{out.Name}, inputs, a)
}

// input declares an input and returns its name.
func (g *graph) input(p Port) string {
	g.inputs = append(g.inputs, p)
	g.names[p.Name] = true
	return p.Name
}

// tensor stores numbers: []float32, []float64, []int32 or []int64.
func (g *graph) tensor(what string, values any, dims ...int) string {
	name := g.fresh(what)
	g.initializers = append(g.initializers, tensorOf(name, dims, values))
	return name
}

// once stores small numbers that many nodes use.
func (g *graph) once(values any, dims ...int) string {
	key := fmt.Sprintf("%T %v %v", values, values, dims)
	if name, ok := g.constants[key]; ok {
		return name
	}
	scope := g.scope
	g.scope = "constant"
	name := g.tensor("value", values, dims...)
	g.scope = scope
	g.constants[key] = name
	return name
}

func (g *graph) float(v float32) string     { return g.once([]float32{v}) }
func (g *graph) double(v float64) string    { return g.once([]float64{v}) }
func (g *graph) ints(v ...int64) string     { return g.once(v, len(v)) }
func (g *graph) whole(v int64) string       { return g.once([]int64{v}) }
func (g *graph) to(k kind, v string) string { return g.add("Cast", attributes{"to", int64(k)}, v) }

// reshape gives v another shape; −1 is what is left over.
func (g *graph) reshape(v string, dims ...int64) string { return g.op("Reshape", v, g.ints(dims...)) }

func (g *graph) transpose(v string, order ...int64) string {
	return g.add("Transpose", attributes{"perm", order}, v)
}

// slice keeps [from, to) of an axis.
func (g *graph) slice(v string, axis, from, to int) string {
	return g.op("Slice", v, g.ints(int64(from)), g.ints(int64(to)), g.ints(int64(axis)))
}

// model makes the file.
func (g *graph) model(name, note, version string, properties [][2]string) []byte {
	var graph message
	for _, n := range g.nodes {
		graph.bytes(1, n)
	}
	graph.text(2, name)
	for _, t := range g.initializers {
		graph.bytes(5, t)
	}
	for _, p := range g.inputs {
		graph.bytes(11, p.info())
	}
	for _, p := range g.outputs {
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
	}{{"", 17}, {mlDomain, 3}} {
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
