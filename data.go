package pawl

import (
	"pawl/data/source"
	"pawl/internal/usage"
)

var noData = usage.New("Data is empty", "name a file, a folder of images or a built-in data set")

// Source describes where data come from. Only Data is required; your own table also needs a
// Schema.
type Source struct {
	// Data is a file (CSV, TSV, JSON lines, Parquet, Arrow, Feather; gzip or not), the name of a
	// built-in data set, a folder with one sub-folder of PNG files per class, or an IDX or npy
	// file of images.
	Data string
	// Schema is the YAML file that declares a table: types, bounds, categories, the unit and
	// how the number of rows is declared. None of these are ever read from the rows.
	Schema string
	// Test is a file of public rows with the same columns; the score on it is exact. "" scores on
	// held-out rows, or on the official test set of a built-in data set.
	Test string
	// BadRows is "refuse" (the default), or "default": replace malformed cells by the default that
	// their column declares.
	BadRows string
	// Embeddings is a file of vectors from a public extractor. Key is the table's column that holds
	// the key of each row's vector; "" means the key that the schema names.
	Embeddings, Key string
	// Labels is the file of labels of an IDX or npy file of images, Classes are their names in
	// order, separated by commas, and Rows declares the number of images:
	// "public", "N" or "about-N".
	Labels, Classes, Rows string
	// Vocabulary is a public file of tokens, one per line, for text networks; UnknownToken is
	// "skip" or "shared". Without a file, tokens are hashed.
	Vocabulary, UnknownToken string
	// Keep lists columns of a table that [Model.Predict] copies beside its predictions. Strict refuses a
	// category that the model does not know; otherwise it counts as unknown and [Predictions.Notes]
	// reports it.
	Keep   []string
	Strict bool
	// Flags adds a column that names the cells of each row that were changed or unknown.
	Flags bool
	// DataDir is a folder of data sets that are not part of the program; "" means the folder in
	// PAWL_DATA, or else the folder of pawl data get.
	DataDir string
}

// Data is an opened data set: its bytes and its public declarations. [Open] and [Source.Open] make
// it. Any number of plans may use it, also at once.
type Data struct{ data *source.Data }

// Open opens a table with its schema, or a built-in data set with "" as its schema.
func Open(data, schema string) (*Data, error) { return Source{Data: data, Schema: schema}.Open() }

// Open reads the file once and checks the declarations. Rows are parsed when a plan runs.
//
// Errors: [ErrUsage] for a missing file, one that changes while it is read, and a wrong schema, with
// its line. [Ledger.Plan] checks the other fields, [Plan.Run] the header and the rows.
func (s Source) Open() (*Data, error) {
	if s.Data == "" {
		return nil, fail(noData)
	}
	d, err := source.Open(s.Data, s.options())
	return handle(&Data{d}, err)
}

func (s Source) options() source.Options {
	return source.Options{Keep: s.Keep, Strict: s.Strict, Flags: s.Flags, DataDir: s.DataDir, Schema: s.Schema, Labels: s.Labels, Classes: s.Classes, Rows: s.Rows, Test: s.Test, BadRows: s.BadRows,
		Vectors: source.Vectors{File: s.Embeddings, Key: s.Key}, Tokens: source.Tokens{Vocabulary: s.Vocabulary, Unknown: s.UnknownToken}}
}

// Name returns the name of the data set in the ledger.
func (d *Data) Name() string {
	if d.data.Images != nil {
		return d.data.Images.Name
	}
	return d.data.Table.Name
}

// Images reports whether the data are images. Otherwise they are a table, possibly of texts.
func (d *Data) Images() bool { return d.data.Images != nil }
