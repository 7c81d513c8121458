package columnar

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// groupRows is the number of rows of a row group that WriteParquet writes.
const groupRows = 1 << 17

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

// WriteParquet writes columns as a Parquet file, compressed by snappy, every cell
// present. The same columns give the same bytes. It panics on columns of different
// lengths, or with both slices set.
func WriteParquet(w io.Writer, columns []Data) error {
	fields := make(schema.FieldList, len(columns))
	for i := range columns {
		d := &columns[i]
		if d.Floats != nil && d.Texts != nil || d.len() != columns[0].len() {
			panic(fmt.Sprintf("columnar: column %d has %d floats and %d texts; the first has %d cells",
				i, len(d.Floats), len(d.Texts), columns[0].len()))
		}
		var err error
		if d.Texts != nil {
			fields[i], err = schema.NewPrimitiveNodeLogical(d.Name, parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1)
		} else {
			fields[i], err = schema.NewPrimitiveNode(d.Name, parquet.Repetitions.Required, parquet.Types.Double, -1, 0)
		}
		if err != nil {
			return err
		}
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return err
	}
	// No statistics: a reader of predictions gains nothing by least and largest values.
	props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithStats(false),
		parquet.WithCreatedBy("pawl"))
	out, err := file.NewParquetWriterWithError(w, root, file.WithWriterProps(props))
	if err != nil {
		return err
	}
	return errors.Join(writeGroups(out, columns), out.Close())
}

func writeGroups(out *file.Writer, columns []Data) error {
	rows := 0
	if len(columns) > 0 {
		rows = columns[0].len()
	}
	for from := 0; from < rows; from += groupRows {
		to := min(from+groupRows, rows)
		group, err := out.AppendRowGroupChecked()
		if err != nil {
			return err
		}
		for i := range columns {
			w, err := group.NextColumn()
			if err != nil {
				return err
			}
			if err := errors.Join(writeCells(w, &columns[i], from, to), w.Close()); err != nil {
				return err
			}
		}
		if err := group.Close(); err != nil {
			return err
		}
	}
	return nil
}

func writeCells(w file.ColumnChunkWriter, d *Data, from, to int) error {
	switch w := w.(type) {
	case *file.Float64ColumnChunkWriter:
		_, err := w.WriteBatch(d.Floats[from:to], nil, nil)
		return err
	case *file.ByteArrayColumnChunkWriter:
		texts := make([]parquet.ByteArray, to-from)
		for i, t := range d.Texts[from:to] {
			texts[i] = parquet.ByteArray(t)
		}
		_, err := w.WriteBatch(texts, nil, nil)
		return err
	}
	panic("columnar: a column of another kind")
}
