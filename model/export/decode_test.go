package export

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"
)

// The reader and the evaluator of these tests are written from the specification of
// ONNX and share nothing with the writer.

// field is one entry of a message.
type field struct {
	number int
	whole  uint64
	bytes  []byte
}

func fieldsOf(t *testing.T, b []byte) []field {
	t.Helper()
	var all []field
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatal("cut short")
		}
		b = b[n:]
		f := field{number: int(key >> 3)}
		switch key & 7 {
		case 0:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				t.Fatal("cut short")
			}
			f.whole, b = v, b[n:]
		case 2:
			size, n := binary.Uvarint(b)
			if n <= 0 || uint64(len(b)-n) < size {
				t.Fatal("cut short")
			}
			f.bytes, b = b[n:n+int(size)], b[n+int(size):]
		case 5:
			f.whole, b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
		default:
			t.Fatalf("wire type %d", key&7)
		}
		all = append(all, f)
	}
	return all
}

// array is a tensor: numbers, or texts.
type array struct {
	dims  []int
	v     []float64
	texts []string
}

type operation struct {
	op, domain string
	in, out    []string
	ints       map[string][]int
	strings    map[string][]string
	floats     map[string]float64
	kinds      map[string]int // of attributes
}

type program struct {
	nodes      []operation
	constants  map[string]array
	inputs     []string
	outputs    []string
	properties map[string]string
	opsets     map[string]int
	ir         int
	note       string
}

func size(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func parse(t *testing.T, b []byte) *program {
	t.Helper()
	p := &program{constants: map[string]array{}, properties: map[string]string{}, opsets: map[string]int{}}
	for _, f := range fieldsOf(t, b) {
		switch f.number {
		case 1:
			p.ir = int(f.whole)
		case 6:
			p.note = string(f.bytes)
		case 7:
			for _, g := range fieldsOf(t, f.bytes) {
				switch g.number {
				case 1:
					p.nodes = append(p.nodes, parseNode(t, g.bytes))
				case 5:
					name, a := parseTensor(t, g.bytes)
					p.constants[name] = a
				case 11:
					p.inputs = append(p.inputs, string(fieldsOf(t, g.bytes)[0].bytes))
				case 12:
					p.outputs = append(p.outputs, string(fieldsOf(t, g.bytes)[0].bytes))
				}
			}
		case 8:
			domain, version := "", 0
			for _, g := range fieldsOf(t, f.bytes) {
				if g.number == 1 {
					domain = string(g.bytes)
				} else {
					version = int(g.whole)
				}
			}
			p.opsets[domain] = version
		case 14:
			kv := fieldsOf(t, f.bytes)
			p.properties[string(kv[0].bytes)] = string(kv[1].bytes)
		}
	}
	return p
}

func parseTensor(t *testing.T, b []byte) (string, array) {
	t.Helper()
	var a array
	var name string
	kind := 0
	var raw []byte
	for _, f := range fieldsOf(t, b) {
		switch f.number {
		case 1:
			a.dims = append(a.dims, int(f.whole))
		case 2:
			kind = int(f.whole)
		case 8:
			name = string(f.bytes)
		case 9:
			raw = f.bytes
		}
	}
	for len(raw) > 0 {
		switch kind {
		case 1:
			a.v, raw = append(a.v, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))), raw[4:]
		case 6:
			a.v, raw = append(a.v, float64(int32(binary.LittleEndian.Uint32(raw)))), raw[4:]
		case 7:
			a.v, raw = append(a.v, float64(int64(binary.LittleEndian.Uint64(raw)))), raw[8:]
		case 11:
			a.v, raw = append(a.v, math.Float64frombits(binary.LittleEndian.Uint64(raw))), raw[8:]
		default:
			t.Fatalf("tensor %q has type %d", name, kind)
		}
	}
	if len(a.v) != size(a.dims) {
		t.Fatalf("tensor %q has %d numbers and shape %v", name, len(a.v), a.dims)
	}
	return name, a
}

func parseNode(t *testing.T, b []byte) operation {
	t.Helper()
	o := operation{ints: map[string][]int{}, strings: map[string][]string{}, floats: map[string]float64{}, kinds: map[string]int{}}
	for _, f := range fieldsOf(t, b) {
		switch f.number {
		case 1:
			o.in = append(o.in, string(f.bytes))
		case 2:
			o.out = append(o.out, string(f.bytes))
		case 4:
			o.op = string(f.bytes)
		case 7:
			o.domain = string(f.bytes)
		case 5:
			name := ""
			for _, a := range fieldsOf(t, f.bytes) {
				switch a.number {
				case 1:
					name = string(a.bytes)
				case 2:
					o.floats[name] = float64(math.Float32frombits(uint32(a.whole)))
				case 3, 8:
					o.ints[name] = append(o.ints[name], int(int64(a.whole)))
				case 4, 9:
					o.strings[name] = append(o.strings[name], string(a.bytes))
				case 20:
					o.kinds[name] = int(a.whole)
				default:
					t.Fatalf("attribute %q has field %d", name, a.number)
				}
			}
		}
	}
	return o
}

// run evaluates the program. Every value must be made before it is used, and once.
func (p *program) run(t *testing.T, inputs map[string]array) map[string]array {
	t.Helper()
	values := map[string]array{}
	for k, v := range p.constants {
		values[k] = v
	}
	if len(inputs) != len(p.inputs) {
		t.Fatalf("%d inputs given, the graph has %q", len(inputs), p.inputs)
	}
	for k, v := range inputs {
		values[k] = v
	}
	for i := range p.nodes {
		o := &p.nodes[i]
		var in []array
		for _, name := range o.in {
			v, ok := values[name]
			if !ok {
				t.Fatalf("%s: %q is not known", o.op, name)
			}
			in = append(in, v)
		}
		out := evaluate(t, o, in)
		for j, name := range o.out {
			if _, ok := values[name]; ok {
				t.Fatalf("%s: %q is made twice", o.op, name)
			}
			if n := size(out[j].dims); n != len(out[j].v)+len(out[j].texts) {
				t.Fatalf("%s %q: %d numbers of shape %v", o.op, name, len(out[j].v), out[j].dims)
			}
			values[name] = out[j]
		}
	}
	out := map[string]array{}
	for _, name := range p.outputs {
		v, ok := values[name]
		if !ok {
			t.Fatalf("output %q is never made", name)
		}
		out[name] = v
	}
	return out
}

func (a array) String() string { return fmt.Sprintf("%v%v %v", a.dims, a.v, a.texts) }
