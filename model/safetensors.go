package model

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A tensor has a name, a shape and values of one of two types.
type tensor struct {
	name     string
	shape    []int
	float64s []float64
	float32s []float32
}

func (t tensor) kind() (name string, width int) {
	if t.float64s != nil {
		return "F64", 8
	}
	return "F32", 4
}

func (t tensor) count() int {
	n := 1
	for _, d := range t.shape {
		n *= d
	}
	return n
}

type tensorInfo struct {
	Type    string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// safetensors writes tensors in order: an 8-byte header length, a JSON header
// padded with spaces to 8 bytes, then little-endian values.
func safetensors(metadata map[string]string, tensors ...tensor) []byte {
	header := map[string]any{}
	if len(metadata) > 0 {
		header["__metadata__"] = metadata
	}
	at := 0
	for _, t := range tensors {
		kind, width := t.kind()
		end := at + width*t.count()
		header[t.name] = tensorInfo{Type: kind, Shape: t.shape, Offsets: [2]int{at, end}}
		at = end
	}
	head, err := json.Marshal(header)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	for len(head)%8 != 0 {
		head = append(head, ' ')
	}
	var out bytes.Buffer
	_ = binary.Write(&out, binary.LittleEndian, uint64(len(head)))
	out.Write(head)
	for _, t := range tensors {
		_ = binary.Write(&out, binary.LittleEndian, t.float64s)
		_ = binary.Write(&out, binary.LittleEndian, t.float32s)
	}
	return out.Bytes()
}

// parseSafetensors reads the wanted tensors, of the wanted types and shapes, and
// nothing else.
func parseSafetensors(b []byte, want ...tensor) ([]tensor, error) {
	if len(b) < 8 {
		return nil, errors.New("cut short")
	}
	size := binary.LittleEndian.Uint64(b)
	if size > uint64(len(b)-8) {
		return nil, errors.New("cut short within its header")
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(b[8:8+size], &header); err != nil {
		return nil, errors.New("header is not JSON")
	}
	data, at := b[8+size:], 0
	for i, t := range want {
		var info tensorInfo
		if err := json.Unmarshal(header[t.name], &info); err != nil {
			return nil, fmt.Errorf("tensor %q is missing", t.name)
		}
		kind, width := t.kind()
		end := at + width*t.count()
		if info.Type != kind || !slices.Equal(info.Shape, t.shape) || info.Offsets != [2]int{at, end} {
			return nil, fmt.Errorf("tensor %q has type %s and shape %v, the model needs %s %v", t.name, info.Type, info.Shape, kind, t.shape)
		}
		if len(data) < end {
			return nil, errors.New("cut short within its values")
		}
		for p := at; p < end; p += width {
			if width == 8 {
				want[i].float64s = append(want[i].float64s, math.Float64frombits(binary.LittleEndian.Uint64(data[p:])))
			} else {
				want[i].float32s = append(want[i].float32s, math.Float32frombits(binary.LittleEndian.Uint32(data[p:])))
			}
		}
		at = end
	}
	if len(data) != at {
		return nil, errors.New("longer than its tensors")
	}
	return want, nil
}
