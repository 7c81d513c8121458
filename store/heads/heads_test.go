package heads

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/core/ledger"
	"pawl/internal/whole"
)

func at(seq int64) ledger.Head { return ledger.Head{Seq: seq, Hash: ledger.Hash{byte(seq), 7}} }

func seen(name string, seq int64) ledger.Seen {
	return ledger.Seen{Heads: map[string]ledger.Head{name: at(seq)}}
}

// TestMain keeps heads as a process of its own where it is asked to.
func TestMain(m *testing.M) {
	if dir := os.Getenv("HEADS_TEST_WRITER"); dir != "" {
		for seq := range int64(40) {
			if err := At(dir, "/a").Keep("k", seen("d", seq+1)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestKeepsForwardAndReplacesBack(t *testing.T) {
	dir := t.TempDir()
	p := At(dir, "/a/ledger.db")
	if id, err := p.Known(); id != "" || err != nil {
		t.Errorf("at first: %q, %v", id, err)
	}
	if _, ok, err := p.Read("k"); ok || err != nil {
		t.Errorf("at first: %v, %v", ok, err)
	}
	both := ledger.Seen{Codes: true, Heads: map[string]ledger.Head{"d": at(5), "e": at(1)}}
	for _, step := range []error{p.Keep("k", both), p.Keep("k", seen("d", 3)), p.Keep("k", seen("f", 2))} {
		if step != nil {
			t.Fatal(step)
		}
	}
	got, ok, err := At(dir, "/elsewhere").Read("k") // by its key, wherever it stands
	want := ledger.Seen{Codes: true, Heads: map[string]ledger.Head{"d": at(5), "e": at(1), "f": at(2)}}
	if d := cmp.Diff(want, got); d != "" || !ok || err != nil {
		t.Errorf("%v, %v\n%s", ok, err, d)
	}
	if id, err := p.Known(); id != "k" || err != nil {
		t.Errorf("known %q, %v", id, err)
	}
	if id, err := At(dir, "/elsewhere").Known(); id != "" || err != nil {
		t.Errorf("another address: %q, %v", id, err)
	}
	if err := p.Replace("k", seen("d", 3)); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := p.Read("k"); got.Heads["d"] != at(3) || got.Heads["e"] != at(1) {
		t.Errorf("replaced: %v", got)
	}
	if err := p.Replace("other", ledger.Seen{}); err != nil {
		t.Fatal(err)
	}
	if id, _ := p.Known(); id != "other" {
		t.Errorf("known %q", id)
	}
}

func TestFilesArePrivateAndWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "pawl")
	p := At(dir, "/a")
	if err := errors.Join(p.Keep("k", seen("d", 1)), KeysIn(dir).Put("00ff", make([]byte, 32))); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700 | fs.ModeDir
		}
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, want %v", path, info.Mode(), want)
		}
		if strings.HasPrefix(e.Name(), whole.Unfinished) {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// A damaged file is an error to those who ask, and begun anew by those who keep.
	if err := os.WriteFile(p.ledgerPath("k"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Read("k"); err == nil {
		t.Error("a damaged file was read")
	}
	if err := p.Keep("k", seen("d", 2)); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := p.Read("k"); !ok || err != nil || got.Heads["d"] != at(2) {
		t.Errorf("%v, %v, %v", got, ok, err)
	}
}

// Goroutines and processes that keep at once lose no newer head and no data set.
func TestWritersLoseNothing(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for i := range 2 {
		group.Go(func() {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "HEADS_TEST_WRITER="+dir)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
		group.Go(func() {
			for seq := range int64(40) {
				if err := At(dir, "/a").Keep("k", seen(fmt.Sprint("own", i), seq+1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	got, _, err := At(dir, "/a").Read("k")
	want := map[string]ledger.Head{"d": at(40), "own0": at(40), "own1": at(40)}
	if d := cmp.Diff(want, got.Heads); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestKeys(t *testing.T) {
	k := KeysIn(t.TempDir())
	key := []byte("0123456789abcdef0123456789abcdef")
	if _, err := k.Get("00ff"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none yet: %v", err)
	}
	if err := k.Put("00ff", key); err != nil {
		t.Fatal(err)
	}
	if k.Put("00ff", key) == nil {
		t.Error("a key was replaced")
	}
	if got, err := k.Get("00ff"); err != nil || !slices.Equal(got, key) {
		t.Errorf("%q, %v", got, err)
	}
	if err := errors.Join(k.Drop("00ff"), k.Drop("00ff")); err != nil {
		t.Error(err)
	}
	for _, entry := range []string{"", "../x", "00FF", "a/b", "held"} {
		if err := k.Put(entry, key); err == nil {
			t.Errorf("entry %q was taken", entry)
		}
	}
}

func TestDefault(t *testing.T) {
	t.Setenv("HOME", "/home/ann")
	for state, want := range map[string]string{"": "/home/ann/.local/state/pawl", "relative": "/home/ann/.local/state/pawl", "/state": "/state/pawl"} {
		t.Setenv("XDG_STATE_HOME", state)
		if got, err := Default(); got != want || err != nil {
			t.Errorf("%q: %q, %v", state, got, err)
		}
	}
}
