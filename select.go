package pawl

import (
	"pawl/internal/request"
	"pawl/workflow"
)

// Select chooses features. The statistics that the method needs are released
// once, with noise; everything after that is free.
type Select struct {
	// Target, Features (the columns to choose from), Budget, Seed and Identity are as in Fit.
	// The budget is required unless the method uses no row.
	Target, Features string
	Budget           Budget
	Seed             *uint64
	Identity         Identity
	// Method is one of [Methods]. Required.
	Method string
	// Count is the number of features; "auto" or "" lets the method decide. Level is
	// "attribute" or "column". Bins is the number of public bins of a numeric column, 2 to 1000,
	// 0 for 10.
	Count, Level string
	Bins         int
	// Mode is "central" (the default), which releases names of features, or "local", which also
	// writes noisy rows to Table, a .parquet or .csv file. Labels is "randomized" or "public".
	Mode, Labels, Table string
	// Relation, if given, must be that of the guarantee: add_or_remove_one or replace_one.
	Relation string
	// AsPublished uses exact statistics of public data as in the papers, NOT PRIVATE. The other fields
	// are settings of method pafs as published: Learner is "objective-perturbation" or "dp-sgd",
	// Population the number of feature sets per round, Fits the number of noisy models per set.
	AsPublished              bool
	Learner                  string
	Population, Rounds, Fits int
}

func (s Select) request() request.Asked {
	f := Fit{Target: s.Target, Features: s.Features, Budget: s.Budget, Seed: s.Seed, Identity: s.Identity}
	return &request.Select{Fit: f.fit(), Method: s.Method, Count: s.Count, Level: s.Level, Bins: s.Bins, Mode: s.Mode, Labels: s.Labels, Table: s.Table, Relation: s.Relation,
		AsPublished: s.AsPublished, Published: workflow.Published{Learner: s.Learner, Population: s.Population, Generations: s.Rounds, Fits: s.Fits}}
}
