package request

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pawl/core/ledger"
	"pawl/data/source"
	"pawl/internal/build"
	"pawl/internal/usage"
	"pawl/reader"
	"pawl/report"
	"pawl/workflow"
)

// Describe asks for a description of a table.
type Describe struct {
	Fit
	Columns []string // nil for all
}

// Describe prices a description. It changes f as the operator's answers say.
func (d *Desk) Describe(ctx context.Context, data *source.Data, f *Describe) (*Job, error) {
	if data.Table == nil {
		return nil, usage.Newf("pawl describe reads tables (CSV, TSV, JSON lines, Parquet, Arrow) with a schema, and built-in tables",
			"%s is a set of images, and only tables can be described", data.Argument)
	}
	f.complete()
	fit := f.Fit
	asked := fit.Epsilon != ""
	if !asked {
		fit.Epsilon = "1" // whether one has to be given follows from the data
	}
	j, in, err := d.OpenTable(ctx, data, &fit, nil)
	if err != nil {
		return nil, err
	}
	if !asked {
		in.Epsilon = ""
	}
	in.Features = f.Columns
	plan, err := workflow.NewDescribePlan(workflow.DescribeInput{Input: in, Replaced: j.Bad == reader.Default, Anyway: f.Anyway})
	if err != nil {
		return nil, err
	}
	if _, err := d.Ledger.View(ctx, j.Source.Name); errors.Is(err, ledger.ErrUnknownDataset) && asked && !in.Public {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("data set %q has no budget yet: unless --budget grants more, this description takes all of it", j.Source.Name))
	}
	job := d.ofTable(plan, j)
	job.describes = true
	return job, nil
}

// describe is Run for a description.
func (j *Job) describe(ctx context.Context, how Running) (*Done, error) {
	if how.Write {
		if err := CheckDescribeDir(how.Dir, how.Replace); err != nil {
			return nil, err
		}
	}
	env, err := j.seal(ctx)
	if err != nil {
		return nil, err
	}
	var out *workflow.Output
	if how.Write {
		// Before anything is charged: what is paid for must have a place.
		if out, err = workflow.NewOutput(how.Dir, how.Replace); err != nil {
			return nil, err
		}
	}
	written := false
	defer func() {
		if out != nil && !written {
			out.Discard()
		}
	}()
	now, err := j.begin(ctx, &env, how)
	if err != nil {
		return nil, err
	}
	described, err := j.Plan.Describe(ctx, env)
	if err != nil && !isDoubt(err) {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // an interrupt does not take away what was paid for
	doubt := err
	s, err := described.Statement(ctx, env, build.Version(), now)
	if s == nil {
		return nil, errors.Join(doubt, err)
	}
	if doubt = cmp.Or(doubt, err, described.Confirm(ctx, env.Ledger)); doubt != nil {
		return nil, j.holdDescription(described, s, cmp.Or(how.Dir, workflow.DefaultDir), doubt)
	}
	done := &Done{Statement: s}
	if out == nil {
		return done, nil
	}
	out.Confirm, out.Sign = func() error { return described.Confirm(ctx, env.Ledger) }, described.Sign(ctx, env.Ledger)
	written = true // from here on what is staged is its own
	if done.Dir, err = out.WriteDescription(s); isDoubt(err) {
		return nil, j.holdDescription(described, s, cmp.Or(how.Dir, workflow.DefaultDir), err)
	} else if err != nil {
		return nil, fmt.Errorf("the run was charged, but its files could not be written: %w", err)
	}
	for _, note := range out.Notes(done.Dir) {
		how.say(note)
	}
	return done, nil
}

// holdDescription holds back what a description would have written.
func (j *Job) holdDescription(out *workflow.Described, s *report.Statement, dir string, doubt error) error {
	safe, err := j.desk.Safe()
	if err != nil {
		return errors.Join(doubt, err)
	}
	var page, text bytes.Buffer
	if err := errors.Join(report.DescriptionHTML(&page, s), report.WriteJSON(&text, s)); err != nil {
		return errors.Join(doubt, err)
	}
	return out.Hold(dir, s, map[string][]byte{workflow.DescribeFile: page.Bytes(), workflow.StatementFile: text.Bytes()}, safe, doubt)
}

// Described reads the statement of a description again, from a folder or a file. It costs nothing.
func Described(path string) (*report.Statement, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, workflow.StatementFile)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usage.Newf("name the folder that pawl describe --out wrote", "%s: no such file", path)
	} else if err != nil {
		return nil, err
	}
	var s report.Statement
	if err := json.Unmarshal(text, &s); err != nil || s.Software.Name != "pawl" {
		return nil, usage.Newf("name the folder that pawl describe --out wrote", "%s is not a statement of pawl", path)
	}
	if s.Description == nil {
		return nil, usage.Newf("name the folder that pawl describe --out wrote", "%s is the statement of pawl %s, and holds no description", path, strings.TrimSpace(s.Command))
	}
	return &s, nil
}
