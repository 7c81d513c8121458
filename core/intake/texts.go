package intake

import (
	"slices"
	"strings"

	"pawl/core/internal/sealed"
	"pawl/data/schema"
)

// KeepTexts seals, beside the numbers of rows, the texts of the named columns of the file as found,
// for mechanisms that release which texts there are (sum.Levels). Call it before the first row. A
// column that the file lacks has no texts.
func (b *Builder) KeepTexts(columns []string) {
	b.texts = texts{columns: columns, known: make([]map[string]int32, len(columns))}
	b.texts.Dictionary = make([][]string, len(columns))
	for c := range columns {
		b.texts.known[c] = map[string]int32{}
	}
}

// texts collects the texts of cells, each once.
type texts struct {
	sealed.Texts
	columns []string
	known   []map[string]int32
}

func (t *texts) add(r schema.Record) {
	for c, name := range t.columns {
		f, ok := slices.BinarySearch(r.Columns, name)
		if !ok || r.Cells[f].Null {
			t.Of = append(t.Of, sealed.NoText)
			continue
		}
		t.Of = append(t.Of, t.number(c, r.Cells[f].Text))
	}
}

// number is the index of a text in the dictionary of a column.
func (t *texts) number(c int, text string) int32 {
	i, ok := t.known[c][text]
	if !ok {
		i = int32(len(t.Dictionary[c]))
		text = strings.Clone(text) // a text of a file may lie in a large piece of it
		t.known[c][text], t.Dictionary[c] = i, append(t.Dictionary[c], text)
	}
	return i
}

// join appends the texts of a part.
func (t *texts) join(p *texts) {
	for at, i := range p.Of {
		if c := at % len(t.columns); i != sealed.NoText {
			i = t.number(c, p.Dictionary[c][i])
		}
		t.Of = append(t.Of, i)
	}
}

// kept are the texts of the rows that stay, nil for all.
func (t *texts) kept(keep []bool) sealed.Texts {
	width, n := len(t.columns), 0
	for i, ok := range keep {
		if ok {
			n += copy(t.Of[n:], t.Of[i*width:(i+1)*width])
		}
	}
	if keep != nil {
		t.Of = t.Of[:n]
	}
	return t.Texts
}
