package export

import (
	"fmt"
	"math"
	"slices"

	"pawl/compute/onnx"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/model"
)

// scores adds what a linear or additive model says about a row, float [N, outputs].
func (t *table) scores(m *model.Model) (string, error) {
	var parts []string
	var err error
	start := make([]float32, m.Outputs)
	if m.Kind == model.Additive {
		for k, v := range m.Intercept {
			start[k] = float32(v)
		}
		parts, err = t.terms(m)
	} else {
		parts, err = t.blocks(m, start)
	}
	if err != nil {
		return "", err
	}
	if len(parts) == 0 {
		return t.same(start), nil
	}
	t.Scope = "scores"
	sum := t.Tensor("intercept", start, 1, m.Outputs)
	for _, p := range parts {
		sum = t.Op("Add", sum, p)
	}
	return sum, nil
}

// same are scores that depend on no row: as many copies as there are rows.
func (t *table) same(scores []float32) string {
	rows := t.Input(onnx.NewPort("rows", onnx.Floats, "any numbers, one for each row: the answer is the same for all", 0, 1))
	t.Scope = "scores"
	return t.Op("Add", t.Tensor("intercept", scores, 1, len(scores)), t.Op("Mul", t.To(onnx.Floats, t.Op("IsNaN", rows)), t.Float(0)))
}

// look is the row of a table (levels×outputs) that level names, float [N, outputs].
func (t *table) look(level string, values []float32, outputs int) string {
	weights := t.Tensor("table", values, len(values)/outputs, outputs)
	return t.Op("Gather", weights, t.Reshape(level, -1))
}

// terms are the tables of an additive model.
func (t *table) terms(m *model.Model) ([]string, error) {
	coarse, err := coarseOf(m)
	if err != nil {
		return nil, err
	}
	var parts []string
	at, blocks := 0, m.Terms.Encoding.Blocks[1:]
	for i, term := range m.Terms.List() {
		values := float32sOf(m.Weights[at*m.Outputs : (at+term.Levels)*m.Outputs])
		at += term.Levels
		if i < len(blocks) {
			level := t.level(&blocks[i])
			t.Scope = blocks[i].Name
			parts = append(parts, t.look(level, values, m.Outputs))
			continue
		}
		pair := m.Terms.Interactions[i-len(blocks)]
		var first, second string
		sides := 0
		if m.Terms.Groups != nil {
			first, _ = t.group(m, pair[0])
			second, sides = t.group(m, pair[1])
		} else {
			b := blockOf(coarse, pair[1])
			first, second, sides = t.level(blockOf(coarse, pair[0])), t.level(b), b.Levels+1
		}
		t.Scope = term.Name
		parts = append(parts, t.look(t.pair(first, second, sides), values, m.Outputs))
	}
	return parts, nil
}

// group is the group of a column's level, the last one for unknown cells, and their number.
func (t *table) group(m *model.Model, name string) (group string, groups int) {
	of := m.Terms.Groups[name]
	groups = slices.Max(of) + 2
	var all []int64
	for _, g := range of {
		all = append(all, int64(g))
	}
	level := t.level(blockOf(m.Terms.Encoding, name))
	t.Scope = name
	return t.Op("Gather", t.Ints(append(all, int64(groups-1))...), level), groups
}

// pair is first·sides + second.
func (t *table) pair(first, second string, sides int) string {
	return t.Op("Add", t.Op("Mul", first, t.Whole(int64(sides))), second)
}

// coarseOf is the encoding of interactions, as model.NewTerms makes it.
func coarseOf(m *model.Model) (*encode.Encoding, error) {
	if m.Terms.Groups != nil {
		return nil, nil
	}
	o := m.Terms.Encoding.Options
	o.Bins, o.Attributes = m.Terms.InteractionBins, nil
	for _, pair := range m.Terms.Interactions {
		for _, name := range pair {
			if !slices.Contains(o.Attributes, name) {
				o.Attributes = append(o.Attributes, name)
			}
		}
	}
	if o.Attributes == nil {
		return nil, nil
	}
	return encode.New(m.Schema, m.Target, o)
}

func blockOf(e *encode.Encoding, name string) *encode.Block {
	return &e.Blocks[slices.IndexFunc(e.Blocks, func(b encode.Block) bool { return b.Name == name })]
}

// blocks are the parts of a linear model's scores. That of the intercept goes to start.
func (t *table) blocks(m *model.Model, start []float32) ([]string, error) {
	e := m.Encoding
	var parts []string
	crosses := crossed(e)
	for i := range e.Blocks {
		b := &e.Blocks[i]
		w := m.Weights[b.Offset*m.Outputs : (b.Offset+b.Dim)*m.Outputs]
		if b.Kind == encode.Intercept {
			row := make([]float64, m.Outputs)
			b.Forward(row, w, m.Outputs)
			for k, v := range row {
				start[k] += float32(e.Scale * v)
			}
			continue
		}
		part, err := t.block(e, b, w, m.Outputs, &crosses)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// block is the vector of a block times weights w (Dim×outputs). Products take the first
// of crosses.
func (t *table) block(e *encode.Encoding, b *encode.Block, w []float64, outputs int, crosses *[][2]*encode.Block) (string, error) {
	switch b.Kind {
	case encode.Linear:
		return t.linear(b, e.Scale, w, outputs), nil
	case encode.OneHot, encode.Sign, encode.Thermometer:
		values := append(levels(b, e.Scale, w, outputs), make([]float32, outputs)...)
		level := t.level(b)
		t.Scope = b.Name
		return t.look(level, values, outputs), nil
	case encode.Cross:
		pair := (*crosses)[0]
		*crosses = (*crosses)[1:]
		first, second := t.level(pair[0]), t.level(pair[1])
		t.Scope = b.Name
		return t.look(t.pair(first, second, 3), crossTable(levels(b, e.Scale, w, outputs), outputs), outputs), nil
	case encode.Vector:
		return t.vector(b, e.Scale, w, outputs), nil
	case encode.Sparse:
		if e.Options.Bag && t.schema.Column(b.Name) < 0 {
			return t.bag(b, e, w, outputs), nil
		}
		return "", &Error{fmt.Sprintf("column %q", b.Name), "it is a text, and ONNX cannot express how its words are hashed",
			"predict with pawl predict, or export the weights with --format safetensors"}
	}
	return "", &Error{fmt.Sprintf("column %q", b.Name), fmt.Sprintf("an encoding of kind %q is not known here", b.Kind), "predict with pawl predict"}
}

// input32 is a row as the input of a network, float [N, Inputs].
func (t *table) input32(m *model.Model) (string, error) {
	e := *m.Encoding
	e.Scale = e.InputScale()
	crosses := crossed(&e)
	var parts []string
	for i := range e.Blocks[1:] {
		b := &e.Blocks[i+1]
		w := make([]float64, b.Dim*b.Dim)
		for j := range b.Dim {
			w[j*b.Dim+j] = 1
		}
		part, err := t.block(&e, b, w, b.Dim, &crosses)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	t.Scope = "row"
	return t.Add("Concat", onnx.Attributes{"axis", int64(1)}, parts...), nil
}

// levels is what each level of a block adds to the scores.
func levels(b *encode.Block, scale float64, w []float64, outputs int) []float32 {
	values := make([]float64, b.Levels*outputs)
	b.Forward(values, w, outputs)
	for i := range values {
		values[i] *= scale
	}
	return float32sOf(values)
}

// crossed lists the two blocks of every product, in the order of encode.New.
func crossed(e *encode.Encoding) [][2]*encode.Block {
	var pairs [][2]*encode.Block
	for i := range e.Blocks {
		for j := range e.Blocks {
			if e.Blocks[i].Kind == encode.Thermometer && e.Blocks[j].Kind == encode.Sign {
				pairs = append(pairs, [2]*encode.Block{&e.Blocks[i], &e.Blocks[j]})
			}
		}
	}
	return pairs
}

// crossTable spreads the rows 2·bin + side over rows 3·bin + side, in which unknown bins
// and sides add nothing.
func crossTable(values []float32, outputs int) []float32 {
	var all []float32
	for ; len(values) > 0; values = values[2*outputs:] {
		all = append(all, values[:2*outputs]...)
		all = append(all, make([]float32, outputs)...)
	}
	return append(all, make([]float32, 3*outputs)...)
}

// linear is the part of a coordinate that is a number itself.
func (t *table) linear(b *encode.Block, scale float64, w []float64, outputs int) string {
	c := &t.schema.Columns[t.schema.Column(b.Name)]
	lower, upper := c.Lower, c.Upper
	var v, unknown string
	if n := len(c.Levels()); n > 0 {
		code := t.code(c)
		t.Scope = c.Name
		lower, upper = 0, float64(n-1)
		v, unknown = t.To(onnx.Floats, code), t.Op("Equal", code, t.Whole(int64(n)))
	} else {
		cell := t.number(c)
		t.Scope = c.Name
		v, unknown = t.Op("Clip", cell, t.Float(float32(lower)), t.Float(float32(upper))), t.Op("IsNaN", cell)
		if c.HeavyTailed {
			v = t.Op("Log", t.Op("Add", v, t.Float(1)))
			lower, upper = math.Log1p(lower), math.Log1p(upper)
		}
	}
	position := t.Op("Mul", t.Op("Sub", v, t.Float(float32((lower+upper)/2))), t.Float(float32(2/(upper-lower))))
	x := t.Op("Where", unknown, t.Float(0), t.Op("Clip", position, t.Float(-1), t.Float(1)))
	return t.Op("MatMul", x, t.weights(scale, w, outputs))
}

func (t *table) weights(scale float64, w []float64, outputs int) string {
	values := make([]float32, len(w))
	for i, v := range w {
		values[i] = float32(scale * v)
	}
	return t.Tensor("weights", values, len(w)/outputs, outputs)
}

// bag is the part of a block of columns that are there or not, divided by the root of
// how many are.
func (t *table) bag(b *encode.Block, e *encode.Encoding, w []float64, outputs int) string {
	var members []string
	for _, name := range e.Names(t.schema)[b.Offset : b.Offset+b.Dim] {
		c := &t.schema.Columns[t.schema.Column(name)]
		if c.Type == schema.Boolean {
			code := t.code(c)
			t.Scope = name
			members = append(members, t.To(onnx.Floats, t.Op("Equal", code, t.Whole(1))))
			continue
		}
		cell := t.number(c)
		t.Scope = name
		members = append(members, t.To(onnx.Floats, t.Op("Greater", cell, t.Float(0))))
	}
	t.Scope = b.Name
	x := t.Add("Concat", onnx.Attributes{"axis", int64(1)}, members...)
	count := t.Add("ReduceSum", onnx.Attributes{"keepdims", int64(1)}, x, t.Ints(1))
	norm := t.Op("Sqrt", t.Op("Max", count, t.Float(1)))
	return t.Op("MatMul", t.Op("Div", x, norm), t.weights(e.Scale, w, outputs))
}

// vector is the part of a column of numbers from a public extractor, at norm 1.
func (t *table) vector(b *encode.Block, scale float64, w []float64, outputs int) string {
	t.Scope = ""
	x := t.Input(onnx.NewPort(b.Name, onnx.Floats, "numbers of the extractor as they are; zeros are unknown", 0, b.Dim))
	t.Scope = b.Name
	return t.Op("MatMul", t.Unit(x, 1), t.weights(scale, w, outputs))
}

func float32sOf(values []float64) []float32 {
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = float32(v)
	}
	return out
}
