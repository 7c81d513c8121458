package cli

import (
	"cmp"
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
	bought            inferFlags
}

func initCommand(a *app) *cobra.Command {
	var f initFlags
	c := &cobra.Command{
		Use:   "init FILE",
		Short: "Write a schema template from a table's column names",
		Long: `Write a schema with the column names of FILE and blanks to fill in: types, bounds,
categories, privacy unit. FILE is CSV, TSV (.tsv), JSON lines (.jsonl), Parquet or Arrow.
Only the names are read: facts read from rows and then used as public would reveal
rows. JSON lines have their names in the rows, so list them with --columns.

The first line also shows the delimiter and, if it is not UTF-8, that another encoding is
needed; the schema then has a section "file:" for it. Blank and repeated names are numbered
(column_1, age_2). A first line with numbers, dates or many equal names may be a row: then
nothing is written until --header or --no-header says which it is. A row of distinct words
looks like a header: if the file has none, pass --no-header.

The privacy unit states whose data must be protected: each row, or each person, who
may have several rows. Nothing runs until it is filled in.

--guess-types reads the rows to propose types. The schema is then marked
"reviewed: false" and refused until a person has replaced everything that came from the
rows.

--infer buys the schema: it charges --epsilon to the budget of the data set before it
reads a row, and releases with noise which texts many people hold (categories), how many
cells are missing, bounds of the columns that hold numbers, and years of ISO dates. Rare
texts stay hidden. Half of epsilon goes to categories and half to bounds. Before the
charge, a forecast from public facts (names, --rows, --unit, --epsilon) shows what can be
released and asks for confirmation, which --yes gives. If nothing can be released, nothing
is charged. Text and identifiers cost nothing if they are left out: --ignore, or --columns
for the others; columns with names like "id" are always left out. --numbers names columns
known to hold numbers, for which no categories are released. --unit states who is
protected: row, or the column that identifies a person. The first use grants the budget:
--budget E, of which the schema takes --epsilon. The schema states what was released and
with what confidence; FILE.released.json beside it has all of it, and reading it costs
nothing more: --released makes a schema from it again, for example for another --target.
Bounds that follow from the meaning of a quantity are free, and better.

--from-smartnoise FILE reads no data: it converts SmartNoise SQL metadata (YAML) into a
schema with its bounds, unit, rows and missing values, and blanks for the rest.`,
		Example: "  pawl init patients.csv\n  pawl init patients.jsonl --columns age,ward,ill\n  pawl init patients.csv --infer --epsilon 0.3 --budget 2 --rows 'about 7000' --unit patient_id --rows-per-unit 1 --target ill\n  pawl init --from-smartnoise PUMS.yaml --out people.yaml",
		Args: func(c *cobra.Command, args []string) error {
			if f.smartNoise != "" {
				return exactArgs()(c, args)
			}
			return exactArgs("FILE")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.smartNoise != "" {
				return importSmartNoise(a, f)
			}
			return againstCopies(a, &f.bought.Copies, func() error { return writeSchema(c.Context(), a, args[0], f) })
		},
	}
	s := c.Flags()
	s.StringVar(&f.out, "out", "", "schema file to write (default: beside FILE, ending in .yaml)")
	s.StringVar(&f.smartNoise, "from-smartnoise", "", "convert this SmartNoise SQL metadata file, instead of FILE")
	s.BoolVar(&f.guessTypes, "guess-types", false, "read the rows to propose types; the schema is refused until reviewed")
	s.BoolVar(&f.how.NoHeader, "no-header", false, "FILE has no header line: number its columns")
	s.BoolVar(&f.header, "header", false, "the first line is a header, even if it looks like a row")
	s.IntVar(&f.how.Skip, "skip", 0, "number of lines before the header")
	s.StringVar(&f.how.Delimiter, "delimiter", "", "character between cells, such as ';', tab or '|' (default: the one that splits the first line into the most cells)")
	s.StringVar(&f.how.Decimal, "decimal", "", "decimal mark, such as ',' (default: a point)")
	s.StringVar(&f.how.Thousands, "thousands", "", "thousands separator, such as '.' or ' ' (default: none)")
	s.StringVar(&f.how.Encoding, "encoding", "", "encoding of FILE, such as windows-1252 or utf-16le (default: guessed from its first line, else UTF-8)")
	s.BoolVar(&f.force, "force", false, "replace an existing schema")
	s.BoolVar(&f.bought.infer, "infer", false, "buy types, bounds, categories and missing rates from the rows, for --epsilon")
	s.BoolVar(&f.bought.bounds, "infer-bounds", false, "old name of --infer for bounds alone")
	s.StringVar(&f.bought.Epsilon, "epsilon", "", "epsilon of --infer")
	s.StringVar(&f.bought.Delta, "delta", "", "failure probability delta of --infer (default: that of the budget)")
	s.StringVar(&f.bought.Rows, "rows", "", "with --infer: about how many rows there are, such as 'about 7000'")
	s.StringVar(&f.bought.Unit, "unit", "", "with --infer: column that identifies a person, or row if every row is a different person")
	s.IntVar(&f.bought.RowsPerUnit, "rows-per-unit", 0, "with --unit: maximum number of rows per person; more are dropped")
	s.StringVar(&f.bought.Units, "units", "", "with --unit COLUMN: about how many people there are (default: rows / rows per person)")
	s.StringVar(&f.bought.Columns, "columns", "", "columns for --infer, such as age,weight (default: all); for JSON lines, the columns of the schema")
	s.StringVar(&f.bought.Numbers, "numbers", "", "with --infer: columns that hold numbers: bounds only, no categories")
	s.StringVar(&f.bought.Ignore, "ignore", "", "with --infer: columns to leave out, such as texts and identifiers")
	s.StringVar(&f.bought.Target, "target", "", "with --infer: the column to predict; the released categories count as all of its categories")
	s.StringVar(&f.bought.released, "released", "", "make the schema again from this FILE.released.json of an earlier --infer, at no cost")
	s.BoolVar(&f.bought.yes, "yes", false, "with --infer: charge without asking")
	updatedFlag(s, &f.bought.Updated, "")
	unitsFlags(c, &f.bought.Copies.SameAs, &f.bought.Copies.Different, &f.bought.Copies.Reason)
	return c
}

// place settles where the schema goes: beside file unless told otherwise, and never in place of file itself.
func (f *initFlags) place(file, beside string) error {
	f.out = cmp.Or(f.out, beside)
	switch info, err := os.Stat(f.out); {
	case err == nil && info.IsDir():
		return mistakef("name a file with --out", "%s is a directory, not a file", f.out)
	case table.Holds(file, f.out):
		return mistakef("choose another file with --out", "%s: the schema would overwrite %s", f.out, table.Shown(file))
	case err == nil && !f.force:
		return mistakef("replace it with --force, or choose another file with --out", "%s exists already", f.out)
	}
	return nil
}

func writeSchema(ctx context.Context, a *app, file string, f initFlags) error {
	name := table.BaseName(file)
	if name == "" && f.out != "" { // a query
		name = table.BaseName(f.out)
	}
	if name == "" {
		return mistakef("choose one by the name of the schema: --out NAME.yaml", "%s has no name for its data set", table.Shown(file))
	}
	if f.bought.Columns == "" && table.JSONNamed(file) {
		return mistakef("list the columns from documentation: --columns age,ward,ill", "%s: JSON lines have no header, and names found in rows are data, which a schema must not copy", table.Shown(file))
	}
	infer := f.bought.infer || f.bought.bounds
	if f.bought.released != "" && (infer || f.guessTypes) {
		return mistake("--released makes a schema of an earlier release, and excludes --infer and --guess-types", "leave out one of them")
	}
	if flag := f.bought.given(a.ledger.total); flag != "" && !infer && !(flag == "--target" && f.bought.released != "") && !(flag == "--columns" && table.JSONNamed(file)) {
		return mistake(flag+" needs --infer, the only part of pawl init that charges a budget", "add --infer, or leave it out")
	}
	if infer && f.guessTypes {
		return mistake("--infer and --guess-types exclude each other", "leave out one of them")
	}
	if err := f.place(file, filepath.Join(table.Dir(file), name+".yaml")); err != nil {
		return err
	}
	seen, err := proposeSchema(a, file, &f)
	if err != nil {
		return err
	}
	if f.bought.released != "" {
		return schemaAgain(a, file, seen.Columns, &f)
	}
	if f.bought.File = seen.File; infer {
		return buySchema(ctx, a, file, name, &f)
	}
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
	return a.wrote(f.out, map[string]any{"schema": f.out, "columns": seen.Columns, "saw": seen.Saw})
}

// notBuiltin refuses a built-in name.
func notBuiltin(file string) error {
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		if _, ok := dataset.Lookup(file); ok {
			return mistakef("pawl data describe "+file, "data set %q is built in and has its own schema", file)
		}
	}
	return nil
}

// proposeSchema names the columns of a table, and says how it is written by its first line.
func proposeSchema(a *app, file string, f *initFlags) (*reader.Proposal, error) {
	if err := notBuiltin(file); err != nil {
		return nil, err
	}
	if f.header && f.how.NoHeader {
		return nil, mistake("--header and --no-header exclude each other", "leave out one of them")
	}
	how, err := f.how.Declared()
	if err != nil {
		return nil, err
	}
	names, err := f.bought.Names()
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
