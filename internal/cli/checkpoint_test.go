//go:build unix

package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/core/ledger"
)

// tensors are the numbers of a written model without its metadata, which name the
// ledger's head.
func tensors(t *testing.T, out string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(out, "model", "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return b[8+binary.LittleEndian.Uint64(b):]
}

func epsilonOf(t *testing.T, out string) (epsilon float64) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(out, "statement.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s struct{ Privacy struct{ Epsilon float64 } }
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s.Privacy.Epsilon
}

// A run that is killed 20 times, at random moments from the first file on, ends with the
// bits and the epsilon of one that was killed once, is charged once, and leaves no key.
// The moments are random; the outcome is not.
func TestKilledTrainingGoesOn(t *testing.T) {
	kills := 20
	if testing.Short() {
		kills = 4
	}
	dir := t.TempDir()
	squares(t, dir, 600)
	if err := os.WriteFile(filepath.Join(dir, "tiny.yaml"), []byte(tinyNet), 0o600); err != nil {
		t.Fatal(err)
	}
	train := func(kept string, more ...string) *exec.Cmd {
		return process(t, dir, append([]string{"train", "squares.npy", "--labels", "labels.npy", "--classes", "up,down", "--rows", "public", "--model", "tiny.yaml",
			"--batch", "100", "--epochs", "120", "--noise-multiplier", "20", "--delta", "1e-4", "--accountant", "rdp", "--checkpoint-every", "0s", kept, "run.ckpt"}, more...)...)
	}
	path := filepath.Join(dir, "run.ckpt")
	// killAt ends c after a while, or with the first file if it is 0; killed says that it
	// had not finished before.
	killAt := func(c *exec.Cmd, wait time.Duration) (killed bool) {
		t.Helper()
		var errs bytes.Buffer
		c.Stderr = &errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		for end := time.Now().Add(30 * time.Second); wait == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
			if _, err := os.Stat(path); err == nil {
				break
			}
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, errs.String())
			}
			return false
		case <-time.After(wait):
			_ = c.Process.Signal(syscall.SIGKILL)
			<-ended
			return true
		}
	}
	if !killAt(train("--checkpoint"), 0) {
		t.Fatal("no checkpoint was written in time")
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if killAt(train("--resume", "--out", "whole"), time.Minute) {
		t.Fatal("the run did not end in a minute")
	}
	took := time.Since(begun)
	if _, err := os.Stat(path); err == nil {
		t.Error("the finished run left its key")
	}
	if out, err := train("--resume").CombinedOutput(); err == nil || !strings.Contains(string(out), "that of a finished run is erased") {
		t.Errorf("resume of a finished run: %v: %s", err, out)
	}

	if err := os.WriteFile(path, first, 0o600); err != nil {
		t.Fatal(err)
	}
	done := false
	for range kills {
		if done = !killAt(train("--resume", "--out", "parts"), time.Duration(1+rand.Int64N(int64(took/2)))); done {
			break
		}
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			done = true // it was finished, and killed before it could say so
			break
		}
	}
	if !done && killAt(train("--resume", "--out", "parts"), time.Minute) {
		t.Fatal("the run did not end in a minute")
	}
	whole, parts := filepath.Join(dir, "whole"), filepath.Join(dir, "parts")
	if !bytes.Equal(tensors(t, whole), tensors(t, parts)) {
		t.Error("the model that was interrupted has other bits")
	}
	if a, b := epsilonOf(t, whole), epsilonOf(t, parts); a != b {
		t.Errorf("epsilon %v and %v", a, b)
	}
	if s := account(t, dir, "squares"); len(s.Entries) != 1 || s.Entries[0].State != ledger.Committed {
		t.Errorf("entries %+v", s.Entries)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "run.ckpt*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
