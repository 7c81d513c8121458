package ledgertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
)

// The environment that turns a test binary into one spender.
const (
	spenderAddress  = "PAWL_TEST_SPENDER"
	spenderAttempts = "PAWL_TEST_SPENDER_ATTEMPTS"
	spenderPart     = "PAWL_TEST_SPENDER_PART"
)

// Main is the TestMain of a store: in a process that Processes started it spends,
// else it runs the tests.
func Main(m *testing.M, open func(ctx context.Context, address string) (ledger.Store, error)) {
	address := os.Getenv(spenderAddress)
	if address == "" {
		os.Exit(m.Run())
	}
	if err := spender(address, open); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}

// spender reserves and commits, and tells its parent what was acknowledged before
// it goes on.
func spender(address string, open func(context.Context, string) (ledger.Store, error)) error {
	ctx := context.Background()
	attempts, err := strconv.Atoi(os.Getenv(spenderAttempts))
	if err != nil {
		return err
	}
	part, err := strconv.ParseFloat(os.Getenv(spenderPart), 64)
	if err != nil {
		return err
	}
	s, err := open(ctx, address)
	if err != nil {
		return err
	}
	defer s.Close()
	l := New(s)
	for range attempts {
		p, receipt, err := l.Reserve(ctx, Spend("d", part))
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

// Processes spends from many processes at once.
type Processes struct {
	Address      string
	Count        int  // processes
	Reservations int  // attempts of each
	Parts        int  // equal parts of a budget of 1: a power of 2, so that nothing is rounded
	Kill         bool // SIGKILL each at a random point, and start it again for what it has not tried
	Seed         uint64
}

// Sized returns 8 × 25 reservations, or 16 × 200 when PAWL_FULL is set, of which
// 64 % fit into the budget.
func Sized(address string) Processes {
	p := Processes{Address: address, Count: 8, Reservations: 25, Parts: 128}
	if os.Getenv("PAWL_FULL") != "" {
		p.Count, p.Reservations, p.Parts = 16, 200, 2048
	}
	return p
}

// Run starts the processes and checks what they leave: no part is charged beyond
// the budget, every acknowledged charge is there, the chain holds, and since more
// parts were asked for than fit, all of them are spent.
func (p Processes) Run(t *testing.T, open func(ctx context.Context, address string) (ledger.Store, error)) {
	t.Helper()
	began := time.Now()
	lines, killed := p.spend(t)
	t.Logf("%d processes × %d reservations, %d killed: %v", p.Count, p.Reservations, killed, time.Since(began).Round(time.Millisecond))
	if p.Kill && killed < p.Count/2 {
		t.Errorf("only %d of %d processes were killed in their midst", killed, p.Count)
	}

	s, err := open(context.Background(), p.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	CheckAll(t, s)
	st, err := figures.Show(context.Background(), New(s), "d")
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]ledger.EntryState{}
	for _, e := range st.Entries {
		states[e.ID] = e.State
	}
	refused := 0
	for _, line := range lines {
		verb, id, _ := strings.Cut(line, " ")
		switch {
		case verb == "error":
			t.Error(line)
		case verb == "refused":
			refused++
		case verb == "committed" && states[id] != ledger.Committed, verb == "reserved" && states[id] == "":
			t.Errorf("%q was acknowledged and then lost", line)
		}
	}
	if n := len(st.Entries); n != p.Parts {
		t.Errorf("%d parts of 1/%d were charged", n, p.Parts)
	}
	// A killed process may not have told of its last answer.
	if asked := p.Count * p.Reservations; !p.Kill && refused != asked-p.Parts {
		t.Errorf("%d of %d were refused, want %d", refused, asked, asked-p.Parts)
	}
}

// spend runs the processes to their end and returns every line that they wrote, and
// how many were killed.
func (p Processes) spend(t *testing.T) (lines []string, kills int) {
	t.Helper()
	var mu sync.Mutex
	said := func(line string) {
		mu.Lock()
		lines = append(lines, line)
		mu.Unlock()
	}
	var group sync.WaitGroup
	random := rand.New(rand.NewPCG(p.Seed, 2))
	for i := range p.Count {
		at, delay := 0, time.Duration(random.IntN(4000))*time.Microsecond
		if p.Kill {
			at = 1 + random.IntN(p.Reservations)
		}
		group.Go(func() {
			answered, killed, err := p.start(p.Reservations, at, delay, said)
			if killed && err == nil {
				mu.Lock()
				kills++
				mu.Unlock()
				_, _, err = p.start(p.Reservations-answered, 0, 0, said)
			}
			if err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	group.Wait()
	return lines, kills
}

// start runs one process and, with at > 0, kills it the delay after that line. It
// returns how many of its attempts were answered.
func (p Processes) start(attempts, at int, delay time.Duration, said func(string)) (answered int, killed bool, err error) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), spenderAddress+"="+p.Address, fmt.Sprintf("%s=%d", spenderAttempts, attempts),
		fmt.Sprintf("%s=%g", spenderPart, 1/float64(p.Parts)))
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return 0, false, err
	}
	scan := bufio.NewScanner(out)
	for n := 1; scan.Scan(); n++ {
		said(scan.Text())
		if !strings.HasPrefix(scan.Text(), "committed") {
			answered++
		}
		if n == at {
			time.AfterFunc(delay, func() { _ = c.Process.Kill() })
		}
	}
	err = c.Wait()
	var ended *exec.ExitError
	if at > 0 && errors.As(err, &ended) && ended.ExitCode() == -1 { // by the signal
		return answered, true, nil
	}
	return answered, false, err
}
