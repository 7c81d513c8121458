package columnar

import "encoding/binary"

// Kinds of values in Thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// compact reads what Apache Thrift's compact protocol writes, by which Parquet
// describes its files. Bytes that end early panic here, for guard; nothing takes
// memory for a length that the file only claims.
type compact struct {
	b     []byte
	at    int
	depth int
}

func (c *compact) byte() byte {
	c.at++
	return c.b[c.at-1]
}

func (c *compact) uvarint() uint64 {
	v, n := binary.Uvarint(c.b[c.at:])
	if n <= 0 {
		panic("columnar: a number is cut")
	}
	c.at += n
	return v
}

func (c *compact) int() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// bytes are part of the input.
func (c *compact) bytes() []byte {
	n := c.uvarint()
	if n > uint64(len(c.b)-c.at) {
		panic("columnar: a text is longer than the file")
	}
	c.at += int(n)
	return c.b[c.at-int(n) : c.at]
}

// fields hands every field of a structure to read, which consumes the value and
// returns true, or leaves it alone and returns false. The value of a boolean is its kind.
func (c *compact) fields(read func(id int, kind byte) bool) {
	if c.depth++; c.depth > 64 {
		panic("columnar: structures in more than 64 levels")
	}
	for id := 0; ; {
		head := c.byte()
		if head == 0 {
			break
		}
		if step := int(head >> 4); step != 0 {
			id += step
		} else {
			id = int(int16(c.int()))
		}
		if kind := head & 15; !read(id, kind) {
			c.skip(kind)
		}
	}
	c.depth--
}

// list begins a list, whose elements have at least least bytes each.
func (c *compact) list(least int) (n int, kind byte) {
	head := c.byte()
	size := uint64(head >> 4)
	if size == 15 {
		size = c.uvarint()
	}
	if size > uint64((len(c.b)-c.at)/least) {
		panic("columnar: a list is longer than the file")
	}
	return int(size), head & 15
}

func (c *compact) skip(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		c.at++
	case 4, thriftI32, thriftI64:
		c.uvarint()
	case thriftDouble:
		c.at += 8
	case thriftBinary:
		c.bytes()
	case thriftList, thriftSet:
		n, of := c.list(1)
		for range n {
			c.skipElement(of)
		}
	case thriftMap:
		if n := c.uvarint(); n > 0 {
			kinds := c.byte()
			for range n {
				c.skipElement(kinds >> 4)
				c.skipElement(kinds & 15)
			}
		}
	case thriftStruct:
		c.fields(func(int, byte) bool { return false })
	default:
		panic("columnar: a field of unknown kind")
	}
	if c.at > len(c.b) {
		panic("columnar: a field is cut")
	}
}

// skipElement skips an element of a list or a map, where a boolean has its own byte.
func (c *compact) skipElement(kind byte) {
	if kind == thriftTrue || kind == thriftFalse {
		kind = thriftByte
	}
	if kind == thriftList || kind == thriftSet || kind == thriftMap {
		if c.depth++; c.depth > 64 {
			panic("columnar: lists in more than 64 levels")
		}
		defer func() { c.depth-- }()
	}
	c.skip(kind)
}

// thriftWriter writes a structure: fields in the order of their numbers.
type thriftWriter struct {
	b    []byte
	last []int // number of the last field, for each structure that is open
}

func (w *thriftWriter) open() { w.last = append(w.last, 0) }

func (w *thriftWriter) close() {
	w.b = append(w.b, 0)
	w.last = w.last[:len(w.last)-1]
}

func (w *thriftWriter) field(id int, kind byte) {
	last := &w.last[len(w.last)-1]
	w.b = append(w.b, byte(id-*last)<<4|kind)
	*last = id
}

func (w *thriftWriter) number(v int64) { w.b = binary.AppendVarint(w.b, v) }

func (w *thriftWriter) text(s string) {
	w.b = binary.AppendUvarint(w.b, uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *thriftWriter) i32(id int, v int64)       { w.field(id, thriftI32); w.number(v) }
func (w *thriftWriter) i64(id int, v int64)       { w.field(id, thriftI64); w.number(v) }
func (w *thriftWriter) string(id int, s string)   { w.field(id, thriftBinary); w.text(s) }
func (w *thriftWriter) structure(id int)          { w.field(id, thriftStruct); w.open() }
func (w *thriftWriter) empty(id int)              { w.structure(id); w.close() }
func (w *thriftWriter) list(id, n int, kind byte) { w.field(id, thriftList); w.elements(n, kind) }

func (w *thriftWriter) elements(n int, kind byte) {
	if n < 15 {
		w.b = append(w.b, byte(n)<<4|kind)
		return
	}
	w.b = binary.AppendUvarint(append(w.b, 0xf0|kind), uint64(n))
}
