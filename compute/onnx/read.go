package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Read is a graph as a file has it, for those who run one: nodes in order, constants by name.
type Read struct {
	Nodes     []ReadNode
	Constants map[string]Constant
	// Inputs are those without a constant, with their shapes: −1 where the file leaves a size open.
	Inputs  []ReadPort
	Outputs []string
}

// ReadNode is one node.
type ReadNode struct {
	Op, Name, Domain string
	Inputs, Outputs  []string
	Attributes       map[string]ReadAttribute
}

// ReadAttribute holds the forms of an attribute that are read; the others are left out.
type ReadAttribute struct {
	Float    float32
	Int      int64
	Text     string
	Ints     []int64
	Constant *Constant
}

// ReadPort is the name and shape of an input.
type ReadPort struct {
	Name string
	Dims []int64
}

// Constant is a tensor of numbers: floats of any width, or whole ones.
type Constant struct {
	Dims   []int
	Floats []float32
	Ints   []int64
}

// mostBytes bounds a file, and mostDepth the messages within messages of it.
const mostBytes = 1 << 30

// errShort is a message that ends too early.
var errShort = errors.New("the file is damaged: a message ends too early")

// Parse reads an ONNX model. It reads what is there and judges no operator. Errors: a file that is no
// model or damaged, tensors of kinds other than float, double, float16, int32 and int64, and
// numbers that are kept in another file.
func Parse(file []byte) (*Read, error) {
	if len(file) > mostBytes {
		return nil, fmt.Errorf("the file has %d bytes, at most %d are read", len(file), mostBytes)
	}
	var graph []byte
	err := fields(file, func(f field) error {
		if f.number == 7 && f.wire == 2 {
			graph = f.bytes
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("not a model in ONNX: %w", err)
	}
	if graph == nil {
		return nil, errors.New("not a model in ONNX: it has no graph")
	}
	r := &Read{Constants: map[string]Constant{}}
	var inputs []ReadPort
	err = fields(graph, func(f field) error {
		if f.wire != 2 {
			return nil
		}
		switch f.number {
		case 1:
			n, err := readNode(f.bytes)
			r.Nodes = append(r.Nodes, n)
			return err
		case 5:
			name, c, err := readTensor(f.bytes)
			r.Constants[name] = c
			return err
		case 11, 12:
			p, err := readPort(f.bytes)
			if f.number == 11 {
				inputs = append(inputs, p)
			} else {
				r.Outputs = append(r.Outputs, p.Name)
			}
			return err
		}
		return nil
	})
	for _, p := range inputs {
		if _, constant := r.Constants[p.Name]; !constant {
			r.Inputs = append(r.Inputs, p)
		}
	}
	return r, err
}

// field is one field of a message: a number, or bytes.
type field struct {
	number, wire int
	value        uint64
	bytes        []byte
}

// fields visits the fields of a message.
func fields(b []byte, visit func(field) error) error {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 || key>>3 == 0 || key>>3 > math.MaxInt32 {
			return errShort
		}
		b = b[n:]
		f := field{number: int(key >> 3), wire: int(key & 7)}
		switch f.wire {
		case 0:
			if f.value, n = binary.Uvarint(b); n <= 0 {
				return errShort
			}
		case 1:
			n = 8
		case 5:
			n = 4
		case 2:
			size, m := binary.Uvarint(b)
			if m <= 0 || size > uint64(len(b)-m) {
				return errShort
			}
			f.bytes, n = b[m:m+int(size)], m+int(size)
		default:
			return errors.New("the file is damaged: an unknown form of field")
		}
		if n > len(b) {
			return errShort
		}
		if f.wire == 5 {
			f.value = uint64(binary.LittleEndian.Uint32(b))
		} else if f.wire == 1 {
			f.value = binary.LittleEndian.Uint64(b)
		}
		b = b[n:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

// whole appends the whole numbers of a repeated field, packed or not.
func (f field) whole(to []int64) ([]int64, error) {
	if f.wire == 0 {
		return append(to, int64(f.value)), nil
	}
	for b := f.bytes; len(b) > 0; {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errShort
		}
		to, b = append(to, int64(v)), b[n:]
	}
	return to, nil
}

func readNode(b []byte) (ReadNode, error) {
	n := ReadNode{Attributes: map[string]ReadAttribute{}}
	err := fields(b, func(f field) error {
		switch f.number {
		case 1:
			n.Inputs = append(n.Inputs, string(f.bytes))
		case 2:
			n.Outputs = append(n.Outputs, string(f.bytes))
		case 3:
			n.Name = string(f.bytes)
		case 4:
			n.Op = string(f.bytes)
		case 7:
			n.Domain = string(f.bytes)
		case 5:
			var a ReadAttribute
			name := ""
			err := fields(f.bytes, func(f field) (err error) {
				switch f.number {
				case 1:
					name = string(f.bytes)
				case 2:
					a.Float = math.Float32frombits(uint32(f.value))
				case 3:
					a.Int = int64(f.value)
				case 4:
					a.Text = string(f.bytes)
				case 5:
					_, c, err := readTensor(f.bytes)
					a.Constant = &c
					return err
				case 8:
					a.Ints, err = f.whole(a.Ints)
				}
				return err
			})
			n.Attributes[name] = a
			return err
		}
		return nil
	})
	return n, err
}

func readPort(b []byte) (ReadPort, error) {
	var p ReadPort
	err := fields(b, func(f field) error {
		switch f.number {
		case 1:
			p.Name = string(f.bytes)
		case 2: // type, of which the tensor, of which the shape, of which each size
			return fields(f.bytes, func(f field) error {
				return fields(f.bytes, func(f field) error {
					if f.number != 2 || f.wire != 2 {
						return nil
					}
					return fields(f.bytes, func(f field) error {
						size := int64(-1)
						err := fields(f.bytes, func(f field) error {
							if f.number == 1 && f.wire == 0 && int64(f.value) > 0 {
								size = int64(f.value)
							}
							return nil
						})
						p.Dims = append(p.Dims, size)
						return err
					})
				})
			})
		}
		return nil
	})
	return p, err
}

func readTensor(b []byte) (name string, c Constant, err error) {
	var kind Kind
	var raw []byte
	var dims []int64
	var doubles []float64
	elsewhere := false
	err = fields(b, func(f field) (err error) {
		switch f.number {
		case 1:
			dims, err = f.whole(dims)
		case 2:
			kind = Kind(f.value)
		case 4:
			for i := 0; i+4 <= len(f.bytes); i += 4 {
				c.Floats = append(c.Floats, math.Float32frombits(binary.LittleEndian.Uint32(f.bytes[i:])))
			}
			if f.wire == 5 {
				c.Floats = append(c.Floats, math.Float32frombits(uint32(f.value)))
			}
		case 5, 7:
			c.Ints, err = f.whole(c.Ints)
		case 8:
			name = string(f.bytes)
		case 9:
			raw = f.bytes
		case 10:
			for i := 0; i+8 <= len(f.bytes); i += 8 {
				doubles = append(doubles, math.Float64frombits(binary.LittleEndian.Uint64(f.bytes[i:])))
			}
		case 13:
			elsewhere = true
		case 14:
			elsewhere = elsewhere || f.value != 0
		}
		return err
	})
	if err != nil {
		return name, c, err
	}
	if elsewhere {
		return name, c, fmt.Errorf("tensor %.60q lies in another file; save the model as one file", name)
	}
	size := 1
	for _, d := range dims {
		if d < 0 || d > mostBytes || size > 0 && int(d) > mostBytes/size {
			return name, c, fmt.Errorf("tensor %.60q has a size of %d", name, d)
		}
		size *= int(d)
		c.Dims = append(c.Dims, int(d))
	}
	switch kind {
	case Floats:
		for i := 0; i+4 <= len(raw); i += 4 {
			c.Floats = append(c.Floats, math.Float32frombits(binary.LittleEndian.Uint32(raw[i:])))
		}
	case Doubles:
		for i := 0; i+8 <= len(raw); i += 8 {
			doubles = append(doubles, math.Float64frombits(binary.LittleEndian.Uint64(raw[i:])))
		}
		for _, v := range doubles {
			c.Floats = append(c.Floats, float32(v))
		}
	case halves:
		for _, v := range c.Ints { // of int32_data
			c.Floats = append(c.Floats, half(uint16(v)))
		}
		for i := 0; i+2 <= len(raw); i += 2 {
			c.Floats = append(c.Floats, half(binary.LittleEndian.Uint16(raw[i:])))
		}
		c.Ints = nil
	case Int32s:
		for i := 0; i+4 <= len(raw); i += 4 {
			c.Ints = append(c.Ints, int64(int32(binary.LittleEndian.Uint32(raw[i:]))))
		}
	case Int64s:
		for i := 0; i+8 <= len(raw); i += 8 {
			c.Ints = append(c.Ints, int64(binary.LittleEndian.Uint64(raw[i:])))
		}
	default:
		return name, c, fmt.Errorf("tensor %.60q holds numbers of %v; float, double, float16, int32 and int64 are read", name, kind)
	}
	if got := len(c.Floats) + len(c.Ints); got != size {
		return name, c, fmt.Errorf("tensor %.60q has %d numbers, its shape %v wants %d", name, got, c.Dims, size)
	}
	return name, c, nil
}

// halves are numbers of 16 bits.
const halves Kind = 10

// half is a number of 16 bits: sign, 5 bits of exponent, 10 of fraction.
func half(bits uint16) float32 {
	sign, exponent, fraction := float32(1), int(bits>>10&31), float64(bits&1023)
	if bits>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * float32(math.Ldexp(fraction, -24))
	case 31:
		if fraction > 0 {
			return float32(math.NaN())
		}
		return sign * float32(math.Inf(1))
	}
	return sign * float32(math.Ldexp(1024+fraction, exponent-25))
}
