package reader

import "pawl/columnar"

// watch hands on records as they were found, before anything is parsed.
type watch struct {
	record func(texts []string)
	texts  []string // one for each column of the file
}

// watchRecords begins what o.Watch asks for; it comes before fields are chosen.
func (t *table) watchRecords(in records, o Options) {
	if o.Watch == nil {
		return
	}
	names := in.Header()
	t.watch = &watch{record: o.Watch(names), texts: make([]string, len(names))}
	switch in := in.(type) {
	case *byColumns:
		in.whole = true
	case *jsonLines:
		in.whole = true
	}
}

// see hands on one record. What is malformed or null is empty, and so are cells that a ragged record lacks.
func (w *watch) see(cells []cell) {
	for i := range w.texts {
		w.texts[i] = ""
		if i < len(cells) && cells[i].bad == "" && !cells[i].null {
			w.texts[i] = cells[i].text
		}
	}
	w.record(w.texts)
}

// others are the fields that no one looks at and that can be read.
func (c *byColumns) others(fields []int) (rest []int) {
	used := make([]bool, len(c.types))
	for _, f := range fields {
		used[f] = true
	}
	for f, t := range c.types {
		if !used[f] && t.Kind != columnar.Unsupported && t.Kind != columnar.Vector {
			rest = append(rest, f)
		}
	}
	return rest
}
