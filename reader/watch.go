package reader

import "pawl/data/schema"

// watch hands on records as they were found, before anything is parsed.
type watch struct {
	record func(texts []string)
	texts  []string // one for each column of the file
	schema *schema.Schema
	column []int // of the schema, -1 for none; asWritten where Plain changes no text
}

const asWritten = -2

// watchRecords begins what o.Watch asks for.
func (t *table) watchRecords(in records, o Options) *watch {
	if o.Watch == nil {
		return nil
	}
	names := in.Header()
	w := &watch{record: o.Watch(names), texts: make([]string, len(names)), schema: t.schema}
	columns := t.schema.Declared()
	for _, n := range names {
		c := columns[n] - 1
		if t.schema.AsWritten(c) {
			c = asWritten
		}
		w.column = append(w.column, c)
	}
	return w
}

// see hands on one record. What is malformed or null is empty, and so are cells that a ragged record lacks. Numbers
// and dates are written in one way, whatever the marks of the file.
func (w *watch) see(cells []cell) {
	for i := range w.texts {
		text := ""
		if i < len(cells) && cells[i].bad == "" && !cells[i].null {
			text = cells[i].text
			if !cells[i].typed && w.column[i] != asWritten {
				text = w.schema.Plain(w.column[i], text)
			}
		}
		w.texts[i] = text
	}
	w.record(w.texts)
}
