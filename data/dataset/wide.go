package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pawl/data/schema"
)

const (
	locationPlaces = 446
	enronWords     = 3000
	// enronMost is the count beyond which a message says no more by a word.
	enronMost = 100
)

// wide declares a public table of one unit a row.
func wide(name string, rows int64, columns []schema.Column) *schema.Schema {
	return &schema.Schema{
		Version: schema.Version, Dataset: name, Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1},
		Rows: schema.RowCount{Kind: schema.RowsDeclared, N: rows}, Columns: columns,
	}
}

func locationSchema() *schema.Schema {
	class := schema.Column{Name: "class", Type: schema.Categorical, Missing: schema.MissingRefuse, Why: "the thirty clusters of the file"}
	for i := range 30 {
		class.Categories = append(class.Categories, strconv.Itoa(i+1))
	}
	columns := []schema.Column{class}
	for i := range locationPlaces {
		columns = append(columns, schema.Column{Name: fmt.Sprintf("place_%03d", i+1), Type: schema.Boolean, Missing: schema.MissingRefuse,
			Why: "whether the user was there"})
	}
	return wide("location30", 5010, columns)
}

// convertLocation puts a header over the publisher's rows, which are CSV.
func convertLocation(in []byte) ([]byte, error) {
	var header strings.Builder
	header.WriteString("class")
	for i := range locationPlaces {
		fmt.Fprintf(&header, ",place_%03d", i+1)
	}
	header.WriteByte('\n')
	return append([]byte(header.String()), in...), nil
}

func enronSchema() *schema.Schema {
	columns := []schema.Column{{Name: "email", Type: schema.Ignore, Why: "a running number"}}
	for i := range enronWords {
		columns = append(columns, schema.Column{Name: fmt.Sprintf("count_%04d", i+1), Type: schema.Integer, Lower: 0, Upper: enronMost,
			HeavyTailed: true, Missing: schema.MissingRefuse, Why: "how often the word occurs; more counts as 100"})
	}
	columns = append(columns, schema.Column{Name: "spam", Type: schema.Boolean, Missing: schema.MissingRefuse, Why: "0 or 1"})
	return wide("enron-spam-counts", 5172, columns)
}

// convertEnron puts neutral names in the place of the words: a schema has to know the
// names without the file.
func convertEnron(in []byte) ([]byte, error) {
	_, rows, ok := bytes.Cut(in, []byte("\n"))
	if !ok {
		return nil, errors.New("no line below the header")
	}
	var out bytes.Buffer
	out.WriteString("email")
	for i := range enronWords {
		fmt.Fprintf(&out, ",count_%04d", i+1)
	}
	out.WriteString(",spam\n")
	out.Write(rows)
	return out.Bytes(), nil
}
