package zoo

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"pawl/compute/nn"
	"pawl/internal/usage"
)

// Version is the version of network files that Decode understands.
const Version = 1

// maxBytes bounds a file: a net of a thousand layers fits.
const maxBytes = 1 << 20

// Error is a fault in a network file.
type Error struct {
	File      string
	Line, Col int
	Msg       string
	hint      string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// Hint says how to mend it.
func (e *Error) Hint() string { return e.hint }

// ExitStatus is that of wrong usage or data.
func (e *Error) ExitStatus() int { return 2 }

// document is a file as it is written.
type document struct {
	Version        int          `yaml:"version"`
	Name           string       `yaml:"name,omitempty"`
	Title          string       `yaml:"title,omitempty"`
	Source         string       `yaml:"source,omitempty"`
	Note           string       `yaml:"note,omitempty"`
	Input          shape        `yaml:"input,omitempty"`
	Outputs        int          `yaml:"outputs,omitempty"`
	Loss           nn.LossKind  `yaml:"loss,omitempty"`
	HuberThreshold float64      `yaml:"huber_threshold,omitempty"`
	Layers         []nn.Layer   `yaml:"layers"`
	Parameters     int          `yaml:"parameters,omitempty"`
	Trainable      int          `yaml:"trainable,omitempty"`
	Defaults       fileDefaults `yaml:"defaults,omitempty"`
}

type fileDefaults struct {
	Activation   string  `yaml:"activation,omitempty"`
	Bound        float64 `yaml:"bound,omitempty"`
	Dropout      bool    `yaml:"dropout,omitempty"`
	Kappa        float64 `yaml:"kappa,omitempty"`
	Radius       float64 `yaml:"radius,omitempty"`
	ClippingNorm float64 `yaml:"clipping_norm,omitempty"`
	Augment      int     `yaml:"augment,omitempty"`
	Shift        int     `yaml:"shift,omitempty"`
}

// shape is a number of inputs, or [height, width, channels].
type shape []int

func (s *shape) UnmarshalYAML(data []byte) error {
	var one int
	var three []int
	switch {
	case yaml.Unmarshal(data, &one) == nil:
		three = []int{1, 1, one}
	case yaml.Unmarshal(data, &three) != nil || len(three) != 3:
		return errors.New("input must be a number, or [height, width, channels]")
	}
	if slices.Min(three) < 1 {
		return errors.New("input must be at least 1 in every direction")
	}
	*s = three
	return nil
}

// Load reads a network file. Faults are *Error with file, line and column.
func Load(path string) (Spec, error) {
	f, err := os.Open(path)
	if err != nil {
		return Spec{}, fmt.Errorf("network: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return Spec{}, fmt.Errorf("network: %w", err)
	}
	return Decode(path, data)
}

// Decode reads a Spec from YAML; name stands for the file in errors. Unknown and
// duplicate keys are refused. A file that gives input and outputs is compiled
// once, so that a layer at fault is named with its place before any training.
func Decode(name string, data []byte) (spec Spec, err error) {
	fault := func(line, col int, msg, hint string) (Spec, error) {
		return Spec{}, &Error{File: name, Line: line, Col: col, Msg: msg, hint: hint}
	}
	switch {
	case len(data) > maxBytes:
		return fault(1, 1, "a network file larger than 1 MiB", "")
	}
	// The decoder is another project's; a fault in it must not stop the program.
	defer func() {
		if recover() != nil {
			spec, err = fault(1, 1, "not readable as YAML", "")
		}
	}()
	file, err := usage.ParseYAML(data)
	if err != nil {
		return Spec{}, syntaxError(name, err)
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return fault(1, 1, "a network file holds one YAML document", wholeExample)
	}
	at := func(path string) (line, col int) { return place(file, path) }
	if node := reference(file.Docs[0].Body); node != nil {
		return fault(node.GetToken().Position.Line, node.GetToken().Position.Column, "anchors and aliases have no use here", "write the layer out")
	}
	// Version first: a newer file may hold keys that mean something else here.
	var head struct {
		Version int `yaml:"version"`
	}
	if err := yaml.NodeToValue(file.Docs[0].Body, &head); err == nil && head.Version != Version {
		line, col := at("$.version")
		return fault(line, col, fmt.Sprintf("version must be %d", Version), "start the file with: version: 1")
	}
	var d document
	if err := yaml.NodeToValue(file.Docs[0].Body, &d, yaml.Strict()); err != nil {
		e := syntaxError(name, err)
		if at := unplaced(file.Docs[0].Body, reflect.TypeFor[document]()); at != nil && e.Line*e.Col == 1 {
			e.Line, e.Col = at.GetToken().Position.Line, at.GetToken().Position.Column
		}
		return Spec{}, e
	}
	if n := fraction(file.Docs[0].Body); n != nil {
		at := n.Value.GetToken().Position
		return fault(at.Line, at.Column, n.Key.String()+" must be a whole number", "")
	}
	if n := zero(file.Docs[0].Body); n != nil {
		at := n.Value.GetToken().Position
		return fault(at.Line, at.Column, n.Key.String()+" must be greater than 0", "leave the key out if the default is meant")
	}
	spec = d.spec()
	if key, msg := d.check(); key != "" {
		line, col := at("$." + key)
		return fault(line, col, msg, "")
	}
	full := spec
	if spec.Input == (nn.Shape{}) || spec.Outputs == 0 {
		err = spec.Network.Validate()
	} else if full, err = spec.For(spec.Input, spec.Outputs); err == nil {
		_, err = full.Compile()
	}
	var l *nn.LayerError
	switch {
	case errors.As(err, &l):
		line, col := at(pathOf(l))
		where := ""
		if l.Layer > 0 {
			where = fmt.Sprintf("layer %d (%s): ", l.Layer, l.Kind)
		}
		return fault(line, col, where+l.Reason, l.Instead)
	case err != nil:
		line, col := at("$.parameters")
		return fault(line, col, err.Error(), "leave the counts out, or correct them")
	}
	return full, nil
}

// pathOf is where a layer's fault stands in the file.
func pathOf(l *nn.LayerError) string {
	switch {
	case l.Layer == 0:
		return "$." + l.Key
	case l.Key == "":
		return fmt.Sprintf("$.layers[%d]", l.Layer-1)
	}
	return fmt.Sprintf("$.layers[%d].%s", l.Layer-1, l.Key)
}

// place finds a path, or the nearest one above it that the file has.
func place(file *ast.File, path string) (line, col int) {
	for path != "$" {
		if p, err := yaml.PathString(path); err == nil {
			if node, err := p.FilterFile(file); err == nil && node != nil {
				if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
					node = m.Values[0].Key
				}
				if t := node.GetToken(); t != nil && t.Position != nil {
					return t.Position.Line, t.Position.Column
				}
			}
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 1 {
			break
		}
		path = path[:cut]
	}
	return 1, 1
}

// reference returns the first anchor, alias, merge or tag below n.
func reference(n ast.Node) ast.Node {
	var found ast.Node
	ast.Walk(visitor(func(n ast.Node) {
		switch n.(type) {
		case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
			if found == nil {
				found = n
			}
		}
	}), n)
	return found
}

// fractional are the keys whose value may have a fraction: those that a file's fields hold
// as one.
var fractional = fractionsOf(reflect.TypeFor[document](), reflect.TypeFor[nn.Layer](), reflect.TypeFor[fileDefaults]())

func fractionsOf(types ...reflect.Type) (keys []string) {
	for _, t := range types {
		for i := range t.NumField() {
			if f := t.Field(i); f.Type.Kind() == reflect.Float64 {
				key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// fraction returns the first entry below n that gives a whole number a fraction, which the
// parser would drop without a word.
func fraction(n ast.Node) *ast.MappingValueNode {
	return entry(n, func(m *ast.MappingValueNode) bool {
		values := []ast.Node{m.Value}
		if list, ok := m.Value.(*ast.SequenceNode); ok {
			values = list.Values
		}
		return !slices.Contains(fractional, m.Key.String()) && slices.ContainsFunc(values, func(v ast.Node) bool {
			f, ok := v.(*ast.FloatNode)
			return ok && f.Value != math.Trunc(f.Value)
		})
	})
}

// mayBeZero are the keys of numbers for which 0 has a meaning, or says what is so without the key.
var mayBeZero = []string{"version", "seed", "from", "rate", "offset", "augment", "shift"}

// zero returns the first entry below n that gives 0 where it would count as a key that is left out.
func zero(n ast.Node) *ast.MappingValueNode {
	return entry(n, func(m *ast.MappingValueNode) bool {
		if slices.Contains(mayBeZero, m.Key.String()) {
			return false
		}
		switch v := m.Value.(type) {
		case *ast.IntegerNode:
			return fmt.Sprint(v.Value) == "0"
		case *ast.FloatNode:
			return v.Value == 0
		}
		return false
	})
}

// entry returns the first entry below n that is found.
func entry(n ast.Node, is func(*ast.MappingValueNode) bool) *ast.MappingValueNode {
	var found *ast.MappingValueNode
	ast.Walk(visitor(func(n ast.Node) {
		if m, ok := n.(*ast.MappingValueNode); ok && found == nil && is(m) {
			found = m
		}
	}), n)
	return found
}

// unplaced returns the first value below n that its field of t does not take. The parser names
// no place for what a field itself refuses.
func unplaced(n ast.Node, t reflect.Type) ast.Node {
	switch node := n.(type) {
	case *ast.MappingNode:
		if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.BytesUnmarshaler]()) {
			break
		}
		for _, entry := range node.Values {
			for i := range t.NumField() {
				if key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); key == entry.Key.String() {
					if at := unplaced(entry.Value, t.Field(i).Type); at != nil {
						return at
					}
				}
			}
		}
		return nil
	case *ast.SequenceNode:
		if t.Kind() != reflect.Slice || reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.BytesUnmarshaler]()) {
			break
		}
		for _, one := range node.Values {
			if at := unplaced(one, t.Elem()); at != nil {
				return at
			}
		}
		return nil
	}
	if yaml.NodeToValue(n, reflect.New(t).Interface()) != nil {
		return n
	}
	return nil
}

type visitor func(ast.Node)

func (v visitor) Visit(n ast.Node) ast.Visitor {
	v(n)
	return v
}

const wholeExample = "a complete example: pawl models show lenet-5"

// syntaxError gives the parser's own place and words.
func syntaxError(name string, err error) *Error {
	e := &Error{File: name}
	e.Line, e.Col, e.Msg, e.hint = usage.YAML(err)
	if strings.HasPrefix(e.Msg, "YAML: unknown field") {
		e.hint = "a layer has the keys kind and those of its kind; " + wholeExample
	}
	e.hint = cmp.Or(e.hint, wholeExample)
	return e
}

// check reports the first value that no net can have, and its key.
func (d *document) check() (key, msg string) {
	switch {
	case d.Outputs < 0:
		return "outputs", "outputs must be at least 1"
	case d.Parameters < 0:
		return "parameters", "parameters must be at least 1"
	case d.Trainable < 0:
		return "trainable", "trainable must be at least 1"
	case len(d.Layers) == 0:
		return "layers", "layers must list at least one layer"
	case d.Defaults.Activation != "" && !slices.Contains(nn.Activations(), d.Defaults.Activation):
		return "defaults.activation", fmt.Sprintf("no activation is called %q", d.Defaults.Activation)
	}
	if d.Defaults.Augment < 0 || d.Defaults.Augment > 64 || d.Defaults.Shift < 0 || d.Defaults.Shift > 0 && d.Defaults.Augment < 2 {
		return "defaults", "augment takes 1 to 64 variants, and shift belongs to 2 or more"
	}
	for _, f := range []struct {
		key   string
		value float64
	}{{"bound", d.Defaults.Bound}, {"kappa", d.Defaults.Kappa}, {"radius", d.Defaults.Radius}, {"clipping_norm", d.Defaults.ClippingNorm}} {
		if !(f.value >= 0) || math.IsInf(f.value, 0) {
			return "defaults." + f.key, f.key + " must be a finite number above 0"
		}
	}
	return "", ""
}

func (d *document) spec() Spec {
	s := Spec{Name: d.Name, Title: d.Title, Source: d.Source, Note: d.Note, Outputs: d.Outputs,
		Network:    nn.Spec{Layers: d.Layers, Loss: nn.Loss{Kind: d.Loss, Threshold: d.HuberThreshold}},
		Parameters: d.Parameters, Trainable: d.Trainable, Defaults: Defaults(d.Defaults)}
	if d.Input != nil {
		s.Input = nn.Shape{Height: d.Input[0], Width: d.Input[1], Channels: d.Input[2]}
	}
	return s
}
