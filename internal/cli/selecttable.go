package cli

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pawl/core/ledger"
	"pawl/data/columnar"
	"pawl/report"
	"pawl/workflow"
)

// newFile is a file that will be written whole or not at all, into a place that is
// known to be free.
type newFile struct {
	path string
	file *os.File
}

// createFile refuses a file that is there, and a folder that cannot be written into.
func createFile(path string) (*newFile, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, &usageError{fmt.Sprintf("%s exists already and is not replaced", path), "name another file with --out, or remove this one"}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".pawl-*")
	if err != nil {
		return nil, cannotWrite(path, err)
	}
	return &newFile{path, f}, nil
}

// write fills the file and gives it its name. Where that was taken in the meantime, it
// gives it another: what was paid for must not be lost.
func (n *newFile) write(fill func(io.Writer) error) error {
	w := bufio.NewWriter(n.file)
	if err := fill(w); err != nil {
		return cannotWrite(n.path, err)
	}
	if err := errors.Join(w.Flush(), n.file.Chmod(0o644), n.file.Sync(), n.file.Close()); err != nil {
		return cannotWrite(n.path, err)
	}
	wanted := n.path
	for k := 2; ; k++ {
		err := os.Link(n.file.Name(), n.path)
		if err == nil {
			return nil
		}
		if _, there := os.Lstat(n.path); there != nil {
			break // the file system knows no links
		}
		n.path = numberedFile(wanted, k)
	}
	if err := os.Rename(n.file.Name(), n.path); err != nil {
		return cannotWrite(n.path, err)
	}
	return nil
}

// discard removes what has no name of its own.
func (n *newFile) discard() {
	n.file.Close()
	os.Remove(n.file.Name())
}

// checkTable holds --out against --mode.
func (f *selectFlags) checkTable() error {
	formats := "formats: .parquet, .csv"
	local := f.mode == string(workflow.Local)
	switch extension := strings.ToLower(filepath.Ext(f.table)); {
	case f.table == "" && !local:
		return nil
	case f.table == "":
		return &usageError{"missing --out: mode local releases a table", "example: --out noisy.parquet; " + formats}
	case !local:
		return &usageError{fmt.Sprintf("--out %s: mode central releases feature names, not a table", f.table), "leave out --out, or add --mode local; --json prints the selection"}
	case extension != ".parquet" && extension != ".csv":
		return &usageError{fmt.Sprintf("%s: unknown format for a noisy table", f.table), formats}
	}
	return nil
}

// checkRelation says before anything runs that a budget is kept under another relation.
func checkRelation(ctx context.Context, l *ledger.Ledger, plan *workflow.Plan, name string) error {
	view, err := l.Show(ctx, name)
	switch {
	case errors.Is(err, ledger.ErrUnknownDataset):
		return nil
	case err != nil:
		return err
	case view.Relation.Valid() && view.Relation != plan.Relation():
		return &usageError{fmt.Sprintf("data set %q: its budget is kept under %v, but this selection is private under %v", name, view.Relation, plan.Relation()),
			"public data: another ledger, --ledger sqlite:PATH; sensitive data: the mode (central, local) that goes with the budget"}
	}
	return nil
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
