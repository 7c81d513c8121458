package identity

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// version is the first byte of a stored print.
const version = 1

// ErrFormat is returned for bytes that are not a print of this version.
var ErrFormat = errors.New("not a print of this version")

// Marshal returns the print as bytes, at most 48 KB for records and 12 KB for a column.
func (p *Print) Marshal() []byte {
	b := append([]byte{version, byte(p.Kind)}, p.Identity[:]...)
	b = binary.AppendUvarint(b, uint64(p.Rows))
	b = p.records.append(b)
	b = binary.AppendUvarint(b, uint64(len(p.columns)))
	for i := range p.columns {
		b = p.columns[i].append(b)
	}
	return b
}

func (s *sample) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(s.rows))
	b = binary.LittleEndian.AppendUint64(b, s.bound)
	b = binary.AppendUvarint(b, uint64(len(s.items)))
	for _, x := range s.items {
		b = binary.LittleEndian.AppendUint64(b, x.value)
		b = binary.AppendUvarint(b, uint64(x.count))
	}
	return b
}

// Unmarshal reads the output of Marshal and nothing else. The error wraps ErrFormat.
func Unmarshal(b []byte) (*Print, error) {
	d := decoder{b: b}
	p := &Print{}
	head := d.take(34)
	if d.failed || head[0] != version || head[1] != byte(Table) && head[1] != byte(Vectors) {
		return nil, ErrFormat
	}
	p.Kind, p.Identity = Kind(head[1]), [32]byte(head[2:])
	rows := d.uvarint(1 << 62)
	p.Rows = int64(rows)
	p.records = d.sample(records)
	for range d.uvarint(maxColumns) {
		p.columns = append(p.columns, d.sample(cells))
	}
	switch {
	case d.failed:
		return nil, fmt.Errorf("%w: it is truncated or damaged", ErrFormat)
	case len(d.b) > 0:
		return nil, fmt.Errorf("%w: it is followed by other bytes", ErrFormat)
	case p.records.rows != p.Rows:
		return nil, fmt.Errorf("%w: its numbers of rows contradict one another", ErrFormat)
	}
	return p, nil
}

type decoder struct {
	b      []byte
	failed bool
}

// take returns n bytes, zeros after a failure.
func (d *decoder) take(n int) []byte {
	if d.failed || len(d.b) < n {
		d.failed = true
		return make([]byte, n)
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(d.b)
	if d.failed || n <= 0 || v > most || n > 1 && d.b[n-1] == 0 { // a number has one form
		d.failed = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) sample(size uint64) sample {
	s := sample{rows: int64(d.uvarint(1 << 62)), bound: binary.LittleEndian.Uint64(d.take(8))}
	var last, seen uint64
	for range d.uvarint(size) {
		x := item{value: binary.LittleEndian.Uint64(d.take(8)), count: uint32(d.uvarint(1<<32 - 1))}
		if d.failed || x.value <= last || x.value > s.bound || x.count == 0 {
			d.failed = true
			break
		}
		last, seen = x.value, seen+uint64(x.count)
		s.items = append(s.items, x)
	}
	if seen > uint64(s.rows) || len(s.items) == 0 && s.rows > 0 {
		d.failed = true
	}
	return s
}
