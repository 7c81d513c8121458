package runners

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/data/dataset"
	"pawl/experiments"
)

var every = []experiments.Verdict{experiments.Reproduced, experiments.SameSign, experiments.Not, experiments.Unpublished}

// Every replay runs at the smallest scale, says where its table stands, and judges every
// row and claim.
func TestEveryReplayAtSmokeScale(t *testing.T) {
	all := All().List()
	if len(all) == 0 {
		t.Fatal("no replays")
	}
	for _, e := range all {
		t.Run(e.Name, func(t *testing.T) {
			if e.Title == "" || e.Source == "" || e.Quick <= 0 {
				t.Errorf("title %q, source %q, quick scale of %d s: want all three", e.Title, e.Source, e.Quick)
			}
			dir := t.TempDir()
			first := smoke(t, e, dir)
			if first.Name != e.Name || len(first.Rows) == 0 || first.Unit == "" {
				t.Fatalf("table %q in %q with %d rows", first.Name, first.Unit, len(first.Rows))
			}
			for _, r := range first.Rows {
				if r.Name == "" || r.Data == "" || !slices.Contains(every, r.Verdict) {
					t.Errorf("row %q on %q: verdict %q", r.Name, r.Data, r.Verdict)
				}
				if r.AsPublished == nil && r.Honest == nil {
					t.Errorf("row %q has no number of ours", r.Name)
				}
				if (r.Verdict == experiments.Not || r.Verdict == experiments.SameSign) && r.Why == "" {
					t.Errorf("row %q: %q without a reason", r.Name, r.Verdict)
				}
			}
			for _, c := range first.Claims {
				if c.Statement == "" || c.Evidence == "" || !slices.Contains(every, c.Verdict) {
					t.Errorf("claim %q: verdict %q, evidence %q", c.Statement, c.Verdict, c.Evidence)
				}
			}
			// Cells are kept under names that say everything: the same replay again
			// measures nothing and prints the same.
			began := 0
			again := smokeWith(t, e, dir, func(string) { began++ })
			again.Seconds = first.Seconds
			if printed(t, first) != printed(t, again) || began > 0 {
				t.Errorf("a second run measured %d cells and printed\n%s\nnot\n%s", began, printed(t, again), printed(t, first))
			}
		})
	}
}

func smoke(t *testing.T, e experiments.Experiment, dir string) *experiments.Table {
	t.Helper()
	start := time.Now()
	table := smokeWith(t, e, dir, nil)
	t.Logf("%d rows, %d claims in %s", len(table.Rows), len(table.Claims), time.Since(start).Round(time.Millisecond))
	return table
}

func smokeWith(t *testing.T, e experiments.Experiment, dir string, progress func(string)) *experiments.Table {
	t.Helper()
	r, err := experiments.NewRun(e.Name, experiments.Smoke, "test", dir)
	if err != nil {
		t.Fatal(err)
	}
	r.DataDir, r.Progress = os.Getenv(dataset.DataDirVariable), progress
	table, err := experiments.Replay(t.Context(), e, r)
	var missing *dataset.FileError
	if errors.As(err, &missing) {
		t.Skipf("%s needs data that are not here: %v (%s)", e.Name, missing, missing.Hint())
	}
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func printed(t *testing.T, table *experiments.Table) string {
	t.Helper()
	var b strings.Builder
	if err := experiments.Text(&b, table); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
