package pawl

import (
	"context"

	"pawl/data/source"
	"pawl/internal/request"
	"pawl/workflow"
)

// Select asks for a choice of features. The statistics that the method looks at are released
// once, with noise; everything after that is free.
type Select struct {
	// Target, Features (the columns to choose from), Budget, Seed and Identity are as in Fit.
	// The budget is required unless the method looks at no row.
	Target, Features string
	Budget           Budget
	Seed             *uint64
	Identity         Identity
	// Method is how features are chosen: "cfs-greedy", "cfs-ga", "pafs", "dfs", … Required.
	Method string
	// Count is the number of features, "auto" or "" leaves it to the method. Level is
	// "attribute" or "column", Bins the number of public bins of a numeric column, 2 to 1000,
	// 0 for 10.
	Count, Level string
	Bins         int
	// Mode is "central" (the default: names of features) or "local": a table of noisy rows too,
	// written to Table, .parquet or .csv. Labels is "randomized" or "public".
	Mode, Labels, Table string
	// Relation, where given, must be that of the guarantee: add_or_remove_one or replace_one.
	Relation string
	// AsPublished replays a paper's procedure on exact statistics of public data, NOT PRIVATE.
	// The others are of method pafs as published: "objective-perturbation" or "dp-sgd", sets in
	// a round, rounds, and noisy models of a set.
	AsPublished              bool
	Learner                  string
	Population, Rounds, Fits int
}

func (s Select) plan(ctx context.Context, d *request.Desk, data *source.Data) (*request.Job, error) {
	f := Fit{Target: s.Target, Features: s.Features, Budget: s.Budget, Seed: s.Seed, Identity: s.Identity}
	return d.Select(ctx, data, &request.Select{Fit: f.request(), Method: s.Method, Count: s.Count, Level: s.Level, Bins: s.Bins, Mode: s.Mode,
		Labels: s.Labels, Table: s.Table, Relation: s.Relation, AsPublished: s.AsPublished,
		Published: workflow.Published{Learner: s.Learner, Population: s.Population, Generations: s.Rounds, Fits: s.Fits}})
}

func (s Select) as(sameAs string) Job { s.Identity.SameAs = sameAs; return s }
