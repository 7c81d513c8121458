package columnar

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/snappy"
)

// groupRows and pageRows are the numbers of rows of a row group and of a page that
// WriteParquet writes.
const (
	groupRows = 1 << 17
	pageRows  = 1 << 15
)

// Data is a column to write: Floats or Texts, of the same length in all columns.
// NaN is written as it is, since a result that is not a number is not an absent one.
type Data struct {
	Name   string
	Floats []float64
	Texts  []string
}

func (d *Data) len() int {
	if d.Texts != nil {
		return len(d.Texts)
	}
	return len(d.Floats)
}

func (d *Data) physical() physical {
	if d.Texts != nil {
		return byteArrays
	}
	return float64Values
}

// WriteParquet writes columns as a Parquet file, compressed by snappy, every cell
// present, without statistics, by which a reader of predictions gains nothing. The
// same columns give the same bytes. It panics on columns of different lengths, or
// with both slices set.
func WriteParquet(w io.Writer, columns []Data) error {
	for i := range columns {
		d := &columns[i]
		if d.Floats != nil && d.Texts != nil || d.len() != columns[0].len() {
			panic(fmt.Sprintf("columnar: column %d has %d floats and %d texts; the first has %d cells",
				i, len(d.Floats), len(d.Texts), columns[0].len()))
		}
	}
	rows := 0
	if len(columns) > 0 {
		rows = columns[0].len()
	}
	out := &parquetWriter{w: w}
	out.write(parquetMagic)
	var groups []writtenGroup
	for from := 0; from < rows; from += groupRows {
		to := min(from+groupRows, rows)
		g := writtenGroup{rows: to - from}
		for i := range columns {
			g.chunks = append(g.chunks, out.chunk(&columns[i], from, to))
		}
		groups = append(groups, g)
	}
	footer := describeFile(columns, rows, groups)
	out.write(footer)
	out.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	out.write(parquetMagic)
	return out.err
}

// parquetWriter counts bytes, and keeps the first error.
type parquetWriter struct {
	w    io.Writer
	at   int64
	err  error
	raw  []byte
	pack []byte
}

func (w *parquetWriter) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.w.Write(b)
	w.at, w.err = w.at+int64(n), err
}

type writtenGroup struct {
	rows   int
	chunks []writtenChunk
}

type writtenChunk struct{ start, size, stored int64 }

// chunk writes rows of a column in pages of the first version, values plain.
func (w *parquetWriter) chunk(d *Data, from, to int) writtenChunk {
	k := writtenChunk{start: w.at}
	for ; from < to; from += pageRows {
		n := min(pageRows, to-from)
		raw := w.raw[:0]
		if d.Texts != nil {
			for _, t := range d.Texts[from : from+n] {
				raw = append(binary.LittleEndian.AppendUint32(raw, uint32(len(t))), t...)
			}
		} else {
			for _, v := range d.Floats[from : from+n] {
				raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
			}
		}
		w.raw, w.pack = raw, snappy.Encode(w.pack[:cap(w.pack)], raw)
		h := &thriftWriter{}
		h.open()
		h.i32(1, 0) // values
		h.i32(2, int64(len(raw)))
		h.i32(3, int64(len(w.pack)))
		h.structure(5)
		h.i32(1, int64(n))
		h.i32(2, 0) // plain
		h.i32(3, 3) // no levels, which would stand in runs
		h.i32(4, 3)
		h.close()
		h.close()
		w.write(h.b)
		w.write(w.pack)
		k.size += int64(len(h.b) + len(raw))
	}
	k.stored = w.at - k.start
	return k
}

// describeFile is the footer.
func describeFile(columns []Data, rows int, groups []writtenGroup) []byte {
	f := &thriftWriter{}
	f.open()
	f.i32(1, 2) // the format's version
	f.list(2, len(columns)+1, thriftStruct)
	f.open()
	f.string(4, "schema")
	f.i32(5, int64(len(columns)))
	f.close()
	for i := range columns {
		d := &columns[i]
		f.open()
		f.i32(1, int64(d.physical()))
		f.i32(3, 0) // required
		f.string(4, d.Name)
		if d.Texts != nil {
			f.i32(6, 0) // UTF-8, for old readers
			f.structure(10)
			f.empty(logicalString)
			f.close()
		}
		f.close()
	}
	f.i64(3, int64(rows))
	f.list(4, len(groups), thriftStruct)
	for _, g := range groups {
		f.open()
		f.list(1, len(columns), thriftStruct)
		var size int64
		for i, k := range g.chunks {
			f.open()
			f.i64(2, k.start)
			f.structure(3)
			f.i32(1, int64(columns[i].physical()))
			f.list(2, 1, thriftI32)
			f.number(0)
			f.list(3, 1, thriftBinary)
			f.text(columns[i].Name)
			f.i32(4, 1) // snappy
			f.i64(5, int64(g.rows))
			f.i64(6, k.size)
			f.i64(7, k.stored)
			f.i64(9, k.start)
			f.close()
			f.close()
			size += k.size
		}
		f.i64(2, size)
		f.i64(3, int64(g.rows))
		f.close()
	}
	f.string(6, "pawl")
	f.close()
	return f.b
}
