// Package source turns the argument of a job into data: a table with its schema (CSV, TSV,
// JSON lines, Parquet, Arrow or Feather), images (a folder, an IDX or npy file with labels), or
// a built-in data set of either kind. A table may have texts for a network, and vectors of a
// public extractor that are joined to its rows by a key.
//
// It knows the ledger, which says under which key rows are sealed, whether a data set is
// public, and whether a file holds what is budgeted under another name.
package source

import (
	"errors"
	"io/fs"
	"os"

	"pawl/data/dataset"
	"pawl/internal/usage"
)

// Options say how an argument becomes data. The zero value suits built-in data.
type Options struct {
	// DataDir is a folder of data sets that are not part of the program; "" stands for PAWL_DATA
	// and the folder of pawl data get.
	DataDir string
	// Schema is the file that declares a table; "" for images and built-in data.
	Schema string
	// Labels is a file of labels beside a file of images, Classes their names in order with
	// commas between them, Rows what is public about the number of images: public, N or about-N.
	Labels, Classes, Rows string
}

// Data is what an argument stands for: one of Table and Images is nil.
type Data struct {
	Table  *Table
	Images *Images
}

// Open opens data. A table of a built-in's name in the working directory comes before the
// built-in. Errors are usage errors and those of the readers, with the place of a fault and
// without a cell.
func Open(data string, o Options) (*Data, error) {
	info, err := os.Stat(data)
	_, table := dataset.Lookup(data)
	pictures := o.Labels != "" || o.Classes != "" || o.Rows != ""
	switch {
	case o.Schema != "" && pictures:
		return nil, usage.New("--schema is for tables; labels, classes and the number of rows are for images", "leave out one or the other")
	case errors.Is(err, fs.ErrNotExist) && !table && !IsImages(data):
		return nil, usage.New(data+" is neither a file nor a built-in data set", NamesAdvice(data, Names()))
	case IsImages(data) && o.Schema == "", err == nil && info.IsDir() && !table, pictures:
		p, err := OpenImages(data, o.DataDir, o.Labels, o.Classes, o.Rows)
		return &Data{Images: p}, err
	}
	t, err := OpenTable(data, o.Schema, o.DataDir)
	return &Data{Table: t}, err
}
