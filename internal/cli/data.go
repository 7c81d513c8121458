package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/data/source"
)

func dataCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "data",
		Short:   "List, describe and get the built-in data sets",
		Long:    "List, describe and get the data sets that pawl knows. Some are part of the program. The\nothers are read from your data folder (--data-dir, PAWL_DATA, or the one that pawl data\nget fills), and their checksums are verified.",
		Example: "  pawl data list\n  pawl data describe adult\n  pawl data get mnist",
	}
	c.AddCommand(&cobra.Command{
		Use:     "list",
		Short:   "List the built-in data sets",
		Long:    "List the built-in data sets with task, target, number of rows, location and licence.\nFiles in a data folder are found by name; pawl data describe verifies their checksums.",
		Example: "  pawl data list",
		Args:    exactArgs(),
		RunE:    func(*cobra.Command, []string) error { return listData(a) },
	}, &cobra.Command{
		Use:   "describe NAME",
		Short: "Describe one data set and its schema",
		Long: `Describe a built-in data set: its source and citation, known problems, files with
SHA-256, and every column with its bounds or categories and the reason for them. For
images, show their size and classes.`,
		Example: "  pawl data describe adult\n  pawl data describe mnist",
		Args:    exactArgs("NAME"),
		RunE:    func(_ *cobra.Command, args []string) error { return describeData(a, args[0]) },
	}, getDataCommand(a))
	return c
}

type dataJSON struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Kind     string `json:"kind"` // table or images
	Task     string `json:"task"`
	Target   string `json:"target"`
	Rows     int    `json:"rows"`
	TestRows int    `json:"test_rows"`
	Licence  string `json:"licence"`
	Embedded bool   `json:"embedded"`
	// Available says that every file is there; describe has compared checksums too.
	Available bool `json:"available"`
}

func newDataJSON(b source.Builtin, available bool) dataJSON {
	kind := "table"
	if b.Images != nil {
		kind = "images"
	}
	return dataJSON{b.Name, b.Title, kind, string(b.Task), b.Target, b.Rows, b.TestRows, b.Licence, b.Embedded, available}
}

func listData(a *app) error {
	list := []dataJSON{}
	for _, name := range source.Names() {
		b, err := lookupData(name)
		if err != nil {
			return err
		}
		list = append(list, newDataJSON(b, b.Find(a.dataDir) == nil))
	}
	if a.json {
		return writeJSON(a.out, map[string]any{"datasets": list})
	}
	t := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "name\ttask\ttarget\trows\ttest rows\tlocation\tlicence")
	for _, d := range list {
		test := "-"
		if d.TestRows > 0 {
			test = strconv.Itoa(d.TestRows)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", d.Name, d.Task, d.Target, d.Rows, test, d.where(), d.Licence)
	}
	return t.Flush()
}

func (d dataJSON) where() string {
	switch {
	case d.Embedded:
		return "built in"
	case d.Available:
		return "needs a data folder (found)"
	}
	return "needs a data folder (not found)"
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
		Other: c.Other, Missing: ifMissing(c), Why: c.Why}
	if c.Type == schema.Numeric || c.Type == schema.Integer {
		out.Lower, out.Upper = &c.Lower, &c.Upper
	}
	return out
}

// ifMissing is what a missing cell of a column becomes.
func ifMissing(c *schema.Column) string {
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

func describeData(a *app, name string) error {
	b, err := lookupData(name)
	if err != nil {
		return err
	}
	// The files are read and their checksums compared; rows are not parsed.
	unavailable := b.Verify(a.dataDir)
	unit := "image"
	if b.Table != nil {
		unit = b.Table.Schema().Unit.Name
	}
	if a.json {
		return describeJSON(a, b, unavailable == nil, unit)
	}
	t := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "name\t%s\ntitle\t%s\ntask\t%s of %s\nrows\t%s\nunit\t%s\n", b.Name, b.Title, b.Task, b.Target, rowsOf(b.Info), unit)
	if b.Images != nil {
		s := b.Images.Shape
		if s[0] == 1 && s[1] == 1 { // features of images
			fmt.Fprintf(t, "image\t%d numbers\n", s[2])
		} else {
			fmt.Fprintf(t, "image\t%d x %d pixels, %s\n", s[0], s[1], map[int]string{1: "grey", 3: "RGB"}[s[2]])
		}
		fmt.Fprintf(t, "classes\t%s\n", strings.Join(b.Images.Classes, ", "))
	}
	fmt.Fprintf(t, "licence\t%s\nsource\t%s\ncitation\t%s\n", b.Licence, b.Source, b.Citation)
	for i, p := range b.KnownProblems {
		label := ""
		if i == 0 {
			label = "problems"
		}
		fmt.Fprintf(t, "%s\t- %s\n", label, p)
	}
	switch {
	case b.Embedded:
		fmt.Fprintf(t, "location\tpart of the program\n")
	case unavailable != nil && hint(unavailable) != "":
		fmt.Fprintf(t, "location\tnot found: %s\n", oneLine(hint(unavailable)))
	case unavailable != nil:
		fmt.Fprintf(t, "location\tnot readable: %s\n", oneLine(unavailable.Error()))
	default:
		fmt.Fprintf(t, "location\tin the data folder, checksum correct\n")
	}
	for _, f := range b.Files {
		fmt.Fprintf(t, "file\t%s  SHA-256 %s\n", f.Path, f.SHA256)
	}
	if err := t.Flush(); err != nil || b.Table == nil {
		return err
	}
	return printColumns(a.out, b.Table.Schema())
}

func describeJSON(a *app, b source.Builtin, available bool, unit string) error {
	out := struct {
		dataJSON
		Source        string       `json:"source"`
		Citation      string       `json:"citation"`
		KnownProblems []string     `json:"known_problems"`
		Files         []fileJSON   `json:"files"`
		Unit          string       `json:"unit"`
		Columns       []columnJSON `json:"columns,omitempty"`
		Shape         []int        `json:"shape,omitempty"` // height, width, channels
		Classes       []string     `json:"classes,omitempty"`
	}{dataJSON: newDataJSON(b, available), Source: b.Source, Citation: b.Citation, KnownProblems: b.KnownProblems, Unit: unit}
	for _, f := range b.Files {
		out.Files = append(out.Files, fileJSON(f))
	}
	if b.Images != nil {
		out.Shape, out.Classes = b.Images.Shape[:], b.Images.Classes
		return writeJSON(a.out, out)
	}
	s := b.Table.Schema()
	for i := range s.Columns {
		out.Columns = append(out.Columns, newColumnJSON(&s.Columns[i]))
	}
	return writeJSON(a.out, out)
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
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", c.Name, c.Type, values(c), ifMissing(c), c.Why)
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
	case schema.Text:
		return "hashed words"
	case schema.Vector:
		return fmt.Sprintf("%d numbers by %s", c.Dimension, c.Key)
	}
	return "-"
}

func shortNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// lookupData finds a built-in data set or says which was meant.
func lookupData(name string) (source.Builtin, error) { return source.Lookup(name) }
