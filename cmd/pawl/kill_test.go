//go:build unix

package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/store/sqlite"
)

// A run that is killed after the reservation may have read rows, so it stays
// charged, nothing of it is left in the output directory, and the next run cannot
// spend the same budget again.
func TestKillKeepsReservation(t *testing.T) {
	dir := t.TempDir()
	if err := writeClinic(dir, 40_000); err != nil {
		t.Fatal(err)
	}
	program := func(args ...string) *exec.Cmd {
		c := exec.Command(os.Args[0], args...)
		c.Dir = dir
		c.Env = append(os.Environ(), asProgram+"=1", "XDG_DATA_HOME="+dir, "HOME="+dir, "PAWL_LEDGER=")
		return c
	}
	fit := []string{"fit", "clinic.csv", "--schema", "clinic.yaml", "--target", "sick", "--epsilon", "1", "--preset", "thorough"}
	c := program(fit...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "pawl", "ledger.db")
	if !waitForReservation(t, path, 30*time.Second) {
		_ = c.Process.Kill()
		t.Fatalf("no reservation was booked: %v", c.Wait())
	}
	_ = c.Process.Kill()
	if err := c.Wait(); err == nil {
		t.Skip("the run ended before it could be killed")
	}

	text, err := program("ledger", "show", "clinic", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var s ledger.Statement
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	if !(s.Reserved.Epsilon > 0.9) || s.Spent.Epsilon != 0 || s.Left.Epsilon > 0.1 {
		t.Errorf("reserved %v, spent %v, left %v of 1", s.Reserved.Epsilon, s.Spent.Epsilon, s.Left.Epsilon)
	}
	if len(s.Entries) != 1 || s.Entries[0].State != ledger.Reserved {
		t.Errorf("entries %+v", s.Entries)
	}
	if _, err := os.Stat(filepath.Join(dir, "pawl-out", "model")); err == nil {
		t.Error("a killed run left a model")
	}
	again := program(fit...)
	if err := again.Run(); again.ProcessState.ExitCode() != exitRefused {
		t.Errorf("the next run: %v, want exit status %d", err, exitRefused)
	}
}

func waitForReservation(t *testing.T, path string, limit time.Duration) bool {
	ctx := context.Background()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		store, err := sqlite.Open(ctx, path)
		if err != nil {
			continue // it is being made
		}
		records, err := ledger.New(store, pricing.Accountant{}, ledger.Options{}).Records(ctx, "clinic")
		_ = store.Close()
		if err == nil && len(records) > 0 && records[len(records)-1].Kind == ledger.KindReserve {
			return true
		}
	}
	return false
}
