// Package source turns the argument of a job into data: a table with its schema (all that
// package table opens), images (a folder, an IDX or npy file with labels), or
// a built-in data set of either kind. A table may have texts for a network, and vectors of a
// public extractor that are joined to its rows by a key.
//
// It knows the ledger, which says under which key rows are sealed, whether a data set is
// public, and whether a file holds what is budgeted under another name.
package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/data/table"
	"pawl/internal/usage"
	"pawl/reader"
)

// Options say how an argument becomes data. The zero value suits built-in data.
type Options struct {
	// DataDir is a folder of data sets that are not part of the program; "" stands for PAWL_DATA
	// and the folder of pawl data get.
	DataDir string
	// Schema is the file that declares a table; "" for images and built-in data.
	Schema string
	// Labels is a file of labels beside a file of images, Classes their names in order with
	// commas between them, Rows how the number of images is declared: public, N or about-N.
	Labels, Classes, Rows string
	// Test is a file of public test rows for a table, "" for none.
	Test string
	// BadRows says what malformed cells of a table do: "" or refuse, or default.
	BadRows string
	// Vectors are joined to the rows of a table, Tokens number its texts for a network.
	Vectors Vectors
	Tokens  Tokens
	// Keep are columns that stand beside predictions, as the file has them; Strict refuses a
	// category that the model does not know. Both are for predictions.
	Keep   []string
	Strict bool
	// Flags adds a column that names the cells of each row which are not taken as they stand.
	Flags bool
}

// Data is what an argument stands for: one of Table and Images is nil.
type Data struct {
	Table  *Table
	Images *Images
	// Argument and Options are those that it was opened by.
	Argument string
	Options  Options
	// Piped says that it came through standard input and cannot be opened again.
	Piped bool
}

// Texts says that it is a table with a column of texts that is built in.
func (d *Data) Texts() bool {
	return d.Table != nil && d.Table.Builtin != nil &&
		slices.ContainsFunc(d.Table.Schema.Columns, func(c schema.Column) bool { return c.Type == schema.Text })
}

// Rule is what malformed cells do.
func (o Options) Rule() (reader.BadRows, error) {
	switch bad := reader.BadRows(o.BadRows); bad {
	case "":
		return reader.Refuse, nil
	case reader.Refuse, reader.Default:
		return bad, nil
	}
	return "", usage.New(fmt.Sprintf("unknown --bad-rows %q", o.BadRows), "use --bad-rows refuse or --bad-rows default")
}

// Open opens data. A table of a built-in's name in the working directory comes before the
// built-in. Errors are usage errors and those of the readers, with the place of a fault and
// without a cell.
func Open(data string, o Options) (*Data, error) {
	if err := table.NotAddress(data); err != nil {
		return nil, err
	}
	info, err := os.Stat(data)
	_, builtin := dataset.Lookup(data)
	pictures := o.Labels != "" || o.Classes != "" || o.Rows != ""
	switch {
	case o.Schema != "" && err == nil && info.IsDir() && !builtin:
		return nil, usage.New(data+" is a directory, and --schema is for tables", "name one file, or several of the same columns by a pattern: '"+filepath.Join(data, "*.csv")+"'")
	case o.Schema != "" && pictures:
		return nil, usage.New("--schema is for tables; labels, classes and the number of rows are for images", "leave out one or the other")
	case errors.Is(err, fs.ErrNotExist) && !builtin && !IsImages(data) && !table.Foreign(data):
		return nil, usage.New(data+" is neither a file nor a built-in data set", NamesAdvice(data, Names()))
	case IsImages(data) && o.Schema == "" && !pictures:
		b, _ := dataset.Images(data)
		return &Data{Images: builtinImages(b, o.DataDir), Argument: data, Options: o}, nil
	case err == nil && info.IsDir() && !builtin, pictures:
		p, err := OpenImages(data, o.DataDir, o.Labels, o.Classes, o.Rows)
		if err != nil {
			return nil, err
		}
		return &Data{Images: p, Argument: data, Options: o}, nil
	}
	if o.Schema == "" && imageFile(data) {
		return nil, usage.New(data+": missing --labels: this is a file of images",
			"pawl fit, train, search and crossover read it with --labels FILE, and --classes with the class names in order")
	}
	t, err := OpenTable(data, o.Schema, o.DataDir)
	if err != nil {
		return nil, err
	}
	return &Data{Table: t, Argument: t.Path, Options: o, Piped: data == table.Stdin}, nil
}
