package source

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"pawl/core/ledger"
	"pawl/data/schema"
	"pawl/data/table"
	"pawl/internal/usage"
	"pawl/reader"
)

// Vectors name a file of vectors of a public extractor, and the column that has their keys.
type Vectors struct{ File, Key string }

// VectorColumn is the position of the column that stands for embeddings, or -1.
func VectorColumn(s *schema.Schema) int {
	return slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Type == schema.Vector })
}

// Embed loads vectors and gives the schema a column for them, the last one, since
// they are the last numbers of a row. Every fault of the file is found here, before
// anything is priced.
func (s *Table) Embed(ctx context.Context, l *ledger.Ledger, f Vectors) error {
	at := VectorColumn(s.Schema)
	column := schema.Column{Name: "embeddings", Type: schema.Vector, Missing: schema.MissingRefuse,
		Why: "vectors from an extractor that the operator declares public"}
	if at >= 0 {
		column = s.Schema.Columns[at]
	}
	switch {
	case f.File == "" && f.Key != "":
		return usage.New("--key needs --embeddings", "add --embeddings FILE")
	case f.File == "" && at >= 0:
		return usage.New(fmt.Sprintf("schema column %q needs embeddings, and none are given", column.Name), "add --embeddings FILE")
	case f.File == "":
		return nil
	case f.Key != "":
		column.Key = f.Key
	case column.Key == "":
		return usage.New("missing --key", "add --key COLUMN: the column of DATA that holds the key of each row's vector")
	}
	e, err := loadEmbeddings(f.File, 0)
	if err != nil {
		return err
	}
	column.Dimension = e.Width()
	// Of what was loaded, keys included: the files may be others a moment later.
	if column.Joined, err = l.Digest(ctx, e.Reader()); err != nil {
		return err
	}
	declared := *s.Schema
	declared.Columns = slices.DeleteFunc(slices.Clone(s.Schema.Columns), func(c schema.Column) bool { return c.Type == schema.Vector })
	if len(declared.Columns) < len(s.Schema.Columns)-1 {
		return usage.New("the schema has more than one column of type vector", "declare one: only one file of embeddings can be joined")
	}
	declared.Columns = append(declared.Columns, column)
	k := declared.Column(column.Key)
	switch {
	case k < 0:
		return usage.New(fmt.Sprintf("--key: the schema declares no column %q", column.Key), keyAdvice(&declared, column.Key))
	case declared.Columns[k].Type == schema.Vector:
		return usage.New(fmt.Sprintf("--key: column %q is the embeddings themselves", column.Key), "")
	}
	if err := declared.Validate(); err != nil {
		return err
	}
	s.Schema, s.vectors = &declared, e
	return nil
}

func keyAdvice(s *schema.Schema, key string) string {
	var names []string
	for i := range s.Columns {
		if s.Columns[i].Type != schema.Vector {
			names = append(names, s.Columns[i].Name)
		}
	}
	if near := schema.Nearest(key, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "declare it, with type: ignore if it is only the key"
}

func loadEmbeddings(path string, width int) (*reader.Embeddings, error) {
	if err := table.CheckFile(path); err != nil {
		return nil, err
	}
	before, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	e, err := reader.LoadEmbeddings(reader.EmbeddingFiles{Path: path, Width: width})
	if err != nil {
		return nil, err
	}
	return e, table.Unchanged(path, before)
}

// ReadRows is reader.ReadFrom for a table whose rows may have vectors. With whole set
// each vector must belong to a row.
func ReadRows(name string, content io.Reader, s *schema.Schema, o reader.Options, e *reader.Embeddings, whole bool, row reader.Row) error {
	if e == nil {
		return reader.ReadFrom(name, content, s, o, row)
	}
	at := VectorColumn(s)
	return reader.ReadJoined(name, content, s, o, s.Columns[at].Key, whole, e, func(cells []float64, found schema.Record, vector []float32) error {
		cells[at] = float64(len(cells))
		for _, v := range vector {
			cells = append(cells, float64(v))
		}
		return row(cells, found)
	})
}

// ForModel loads the vectors that a model needs and turns the schema to its key.
func (f Vectors) ForModel(s *schema.Schema) (*reader.Embeddings, error) {
	at := VectorColumn(s)
	switch {
	case at < 0 && (f.File != "" || f.Key != ""):
		return nil, usage.New("this model uses no embeddings", "leave out --embeddings and --key")
	case at < 0:
		return nil, nil
	case f.File == "":
		return nil, usage.New(fmt.Sprintf("this model needs embeddings: vectors of %d numbers, from the extractor it was trained with", s.Columns[at].Dimension),
			"add --embeddings FILE, and --key COLUMN if the key is not in column "+s.Columns[at].Key)

	case f.Key != "":
		s.Columns[at].Key = f.Key
	}
	if s.Column(s.Columns[at].Key) < 0 {
		s.Columns = append(s.Columns, schema.Column{Name: s.Columns[at].Key, Type: schema.Ignore})
	}
	return loadEmbeddings(f.File, s.Columns[at].Dimension)
}
