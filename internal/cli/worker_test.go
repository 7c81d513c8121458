//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/search/fleet/broker"
)

func startBroker(t *testing.T) *broker.Broker {
	t.Helper()
	b, err := broker.Start(broker.Options{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A search on workers that are killed, with a coordinator that is interrupted, ends with the
// bytes of the same search in one process, and is charged once.
func TestSearchOnWorkers(t *testing.T) {
	dir := t.TempDir()
	if err := writeClinic(dir, clinicRows); err != nil {
		t.Fatal(err)
	}
	b := startBroker(t)
	defer b.Stop()
	url := fmt.Sprintf("nats://127.0.0.1:%d", b.Port())
	search := []string{"search", "clinic.csv", "--schema", "clinic.yaml", "--target", "sick", "--space", "tabular", "--strategy", "rs", "--mean-trials", "5", "--epsilon", "3",
		"--budget", "9", "--seed", "3"}
	alone := process(t, dir, append(search, "--study", "alone", "--out", "alone")...)
	if text, err := alone.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	worker := func(in string, more ...string) (*exec.Cmd, *lines) {
		c, said := process(t, dir, append([]string{"worker", "--nats", url}, more...)...), &lines{want: "waiting for searches", seen: make(chan struct{})}
		c.Dir, c.Env = in, append(c.Env, "TMPDIR="+in)
		c.Stderr = said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, said)
		return c, said
	}
	// One worker has the file, and the other has nothing but the ledger.
	empty := t.TempDir()
	lasting, words := worker(empty)
	doomed, _ := worker(dir, "--path", "clinic.csv", "--schema", "clinic.yaml")
	defer func() { _ = doomed.Wait() }()
	far := append(search, "--study", "far", "--out", "far", "--nats", url, "--ship-data")
	first := process(t, dir, far...)
	said := &lines{want: "stage: search and train", seen: make(chan struct{})}
	first.Stderr = said
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, said)
	time.Sleep(time.Second)
	_ = doomed.Process.Kill()
	_ = first.Process.Signal(syscall.SIGINT)
	if err := first.Wait(); err != nil && !strings.Contains(said.all.String(), "run the same command to continue") {
		t.Errorf("the interrupted search said %q", said.all.String())
	}
	if first.ProcessState.ExitCode() != 0 {
		if text, err := process(t, dir, far...).CombinedOutput(); err != nil {
			t.Fatalf("the search that goes on: %v: %s", err, text)
		}
	}
	_ = lasting.Process.Signal(syscall.SIGINT)
	if err := lasting.Wait(); err != nil {
		t.Errorf("a worker that is interrupted: %v: %s", err, words.all.String())
	}
	for _, name := range []string{"model.json", "model.safetensors"} {
		want, err := os.ReadFile(filepath.Join(dir, "alone", "model", name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "far", "model", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from that of the search in one process (%v)", name, err)
		}
	}
	// A simulation with the same seed is the same computation, so all of them are one entry.
	if n := len(account(t, dir, "clinic").Entries); n != 1 {
		t.Errorf("%d entries in the ledger, want 1", n)
	}
	if text := words.all.String(); !strings.Contains(text, "taking trials") || strings.Contains(text, canary) || strings.Contains(text, dir) {
		t.Errorf("a worker says more than it should, or took no trial: %s", text)
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		t.Errorf("a worker without the file wrote %v (%v)", left, err)
	}
}

// A worker with other data takes no trial and says why.
func TestWorkerWithOtherData(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for d, rows := range map[string]int{dir: clinicRows, other: clinicRows - 1} {
		if err := writeClinic(d, rows); err != nil {
			t.Fatal(err)
		}
	}
	b := startBroker(t)
	defer b.Stop()
	url := fmt.Sprintf("nats://127.0.0.1:%d", b.Port())
	c := process(t, dir, "search", "clinic.csv", "--schema", "clinic.yaml", "--target", "sick", "--space", "tabular", "--strategy", "ps", "--epsilon", "3", "--budget", "9", "--nats", url)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w := process(t, dir, "worker", "--nats", url, "--path", filepath.Join(other, "clinic.csv"))
	said := &lines{want: "not joined", seen: make(chan struct{})}
	w.Stderr = said
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, said)
	for _, p := range []*exec.Cmd{c, w} {
		_ = p.Process.Signal(syscall.SIGINT)
		_ = p.Wait()
	}
	if text := said.all.String(); strings.Contains(text, "taking trials") || strings.Contains(text, canary) {
		t.Errorf("the worker said %q", text)
	}
}

func TestBadBrokers(t *testing.T) {
	dir := atHome(t)
	key := filepath.Join(dir, "open.key")
	if err := os.WriteFile(key, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want, hint string }{
		{"worker", "missing --nats", "nats://127.0.0.1:4222"},
		{"worker --nats nats://10.1.2.3:4222", "must be encrypted", "tls://10.1.2.3:4222"},
		{"worker --nats tls://10.1.2.3:4222", "needs --nats-key", "pawl-broker key"},
		{"worker --nats nats://u:hunter2@127.0.0.1:4222", "a name or a password", "--nats-key"},
		{"worker --nats nats://127.0.0.1:1", "no broker answers", "pawl-broker"},
		{"worker --nats nats://127.0.0.1:4222 --nats-key " + key, "can be read by others", "chmod 600"},
		{"worker --nats nats://127.0.0.1:4222 --parallel -1", "at least 1", ""},
		{"worker --nats nats://127.0.0.1:4222 --trial-limit -1s", "above 0", ""},
		{"worker --nats nonsense", "malformed", "tls://"},
		{"search breast-cancer --space tabular --strategy ps --epsilon 1 --ship-data", "--nats is missing", "add --nats"},
		{"advise measure --nats nats://10.1.2.3:4222", "must be encrypted", "tls://"},
		{"search mnist --space fcn --strategy ps --epsilon 1 --ship-data --nats nats://127.0.0.1:1", "sends tables", "copy the images"},
		{"search breast-cancer --space tabular --strategy ps --epsilon 1 --nats nats://10.1.2.3:4222", "must be encrypted", "tls://"},
		{"search breast-cancer --space tabular --strategy ps --epsilon 1 --nats nats://127.0.0.1:1", "no broker answers", "pawl-broker"},
	} {
		status, out, errs := call(t, strings.Fields(c.args)...)
		if status != exitUsage || out != "" || !strings.Contains(errs, c.want) || !strings.Contains(errs, c.hint) || strings.Contains(errs, "hunter2") {
			t.Errorf("pawl %s: status %d, %q", c.args, status, errs)
		}
	}
}

func await(t *testing.T, l *lines) {
	t.Helper()
	select {
	case <-l.seen:
	case <-time.After(40 * time.Second):
		t.Errorf("nobody said %q", l.want)
	}
}

// lines is what a process says, and tells when a word came. Only the process writes to it.
type lines struct {
	want string
	seen chan struct{}
	all  bytes.Buffer
	told bool
}

func (l *lines) Write(p []byte) (int, error) {
	n, err := l.all.Write(p)
	if !l.told && strings.Contains(l.all.String(), l.want) {
		l.told = true
		close(l.seen)
	}
	return n, err
}

// A search that is interrupted, and whose budget is then raised, goes on by the law of its
// beginning: it is booked once, and costs nothing more.
func TestSearchGoesOnUnderALargerBudget(t *testing.T) {
	dir := t.TempDir()
	if err := writeClinic(dir, clinicRows); err != nil {
		t.Fatal(err)
	}
	search := []string{"search", "clinic.csv", "--schema", "clinic.yaml", "--target", "sick", "--space", "tabular", "--strategy", "rs", "--mean-trials", "60", "--epsilon", "3", "--out", "out"}
	first, said := process(t, dir, search...), &lines{want: "stage: search and train", seen: make(chan struct{})}
	first.Stderr = said
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, said)
	_ = first.Process.Signal(syscall.SIGINT)
	if err := first.Wait(); err == nil {
		// Nothing was left to go on with: the machine ran the search before the signal came.
		t.Skip("the search ended before it was interrupted")
	}
	before := account(t, dir, "clinic")
	if text, err := process(t, dir, "ledger", "grant", "clinic", "--epsilon", "20", "--reason", "more jobs").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if text, err := process(t, dir, search...).CombinedOutput(); err != nil {
		t.Fatalf("the search that goes on: %v: %s", err, text)
	}
	after := account(t, dir, "clinic")
	if len(before.Entries) != 1 || len(after.Entries) != 1 || before.Entries[0].ID != after.Entries[0].ID {
		t.Errorf("%d entries before and %d after, want the same one", len(before.Entries), len(after.Entries))
	}
}
