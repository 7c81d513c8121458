package columnar

import (
	"encoding/binary"
	"io"
)

// maxBatch bounds the rows of a record batch of an Arrow file: a column of nulls
// holds no byte by which its length could be checked.
const maxBatch = 1 << 26

// checkArrow looks through the description of an Arrow file before the library does,
// which takes memory for as many columns, buffers and notes as the file claims: no
// panic but the end of the program would follow. Positions outside of the file panic
// here, for guard.
//
// The numbers of fields are those of the published Arrow format, version 1.5 (Footer,
// Schema, Message; FlatBuffers).
func checkArrow(src Source) error {
	size, err := src.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size < 22 {
		return damaged("")
	}
	end, err := readFlat(src, size, size-10, 4)
	if err != nil {
		return err
	}
	length := int64(end.u32(0))
	footer, err := readFlat(src, size, size-10-length, length)
	if err != nil {
		return err
	}
	root := footer.indirect(0)
	schema, ok := footer.field(root, 1)
	if !ok {
		return damaged("")
	}
	footer.list(root, 4, 4)
	if err := checkFields(footer, footer.indirect(schema)); err != nil {
		return err
	}
	left := size // descriptions of batches do not overlap
	for _, id := range []int{2, 3} {
		start, n := footer.list(root, id, 24)
		for i := range n {
			at := start + 24*i
			offset, length := int64(footer.u64(at)), int64(int32(footer.u32(at+8)))
			if left -= length; left < 0 || length < 16 {
				return damaged("")
			}
			message, err := readFlat(src, size, offset, length)
			if err != nil {
				return err
			}
			if err := checkMessage(message); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFields walks through the columns of a schema and what they are made of.
func checkFields(f buffer, schema int) error {
	f.list(schema, 2, 4)
	type place struct{ table, id, depth int }
	todo := []place{{schema, 1, 0}}
	seen := 0
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		start, n := f.list(at.table, at.id, 4)
		// Many parents may share one child, so depth and number are bounded apart.
		if seen += n; seen > 1<<20 || at.depth > 64 {
			return &Fault{Msg: "the columns are structures of more than a million parts, or of 64 levels"}
		}
		for i := range n {
			field := f.indirect(start + 4*i)
			f.list(field, 6, 4)
			const union = 14
			if kind, ok := f.field(field, 2); ok && f.b[kind] == union {
				return &Fault{Msg: "a column is a union, which cannot be read", Hint: "leave the column out"}
			}
			todo = append(todo, place{field, 5, at.depth + 1})
		}
	}
	return nil
}

func checkMessage(f buffer) error {
	// Older files lack the mark before the length.
	skip := 4
	if f.u32(0) == 0xffffffff {
		skip = 8
	}
	f.b = f.b[skip:]
	root := f.indirect(0)
	f.list(root, 4, 4)
	header, ok := f.field(root, 2)
	kind, known := f.field(root, 1)
	if !ok || !known {
		return damaged("")
	}
	batch := f.indirect(header)
	const dictionary, record = 2, 3
	switch f.b[kind] {
	case record:
	case dictionary:
		data, ok := f.field(batch, 1)
		if !ok {
			return damaged("")
		}
		batch = f.indirect(data)
	default:
		return damaged("")
	}
	tooLong := &Fault{Msg: "a record batch of more than 67 million rows", Hint: "write smaller batches"}
	if at, ok := f.field(batch, 0); ok && f.u64(at) > maxBatch {
		return tooLong
	}
	// Columns, and what they are made of: the values of lists may be more than rows.
	start, n := f.list(batch, 1, 16)
	for i := range n {
		if f.u64(start+16*i) > maxWidth*maxBatch {
			return tooLong
		}
	}
	_, buffers := f.list(batch, 2, 16)
	start, n = f.list(batch, 4, 8)
	for i := range n {
		if f.u64(start+8*i) > uint64(buffers) {
			return damaged("")
		}
	}
	return nil
}

// buffer reads FlatBuffers: a table begins with the distance back to the list of where
// its fields stand; a list is found by a distance ahead and begins with its length.
type buffer struct{ b []byte }

func readFlat(src Source, size, offset, length int64) (buffer, error) {
	if offset < 0 || length < 0 || offset > size || length > size-offset {
		return buffer{}, damaged("")
	}
	b := make([]byte, length)
	if _, err := src.ReadAt(b, offset); err != nil && err != io.EOF {
		return buffer{}, err
	}
	return buffer{b: b}, nil
}

func (f buffer) u32(at int) uint32   { return binary.LittleEndian.Uint32(f.b[at:]) }
func (f buffer) u64(at int) uint64   { return binary.LittleEndian.Uint64(f.b[at:]) }
func (f buffer) indirect(at int) int { return at + int(f.u32(at)) }

// field returns where a field of a table stands, if the table has it.
func (f buffer) field(table, id int) (int, bool) {
	fields := table - int(int32(f.u32(table)))
	if 4+2*id >= int(binary.LittleEndian.Uint16(f.b[fields:])) {
		return 0, false
	}
	at := int(binary.LittleEndian.Uint16(f.b[fields+4+2*id:]))
	return table + at, at != 0
}

// list returns where the elements of a field that is a list begin, and their number,
// which the bytes that follow must hold.
func (f buffer) list(table, id, width int) (start, n int) {
	at, ok := f.field(table, id)
	if !ok {
		return 0, 0
	}
	start = f.indirect(at) + 4
	n = int(f.u32(start - 4))
	if n > (len(f.b)-start)/width {
		panic("columnar: a list is longer than the file")
	}
	return start, n
}
