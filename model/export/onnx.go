package export

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"pawl/compute/onnx"
	"pawl/data/schema"
	"pawl/evidence/quality"
	"pawl/model"
)

// Facts are what a file says about where it comes from.
type Facts struct {
	// Version is that of this program.
	Version string
	// Epsilon, Delta, Relation and Unit are the claim, in the words of the statement.
	// Without an Epsilon none is made.
	Epsilon, Delta, Relation, Unit string
}

// File is a model in another format.
type File struct {
	Bytes           []byte
	Inputs, Outputs []Port
}

// Port is an input or output of an ONNX model.
type Port = onnx.Port

// graph is an ONNX graph of a model.
type graph struct{ *onnx.Graph }

// ONNX writes m as an ONNX model; the package comment says what it takes and answers.
// Errors are *Error for what ONNX cannot express, and those of m.Validate.
func ONNX(m *model.Model, facts Facts) (*File, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	g := &graph{onnx.New()}
	scores, err := g.body(m)
	if err != nil {
		return nil, err
	}
	g.Scope = "answer"
	if m.Task == model.Regression {
		g.value(m, scores)
	} else {
		g.classes(m, scores)
	}
	properties, err := propertiesOf(m, facts)
	if err != nil {
		return nil, err
	}
	return &File{Bytes: g.Model("pawl", g.note(m, facts), facts.Version, properties), Inputs: g.Inputs, Outputs: g.Outputs}, nil
}

// body is the part that makes scores [N, outputs].
func (g *graph) body(m *model.Model) (string, error) {
	if !m.OfTable() {
		return g.network(m, ""), nil
	}
	for i := range m.Schema.Columns {
		g.Names[m.Schema.Columns[i].Name] = true // no other value may take the name
	}
	t := &table{graph: g, schema: m.Schema, cells: map[string]string{}, levels: map[string]string{}}
	switch m.Kind {
	case model.Constant:
		return t.constant(m), nil
	case model.Network:
		row, err := t.input32(m)
		if err != nil {
			return "", err
		}
		return g.network(m, row), nil
	}
	return t.scores(m)
}

// network adds the layers of m and returns its scores, float [N, outputs]. row is its
// input where that is made of the columns of a table, else empty.
func (g *graph) network(m *model.Model, row string) string {
	tokens := "numbers of the tokens as pawl hashes words (package text)"
	if m.Vocabulary != nil {
		tokens = "numbers of the tokens: their lines in vocabulary.txt, from 0"
	}
	return m.Net.ONNX(g.Graph, m.Parameters32, row, tokens)
}

// constant are scores that are the same for every row: those of a linear model of which
// nothing but the intercept is left. A class gets all of the probability.
func (t *table) constant(m *model.Model) string {
	start := []float32{float32(m.Value)}
	if m.Task == model.Classification {
		start = make([]float32, len(m.Classes()))
		for k := range start {
			start[k] = -1e30
		}
		start[int(m.Value)] = 0
	}
	return t.same(start)
}

// output is an output whose name no column has.
func (g *graph) output(name string, k onnx.Kind, meaning string, shape ...int) Port {
	for g.Names[name] {
		name += "_"
	}
	g.Names[name] = true
	return onnx.NewPort(name, k, meaning, shape...)
}

// classes ends a classifier.
func (g *graph) classes(m *model.Model, scores string) {
	classes := m.Classes()
	outputs := len(classes)
	say := "they order rows, noise leaves them uncalibrated"
	if m.Calibration != nil {
		say = "calibrated by what was released of scored rows"
	}
	probabilities := g.output("probabilities", onnx.Floats, "of "+strings.Join(classes, ", ")+"; "+say, 0, len(classes))
	one := m.Kind != model.Constant && outputsOf(m) == 1
	if one {
		outputs = 1
	}
	var best string
	switch {
	case one || m.TwoClasses() && (m.Calibration != nil || m.Threshold > 0):
		odds := scores
		if !one {
			odds = g.Op("MatMul", scores, g.Tensor("odds", []float32{-1, 1}, 2, 1))
		}
		if c := m.Calibration; c != nil {
			odds = g.Op("Add", g.Op("Mul", odds, g.Float(float32(c.Slope))), g.Float(float32(c.Intercept)))
		}
		cut, inclusive := m.Cut()
		compare := "Greater"
		if inclusive {
			compare = "GreaterOrEqual"
		}
		best = g.Reshape(g.To(onnx.Int64s, g.Op(compare, odds, g.Float(float32(cut)))), -1)
		second := g.Op("Sigmoid", odds)
		g.Put(probabilities, "Concat", "", onnx.Attributes{"axis", int64(1)}, g.Op("Sub", g.Float(1), second), second)
	case m.Calibration != nil:
		best = g.best(scores)
		g.Put(probabilities, "Identity", "", nil, g.spread(scores, best, len(classes), *m.Calibration))
	default:
		best = g.best(scores)
		g.Put(probabilities, "Softmax", "", onnx.Attributes{"axis", int64(1)}, scores)
	}
	keys := make([]int64, len(classes))
	for k := range keys {
		keys[k] = int64(k)
	}
	label := g.output("label", onnx.Texts, "the class of "+m.Target, 0)
	g.Put(label, "LabelEncoder", onnx.MLDomain, onnx.Attributes{"keys_int64s", keys, "values_strings", classes}, best)
	g.Put(g.output("scores", onnx.Floats, "before calibration and the sigmoid or softmax", 0, outputs), "Identity", "", nil, scores)
	g.Outputs[0], g.Outputs[1] = g.Outputs[1], g.Outputs[0]
}

// best is the first class of the highest score, whole [N].
func (g *graph) best(scores string) string {
	return g.Add("ArgMax", onnx.Attributes{"axis", int64(1), "keepdims", int64(0)}, scores)
}

// spread are the calibrated probabilities of more than two classes, as model.Model has them.
func (g *graph) spread(scores, best string, classes int, c quality.Calibration) string {
	eye := make([]float32, classes*classes)
	for k := range classes {
		eye[k*(classes+1)] = 1
	}
	of := g.Tensor("class", eye, classes, classes)
	sum := func(v string) string { return g.Add("ReduceSum", onnx.Attributes{"keepdims", int64(1)}, v, g.Ints(1)) }
	first := g.Op("Gather", of, best) // 1 for the predicted class
	others := g.Op("Sub", g.Float(1), first)
	behind := g.Op("Sub", scores, sum(g.Op("Mul", scores, first)))
	odds := g.Op("Sub", g.Float(0), g.Op("Log", sum(g.Op("Mul", g.Op("Exp", behind), others))))
	p := g.Op("Sigmoid", g.Op("Add", g.Op("Mul", odds, g.Float(float32(c.Slope))), g.Float(float32(c.Intercept))))
	p = g.Op("Max", p, g.Float(1/float32(classes)))
	left := g.Op("Sub", g.Float(1), p)

	even := 1 / float32(classes-1)
	rest := g.Add("Softmax", onnx.Attributes{"axis", int64(1)}, g.Op("Sub", behind, g.Op("Mul", first, g.Float(1e30))))
	most := sum(g.Op("Mul", rest, g.Op("Gather", of, g.best(rest))))
	over := g.Op("Sub", most, g.Op("Mul", g.Op("Div", p, left), g.Float(1-1e-6))) // model.below
	draw := g.Op("Clip", g.Op("Div", over, g.Op("Max", g.Op("Sub", most, g.Float(even)), g.Float(1e-6))), g.Float(0), g.Float(1))
	rest = g.Op("Add", rest, g.Op("Mul", draw, g.Op("Sub", g.Op("Mul", others, g.Float(even)), rest)))
	return g.Op("Add", g.Op("Mul", left, rest), g.Op("Mul", p, first))
}

func outputsOf(m *model.Model) int {
	if m.Kind == model.Network {
		return m.Net.Outputs()
	}
	return m.Outputs
}

// value ends a regression: a position in [−1, 1] becomes a value within the bounds of
// the target, as model.TargetScale has it.
func (g *graph) value(m *model.Model, scores string) {
	s := m.Scale
	t := g.Op("Clip", g.Op("Mul", g.Op("Add", scores, g.Float(1)), g.Float(0.5)), g.Float(0), g.Float(1))
	if s.Log {
		b := s.Bent()
		t = g.Op("Mul", g.Op("Sub", g.Op("Exp", g.Op("Mul", t, g.Float(float32(math.Log1p(b))))), g.Float(1)), g.Float(float32(1/b)))
	}
	y := g.Op("Add", g.Op("Mul", t, g.Float(float32(s.Upper-s.Lower))), g.Float(float32(s.Lower)))
	meaning := fmt.Sprintf("%s, %g to %g", m.Target, s.Lower, s.Upper)
	g.Put(g.output("prediction", onnx.Floats, meaning, 0), "Reshape", "", nil, y, g.Ints(-1))
}

// note is what a viewer shows first.
func (g *graph) note(m *model.Model, facts Facts) string {
	n := fmt.Sprintf("Predicts %s.", m.Target)
	if m.NotPrivate {
		n = "NOT PRIVATE: it comes from a run without a claim. " + n
	} else if facts.Epsilon != "" {
		n += fmt.Sprintf(" Trained under differential privacy: epsilon %s, delta %s, relation %s, unit %s.", facts.Epsilon, facts.Delta, facts.Relation, facts.Unit)
	}
	for _, p := range g.Inputs {
		n += fmt.Sprintf("\nInput %s, %s %s: %s.", p.Name, p.Type, p.Shape, p.Meaning)
	}
	return n
}

// propertiesOf is what both formats say about a model.
func propertiesOf(m *model.Model, facts Facts) ([][2]string, error) {
	declared, err := schema.Encode(m.Schema)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(declared)
	list := [][2]string{
		{"software", "pawl " + facts.Version}, {"task", string(m.Task)}, {"target", m.Target}, {"kind", string(m.Kind)},
		{"schema_sha256", hex.EncodeToString(digest[:])},
	}
	claim := [][2]string{{"claim", "differential privacy"}, {"epsilon", facts.Epsilon}, {"delta", facts.Delta}}
	if m.NotPrivate {
		// Figures beside these words would be read as a claim all the same.
		claim = [][2]string{{"claim", "NOT PRIVATE"}}
	}
	for _, p := range append(claim, [2]string{"relation", facts.Relation}, [2]string{"unit", facts.Unit}) {
		if p[1] != "" && (m.NotPrivate || facts.Epsilon != "") {
			list = append(list, p)
		}
	}
	return list, nil
}
