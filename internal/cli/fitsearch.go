package cli

import (
	"context"

	"pawl/core/ledger"
	"pawl/data/source"
	"pawl/evidence/advise"
	"pawl/search"
	"pawl/workflow"
)

// meanTrials is the mean number of trainings that fit --search pays for, by preset:
// the noise of each grows with it, and what is gained grows ever more slowly.
var meanTrials = map[advise.Preset]float64{advise.Quick: 5, advise.Balanced: 10, advise.Thorough: 20}

// searching is a fit that pays for a private selection (strategy ps) around what the
// rules choose: of tables over space tabular, of images over the settings of the model
// that the rules, or --model, name.
func (f *fitFlags) searching(data string) (*searchFlags, error) {
	mean, ok := meanTrials[advise.Preset(f.preset)]
	switch {
	case !ok:
		return nil, &usageError{"unknown preset \"" + f.preset + "\"", "presets: quick, balanced, thorough"}
	case f.workflow != "paw":
		return nil, &usageError{"--search needs workflow paw", "leave out --search: workflow stw chooses by itself and charges nothing for it"}
	}
	if len(f.classWeights) > 0 {
		return nil, &usageError{"--search and --class-weight exclude each other: the weights are not offered for all models that are compared", "leave out one of them"}
	}
	s := &searchFlags{mean: mean, table: *f}
	if !source.IsImages(data) {
		if f.model != "auto" && f.model != "" {
			return nil, &usageError{"--search and --model exclude each other: the search chooses the model", "leave out one of them"}
		}
		trainDefaults(&s.trainFlags)
		s.epsilon, s.delta, s.accountant, s.preset, s.seed, s.target = f.epsilon, f.delta, f.accountant, f.preset, f.seed, f.target
		s.out, s.updated, s.allowLargeDelta, s.copies = f.out, f.updated, f.allowLargeDelta, f.copies
		if s.space = "tabular"; f.kinds != nil {
			s.space = "learners"
		}
		return s, nil
	}
	plain := *f
	plain.search = false
	t, err := plain.training(data)
	if err != nil {
		return nil, err
	}
	s.trainFlags, s.space = *t, "settings"
	return s, nil
}

// advised says whether the rules turn a fit into a search between kinds of model.
func (f *fitFlags) advised(plan *workflow.Plan) bool {
	if r, ok := plan.SearchAdvised(); ok {
		f.kinds = &r
	}
	return f.kinds != nil
}

// planFitSearch prices a fit that searches.
func (a *app) planFitSearch(ctx context.Context, l *ledger.Ledger, data string, f *fitFlags) (*hunted, *searchFlags, error) {
	s, err := f.searching(data)
	if err != nil {
		return nil, nil, err
	}
	strategy, err := search.New(search.PS)
	if f.kinds != nil {
		// Of two candidates training both leaves more than a secret number of runs.
		strategy, err = search.New(search.Grid)
	}
	if err != nil {
		return nil, nil, err
	}
	if strategy.Kind == search.PS {
		strategy.Mean = s.mean
	} else {
		// Kinds differ by half a point: a tenth of the rows would not tell.
		strategy.Validation = 0.3
	}
	h, err := a.planHunt(ctx, l, data, s, strategy)
	return h, s, err
}

// fitSearch runs a fit that searches as a study, so that it goes on where it stopped.
func (a *app) fitSearch(ctx context.Context, l *ledger.Ledger, data string, f *fitFlags) error {
	h, s, err := a.planFitSearch(ctx, l, data, f)
	if err != nil {
		return err
	}
	return a.runHunt(ctx, l, h, s, "fit")
}
