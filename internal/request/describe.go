package request

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pawl/core/ledger"
	"pawl/data/source"
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
