package onnx

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Kind is a type of numbers, by its number in onnx.proto.
type Kind int

const (
	Floats  Kind = 1
	Int32s  Kind = 6
	Int64s  Kind = 7
	Texts   Kind = 8
	Doubles Kind = 11
)

// String is the name that onnxruntime shows.
func (k Kind) String() string {
	switch k {
	case Floats:
		return "float"
	case Int64s:
		return "int64"
	case Texts:
		return "string"
	}
	return fmt.Sprintf("type %d", int(k))
}

// tensorOf makes a TensorProto. values is []float32, []float64, []int32 or []int64.
func tensorOf(name string, dims []int, values any) message {
	var m message
	for _, d := range dims {
		m.number(1, int64(d))
	}
	var raw []byte
	var k Kind
	switch values := values.(type) {
	case []float32:
		k = Floats
		for _, v := range values {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
	case []float64:
		k = Doubles
		for _, v := range values {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
	case []int32:
		k = Int32s
		for _, v := range values {
			raw = binary.LittleEndian.AppendUint32(raw, uint32(v))
		}
	case []int64:
		k = Int64s
		for _, v := range values {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
		}
	default:
		panic(fmt.Sprintf("onnx: tensors of %T", values))
	}
	m.number(2, int64(k))
	m.text(8, name)
	m.bytes(9, raw)
	return m
}

// attribute makes an AttributeProto. value is int64, float32, string, []int64 or
// []string.
func attribute(name string, value any) message {
	var m message
	m.text(1, name)
	switch v := value.(type) {
	case float32:
		m.float(2, v)
		m.number(20, 1)
	case int64:
		m.number(3, v)
		m.number(20, 2)
	case string:
		m.text(4, v)
		m.number(20, 3)
	case []int64:
		for _, x := range v {
			m.number(8, x)
		}
		m.number(20, 7)
	case []string:
		for _, x := range v {
			m.text(9, x)
		}
		m.number(20, 8)
	default:
		panic(fmt.Sprintf("onnx: attribute %s of %T", name, value))
	}
	return m
}

// Shape is the shape of a tensor, in which 0 stands for N, the number of rows.
type Shape []int

// MarshalJSON writes "N" for 0.
func (s Shape) MarshalJSON() ([]byte, error) {
	list := make([]any, len(s))
	for i, d := range s {
		list[i] = d
		if d == 0 {
			list[i] = "N"
		}
	}
	return json.Marshal(list)
}

// String is the shape as people write it: [N, 28, 28, 1].
func (s Shape) String() string {
	var parts []string
	for _, d := range s {
		if d == 0 {
			parts = append(parts, "N")
			continue
		}
		parts = append(parts, strconv.Itoa(d))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// Port is an input or output of an ONNX model.
type Port struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape Shape  `json:"shape"`
	// Meaning says what to feed, or what it says.
	Meaning string `json:"meaning,omitempty"`

	kind Kind
}

// NewPort is a port of a name and type; 0 in its shape stands for N.
func NewPort(name string, k Kind, meaning string, shape ...int) Port {
	return Port{Name: name, Type: k.String(), Shape: shape, Meaning: meaning, kind: k}
}

// info makes a ValueInfoProto.
func (p Port) info() message {
	var shape message
	for _, d := range p.Shape {
		var dim message
		if d == 0 {
			dim.text(2, "N")
		} else {
			dim.number(1, int64(d))
		}
		shape.bytes(1, dim)
	}
	var tensor, typ, m message
	tensor.number(1, int64(p.kind))
	tensor.bytes(2, shape)
	typ.bytes(1, tensor)
	m.text(1, p.Name)
	m.bytes(2, typ)
	m.text(3, p.Meaning)
	return m
}
