package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pawl/core/entropy"
)

func identity() Identity {
	return Identity{Software: "v1", Kernel: "avx2", Dataset: "d", Data: []byte{1, 2}, Plan: "p", Granted: "2.5", Settings: json.RawMessage(`{"Batch":100,"ClippingNorm":0.5,"Layers":[1]}`)}
}

// written makes the checkpoint of a run that was interrupted after step 7.
func written(t testing.TB) (path string, f *File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "run.ckpt")
	f, err := Create(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Begin(identity()); err != nil {
		t.Fatal(err)
	}
	f.Save(7, []byte("state"))
	if f.Failed() != nil {
		t.Fatal(f.Failed())
	}
	return path, f
}

func TestGoesOn(t *testing.T) {
	path, f := written(t)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	g, err := Open(path, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Begin(identity()); err != nil {
		t.Fatal(err)
	}
	steps, state := g.State()
	if steps != 7 || string(state) != "state" || !bytes.Equal(g.Secret().Save(), f.Secret().Save()) || !bytes.Equal(g.Of(), f.Of()) || g.Initial() != f.Initial() || g.Fresh() || !f.Fresh() {
		t.Errorf("%d steps, state %q, fresh %v", steps, state, g.Fresh())
	}
	if err := g.Erase(); err != nil {
		t.Fatal(err)
	}
	left, _ := os.ReadDir(filepath.Dir(path))
	if len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if err := f.Erase(); err != nil {
		t.Errorf("erased by another process: %v", err)
	}
}

// Two runs have two secrets, and one file names each computation otherwise: the ledger
// binds the noise to both.
func TestKeys(t *testing.T) {
	secret, err := entropy.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, c := range []struct {
		name string
		edit func(*Identity)
	}{
		{"as it is", func(*Identity) {}}, {"again", func(*Identity) {}}, {"data", func(of *Identity) { of.Data = []byte{2} }}, {"kernel", func(of *Identity) { of.Kernel = "go" }},
		{"software", func(of *Identity) { of.Software = "v2" }}, {"plan", func(of *Identity) { of.Plan = "q" }}, {"settings", func(of *Identity) { of.Settings = json.RawMessage(`{}`) }},
	} {
		f := &File{path: filepath.Join(t.TempDir(), "f"), fresh: true, secret: secret}
		of := identity()
		c.edit(&of)
		if err := f.Begin(of); err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[string(f.Of())]; ok != (c.name == "again") {
			t.Errorf("%s has the name of %q", c.name, other)
		}
		seen[string(f.Of())] = c.name
	}
	_, a := written(t)
	_, b := written(t)
	if bytes.Equal(a.Secret().Save(), b.Secret().Save()) || a.Initial() == b.Initial() {
		t.Error("two files have one key")
	}
}

// refused checks one line and the mend that it names.
func refused(t *testing.T, err error, message, hint string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Msg, message) || !strings.Contains(e.Hint(), hint) || strings.Contains(e.Msg+e.Hint(), "\n") {
		t.Errorf("got %v, want %q and the hint %q", err, message, hint)
	}
}

func TestOtherComputations(t *testing.T) {
	for _, c := range []struct {
		name, message, hint string
		edit                func(*Identity)
	}{
		{"kernel", "kernel avx2", "machine of the same kind", func(of *Identity) { of.Kernel = "go" }},
		{"software", "by pawl v1", "resume with that version", func(of *Identity) { of.Software = "v2" }},
		{"data set", `data set "d", not to "e"`, "give the data", func(of *Identity) { of.Dataset = "e" }},
		{"bytes", "other bytes", "give the bytes", func(of *Identity) { of.Data = []byte{9} }},
		{"model", "another model", "give the flags", func(of *Identity) {
			of.Settings = json.RawMessage(`{"Batch":100,"ClippingNorm":0.1,"Layers":[2]}`)
		}},
		{"settings", "another batch, clipping-norm, seed", "give the flags", func(of *Identity) { of.Settings = json.RawMessage(`{"Batch":1,"Layers":[1],"Seed":3}`) }},
		{"plan", "other settings", "--checkpoint FILE", func(of *Identity) { of.Plan = "q" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, _ := written(t)
			f, err := Open(path, 0)
			if err != nil {
				t.Fatal(err)
			}
			of := identity()
			c.edit(&of)
			refused(t, f.Begin(of), c.message, c.hint)
			if _, err := os.Stat(path); err != nil {
				t.Error("a refused checkpoint is gone")
			}
		})
	}
}

func TestBadFiles(t *testing.T) {
	path, _ := written(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Create(path, 0)
	refused(t, err, "exists already", "--resume")
	_, err = Create(filepath.Join(path, "no", "f"), 0)
	refused(t, err, "not a directory", "exists")
	_, err = Open(path+"x", 0)
	refused(t, err, "no such checkpoint; that of a finished run is erased", "--checkpoint")
	_, err = Open(t.TempDir(), 0)
	refused(t, err, "not a regular file", "--checkpoint")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Open(path, 0)
	refused(t, err, "others may read it", "chmod 600")

	for _, c := range []struct {
		name, message, hint string
		bytes               []byte
	}{
		{"empty", "cut short", "unedited copy", nil},
		{"text", "is not a checkpoint", "name the file", []byte("version: 1\nname: tiny\n")},
		{"newer", "newer version of pawl", "the pawl that wrote it", append(append([]byte(magic), 9, 0, 0, 0), whole[front:]...)},
		{"longer", "edited", "unedited copy", append(bytes.Clone(whole), 0)},
	} {
		bad := filepath.Join(t.TempDir(), "bad")
		if err := os.WriteFile(bad, c.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(bad, 0)
		refused(t, err, c.message, c.hint)
	}
	for n := range whole {
		if err := (&File{path: "f"}).decode(whole[:n]); err == nil || !strings.Contains(err.Error(), "cut short") {
			t.Fatalf("%d bytes of %d: %v", n, len(whole), err)
		}
	}
}

// A file of an earlier version is read, and kept; going on with it is refused in one line.
func TestEarlierCheckpointsAreRead(t *testing.T) {
	b, err := os.ReadFile("testdata/earlier.ckpt")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "earlier.ckpt")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if steps, state := f.State(); steps != 7 || string(state) != "state" || f.of.Dataset != "d" {
		t.Errorf("%d steps, state %q of %q", steps, state, f.of.Dataset)
	}
	_ = f.Initial() // is asked for before the plan is made
	refused(t, f.Begin(identity()), "was started by an earlier version of pawl", "start a new run with --checkpoint")
	if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, b) {
		t.Errorf("a refused checkpoint was changed (%v)", err)
	}
	for at := range b {
		edited := bytes.Clone(b)
		edited[at] ^= 1
		if err := (&File{path: "f"}).decode(edited); err == nil {
			t.Fatalf("byte %d is edited, and the file is taken", at)
		}
	}
}

// Whatever byte is edited, the file is refused.
func TestEditedFiles(t *testing.T) {
	path, _ := written(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(whole)
		b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
		if err := (&File{path: "f"}).decode(b); err == nil {
			t.Fatal("an edited file is taken")
		}
	})
}

// A file that cannot be written leaves the run and what was saved before.
func TestFailedSave(t *testing.T) {
	path, f := written(t)
	dir := filepath.Dir(path)
	moved := dir + ".moved"
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(moved)
	if f.Save(8, []byte("later")); f.Failed() == nil || !strings.HasPrefix(f.Failed().Error(), path+": cannot be written") {
		t.Errorf("failed: %v", f.Failed())
	}
	g, err := Open(filepath.Join(moved, "run.ckpt"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if steps, _ := g.State(); steps != 7 {
		t.Errorf("%d steps are kept", steps)
	}
}

// What a killed process left of a writing goes with the next reading, and nothing else.
func TestSweep(t *testing.T) {
	path, _ := written(t)
	for _, name := range []string{".123.new", ".new", "2.123.new"} {
		if err := os.WriteFile(path+name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(path, 0); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{".123.new": false, ".new": true, "2.123.new": true} {
		if _, err := os.Stat(path + name); (err == nil) != want {
			t.Errorf("%s is there: %v", name, err == nil)
		}
	}
}

// Only a file that this run made, and made no step in, is forgotten.
func TestForget(t *testing.T) {
	path, f := written(t)
	g, err := Open(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Forget(); err != nil || !g.Written() {
		t.Errorf("an older run's key is gone: %v", err)
	}
	if err := f.Forget(); err != nil || !f.Written() {
		t.Errorf("a run that made steps is forgotten: %v", err)
	}
	f.Save(0, nil)
	if err := f.Forget(); err != nil || f.Written() {
		t.Errorf("forget: %v, written %v", err, f.Written())
	}
	var none *File
	if none.Forget() != nil || none.Erase() != nil || none.Failed() != nil || none.Written() || none.Due() {
		t.Error("no checkpoint keeps something")
	}
}

// A run that goes on knows the budget that it began with; one that begins has none to go on from.
func TestGrantedAtTheBeginning(t *testing.T) {
	path, fresh := written(t)
	if g, ok := fresh.Granted(); ok {
		t.Errorf("a run that begins goes on with %q", g)
	}
	var none *File
	if _, ok := none.Granted(); ok {
		t.Error("without a file there is a budget")
	}
	f, err := Open(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if g, ok := f.Granted(); !ok || g != "2.5" {
		t.Errorf("the budget is %q (%v), and was 2.5", g, ok)
	}
}
