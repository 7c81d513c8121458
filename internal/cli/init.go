package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/reader"
)

type initFlags struct {
	out, smartNoise   string
	guessTypes, force bool
	bounds            boundsFlags
}

func (a *app) initCommand() *cobra.Command {
	var f initFlags
	c := &cobra.Command{
		Use:   "init FILE",
		Short: "Write a schema template for a table, from the names of its columns only",
		Long: `Write a schema with the column names of FILE and blanks for a person to fill: types,
bounds, categories, unit. FILE is CSV, TSV (.tsv), JSON lines (.jsonl), Parquet or Arrow.
Only the names are read, because whatever is read from rows and then used as a public fact
gives rows away. The names of JSON lines stand in their rows: --columns gives them.

The unit asks whose data must be protected, a row's or a person's who may have several,
and nothing runs before that is answered.

--guess-types reads the rows to propose types. Such a schema is marked
"reviewed: false" and refused until a person has replaced what came from the rows.

--infer-bounds buys bounds of numeric columns: a noisy histogram of each column on public
edges (1, 2 and 5 times powers of ten), of which bounds between two quantiles follow. It
charges --epsilon to the budget of the data set, which must have one (pawl ledger create,
or --budget E at first use), before it looks at a row. --unit says whom it protects: row, or the column that identifies
a person. The bounds are rounded outward and not exact, what is beyond is clipped, and the
schema says so. All columns share epsilon; --columns names fewer.
Bounds that follow from what a quantity means are free, and better.

--from-smartnoise FILE reads no data: it turns the metadata of SmartNoise SQL (YAML) into
a schema, with bounds, unit, rows and missing values as they stand there, and blanks for
the rest.`,
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
			return a.again(&f.bounds.copies, func() error { return a.init(c.Context(), args[0], f) })
		},
	}
	s := c.Flags()
	s.StringVar(&f.out, "out", "", "schema to write (default: beside FILE, with .yaml for its ending)")
	s.StringVar(&f.smartNoise, "from-smartnoise", "", "metadata of SmartNoise SQL to write the schema from, in place of FILE")
	s.BoolVar(&f.guessTypes, "guess-types", false, "read the rows to propose types; the schema is refused until reviewed")
	s.BoolVar(&f.force, "force", false, "replace a schema that is there")
	s.BoolVar(&f.bounds.infer, "infer-bounds", false, "buy bounds of numeric columns from the rows, for --epsilon")
	s.StringVar(&f.bounds.epsilon, "epsilon", "", "what --infer-bounds may cost")
	s.StringVar(&f.bounds.delta, "delta", "", "failure chance of --infer-bounds (default: that of the budget; 0 asks for pure epsilon)")
	s.StringVar(&f.bounds.column, "columns", "", "columns that --infer-bounds buys bounds for: age,weight (default: all); of JSON lines the columns of the schema, which they have no header for")
	s.StringVar(&f.bounds.unit, "unit", "", "for --infer-bounds: column that identifies a person, or row if every row is about a different person")
	s.IntVar(&f.bounds.rowsPerUnit, "rows-per-unit", 0, "the most rows that one person keeps, with --unit")
	s.BoolVar(&f.bounds.updated, "updated", false, "accept that the file has changed since it was last used")
	registerCopies(&f.bounds.copies, c)
	return c
}

func (a *app) init(ctx context.Context, file string, f initFlags) error {
	name := source.BaseName(file)
	if f.bounds.column == "" && reader.JSONNamed(file) {
		return &usageError{fmt.Sprintf("%s: JSON lines have no header, and the names in their rows are data: a schema must not copy them", file),
			"--columns age,ward,ill names the columns, from documentation"}
	}
	if flag := f.bounds.given(a.total); flag != "" && !f.bounds.infer && !(flag == "--columns" && reader.JSONNamed(file)) {
		return &usageError{flag + " needs --infer-bounds: only that part of pawl init costs privacy", "add --infer-bounds, or leave it out"}
	}
	if f.bounds.infer && f.guessTypes {
		return &usageError{"--infer-bounds pays for what it reads, and --guess-types does not", "leave out one of the two"}
	}
	if f.out == "" {
		f.out = filepath.Join(filepath.Dir(file), name+".yaml")
	}
	if filepath.Clean(f.out) == filepath.Clean(file) {
		return &usageError{fmt.Sprintf("%s: the schema would replace the data", f.out), "name another file with --out"}
	}
	if _, err := os.Stat(f.out); err == nil && !f.force {
		return &usageError{fmt.Sprintf("%s: is there already", f.out), "replace it with --force, or name another file with --out"}
	}
	if f.bounds.infer {
		if err := notBuiltin(file); err != nil {
			return err
		}
		return a.inferBounds(ctx, file, name, &f)
	}
	names, err := f.bounds.names()
	if err != nil {
		return err
	}
	header, text, err := template(file, name, names, f.guessTypes)
	if err != nil {
		return err
	}
	if err := writeFile(f.out, f.force, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return err
	}
	for _, h := range header {
		if _, err := strconv.ParseFloat(h, 64); err == nil {
			fmt.Fprintln(a.err, "note: a column's name is a number; if FILE has no header line, the schema now holds its first row: delete it and add a header")
			break
		}
	}
	if f.guessTypes {
		fmt.Fprintln(a.err, "note: the rows were read to guess types; the schema is not public until a person reviews it and sets reviewed: true")
	}
	fmt.Fprintf(a.err, "next: fill in %s, then: pawl check %s --schema %s --target COLUMN --epsilon 1\n", shell(f.out), shell(file), shell(f.out))
	if a.json {
		return writeJSON(a.out, map[string]any{"schema": f.out, "columns": header})
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

// template is a schema with the columns of a file; those of JSON lines are names.
func template(file, name string, names []string, guess bool) (header []string, text []byte, err error) {
	if err := notBuiltin(file); err != nil {
		return nil, nil, err
	}
	if err := source.CheckFile(file); err != nil {
		return nil, nil, err
	}
	c, err := reader.OpenRecords(file, reader.Keys{Names: names})
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	header = c.Header()
	if !guess {
		return header, schema.Template(name, header), nil
	}
	g := schema.NewGuesser(header)
	for {
		row, err := c.Next()
		if err == io.EOF {
			// Categories are not copied: a rare one can name a person.
			return header, g.Schema(name, false), nil
		}
		if err != nil {
			return nil, nil, err
		}
		g.Observe(row)
	}
}
