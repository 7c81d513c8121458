package workflow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pawl/internal/whole"
	"pawl/model"
	"pawl/report"
)

// released is a model with the statement of a run.
func released() (*model.Model, *report.Statement) {
	s := small(200, nil).schema
	m := &model.Model{Task: model.Classification, Kind: model.Constant, Schema: s, Target: "y"}
	st := &report.Statement{Version: report.StatementVersion, Command: "fit", Software: report.Software{Name: "pawl"}}
	st.Data.Name, st.Data.Target, st.Privacy.EpsilonAsked, st.Budget.Entry = "../de mo", "y\u00e9", "0.5", "a1b2"
	st.Privacy.Unit, st.Privacy.RowsPerUnit, st.Privacy.Epsilon, st.Privacy.Relation, st.Privacy.Accountant = "row", 1, 0.5, "add_or_remove_one", "pld"
	return m, st
}

func write(t *testing.T, o *Output) (string, *report.Statement, error) {
	t.Helper()
	m, s := released()
	dir, err := o.Write(m, s)
	return dir, s, err
}

func output(t *testing.T, dir string, replace bool) *Output {
	t.Helper()
	o, err := NewOutput(dir, replace)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// complete checks that dir has every file of a run and nothing that was staged.
func complete(t *testing.T, dir string, more ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := len(outputs) + len(more)
	for _, n := range append(outputs[:len(outputs):len(outputs)], more...) {
		if _, err := os.Stat(filepath.Join(dir, n)); err != nil {
			t.Error(err)
		}
	}
	if len(names) != want {
		t.Errorf("%s holds %q", dir, names)
	}
	if _, err := os.Stat(filepath.Join(dir, ModelDir, "model.json")); err != nil {
		t.Error(err)
	}
}

func TestWriteNamesANewFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	name := regexp.MustCompile(`^pawl-out/de-mo-y-+eps0\.5-a1b2$`)
	first, s, err := write(t, output(t, "", false))
	if err != nil || !name.MatchString(first) || s.Outputs.Report != filepath.Join(first, ReportFile) {
		t.Fatal(first, s.Outputs, err)
	}
	second, _, err := write(t, output(t, "", false))
	if err != nil || second != first+"-2" {
		t.Fatal(second, err)
	}
	complete(t, first)
	complete(t, second)
	o := output(t, "", false)
	o.Discard()
	entries, _ := os.ReadDir(DefaultDir)
	if len(entries) != 2 {
		t.Errorf("%d folders", len(entries))
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"", "out"} {
		output(t, dir, false).Discard()
	}
	if entries, _ := os.ReadDir("."); len(entries) != 0 {
		t.Errorf("left: %v", entries)
	}
}

// Whatever appears in the directory during a run stays as it is, and the run's own files,
// which are paid for, lie beside it.
func TestWriteLosesNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(dir string) error
		more []string // what the directory keeps
	}{
		{"another run", func(dir string) error {
			m, s := released()
			s.Budget.Entry = "c3"
			o, err := NewOutput(dir, false)
			if err != nil {
				return err
			}
			_, err = o.Write(m, s)
			return err
		}, nil},
		{"a card", func(dir string) error { return os.WriteFile(filepath.Join(dir, CardFile), []byte("mine"), 0o600) }, []string{CardFile}},
		{"an empty model", func(dir string) error { return os.Mkdir(filepath.Join(dir, ModelDir), 0o755) }, []string{ModelDir}},
		{"a model that is a file", func(dir string) error { return os.WriteFile(filepath.Join(dir, ModelDir), nil, 0o600) }, []string{ModelDir}},
		{"a link to nowhere", func(dir string) error { return os.Symlink("nowhere", filepath.Join(dir, StatementFile)) }, []string{StatementFile}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			o := output(t, "out", false)
			if err := c.make("out"); err != nil {
				t.Fatal(err)
			}
			dir, s, err := write(t, o)
			if err != nil || dir != "out-a1b2" || !strings.HasPrefix(s.Outputs.Model, "out-a1b2/") {
				t.Fatal(dir, s.Outputs, err)
			}
			complete(t, dir)
			if c.more == nil {
				complete(t, "out")
				return
			}
			entries, _ := os.ReadDir("out")
			if len(entries) != len(c.more) || entries[0].Name() != c.more[0] {
				t.Errorf("out holds %v", entries)
			}
		})
	}
	t.Run("the directory is gone", func(t *testing.T) {
		t.Chdir(t.TempDir())
		o := output(t, "out", false)
		if err := os.RemoveAll("out"); err != nil {
			t.Fatal(err)
		}
		if dir, _, err := write(t, o); err != nil || dir != "out" {
			t.Fatal(dir, err)
		}
		complete(t, "out")
	})
	t.Run("the directory is a file now", func(t *testing.T) {
		t.Chdir(t.TempDir())
		o := output(t, filepath.Join("in", "out"), false)
		if err := errors.Join(os.RemoveAll("in"), os.WriteFile("in", nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		elsewhere := t.TempDir()
		t.Setenv("TMPDIR", elsewhere)
		dir, _, err := write(t, o)
		if err != nil || dir != filepath.Join(elsewhere, "pawl-a1b2") || !strings.HasPrefix(o.Notes(dir)[0], "note: in/out cannot be written (not a directory); ") {
			t.Fatal(dir, o.Notes(dir), err)
		}
		complete(t, dir)
		if entries, _ := os.ReadDir(elsewhere); len(entries) != 1 {
			t.Errorf("the temporary folder holds %v", entries)
		}
		o = &Output{dir: o.dir, staging: o.staging}
		t.Setenv("TMPDIR", filepath.Join(elsewhere, "none"))
		if dir, _, err := write(t, o); err == nil || !strings.Contains(err.Error(), o.staging) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q, %v", dir, err)
		}
	})
	// The room of the files is taken before the charge, and freed for them alone.
	t.Run("no other file takes the room", func(t *testing.T) {
		t.Chdir(t.TempDir())
		o := output(t, "out", false)
		if info, err := os.Stat(o.room()); err != nil || info.Size() != 8<<20 {
			t.Fatal(info, err)
		}
		dir, _, err := write(t, o)
		if err != nil {
			t.Fatal(err)
		}
		complete(t, dir)
	})
}

// The room of a run that was killed is given back by the next one in its folder; that of a run under way, and files that
// a run left, stay.
func TestSweep(t *testing.T) {
	t.Chdir(t.TempDir())
	killed, running := output(t, "out", false), output(t, "out", false)
	results := filepath.Join("out", whole.Unfinished+"results")
	if err := errors.Join(os.Mkdir(results, 0o700), os.WriteFile(filepath.Join(results, StatementFile), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	writing, busy := output(t, "out", false), output(t, "out", false)
	for _, o := range []*Output{writing, busy} {
		if err := errors.Join(o.free(), os.WriteFile(filepath.Join(o.staging, StatementFile), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	killed.held.Close() // as the system does
	writing.held.Close()
	next := output(t, "out", false)
	if notes := next.Notes("out"); len(notes) != 1 || !strings.Contains(notes[0], writing.staging+" holds files of a run that was killed") {
		t.Errorf("notes %q", notes)
	}
	if _, err := os.Stat(killed.staging); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the killed run's folder: %v", err)
	}
	for _, name := range []string{running.room(), next.room(), filepath.Join(results, StatementFile), filepath.Join(writing.staging, StatementFile), filepath.Join(busy.staging, StatementFile)} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	running.Discard()
	busy.Discard()
	os.RemoveAll(results)
	os.RemoveAll(writing.staging)
	if dir, _, err := write(t, next); err != nil || dir != "out" {
		t.Fatal(dir, err)
	}
	complete(t, "out")
}

// A run that was killed after its files were in place, or some of them, goes on and writes
// them again; those of another run stay.
func TestWriteAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	for range 2 {
		if dir, _, err := write(t, output(t, "out", false)); err != nil || dir != "out" {
			t.Fatal(dir, err)
		}
		complete(t, "out")
		if err := errors.Join(os.RemoveAll("out/model"), os.Remove("out/report.html")); err != nil {
			t.Fatal(err)
		}
	}
	m, s := released()
	s.Budget.Entry = "c3"
	if dir, err := output(t, "out", false).Write(m, s); err != nil || dir != "out-c3" {
		t.Fatal(dir, err)
	}
	complete(t, "out-c3")
}

func TestWriteReplacesOnlyWhenAsked(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.MkdirAll("out/model", 0o755), os.WriteFile("out/model/old", nil, 0o600), os.WriteFile("out/statement.json", []byte("{}"), 0o600), os.WriteFile("out/mine", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	dir, _, err := write(t, output(t, "out", true))
	if err != nil || dir != "out" {
		t.Fatal(dir, err)
	}
	complete(t, "out", "mine")
	if _, err := os.Stat("out/model/old"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file of the earlier model is left among those of the new one")
	}
}
