package request

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"pawl/data/columnar"
	"pawl/internal/usage"
	"pawl/report"
	"pawl/workflow"
)

// Selection is a selection as --json prints it: a statement and what was chosen.
type Selection struct {
	*report.Statement
	Selection struct {
		Method string       `json:"method"`
		Level  string       `json:"level"`
		Merit  *float64     `json:"merit"`
		Note   string       `json:"note,omitempty"`
		Chosen []chosenView `json:"chosen"`
		// Search is what pafs as published did, nil for others.
		Search *workflow.PublishedSearch `json:"search,omitempty"`
	} `json:"selection"`
	// Table says what the noisy table is, nil without one.
	Table       *tableView `json:"table,omitempty"`
	AsPublished bool       `json:"as_published"`
	// Guarantee says in words what the claim is.
	Guarantee string `json:"guarantee"`
}

type chosenView struct {
	Feature string        `json:"feature"`
	Score   report.Number `json:"score"`
	Reason  string        `json:"reason"`
}

func viewSelection(out *workflow.Selected, s *report.Statement) *Selection {
	v := &Selection{Statement: s, AsPublished: out.Plan.AsPublished(), Guarantee: "the claim stated under privacy"}
	switch {
	case v.AsPublished:
		v.Guarantee = "NOT a privacy guarantee: a published procedure, repeated on public data"
	case v.NotPrivate:
		v.Guarantee = "NOT PRIVATE: simulation with a seed"
	case len(s.Privacy.Events) == 0:
		v.Guarantee = "no cost: the selection did not use any row"
	}
	v.Selection.Method, v.Selection.Level, v.Selection.Note = out.Selection.Selector, string(out.Selection.Level), out.Selection.Note
	if m := out.Selection.Merit; m == m {
		v.Selection.Merit = &m
	}
	v.Selection.Search = out.Search
	v.Selection.Chosen = []chosenView{}
	for _, c := range out.Selection.Chosen {
		v.Selection.Chosen = append(v.Selection.Chosen, chosenView{c.Column.Name, report.Number(c.Score), c.Reason})
	}
	if e := out.PublishedEpsilon; e > 0 {
		n := report.Number(e)
		v.PublishedEpsilon = &n
	}
	return v
}

// WriteJSON writes one object.
func (v *Selection) WriteJSON(w io.Writer) error { return report.Encode(w, v) }

// WriteText writes the choice for a person.
func (v *Selection) WriteText(w io.Writer) error {
	var b bytes.Buffer
	switch {
	case v.AsPublished:
		fmt.Fprintf(&b, "NOT PRIVATE — the selection used exact statistics\n%s\n", v.Guarantee)
	case v.NotPrivate:
		fmt.Fprintln(&b, "NOT PRIVATE — simulation with a seed")
	}
	if n := len(v.SeededRuns); n > 0 {
		fmt.Fprintf(&b, "NOT PRIVATE as a whole: no epsilon bounds the outputs of %s on these data\n", report.SeededRuns(n))
	}
	features := "features"
	if len(v.Selection.Chosen) == 1 {
		features = "feature"
	}
	fmt.Fprintf(&b, "%d %s by %s (%s level), target %s of %s\n", len(v.Selection.Chosen), features, v.Selection.Method, v.Selection.Level, v.Data.Target, v.Data.Name)
	t := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	for _, c := range v.Selection.Chosen {
		score := "–"
		if float64(c.Score) == float64(c.Score) {
			score = fmt.Sprintf("%.4g", float64(c.Score))
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", c.Feature, score, c.Reason)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if v.Selection.Merit != nil {
		fmt.Fprintf(&b, "merit of the feature set: %.4g\n", *v.Selection.Merit)
	}
	if v.Selection.Note != "" {
		fmt.Fprintln(&b, v.Selection.Note)
	}
	if v.Table != nil {
		v.Table.text(&b)
	}
	if v.PublishedEpsilon != nil {
		of := "noisy entropies"
		switch search := v.Selection.Search; {
		case search != nil:
			fmt.Fprintf(&b, "%d different feature sets, %d noisy models by %s with epsilon %g each, on %d training rows and %d columns\n",
				search.Subsets, search.Trainings, search.Learner, search.Epsilon, search.Train, search.Columns)
			fmt.Fprintf(&b, "the paper states epsilon %g for the whole search, by its formula for %d models of epsilon 0.1\n", search.PrintedEpsilon, search.PrintedSubsets)
			of = fmt.Sprintf("%d models, one for each set", search.Subsets)
		case v.Table != nil:
			of = "the noise on rows"
		}
		fmt.Fprintf(&b, "epsilon of %s by the paper's formula: %.4g, NOT a guarantee\n", of, float64(*v.PublishedEpsilon))
	}
	switch {
	case v.AsPublished:
	case len(v.Privacy.Events) == 0:
		fmt.Fprintln(&b, "cost: none, no row was used")
	default:
		fmt.Fprintf(&b, "cost: (epsilon, delta) = (%s, %s)", number(float64(v.Privacy.Epsilon)), number(float64(v.Privacy.Delta)))
		if v.Table != nil {
			fmt.Fprintf(&b, " under %s, selection and table together", v.Privacy.Relation)
		}
		fmt.Fprintln(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// tableView is a noisy table as --json prints it.
type tableView struct {
	Output      string        `json:"output"`
	Relation    string        `json:"relation"`
	Rows        int           `json:"rows"`
	Columns     []string      `json:"columns"`
	Target      string        `json:"target"`
	NoiseStdDev report.Number `json:"noise_std_dev"`
	RowNorm     report.Number `json:"row_norm"`
	// LabelNoise is the probability with which a class is a uniform one.
	LabelNoise report.Number `json:"label_noise"`
	Entries    string        `json:"entries"`
	Labels     string        `json:"labels"`
}

func viewTable(path string, out *workflow.Selected) *tableView {
	t, s := out.Table, out.Plan
	v := &tableView{Output: path, Relation: s.Relation().String(), Rows: t.Rows, Columns: t.Columns, Target: t.Target,
		NoiseStdDev: report.Number(t.StdDev), RowNorm: report.Number(t.Norm), LabelNoise: report.Number(t.LabelNoise),
		Entries: "numbers in [0, 1] by public bounds, or 0 and 1 for a level, before the noise", Labels: "unchanged: declared public"}
	switch {
	case s.AsPublished():
		v.Labels = "unchanged, as published"
	case t.LabelNoise > 0:
		v.Labels = fmt.Sprintf("randomised response: with probability %.4g a class is replaced by a uniform one", t.LabelNoise)
	}
	return v
}

func (v *tableView) text(w io.Writer) {
	numbers := "numbers"
	if len(v.Columns) == 1 {
		numbers = "number"
	}
	fmt.Fprintf(w, "%s: %d rows of %d %s and %s\n", v.Output, v.Rows, len(v.Columns), numbers, v.Target)
	fmt.Fprintf(w, "entries: %s; each with noise of standard deviation %.4g\n", v.Entries, float64(v.NoiseStdDev))
	fmt.Fprintf(w, "labels: %s\n", v.Labels)
}

// tableWriter writes the features and the target by the name of the file.
func tableWriter(path string, t *workflow.NoisyTable) func(io.Writer) error {
	if strings.EqualFold(filepath.Ext(path), ".parquet") {
		return func(w io.Writer) error { return columnar.WriteParquet(w, tableColumns(t)) }
	}
	return func(w io.Writer) error {
		columns := tableColumns(t)
		out := csv.NewWriter(w)
		record := make([]string, len(columns))
		for j := range columns {
			record[j] = columns[j].Name
		}
		if err := out.Write(record); err != nil {
			return err
		}
		for i := range t.Rows {
			for j := range columns {
				if columns[j].Texts != nil {
					record[j] = columns[j].Texts[i]
				} else {
					record[j] = strconv.FormatFloat(columns[j].Floats[i], 'g', 8, 64)
				}
			}
			if err := out.Write(record); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	}
}

func tableColumns(t *workflow.NoisyTable) []columnar.Data {
	out := make([]columnar.Data, len(t.Columns), len(t.Columns)+1)
	for j, name := range t.Columns {
		out[j] = columnar.Data{Name: name, Floats: make([]float64, t.Rows)}
		for i := range t.Rows {
			out[j].Floats[i] = t.X[i*len(t.Columns)+j]
		}
	}
	labels := columnar.Data{Name: t.Target, Texts: make([]string, t.Rows)}
	for i, c := range t.Labels {
		if c >= 0 {
			labels.Texts[i] = t.Classes[c]
		}
	}
	return append(out, labels)
}

// ofSelection is a choice of features, with the file of the noisy table of mode local, or "".
type ofSelection struct {
	*workflow.Selected
	table string
	view  *Selection
}

func (m *ofSelection) Statement(ctx context.Context, env workflow.Env, version string, now time.Time) (*report.Statement, error) {
	s, err := m.Selected.Statement(ctx, env, version, now)
	if s != nil {
		m.view = viewSelection(m.Selected, s)
	}
	return s, err
}

func (m *ofSelection) write(done *Done, _ *workflow.Output, how *Running) error {
	if done.Selection = m.view; m.table == "" {
		return nil
	}
	path, err := WritePaid(func(note string) { how.say("note: " + note) }, m.table, false, tableWriter(m.table, m.Table))
	if err == nil {
		m.view.Table = viewTable(path, m.Selected)
	}
	return err
}

// Files implements workflow.Release.
func (m *ofSelection) Files(string, *report.Statement) (map[string][]byte, error) {
	var text, rows bytes.Buffer
	err := report.Encode(&text, m.view)
	files := map[string][]byte{"selection.json": text.Bytes()}
	if err == nil && m.table != "" {
		err = tableWriter(m.table, m.Table)(&rows)
		files[filepath.Base(m.table)] = rows.Bytes()
	}
	return files, err
}

// freeTable refuses a table whose file is there already, or cannot be written; "" is none.
func freeTable(table string) error {
	if table == "" {
		return nil
	}
	if _, err := os.Lstat(table); err == nil {
		return usage.New(table+" exists already and is not replaced", "name another file with --out, or remove this one")
	}
	return writable(table)
}

// checkTable holds --out against --mode.
func checkTable(mode, table string) error {
	formats := "formats: .parquet, .csv"
	local := mode == string(workflow.Local)
	switch extension := strings.ToLower(filepath.Ext(table)); {
	case table == "" && !local:
		return nil
	case table == "":
		return usage.New("missing --out: mode local releases a table", "example: --out noisy.parquet; "+formats)
	case !local:
		return usage.New(fmt.Sprintf("--out %s: mode central releases feature names, not a table", table), "leave out --out, or add --mode local; --json prints the selection")
	case extension != ".parquet" && extension != ".csv":
		return usage.New(fmt.Sprintf("%s: unknown format for a noisy table", table), formats)
	}
	return nil
}
