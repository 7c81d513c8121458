package pawl

import (
	"pawl/data/source"
	"pawl/internal/usage"
)

var noData = usage.New("Data is empty", "name a file, a folder of images or a built-in data set")

// Source says where data come from. Only Data is required; a built-in data set needs nothing
// else, a table of your own a Schema.
type Source struct {
	// Data is a file (CSV, TSV, JSON lines, Parquet, Arrow, Feather; gzip or not), the name of a
	// built-in data set, a folder with one sub-folder of PNG files per class, or an IDX or npy
	// file of images.
	Data string
	// Schema is the YAML file that declares a table: types, bounds, categories, the unit and
	// what is public about the number of rows. None of it is ever read from the rows.
	Schema string
	// Test is a file of public rows with the same columns, scored exactly. "" holds rows out,
	// or takes the official test set of a built-in data set.
	Test string
	// BadRows is "refuse" (the default) or "default": malformed cells become the default that
	// their column declares.
	BadRows string
	// Embeddings is a file of vectors of a public extractor, Key the column of a table that has
	// the key of each row's vector ("" for the schema's).
	Embeddings, Key string
	// Labels is the file of labels of an IDX or npy file of images, Classes their names in
	// order with commas between them, and Rows what is public about the number of images:
	// "public", "N" or "about-N".
	Labels, Classes, Rows string
	// Vocabulary is a public file of tokens, one a line, for networks of texts; UnknownToken is
	// "skip" or "shared". Without a file tokens are hashed.
	Vocabulary, UnknownToken string
	// Keep are columns of a table that [Model.Predict] copies beside its predictions. Strict refuses a
	// category that the model does not know, which is otherwise unknown and noted.
	Keep   []string
	Strict bool
	// Flags adds a column that names the cells of each row which are not taken as they stand.
	Flags bool
	// DataDir is a folder of data sets that are not part of the program; "" stands for PAWL_DATA
	// and the folder of pawl data get.
	DataDir string
}

// Data is an opened data set: its bytes, its public declarations, and nothing computed from its
// rows. It is made by [Open] or [Source.Open] and may serve any number of plans, also at once.
type Data struct{ data *source.Data }

// Open opens a table with its schema, or with "" for a schema a built-in data set.
func Open(data, schema string) (*Data, error) { return Source{Data: data, Schema: schema}.Open() }

// Open reads the file once and checks the declarations. Rows are parsed when a plan runs.
//
// Errors: [ErrUsage] for a missing or changing file and a wrong schema, with its line. What the
// other fields ask is checked by [Ledger.Plan], header and rows by [Plan.Run].
func (s Source) Open() (*Data, error) {
	if s.Data == "" {
		return nil, fail(noData)
	}
	d, err := source.Open(s.Data, s.options())
	if err != nil {
		return nil, fail(err)
	}
	return &Data{d}, nil
}

func (s Source) options() source.Options {
	return source.Options{Keep: s.Keep, Strict: s.Strict, Flags: s.Flags, DataDir: s.DataDir, Schema: s.Schema, Labels: s.Labels, Classes: s.Classes, Rows: s.Rows, Test: s.Test, BadRows: s.BadRows,
		Vectors: source.Vectors{File: s.Embeddings, Key: s.Key}, Tokens: source.Tokens{Vocabulary: s.Vocabulary, Unknown: s.UnknownToken}}
}

// Name is the name under which the data set is budgeted.
func (d *Data) Name() string {
	if d.data.Images != nil {
		return d.data.Images.Name
	}
	return d.data.Table.Name
}

// Images reports whether the data are images; otherwise they are a table, maybe of texts.
func (d *Data) Images() bool { return d.data.Images != nil }
