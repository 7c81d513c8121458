package reader

import (
	"fmt"
	"io"

	"pawl/data/schema"
)

// ReadTexts is ReadFrom that hands on the text of one column too, as it stands in the
// file: a text that the rule Default lets pass is empty.
func ReadTexts(name string, r io.Reader, s *schema.Schema, o Options, column string, row func(cells []float64, found schema.Record, text string) error) error {
	t, in, strict, err := openTable(name, r, s, o, column, fmt.Errorf("the schema declares no column %q", column))
	if err != nil {
		return err
	}
	defer in.Close()
	field := t.field[t.key]
	if field < 0 {
		return in.absent(column, "which holds the texts", "name the column under columns: in the schema as the file does")
	}
	t.watch = t.watchRecords(in, o)
	return t.read(strict, func(cells []float64, found *schema.Record, record []cell) error {
		text := ""
		if field < len(record) && record[field].bad == "" {
			text = record[field].text
		}
		return row(cells, *found, text)
	})
}
