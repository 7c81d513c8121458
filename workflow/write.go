package workflow

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pawl/model"
	"pawl/report"
)

// Output is a directory that a run will write into. Files are made beside it and
// moved into place at the end, so that a failure leaves nothing half-written.
type Output struct {
	dir, staging string
	made         bool // dir did not exist before
	// Confirm is asked when all is staged, before it is moved into place; with an error
	// nothing is. nil: nobody is asked.
	Confirm func() error
}

// Files that a run owns inside its output directory.
const (
	ModelDir      = "model"
	ReportFile    = "report.html"
	StatementFile = "statement.json"
	CardFile      = "README.md"
)

// NewOutput makes sure that dir can be written before anything is charged.
func NewOutput(dir string) (*Output, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, usage("name another directory with --out", "%s: is a file, not a directory", dir)
	}
	_, missing := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, usage("name another directory with --out", "cannot make the output directory: %v", err)
	}
	staging, err := os.MkdirTemp(dir, ".pawl-")
	if err != nil {
		return nil, usage("name another directory with --out", "cannot write into the output directory: %v", err)
	}
	o := &Output{dir: dir, staging: staging, made: missing != nil}
	if err := o.probe(); err != nil {
		o.Discard()
		return nil, usage("free some space, or name another directory with --out", "cannot write into the output directory: %v", err)
	}
	return o, nil
}

// probe writes more than a run will need, so that a full disk shows before the
// budget is charged.
func (o *Output) probe() error {
	path := filepath.Join(o.staging, "probe")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	for range 8 {
		if _, err = f.Write(block); err != nil {
			break
		}
	}
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(path))
}

// Discard removes what was staged, and the directory if it was made for nothing.
func (o *Output) Discard() {
	os.RemoveAll(o.staging)
	if o.made {
		os.Remove(o.dir) // fails, as it should, unless empty
	}
}

// Paths are where the files will be.
func (o *Output) Paths() report.Paths {
	return report.Paths{
		Model: filepath.Join(o.dir, ModelDir), Report: filepath.Join(o.dir, ReportFile),
		Statement: filepath.Join(o.dir, StatementFile), Card: filepath.Join(o.dir, CardFile),
	}
}

// Write stages every file and then moves them into place, replacing those of an
// earlier run.
func (o *Output) Write(m *model.Model, s *report.Statement) error {
	defer o.Discard()
	s.Outputs = o.Paths()
	privacy, err := privacyJSON(s)
	if err != nil {
		return err
	}
	dir := filepath.Join(o.staging, ModelDir)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	metadata := map[string]string{
		"software": s.Software.Name + " " + s.Software.Version, "epsilon": s.Privacy.EpsilonAsked, "delta": s.Privacy.DeltaAsked,
		"unit": s.Privacy.Unit, "relation": s.Privacy.Relation,
	}
	if s.NotPrivate {
		// Without the chain's head, so that equal seeds give equal bytes.
		metadata["claim"] = "NOT PRIVATE"
	} else {
		metadata["ledger_head"] = s.Budget.Head
	}
	m.NotPrivate = s.NotPrivate
	if err := m.Save(dir, privacy, metadata); err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer, *report.Statement) error{
		ReportFile: report.HTML, StatementFile: report.WriteJSON, CardFile: report.Card,
	} {
		if err := o.file(name, s, write); err != nil {
			return err
		}
	}
	if o.Confirm != nil {
		if err := o.Confirm(); err != nil {
			return err
		}
	}
	for _, name := range []string{ModelDir, ReportFile, StatementFile, CardFile} {
		final := filepath.Join(o.dir, name)
		if err := os.RemoveAll(final); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(o.staging, name), final); err != nil {
			return err
		}
	}
	return nil
}

func (o *Output) file(name string, s *report.Statement, write func(io.Writer, *report.Statement) error) error {
	f, err := os.Create(filepath.Join(o.staging, name))
	if err != nil {
		return err
	}
	if err := errors.Join(write(f, s), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
