package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"pawl/core/ledger"
	"pawl/data/schema"
	"pawl/reader"
)

// embeddingFlags name a file of vectors and how its rows are found.
type embeddingFlags struct{ file, key string }

func (f *embeddingFlags) register(c *cobra.Command, key string) {
	s := c.Flags()
	s.StringVar(&f.file, "embeddings", "", "vectors from a public extractor, one per key: npy with a .keys file beside it, Parquet or Arrow")
	s.StringVar(&f.key, "key", "", "column that holds the key of each row's vector"+key)
}

// vectorColumn is the position of the column that stands for embeddings, or -1.
func vectorColumn(s *schema.Schema) int {
	return slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Type == schema.Vector })
}

// embed loads vectors and gives the schema a column for them, the last one, since
// they are the last numbers of a row. Every fault of the file is found here, before
// anything is priced.
func (s *source) embed(ctx context.Context, l *ledger.Ledger, f embeddingFlags) error {
	at := vectorColumn(s.schema)
	column := schema.Column{Name: "embeddings", Type: schema.Vector, Missing: schema.MissingRefuse,
		Why: "vectors from an extractor that the operator declares public"}
	if at >= 0 {
		column = s.schema.Columns[at]
	}
	switch {
	case f.file == "" && f.key != "":
		return &usageError{"--key needs --embeddings", "add --embeddings FILE"}
	case f.file == "" && at >= 0:
		return &usageError{fmt.Sprintf("schema column %q needs embeddings, and none are given", column.Name), "add --embeddings FILE"}
	case f.file == "":
		return nil
	case f.key != "":
		column.Key = f.key
	case column.Key == "":
		return &usageError{"missing --key", "add --key COLUMN: the column of DATA that holds the key of each row's vector"}
	}
	e, err := loadEmbeddings(f.file, 0)
	if err != nil {
		return err
	}
	column.Dimension = e.Width()
	// Of what was loaded, keys included: the files may be others a moment later.
	if column.Joined, err = l.Digest(ctx, e.Reader()); err != nil {
		return err
	}
	declared := *s.schema
	declared.Columns = slices.DeleteFunc(slices.Clone(s.schema.Columns), func(c schema.Column) bool { return c.Type == schema.Vector })
	if len(declared.Columns) < len(s.schema.Columns)-1 {
		return &usageError{"the schema has more than one column of type vector", "declare one: only one file of embeddings can be joined"}
	}
	declared.Columns = append(declared.Columns, column)
	k := declared.Column(column.Key)
	switch {
	case k < 0:
		return &usageError{fmt.Sprintf("--key: the schema declares no column %q", column.Key), keyAdvice(&declared, column.Key)}
	case declared.Columns[k].Type == schema.Vector:
		return &usageError{fmt.Sprintf("--key: column %q is the embeddings themselves", column.Key), ""}
	}
	if err := declared.Validate(); err != nil {
		return err
	}
	s.schema, s.vectors = &declared, e
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
	if err := checkFile(path); err != nil {
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
	return e, unchanged(path, before)
}

// readRows is reader.ReadFrom for a table whose rows may have vectors. With whole set
// each vector must belong to a row.
func readRows(name string, content io.Reader, s *schema.Schema, o reader.Options, e *reader.Embeddings, whole bool, row reader.Row) error {
	if e == nil {
		return reader.ReadFrom(name, content, s, o, row)
	}
	at := vectorColumn(s)
	return reader.ReadJoined(name, content, s, o, s.Columns[at].Key, whole, e, func(cells []float64, found schema.Record, vector []float32) error {
		cells[at] = float64(len(cells))
		for _, v := range vector {
			cells = append(cells, float64(v))
		}
		return row(cells, found)
	})
}

// forModel loads the vectors that a model needs and turns the schema to its key.
func (f embeddingFlags) forModel(s *schema.Schema) (*reader.Embeddings, error) {
	at := vectorColumn(s)
	switch {
	case at < 0 && (f.file != "" || f.key != ""):
		return nil, &usageError{"this model uses no embeddings", "leave out --embeddings and --key"}
	case at < 0:
		return nil, nil
	case f.file == "":
		return nil, &usageError{fmt.Sprintf("this model needs embeddings: vectors of %d numbers, from the extractor it was trained with", s.Columns[at].Dimension),
			"add --embeddings FILE, and --key COLUMN if the key is not in column " + s.Columns[at].Key}
	case f.key != "":
		s.Columns[at].Key = f.key
	}
	if s.Column(s.Columns[at].Key) < 0 {
		s.Columns = append(s.Columns, schema.Column{Name: s.Columns[at].Key, Type: schema.Ignore})
	}
	return loadEmbeddings(f.file, s.Columns[at].Dimension)
}
