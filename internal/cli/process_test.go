//go:build unix

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/pricing"
	"pawl/store/sqlite"
)

// process returns the program as a process of its own in dir, with its own ledger.
func process(t *testing.T, dir string, args ...string) *exec.Cmd {
	c := exec.Command(program(t), args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "XDG_DATA_HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "HOME="+dir, "PAWL_LEDGER=", "PAWL_DATA=")
	return c
}

func account(t *testing.T, dir, name string) figures.Statement {
	t.Helper()
	text, err := process(t, dir, "ledger", "show", name, "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var s figures.Statement
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// A run that is killed or interrupted after the reservation may have read rows, so
// it stays charged, leaves no model, and the next run cannot spend the same budget
// again.
func TestKillKeepsReservation(t *testing.T) {
	for _, tt := range []struct {
		name   string
		signal syscall.Signal
		status int // -1: ended by the signal
	}{{"kill", syscall.SIGKILL, -1}, {"interrupt", syscall.SIGINT, exitOther}} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := writeClinic(dir, 40_000); err != nil {
				t.Fatal(err)
			}
			fit := []string{"fit", "clinic.csv", "--schema", "clinic.yaml", "--target", "sick", "--epsilon", "1", "--preset", "thorough", "--out", "out"}
			c := process(t, dir, fit...)
			var stderr strings.Builder
			c.Stderr = &stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if !waitForReservation(filepath.Join(dir, "pawl", "ledger.db"), 30*time.Second) {
				_ = c.Process.Kill()
				t.Fatalf("no reservation was booked: %v: %s", c.Wait(), stderr.String())
			}
			_ = c.Process.Signal(tt.signal)
			if err := c.Wait(); err == nil {
				t.Skip("the run ended before the signal came")
			}
			if said := tt.status < 0 || strings.Contains(stderr.String(), "error: interrupted (the rows were opened"); !said {
				t.Errorf("the interrupted run said %q", stderr.String())
			}
			if got := c.ProcessState.ExitCode(); got != tt.status {
				t.Errorf("exit status %d, want %d", got, tt.status)
			}
			s := account(t, dir, "clinic")
			if !(s.Reserved.Epsilon > 0.9) || s.Spent.Epsilon != 0 || s.Left.Epsilon > 0.1 {
				t.Errorf("reserved %v, spent %v, left %v of 1", s.Reserved.Epsilon, s.Spent.Epsilon, s.Left.Epsilon)
			}
			if len(s.Entries) != 1 || s.Entries[0].State != ledger.Reserved {
				t.Errorf("entries %+v", s.Entries)
			}
			if _, err := os.Stat(filepath.Join(dir, "out", "model")); err == nil {
				t.Error("the run left a model")
			}
			again := process(t, dir, fit...)
			if err := again.Run(); again.ProcessState.ExitCode() != exitRefused {
				t.Errorf("the next run: %v, want exit status %d", err, exitRefused)
			}
		})
	}
}

// A command that waits for a pipe into which nobody writes ends at the first interrupt, has charged nothing and leaves
// nothing.
func TestInterruptWhileItReads(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"fit", "-", "--schema", "clinic.yaml", "--target", "sick", "--epsilon", "1", "--out", "out"},
		{"check", "-", "--schema", "clinic.yaml", "--target", "sick", "--epsilon", "1"},
		{"init", "-", "--out", "new.yaml"},
	} {
		t.Run(args[0], func(t *testing.T) {
			dir := t.TempDir()
			if err := writeClinic(dir, 10_000); err != nil {
				t.Fatal(err)
			}
			rows, err := os.ReadFile(filepath.Join(dir, "clinic.csv"))
			if err != nil {
				t.Fatal(err)
			}
			before := filesIn(t, dir)
			c := process(t, dir, args...)
			var stdout, stderr strings.Builder
			c.Stdout, c.Stderr = &stdout, &stderr
			pipe, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := pipe.Write(rows[:128<<10]); err != nil { // more than a pipe holds: the command reads
				t.Fatal(err)
			}
			_ = c.Process.Signal(syscall.SIGTERM)
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			select {
			case <-ended:
			case <-time.After(30 * time.Second):
				_ = c.Process.Kill()
				t.Fatal("it waits on")
			}
			if got := c.ProcessState.ExitCode(); got != exitOther || stdout.Len() > 0 || stderr.String() != "error: interrupted\n" {
				t.Errorf("exit status %d, it said %q %q", got, stdout.String(), stderr.String())
			}
			if diff := cmp.Diff(before, filesIn(t, dir)); diff != "" {
				t.Errorf("files: %s", diff)
			}
		})
	}
}

// filesIn are the paths of all files under dir.
func filesIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A ledger that somebody deletes while a run trains: the run is charged, nothing is
// released, and the next one does not begin afresh.
func TestLedgerDeletedWhileItTrains(t *testing.T) {
	dir := t.TempDir()
	if err := writeClinic(dir, 40_000); err != nil {
		t.Fatal(err)
	}
	fit := []string{"fit", "clinic.csv", "--schema", "clinic.yaml", "--target", "sick", "--epsilon", "1", "--preset", "thorough"}
	c := process(t, dir, fit...)
	var stdout, stderr strings.Builder
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "pawl", "ledger.db")
	if !waitForReservation(path, 30*time.Second) {
		_ = c.Process.Kill()
		t.Fatalf("no reservation was booked: %v: %s", c.Wait(), stderr.String())
	}
	remove(t, path)
	_ = c.Wait()
	held, _ := filepath.Glob(filepath.Join(dir, "pawl-out", "*"))
	if c.ProcessState.ExitCode() != exitRefused || stdout.Len() > 0 || len(held) != 1 || !strings.Contains(held[0], "held-") {
		t.Fatalf("exit status %d, files %v, it said %s%s", c.ProcessState.ExitCode(), held, stdout.String(), stderr.String())
	}
	again := process(t, dir, fit...)
	if err := again.Run(); again.ProcessState.ExitCode() != exitRefused {
		t.Errorf("the next run: %v, want exit status %d", err, exitRefused)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a new ledger was begun")
	}
	if out, err := process(t, dir, "ledger", "reconcile", held[0], "--reason", "deleted by mistake").CombinedOutput(); err != nil {
		t.Errorf("reconcile: %v: %s", err, out)
	}
	if s := account(t, dir, "clinic"); !(s.Spent.Epsilon > 0.9) || s.Left.Epsilon > 0.1 || len(s.Entries) != 1 {
		t.Errorf("spent %v, left %v, entries %+v", s.Spent.Epsilon, s.Left.Epsilon, s.Entries)
	}
}

// Processes that share a ledger neither lose a charge nor fail on each other, and
// of several that ask for the same last of a budget exactly one gets it.
func TestParallelRuns(t *testing.T) {
	const runs = 4
	dir := t.TempDir()
	if err := writeClinic(dir, 500); err != nil {
		t.Fatal(err)
	}
	if out, err := process(t, dir, "ledger", "create", "clinic", "--epsilon", "1", "--delta", "1e-5").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	statuses := func(args ...string) map[int]int {
		started := make([]*exec.Cmd, runs)
		for i := range started {
			started[i] = process(t, dir, append(args, "--preset", "quick", "--out", fmt.Sprintf("%s-%d", args[1], i))...)
			if err := started[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		count := map[int]int{}
		for _, c := range started {
			_ = c.Wait()
			count[c.ProcessState.ExitCode()]++
		}
		return count
	}
	if d := cmp.Diff(map[int]int{exitOK: runs}, statuses("fit", "breast-cancer", "--epsilon", "1")); d != "" {
		t.Errorf("runs on public data by exit status (-want +got):\n%s", d)
	}
	if n := len(account(t, dir, "breast-cancer").Entries); n != runs {
		t.Errorf("%d entries, want %d", n, runs)
	}
	got := statuses("fit", "clinic.csv", "--schema", "clinic.yaml", "--target", "sick", "--epsilon", "0.9", "--delta", "1e-5")
	if d := cmp.Diff(map[int]int{exitOK: 1, exitRefused: runs - 1}, got); d != "" {
		t.Errorf("runs on one budget by exit status (-want +got):\n%s", d)
	}
	if s := account(t, dir, "clinic"); len(s.Entries) != 1 || s.Spent.Epsilon > 1 {
		t.Errorf("spent %v in %d entries", s.Spent.Epsilon, len(s.Entries))
	}
}

func waitForReservation(path string, limit time.Duration) bool {
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
