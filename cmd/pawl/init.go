package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl/dataset"
	"pawl/reader"
	"pawl/schema"
)

type initFlags struct {
	out                            string
	guessTypes, force, inferBounds bool
}

func (a *app) initCommand() *cobra.Command {
	var f initFlags
	c := &cobra.Command{
		Use:   "init FILE",
		Short: "Write a schema template for a table, from the names of its columns only",
		Long: `Write a schema with the column names of FILE and blanks for a person to fill: types,
bounds, categories, unit. FILE is CSV, Parquet or Arrow. Only the names are read, because
whatever is read from rows and then used as a public fact gives rows away.

--guess-types reads the rows to propose types. Such a schema is marked
"reviewed: false" and refused until a person has replaced what came from the rows.`,
		Example: "  pawl init patients.csv\n  pawl init patients.csv --out schemas/patients.yaml",
		Args:    exactArgs("FILE"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.init(args[0], f) },
	}
	s := c.Flags()
	s.StringVar(&f.out, "out", "", "schema to write (default: beside FILE, with .yaml for its ending)")
	s.BoolVar(&f.guessTypes, "guess-types", false, "read the rows to propose types; the schema is refused until reviewed")
	s.BoolVar(&f.force, "force", false, "replace a schema that is there")
	s.BoolVar(&f.inferBounds, "infer-bounds", false, "")
	_ = s.MarkHidden("infer-bounds")
	return c
}

func (a *app) init(file string, f initFlags) error {
	if f.inferBounds {
		return &usageError{"bounds cannot be bought from the rows in this version",
			"fill in lower and upper from what the quantities mean: round numbers that hold for everybody"}
	}
	name := baseName(file)
	if f.out == "" {
		f.out = filepath.Join(filepath.Dir(file), name+".yaml")
	}
	if filepath.Clean(f.out) == filepath.Clean(file) {
		return &usageError{fmt.Sprintf("%s: the schema would replace the data", f.out), "name another file with --out"}
	}
	if _, err := os.Stat(f.out); err == nil && !f.force {
		return &usageError{fmt.Sprintf("%s: is there already", f.out), "replace it with --force, or name another file with --out"}
	}
	header, text, err := template(file, name, f.guessTypes)
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

// baseName is the name of a file without its folder and endings.
func baseName(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}

func template(file, name string, guess bool) (header []string, text []byte, err error) {
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		if _, ok := dataset.Lookup(file); ok {
			return nil, nil, &usageError{fmt.Sprintf("data set %q is built in and brings its own schema", file), "pawl data describe " + file}
		}
	}
	if err := checkFile(file); err != nil {
		return nil, nil, err
	}
	c, err := reader.OpenRecords(file)
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
