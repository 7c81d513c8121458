package onnx

import (
	"encoding/binary"
	"math"
)

// message is a protocol buffer in its wire format, of which ONNX needs three forms:
// numbers, bytes, and messages within messages. They are written by hand since the
// generated code of all ONNX messages and its runtime are a hundred times as long.
type message []byte

func (m *message) key(field, form int) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|uint64(form))
}

func (m *message) number(field int, v int64) {
	m.key(field, 0)
	*m = binary.AppendUvarint(*m, uint64(v))
}

func (m *message) bytes(field int, v []byte) {
	m.key(field, 2)
	*m = binary.AppendUvarint(*m, uint64(len(v)))
	*m = append(*m, v...)
}

func (m *message) text(field int, v string) { m.bytes(field, []byte(v)) }

func (m *message) float(field int, v float32) {
	m.key(field, 5)
	*m = binary.LittleEndian.AppendUint32(*m, math.Float32bits(v))
}

// property is an entry of the list metadata_props.
func property(key, value string) message {
	var m message
	m.text(1, key)
	m.text(2, value)
	return m
}
