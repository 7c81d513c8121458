package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/dataset"
	"pawl/schema"
)

func (a *app) dataCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "data",
		Short:   "The built-in data sets: sources, licences, checksums, columns",
		Long:    "List and describe the data sets that pawl knows. Some are part of the program; the\nothers are read from a folder of yours (--data-dir or PAWL_DATA) and checked.",
		Example: "  pawl data list\n  pawl data describe adult",
		Args:    subcommandArgs("list, describe"),
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:     "list",
		Short:   "List the built-in data sets",
		Long:    "List the built-in data sets with their task, target, number of rows and licence.",
		Example: "  pawl data list",
		Args:    exactArgs(),
		RunE:    func(*cobra.Command, []string) error { return a.listData() },
	}, &cobra.Command{
		Use:   "describe NAME",
		Short: "Describe one data set and its schema",
		Long: `Describe a built-in data set: where it comes from and how to cite it, its known
problems, its files with their SHA-256, and every column with its bounds or
categories and the reason for them.`,
		Example: "  pawl data describe adult",
		Args:    exactArgs("NAME"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.describeData(args[0]) },
	})
	return c
}

type dataJSON struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Task     string `json:"task"`
	Target   string `json:"target"`
	Rows     int    `json:"rows"`
	TestRows int    `json:"test_rows"`
	Licence  string `json:"licence"`
	Embedded bool   `json:"embedded"`
}

func newDataJSON(i *dataset.Info) dataJSON {
	return dataJSON{i.Name, i.Title, string(i.Task), i.Target, i.Rows, i.TestRows, i.Licence, i.Embedded}
}

func (a *app) listData() error {
	list := []dataJSON{}
	for _, i := range dataset.List() {
		list = append(list, newDataJSON(&i))
	}
	if a.json {
		return writeJSON(a.out, map[string]any{"datasets": list})
	}
	t := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "name\ttask\ttarget\trows\ttest rows\twhere\tlicence")
	for _, d := range list {
		test := "-"
		if d.TestRows > 0 {
			test = strconv.Itoa(d.TestRows)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", d.Name, d.Task, d.Target, d.Rows, test, where(d.Embedded), d.Licence)
	}
	return t.Flush()
}

func where(embedded bool) string {
	if embedded {
		return "built in"
	}
	return "data folder"
}

// lookupData finds a built-in data set or says which was meant.
func lookupData(name string) (*dataset.Builtin, error) {
	if b, ok := dataset.Lookup(name); ok {
		return b, nil
	}
	return nil, &usageError{fmt.Sprintf("%s: not a built-in data set", name), builtinAdvice(name)}
}

func builtinAdvice(name string) string {
	var names []string
	for _, i := range dataset.List() {
		names = append(names, i.Name)
	}
	advice := "built-in data sets: " + strings.Join(names, ", ")
	if near := schema.Nearest(name, names); near != "" {
		advice = fmt.Sprintf("did you mean %q? %s", near, advice)
	}
	return advice
}

type fileJSON struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

type columnJSON struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Lower       *float64 `json:"lower,omitempty"`
	Upper       *float64 `json:"upper,omitempty"`
	HeavyTailed bool     `json:"heavy_tailed,omitempty"`
	Categories  []string `json:"categories,omitempty"`
	Ordered     bool     `json:"ordered,omitempty"`
	Other       string   `json:"other,omitempty"`
	Missing     string   `json:"missing"`
	Why         string   `json:"why,omitempty"`
}

func newColumnJSON(c *schema.Column) columnJSON {
	out := columnJSON{Name: c.Name, Type: string(c.Type), HeavyTailed: c.HeavyTailed, Categories: c.Categories, Ordered: c.Ordered,
		Other: c.Other, Missing: missing(c), Why: c.Why}
	if c.Type == schema.Numeric || c.Type == schema.Integer {
		out.Lower, out.Upper = &c.Lower, &c.Upper
	}
	return out
}

func missing(c *schema.Column) string {
	switch c.Missing {
	case schema.MissingUnknown:
		return "unknown"
	case schema.MissingValue:
		if c.Type == schema.Numeric || c.Type == schema.Integer {
			return shortNumber(c.MissingNumber)
		}
		return c.MissingCategory
	}
	return "refuse"
}

func (a *app) describeData(name string) error {
	b, err := lookupData(name)
	if err != nil {
		return err
	}
	s := b.Schema()
	// The files are opened and their checksums compared; rows are not parsed.
	_, unavailable := b.TrainCSV(a.dataDir)
	if a.json {
		out := struct {
			dataJSON
			Source        string       `json:"source"`
			Citation      string       `json:"citation"`
			KnownProblems []string     `json:"known_problems"`
			Available     bool         `json:"available"`
			Files         []fileJSON   `json:"files"`
			Unit          string       `json:"unit"`
			Columns       []columnJSON `json:"columns"`
		}{dataJSON: newDataJSON(&b.Info), Source: b.Source, Citation: b.Citation, KnownProblems: append([]string{}, b.KnownProblems...),
			Available: unavailable == nil, Unit: s.Unit.Name}
		for _, f := range b.Files {
			out.Files = append(out.Files, fileJSON(f))
		}
		for i := range s.Columns {
			out.Columns = append(out.Columns, newColumnJSON(&s.Columns[i]))
		}
		return writeJSON(a.out, out)
	}
	t := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "name\t%s\n", b.Name)
	fmt.Fprintf(t, "title\t%s\n", b.Title)
	fmt.Fprintf(t, "task\t%s of %s\n", b.Task, b.Target)
	fmt.Fprintf(t, "rows\t%s\n", rowsOf(&b.Info))
	fmt.Fprintf(t, "unit\t%s\n", s.Unit.Name)
	fmt.Fprintf(t, "licence\t%s\n", b.Licence)
	fmt.Fprintf(t, "source\t%s\n", b.Source)
	fmt.Fprintf(t, "citation\t%s\n", b.Citation)
	for i, p := range b.KnownProblems {
		label := ""
		if i == 0 {
			label = "problems"
		}
		fmt.Fprintf(t, "%s\t- %s\n", label, p)
	}
	switch {
	case b.Embedded:
		fmt.Fprintf(t, "where\tpart of the program\n")
	case unavailable != nil:
		fmt.Fprintf(t, "where\tnot found: %s\n", oneLine(hint(unavailable)))
	default:
		fmt.Fprintf(t, "where\tin the data folder, checksum right\n")
	}
	for _, f := range b.Files {
		fmt.Fprintf(t, "file\t%s  SHA-256 %s\n", f.Path, f.SHA256)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return printColumns(a.out, s)
}

func rowsOf(i *dataset.Info) string {
	if i.TestRows == 0 {
		return fmt.Sprintf("%d, no official test set", i.Rows)
	}
	return fmt.Sprintf("%d for training, %d in the official test set", i.Rows, i.TestRows)
}

func printColumns(w io.Writer, s *schema.Schema) error {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "column\ttype\tvalues\tmissing\twhy")
	for i := range s.Columns {
		c := &s.Columns[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", c.Name, c.Type, values(c), missing(c), c.Why)
	}
	return t.Flush()
}

// maxShown keeps a row of the table on one screen; --json has all categories.
const maxShown = 4

func values(c *schema.Column) string {
	switch c.Type {
	case schema.Numeric, schema.Integer:
		text := shortNumber(c.Lower) + " to " + shortNumber(c.Upper)
		if c.HeavyTailed {
			text += ", heavy-tailed"
		}
		return text
	case schema.Categorical:
		shown := c.Categories
		if len(shown) > maxShown {
			shown = shown[:maxShown-1]
		}
		text := strings.Join(shown, ", ")
		if more := len(c.Categories) - len(shown); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		if c.Ordered {
			text += ", ordered"
		}
		if c.Other != "" {
			text += ", others as " + c.Other
		}
		return text
	case schema.Boolean:
		return "false, true"
	}
	return "-"
}

func shortNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
