package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wild are public tables as people have them, and what somebody types for each: no file is edited. Edits are
// lines of the schema that was bought, and what they become.
var wild = []struct {
	file, rows, target, epsilon string
	flags                       []string
	edits                       [][2]string
	refused                     string // by the forecast
}{
	{file: "abalone.csv", rows: "about 4000", target: "column_9", epsilon: "0.3", flags: []string{"--no-header", "--unit", "row"}},
	{file: "bankfull.csv", rows: "about 11000", target: "y", epsilon: "0.3", flags: []string{"--unit", "row"}},
	{file: "compas.csv.gz", rows: "about 7000", target: "two_year_recid", epsilon: "0.3", flags: []string{"--unit", "row"}},
	{file: "kc_house.csv.gz", rows: "about 17000", target: "price", epsilon: "0.3", flags: []string{"--unit", "row"}},
	{file: "mushrooms.csv", rows: "about 8000", target: "class", epsilon: "0.3", flags: []string{"--unit", "row"}},
	{file: "stroke.csv", rows: "about 5000", target: "stroke", epsilon: "0.3", flags: []string{"--unit", "row"}},
	{file: "telco.csv.gz", rows: "about 7000", target: "Churn", epsilon: "0.3", flags: []string{"--unit", "customerID", "--rows-per-unit", "1"}},
	{file: "germancredit.csv", rows: "about 1000", target: "credit_risk", epsilon: "1", flags: []string{"--unit", "row"}},
	{file: "parkinsons.csv.gz", rows: "about 5900", target: "total_UPDRS", epsilon: "0.3", flags: []string{"--unit", "subject#", "--rows-per-unit", "140"}, refused: "nothing can be released"},
}

// Each table goes from init to a finished fit under one budget of 2 with at most six edited lines, and to a model that
// says something; where nothing can come out, nothing is charged.
func TestWildTables(t *testing.T) {
	if testing.Short() {
		t.Skip("runs jobs")
	}
	folder := os.Getenv("PAWL_WILD")
	if folder == "" {
		folder = "../../../shared/data/wild"
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skip("the tables are not here: PAWL_WILD names their folder")
	}
	t.Chdir(emptyHome(t))
	for _, w := range wild {
		name, _, _ := strings.Cut(w.file, ".")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(folder, w.file))
			if err == nil {
				err = os.WriteFile(w.file, text, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			buy := append([]string{"init", w.file, "--infer", "--epsilon", w.epsilon, "--budget", "2", "--rows", w.rows, "--target", w.target, "--out", name + ".yaml", "--yes"}, w.flags...)
			if w.refused != "" {
				var said strings.Builder
				status := run(context.Background(), buy, streams{in: strings.NewReader(""), out: &said, err: &said})
				if status != exitUsage || !strings.Contains(said.String(), w.refused) {
					t.Fatalf("status %d: %s", status, said.String())
				}
				if _, err := os.Stat(name + ".yaml"); err == nil {
					t.Error("a schema was written")
				}
				return
			}
			said(t, buy...)
			if len(w.edits) > 6 {
				t.Errorf("%d lines were edited", len(w.edits))
			}
			bought, err := os.ReadFile(name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range w.edits {
				if strings.Count(string(bought), e[0]) != 1 {
					t.Fatalf("no line %q once in\n%s", e[0], bought)
				}
				bought = []byte(strings.Replace(string(bought), e[0], e[1], 1))
			}
			if err := os.WriteFile(name+".yaml", bought, 0o644); err != nil {
				t.Fatal(err)
			}
			said(t, "fit", w.file, "--schema", name+".yaml", "--target", w.target, "--epsilon", "1", "--out", "of-"+name)
			statement, err := os.ReadFile(filepath.Join("of-"+name, "statement.json"))
			if err != nil {
				t.Fatal(err)
			}
			var s struct {
				Score struct {
					Metric          string
					Value, Baseline float64
				}
			}
			if err := json.Unmarshal(statement, &s); err != nil {
				t.Fatal(err)
			}
			if regression := s.Score.Metric == "mean_absolute_error"; regression != (w.target == "price" || w.target == "column_9") {
				t.Errorf("scored by %s: the target has another type", s.Score.Metric)
			}
			t.Logf("%s: %d edited lines; %s %.4g, baseline %.4g", name, len(w.edits), s.Score.Metric, s.Score.Value, s.Score.Baseline)
		})
	}
}
