package columnar

import (
	"errors"
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// errCut is returned where a column holds fewer cells than its row group has rows.
var errCut = errors.New("cells are missing")

// batchReader is what the library's readers have in common.
type batchReader[T any] interface {
	file.ColumnChunkReader
	ReadBatch(n int64, values []T, definition, repetition []int16) (int64, int, error)
}

func newCellReader(in file.ColumnChunkReader, kind Kind) cellReader {
	d := in.Descriptor()
	_, isDecimal := d.LogicalType().(schema.DecimalLogicalType)
	switch in := in.(type) {
	case *file.BooleanColumnChunkReader:
		return newFlat(in, func(c *Chunk, v []bool) { c.bools = v })
	case *file.Int32ColumnChunkReader:
		if isDecimal {
			text := decimalText(d.LogicalType())
			return newFlat(in, texts(func(v int32) string { return text(big.NewInt(int64(v))) }))
		}
		unsigned := isUnsigned(d)
		return newFlat(in, func(c *Chunk, v []int32) {
			c.ints = make([]int64, len(v))
			for i, x := range v {
				c.ints[i] = int64(x)
				if unsigned {
					c.ints[i] = int64(uint32(x))
				}
			}
		})
	case *file.Int64ColumnChunkReader:
		if isDecimal {
			text := decimalText(d.LogicalType())
			return newFlat(in, texts(func(v int64) string { return text(big.NewInt(v)) }))
		}
		unsigned := isUnsigned(d)
		return newFlat(in, func(c *Chunk, v []int64) { c.ints, c.unsigned = v, unsigned })
	case *file.Float32ColumnChunkReader:
		if kind == Vector {
			return newVectors(in, func(v float32) float32 { return v })
		}
		return newFlat(in, func(c *Chunk, v []float32) {
			c.floats, c.single = make([]float64, len(v)), true
			for i, x := range v {
				c.floats[i] = float64(x)
			}
		})
	case *file.Float64ColumnChunkReader:
		if kind == Vector {
			return newVectors(in, func(v float64) float32 { return float32(v) })
		}
		return newFlat(in, func(c *Chunk, v []float64) { c.floats = v })
	case *file.ByteArrayColumnChunkReader:
		if isDecimal {
			text := decimalText(d.LogicalType())
			return newFlat(in, texts(func(v parquet.ByteArray) string { return text(bigEndian(v)) }))
		}
		return newFlat(in, texts(func(v parquet.ByteArray) string { return string(v) }))
	case *file.FixedLenByteArrayColumnChunkReader:
		text := decimalText(d.LogicalType()) // the only kind of such a column that is read
		return newFlat(in, texts(func(v parquet.FixedLenByteArray) string { return text(bigEndian(v)) }))
	}
	panic("columnar: a column of another kind")
}

func isUnsigned(d *schema.Column) bool {
	l, ok := d.LogicalType().(schema.IntLogicalType)
	return ok && !l.IsSigned()
}

// texts copies, because the library's bytes belong to a page.
func texts[T any](text func(T) string) func(*Chunk, []T) {
	return func(c *Chunk, v []T) {
		c.texts = make([]string, len(v))
		for i, x := range v {
			c.texts[i] = text(x)
		}
	}
}

// flat reads a column with at most one value a row. The library hands out the
// values that are there, close together, and says by levels which cells are null.
type flat[T any] struct {
	in     batchReader[T]
	max    int16
	levels []int16
	fill   func(*Chunk, []T)
}

func newFlat[T any](in batchReader[T], fill func(*Chunk, []T)) *flat[T] {
	return &flat[T]{in: in, max: in.Descriptor().MaxDefinitionLevel(), fill: fill}
}

func (f *flat[T]) read(n int, into *Chunk) error {
	values := make([]T, n)
	if f.max == 0 {
		got, _, err := f.in.ReadBatch(int64(n), values, nil, nil)
		if err != nil || got != int64(n) {
			return errors.Join(errCut, err)
		}
		f.fill(into, values)
		return nil
	}
	if f.levels == nil {
		f.levels = make([]int16, batchRows)
	}
	levels := f.levels[:n]
	got, present, err := f.in.ReadBatch(int64(n), values, levels, nil)
	if err != nil || got != int64(n) {
		return errors.Join(errCut, err)
	}
	if present == n {
		f.fill(into, values)
		return nil
	}
	into.null = make([]bool, n)
	// From the back, so that no value is written over before it has moved.
	var zero T
	for i := n - 1; i >= 0; i-- {
		if levels[i] < f.max {
			into.null[i], values[i] = true, zero
			continue
		}
		if present--; present < 0 {
			return errCut
		}
		values[i] = values[present]
	}
	if present != 0 {
		return errCut
	}
	f.fill(into, values)
	return nil
}

func (f *flat[T]) end() bool { return !f.in.HasNext() && f.in.Err() == nil }

// maxWidth bounds the length of one list.
const maxWidth = 1 << 20

// vectors reads a column of lists. A level of repetition of 0 begins a row, so a row
// ends where the next begins: what was read beyond it is kept for the next call.
type vectors[T any] struct {
	in                     batchReader[T]
	max                    int16
	convert                func(T) float32
	values                 []T
	definition, repetition []int16
	at, have               int // of the levels
	value                  int // of the next value
	done                   bool
}

func newVectors[T any](in batchReader[T], convert func(T) float32) *vectors[T] {
	return &vectors[T]{in: in, max: in.Descriptor().MaxDefinitionLevel(), convert: convert,
		values: make([]T, batchRows), definition: make([]int16, batchRows), repetition: make([]int16, batchRows)}
}

// fetch makes sure that a level is there, unless the column has ended.
func (v *vectors[T]) fetch() error {
	if v.at < v.have || v.done {
		return nil
	}
	n, _, err := v.in.ReadBatch(batchRows, v.values, v.definition, v.repetition)
	if err == nil {
		err = v.in.Err()
	}
	if err != nil {
		return err
	}
	v.at, v.have, v.value, v.done = 0, int(n), 0, n == 0
	return nil
}

func (v *vectors[T]) read(n int, into *Chunk) error {
	into.vectors = make([][]float32, n)
	for i := range n {
		list := []float32{}
		for first := true; ; first = false {
			if err := v.fetch(); err != nil {
				return err
			}
			if first && (v.done || v.repetition[v.at] != 0) {
				return errCut
			}
			if v.done || !first && v.repetition[v.at] == 0 {
				break
			}
			if len(list) == maxWidth {
				return errCut
			}
			// Below the largest level something is null or empty: the value, the list or a
			// structure around it. All of them are no vector of numbers.
			x := float32(math.NaN())
			if v.definition[v.at] == v.max {
				x = v.convert(v.values[v.value])
				v.value++
			}
			list = append(list, x)
			v.at++
		}
		into.vectors[i] = list
	}
	return nil
}

func (v *vectors[T]) end() bool { return v.fetch() == nil && v.done }
