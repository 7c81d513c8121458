package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/core/ledger"
	"pawl/core/ledger/ledgertest"
)

// childPath in the environment turns the test binary into one spender.
const childPath = "PAWL_TEST_LEDGER"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		if err := child(path); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const (
	children     = 8
	reservations = 25
	part         = 0.0078125 // 1/128: 200 of them do not fit into a budget of 1
)

// child reserves, and tells its parent what was acknowledged before it goes on.
func child(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	l := ledgertest.New(s)
	for range reservations {
		p, receipt, err := l.Reserve(ctx, ledgertest.Spend("d", part))
		if errors.Is(err, ledger.ErrExhausted) {
			fmt.Println("refused")
			continue
		}
		if err != nil {
			return err
		}
		fmt.Println("reserved", receipt.ID)
		if err := l.Commit(ctx, p); err != nil {
			return err
		}
		fmt.Println("committed", receipt.ID)
	}
	return nil
}

// run starts the children, all on one file that the first of them creates, and
// kills those for which kill says after which line. It returns every line.
func run(t *testing.T, path string, kill func(i int) (line int, delay time.Duration)) []string {
	t.Helper()
	var mu sync.Mutex
	var lines []string
	var group sync.WaitGroup
	for i := range children {
		group.Go(func() {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), childPath+"="+path)
			out, err := c.StdoutPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				t.Error(err)
				return
			}
			at, delay := kill(i)
			scan := bufio.NewScanner(out)
			for n := 1; scan.Scan(); n++ {
				mu.Lock()
				lines = append(lines, scan.Text())
				mu.Unlock()
				if n == at {
					time.AfterFunc(delay, func() { c.Process.Kill() })
				}
			}
			if err := c.Wait(); err != nil && at < 0 {
				t.Errorf("child %d: %v", i, err)
			}
		})
	}
	group.Wait()
	return lines
}

func check(t *testing.T, path string, lines []string, all bool) {
	t.Helper()
	s := open(t, path)
	defer s.Close()
	ledgertest.CheckAll(t, s)
	l := ledgertest.New(s)
	st, err := l.Show(context.Background(), "d")
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]ledger.EntryState{}
	for _, e := range st.Entries {
		states[e.ID] = e.State
	}
	for _, line := range lines {
		verb, id, _ := strings.Cut(line, " ")
		switch {
		case verb == "error":
			t.Error(line)
		case verb == "committed" && states[id] != ledger.Committed, verb == "reserved" && states[id] == "":
			t.Errorf("%q was acknowledged and then lost", line)
		}
	}
	if n := len(st.Entries); n > 128 || all && n != 128 {
		t.Errorf("%d parts of 1/128 were charged (all children ran to their end: %v)", n, all)
	}
}

func create(t *testing.T, path string) {
	t.Helper()
	s := open(t, path)
	defer s.Close()
	q := ledgertest.Spend("d", part)
	if err := ledgertest.New(s).Create(context.Background(), ledger.Budget{Dataset: "d", Epsilon: "1", Delta: "1e-6", Relation: q.Relation}); err != nil {
		t.Fatal(err)
	}
}

// Eight processes, 25 reservations each: none is lost, none is locked out, and
// exactly the budget is spent.
func TestManyProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	create(t, path)
	lines := run(t, path, func(int) (int, time.Duration) { return -1, 0 })
	check(t, path, lines, true)
	if len(lines) != 2*128+200-128 {
		t.Errorf("%d answers, want 128 reserved, 128 committed, 72 refused", len(lines))
	}
}

// The same with SIGKILL at random points: what was acknowledged stays charged,
// also what was reserved and never committed, and the chain holds.
func TestKilledProcesses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		path := filepath.Join(t.TempDir(), "ledger.db")
		create(t, path)
		type point struct {
			line  int
			delay time.Duration
		}
		var points []point
		for range children {
			points = append(points, point{1 + r.IntN(20), time.Duration(r.IntN(4000)) * time.Microsecond})
		}
		lines := run(t, path, func(i int) (int, time.Duration) { return points[i].line, points[i].delay })
		check(t, path, lines, false)
	}
}

// Processes that meet at a file that is not there yet agree on one ledger.
func TestRacingCreators(t *testing.T) {
	for range 2 {
		path := filepath.Join(t.TempDir(), "new", "ledger.db")
		lines := run(t, path, func(int) (int, time.Duration) { return -1, 0 })
		check(t, path, lines, true)
	}
}
