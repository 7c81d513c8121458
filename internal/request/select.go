package request

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/data/source"
	"pawl/internal/usage"
	"pawl/search/feature"
	"pawl/workflow"
)

// Select asks for a choice of features. Empty fields stand for the method's own settings.
type Select struct {
	Fit
	Method, Count, Level, Mode, Labels, Relation string
	Published                                    workflow.Published
	Bins                                         int
	// Table is where the noisy table of mode local is written.
	Table       string
	AsPublished bool
}

// Select prices a choice of features. It changes f as the operator's answers say.
func (d *Desk) Select(ctx context.Context, data *source.Data, f *Select) (*Job, error) {
	f.complete()
	if f.Table != "" {
		if err := checkTable(f.Mode, f.Table); err != nil {
			return nil, err
		}
	}
	fit := &f.Fit
	asked := fit.Epsilon != ""
	if !asked {
		fit.Epsilon = "1" // whether one has to be given follows from the method
	}
	var want workflow.SelectInput
	j, in, err := d.OpenTable(ctx, data, fit, func(in workflow.Input) (err error) {
		if !asked {
			in.Epsilon = ""
		}
		if want, err = f.input(in); err != nil {
			return err
		}
		return want.Sound()
	})
	if err != nil {
		return nil, err
	}
	if !asked {
		in.Epsilon, fit.Epsilon = "", ""
	}
	want.Input, want.Input.AsPublished = in, f.AsPublished
	plan, err := workflow.NewSelectPlan(want)
	if err = tried(ctx, plan, err, fit.Anyway); err != nil {
		return nil, err
	}
	if err := d.checkRelation(ctx, plan, j.Source.Name); err != nil {
		return nil, err
	}
	job := d.ofTable(plan, j)
	job.selects, job.mode, job.table = true, f.Mode, f.Table
	return job, nil
}

// input is what a plan of the selection is made of.
func (f *Select) input(in workflow.Input) (want workflow.SelectInput, err error) {
	in.AsPublished = f.AsPublished
	want = workflow.SelectInput{Input: in, Method: f.Method, Count: feature.Auto, Level: feature.Level(f.Level), Bins: f.Bins,
		Search: f.Published, Mode: workflow.Mode(f.Mode), Labels: workflow.LabelMode(f.Labels)}
	if f.Relation != "" {
		if want.Relation, err = dp.ParseRelation(f.Relation); err != nil {
			return want, usage.New(err.Error(), "--relation add_or_remove_one or --relation replace_one")
		}
	}
	if f.Count != "auto" && f.Count != "" {
		if want.Count, err = strconv.Atoi(f.Count); err != nil || want.Count < 1 {
			return want, usage.New(fmt.Sprintf("--k %q: want a number from 1, or auto", f.Count), "example: --k 10")
		}
	}
	return want, nil
}

// checkRelation says before anything runs that a budget is kept under another relation.
func (d *Desk) checkRelation(ctx context.Context, plan *workflow.Plan, name string) error {
	view, err := figures.Show(ctx, d.Ledger, name)
	switch {
	case errors.Is(err, ledger.ErrUnknownDataset):
		return nil
	case err != nil:
		return err
	case view.Relation.Valid() && view.Relation != plan.Relation():
		return usage.New(fmt.Sprintf("data set %q: its budget is stated under %v, but this selection is private under %v", name, view.Relation, plan.Relation()),
			"public data: another ledger, --ledger sqlite:PATH; sensitive data: the mode (central, local) that goes with the budget")

	}
	return nil
}
