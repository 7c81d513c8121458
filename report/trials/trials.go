// Package trials writes the trials of a study for a person or another program: as CSV, as
// a page with parallel coordinates, or as a folder of MLflow.
package trials

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"

	"pawl/internal/usage"
	"pawl/internal/whole"
	"pawl/report"
	"pawl/search/study"
)

// table is a study as rows: a trial each, with a column for each dimension.
type table struct {
	columns []string
	rows    []trial
}

type trial struct {
	number     int
	generation int
	score      float64
	failed     bool
	seconds    float64
	parameters int
	values     map[string]string
}

// tableOf reads the trials that a record holds; of sensitive data the winner.
func tableOf(r *study.Record) (*table, *report.Statement, error) {
	if r.Running() {
		return nil, nil, usage.Newf("run its command again to continue", "study %q is not finished", r.Name)
	}
	if len(r.Outcome) == 0 {
		return nil, nil, usage.Newf("pawl study show gives the reason", "study %q has no result", r.Name)
	}
	var s report.Statement
	if err := json.Unmarshal(r.Outcome, &s); err != nil {
		return nil, nil, fmt.Errorf("study %s: %w", r.Name, err)
	}
	t := &table{}
	add := func(row trial, candidate map[string]any) {
		row.values = map[string]string{}
		for k, v := range candidate {
			row.values[k] = fmt.Sprint(v)
			if !slices.Contains(t.columns, k) {
				t.columns = append(t.columns, k)
			}
		}
		t.rows = append(t.rows, row)
	}
	for _, l := range r.Trials {
		var candidate map[string]any
		if err := json.Unmarshal([]byte(l.Candidate), &candidate); err != nil {
			return nil, nil, fmt.Errorf("study %s: trial %d: %w", r.Name, l.Number, err)
		}
		add(trial{number: l.Number, generation: l.Number >> 24, score: l.Score, failed: l.Failed, seconds: l.Seconds, parameters: l.Parameters}, candidate)
	}
	if len(t.rows) == 0 && s.Search != nil {
		row := trial{}
		if s.Score != nil {
			row.score = float64(s.Score.Value)
		}
		add(row, s.Search.Winner)
	}
	sort.Strings(t.columns)
	return t, &s, nil
}

// Export writes the trials of a finished study to output, which is a folder for mlflow: of
// sensitive data the winner alone. Format is csv, html or mlflow.
func Export(r *study.Record, format, output string) error {
	t, s, err := tableOf(r)
	if err != nil {
		return err
	}
	var b []byte
	switch format {
	case "csv":
		b, err = t.csv()
	case "html":
		b, err = t.page(r, s)
	case "mlflow":
		return t.mlflow(r, output)
	default:
		return usage.Newf("example: --format html", "unknown format %q: use csv, html or mlflow", format)
	}
	if err != nil {
		return err
	}
	return whole.Write(output, b, 0o644)
}

func (t *table) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(append([]string{"trial", "score", "failed", "seconds", "parameters"}, t.columns...)); err != nil {
		return nil, err
	}
	for _, row := range t.rows {
		line := []string{strconv.Itoa(row.number), strconv.FormatFloat(row.score, 'g', -1, 64), strconv.FormatBool(row.failed), strconv.FormatFloat(row.seconds, 'f', 3, 64), ""}
		if row.parameters > 0 {
			line[4] = strconv.Itoa(row.parameters)
		}
		for _, c := range t.columns {
			line = append(line, row.values[c])
		}
		if err := w.Write(line); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// mlflow writes the file layout of an MLflow tracking folder: mlruns/EXPERIMENT/RUN with
// meta.yaml, params and metrics.
func (t *table) mlflow(r *study.Record, dir string) error {
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	files := map[string]string{
		"0/meta.yaml": fmt.Sprintf("artifact_location: ''\nexperiment_id: '0'\nlifecycle_stage: active\nname: %q\n", r.Name),
	}
	start := r.Started.UnixMilli()
	end := max(start, r.Finished.UnixMilli())
	for _, row := range t.rows {
		id := fmt.Sprintf("%032x", row.number)
		run := "0/" + id + "/"
		status := 3 // finished
		if row.failed {
			status = 4
		}
		files[run+"meta.yaml"] = fmt.Sprintf("artifact_uri: ''\nend_time: %d\nentry_point_name: ''\nexperiment_id: '0'\nlifecycle_stage: active\nrun_id: %s\nrun_name: trial-%d\nrun_uuid: %s\nsource_name: pawl\nsource_type: 4\nsource_version: ''\nstart_time: %d\nstatus: %d\ntags: []\nuser_id: ''\n",
			end, id, row.number, id, start, status)
		for k, v := range row.values {
			files[run+"params/"+k] = v
		}
		if !row.failed {
			files[run+"metrics/score"] = fmt.Sprintf("%d %v 0\n", end, row.score)
		}
		if row.parameters > 0 {
			files[run+"metrics/parameters"] = fmt.Sprintf("%d %d 0\n", end, row.parameters)
		}
		files[run+"metrics/seconds"] = fmt.Sprintf("%d %v 0\n", end, row.seconds)
		files[run+"tags/mlflow.runName"] = fmt.Sprintf("trial-%d", row.number)
	}
	for name, content := range files {
		path := filepath.Join(part, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return os.Rename(part, dir)
}
