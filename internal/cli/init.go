package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/data/table"
	"pawl/reader"
)

type initFlags struct {
	out, smartNoise   string
	guessTypes, force bool
	how               schema.File
	header            bool
	bounds            boundsFlags
}

func (a *app) initCommand() *cobra.Command {
	var f initFlags
	c := &cobra.Command{
		Use:   "init FILE",
		Short: "Write a schema template from a table's column names",
		Long: `Write a schema with the column names of FILE and blanks to fill in: types, bounds,
categories, privacy unit. FILE is CSV, TSV (.tsv), JSON lines (.jsonl), Parquet or Arrow.
Only the names are read: facts read from rows and then used as public would reveal
rows. JSON lines have their names in the rows, so list them with --columns.

The first line also shows the delimiter and, if it is not UTF-8, that another encoding is
needed; the schema then has a section "file:" for it. Names that are blank or stand there
twice are numbered (column_1, age_2). A first line with numbers, dates or many equal names
may be a row: nothing of it is written, and you say what it is with --header or --no-header.
A file of different words without a header looks like a header: pass --no-header.

The privacy unit states whose data must be protected: a row's, or a person's who may
have several rows. Nothing runs until it is filled in.

--guess-types reads the rows to propose types. The schema is then marked
"reviewed: false" and refused until a person has replaced everything that came from the
rows.

--infer-bounds computes private bounds of numeric columns from a noisy histogram of each
column on public edges (1, 2 and 5 times powers of ten), as two quantiles. It charges
--epsilon to the budget of the data set before it reads a row; create the budget first
(pawl ledger create, or --budget E at first use). --unit states who is protected: row,
or the column that identifies a person. The bounds are approximate and rounded outward;
values beyond them are clipped, and the schema says so. All columns share epsilon;
--columns selects fewer. Bounds that follow from the meaning of a quantity are free, and
better.

--from-smartnoise FILE reads no data: it converts SmartNoise SQL metadata (YAML) into a
schema with its bounds, unit, rows and missing values, and blanks for the rest.`,
		Example: "  pawl init patients.csv\n  pawl init patients.jsonl --columns age,ward,ill\n  pawl init patients.csv --infer-bounds --epsilon 0.2 --unit row --columns weight,dose\n  pawl init --from-smartnoise PUMS.yaml --out people.yaml",
		Args: func(c *cobra.Command, args []string) error {
			if f.smartNoise != "" {
				return exactArgs()(c, args)
			}
			return exactArgs("FILE")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.smartNoise != "" {
				return a.importSmartNoise(f)
			}
			return a.again(&f.bounds.Copies, func() error { return a.init(c.Context(), args[0], f) })
		},
	}
	s := c.Flags()
	s.StringVar(&f.out, "out", "", "schema file to write (default: beside FILE, ending in .yaml)")
	s.StringVar(&f.smartNoise, "from-smartnoise", "", "convert this SmartNoise SQL metadata file, instead of FILE")
	s.BoolVar(&f.guessTypes, "guess-types", false, "read the rows to propose types; the schema is refused until reviewed")
	s.BoolVar(&f.how.NoHeader, "no-header", false, "FILE has no header line: number its columns")
	s.BoolVar(&f.header, "header", false, "the first line is a header, even if it looks like a row")
	s.IntVar(&f.how.Skip, "skip", 0, "number of lines before the header")
	s.StringVar(&f.how.Delimiter, "delimiter", "", "character between cells, such as ';', tab or '|' (default: the one that divides the first line most)")
	s.StringVar(&f.how.Encoding, "encoding", "", "encoding of FILE, such as windows-1252 or utf-16le (default: by its first line, else UTF-8)")
	s.BoolVar(&f.force, "force", false, "replace an existing schema")
	s.BoolVar(&f.bounds.infer, "infer-bounds", false, "compute private bounds of numeric columns from the rows, for --epsilon")
	s.StringVar(&f.bounds.Epsilon, "epsilon", "", "epsilon of --infer-bounds")
	s.StringVar(&f.bounds.Delta, "delta", "", "failure probability delta of --infer-bounds (default: that of the budget; 0 asks for pure DP)")
	s.StringVar(&f.bounds.Columns, "columns", "", "columns for --infer-bounds, such as age,weight (default: all); for JSON lines, the columns of the schema")
	s.StringVar(&f.bounds.Unit, "unit", "", "with --infer-bounds: column that identifies a person, or row if every row is a different person")
	s.IntVar(&f.bounds.RowsPerUnit, "rows-per-unit", 0, "with --unit: maximum number of rows kept per person")
	s.BoolVar(&f.bounds.Updated, "updated", false, "accept that the data have changed since they were last used")
	registerCopies(&f.bounds.Copies, c)
	return c
}

func (a *app) init(ctx context.Context, file string, f initFlags) error {
	name := table.BaseName(file)
	if name == "" && f.out != "" { // a query
		name = table.BaseName(f.out)
	}
	if name == "" {
		return &usageError{fmt.Sprintf("%s has no name for its data set", table.Shown(file)), "choose one by the name of the schema: --out NAME.yaml"}
	}
	if f.bounds.Columns == "" && table.JSONNamed(file) {
		return &usageError{fmt.Sprintf("%s: JSON lines have no header, and names found in rows are data, which a schema must not copy", table.Shown(file)),
			"list the columns from documentation: --columns age,ward,ill"}
	}
	if flag := f.bounds.given(a.total); flag != "" && !f.bounds.infer && !(flag == "--columns" && table.JSONNamed(file)) {
		return &usageError{flag + " needs --infer-bounds, the only part of pawl init that charges a budget", "add --infer-bounds, or leave it out"}
	}
	if f.bounds.infer && f.guessTypes {
		return &usageError{"--infer-bounds and --guess-types exclude each other", "leave out one of them"}
	}
	if f.out == "" {
		f.out = filepath.Join(table.Dir(file), name+".yaml")
	}
	if filepath.Clean(f.out) == filepath.Clean(file) {
		return &usageError{fmt.Sprintf("%s: the schema would overwrite the data", f.out), "choose another file with --out"}
	}
	if _, err := os.Stat(f.out); err == nil && !f.force {
		return &usageError{fmt.Sprintf("%s exists already", f.out), "replace it with --force, or choose another file with --out"}
	}
	seen, err := a.propose(file, &f)
	if err != nil {
		return err
	}
	if f.bounds.File = seen.File; f.bounds.infer {
		return a.inferBounds(ctx, file, name, &f)
	}
	header := seen.Columns
	text, err := template(file, name, seen, f.guessTypes)
	if err != nil {
		return err
	}
	if err := writeFile(f.out, f.force, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return err
	}
	if f.guessTypes {
		fmt.Fprintln(a.err, "note: the rows were read to guess types; the schema is not public until a person has reviewed it and set reviewed: true")
	}
	fmt.Fprintf(a.err, "next: fill in %s, then: pawl check %s --schema %s --target COLUMN --epsilon 1\n", shell(f.out), shell(table.Shown(file)), shell(f.out))
	if a.json {
		return writeJSON(a.out, map[string]any{"schema": f.out, "columns": header, "saw": append([]string{}, seen.Saw...)})
	}
	_, err = fmt.Fprintln(a.out, f.out)
	return err
}

// notBuiltin refuses a built-in name.
func notBuiltin(file string) error {
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		if _, ok := dataset.Lookup(file); ok {
			return &usageError{fmt.Sprintf("data set %q is built in and has its own schema", file), "pawl data describe " + file}
		}
	}
	return nil
}

// propose names the columns of a table, and says how it is written by its first line.
func (a *app) propose(file string, f *initFlags) (*reader.Proposal, error) {
	if err := notBuiltin(file); err != nil {
		return nil, err
	}
	if f.header && f.how.NoHeader {
		return nil, &usageError{"--header and --no-header exclude each other", "leave out one of them"}
	}
	how, err := f.how.Declared()
	if err != nil {
		return nil, err
	}
	names, err := f.bounds.Names()
	if err != nil {
		return nil, err
	}
	p, err := table.Propose(file, reader.Keys{Names: names, File: how}, f.header)
	if err != nil {
		return nil, err
	}
	for _, s := range p.Saw {
		a.note(s)
	}
	return p, nil
}

// template is a schema with the columns of a table.
func template(file, name string, seen *reader.Proposal, guess bool) ([]byte, error) {
	if !guess {
		return schema.WithFile(schema.Template(name, seen.Columns), seen.File), nil
	}
	content, err := table.Read(file)
	if err != nil {
		return nil, err
	}
	c, err := reader.NewRecords(content.Name(), content.Reader(), reader.Keys{Names: seen.Columns, File: seen.File})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	g := schema.NewGuesser(seen.Columns)
	for {
		row, err := c.Next()
		if err == io.EOF {
			// Categories are not copied: a rare one can name a person.
			return schema.WithFile(g.Schema(name, false), seen.File), nil
		}
		if err != nil {
			return nil, err
		}
		g.Observe(row)
	}
}
