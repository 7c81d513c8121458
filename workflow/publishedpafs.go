package workflow

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/public"
	"pawl/search/feature"
	"pawl/search/feature/aware"
)

// publishedTraining is the epsilon of each training for which the paper states one of the
// whole search.
const publishedTraining = "0.1"

// Learners of privacy-aware selection as published.
const (
	PerturbedLearner = "objective-perturbation"
	DescentLearner   = "dp-sgd"
)

// Published is the size of a privacy-aware selection as published; a zero field takes
// the paper's value, of Fits our own 20: the paper has one noisy fit for each subset, whose
// luck then chooses.
type Published struct {
	Learner                       string
	Population, Generations, Fits int
}

// models says how many stand for a set.
func (s Published) models() string {
	if s.Fits == 1 {
		return "one noisy model"
	}
	return fmt.Sprintf("%d noisy models, on average,", s.Fits)
}

// PublishedSearch is what a privacy-aware selection as published did.
type PublishedSearch struct {
	Learner string `json:"learner"`
	// Epsilon is that of each training.
	Epsilon     float64 `json:"epsilon_of_each_training"`
	Population  int     `json:"population"`
	Generations int     `json:"rounds"`
	Fits        int     `json:"fits_per_subset"`
	Subsets     int     `json:"unique_subsets"`
	Proposed    int     `json:"proposed_subsets"`
	Trainings   int     `json:"trainings"`
	Train       int     `json:"training_rows"`
	Test        int     `json:"test_rows"`
	Columns     int     `json:"columns"`
	// Majority is the share of the test rows' larger class.
	Majority float64 `json:"majority_of_test_rows"`
	// PrintedSubsets and PrintedEpsilon are what the paper says of its own search.
	PrintedSubsets int     `json:"published_subsets"`
	PrintedEpsilon float64 `json:"published_epsilon"`
}

func (c *choosing) checkPublishedPAFS() error {
	p, s := c.plan.problem, &c.Search
	switch s.Learner {
	case "":
		s.Learner = PerturbedLearner
	case PerturbedLearner, DescentLearner:
	default:
		return usage("learners: "+PerturbedLearner+", "+DescentLearner, "unknown learner %q", s.Learner)
	}
	switch {
	case c.Level != feature.ColumnLevel:
		return usage("leave out --level", "method pafs as published chooses columns of the encoding")
	case c.Count != feature.Auto:
		return usage("leave out --k", "method pafs finds the number of features itself")
	case c.Bins != 0:
		return usage("leave out --bins", "method pafs as published uses numbers unchanged")
	case len(p.Schema.Columns[p.targetColumn].Levels()) != 2:
		return usage("--method cfs-ga --as-published, or a target of two classes", "method pafs as published trains models of two classes, and the target %q has %d", p.Target, len(p.Schema.Columns[p.targetColumn].Levels()))
	}
	for _, f := range []struct {
		name            string
		value           *int
		usual, from, to int
	}{{"population", &s.Population, aware.PublishedPopulation, 2, 100_000}, {"rounds", &s.Generations, aware.PublishedGenerations, 1, 1000}, {"fits", &s.Fits, 20, 1, 10_000}} {
		if *f.value == 0 {
			*f.value = f.usual
		}
		if *f.value < f.from || *f.value > f.to {
			return usage(fmt.Sprintf("leave it out for %d", f.usual), "--%s %d: want %d to %d", f.name, *f.value, f.from, f.to)
		}
	}
	return nil
}

// publishedPAFS searches for the set whose noisy models score best, as published.
type publishedPAFS struct{ published }

func (c *publishedPAFS) price() error {
	c.priceSelect(fmt.Sprintf("pafs: %d sets of columns, %d rounds of breeding, by the accuracy of %s of each set; not paid for",
		c.Search.Population, c.Search.Generations, c.Search.models()))
	return nil
}

func (c *publishedPAFS) describe() description {
	return c.replayed("as published: genetic, by the accuracy of noisy models, not paid for")
}

// table is the public rows in the encoding of the paper: a column for every level that
// occurs, numbers on [0, 1]. at maps its columns to those of the layout.
func (c *publishedPAFS) table(rows *intake.Rows) (t *aware.Table, at []int, err error) {
	p := c.plan.problem
	columns := newClassColumns(p, c.schema, c.layout, feature.NeedClassSums)
	fill := columns.release(0).Row
	t = &aware.Table{Name: p.Dataset}
	var all [][]float64
	err = public.Visit(rows, dp.WholeScope, func(cells []float64) {
		x := make([]float64, len(columns.columns))
		if y := fill(x, cells); y >= 0 {
			all, t.Label = append(all, x), append(t.Label, float64(y))
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if len(t.Label) > 0 && slices.Min(t.Label) == slices.Max(t.Label) {
		return nil, nil, usage("check the file", "target %q: all rows have one class", p.Target)
	}
	for j, col := range columns.columns {
		for _, x := range all {
			if x[j] != all[0][j] {
				at = append(at, j)
				t.Names, t.Indicator = append(t.Names, col.Name), append(t.Indicator, col.Level >= 0)
				break
			}
		}
	}
	if len(at) == 0 {
		return nil, nil, usage("check the file", "every column has the same value in all rows: there is nothing to choose from")
	}
	for _, x := range all {
		kept := make([]float64, len(at))
		for k, j := range at {
			kept[k] = x[j]
		}
		t.X = append(t.X, kept)
	}
	return t, at, nil
}

// choose runs the search on a split of the public rows into two thirds to train
// and one to test, 191 and 95 of Breast Cancer's 286.
func (c *publishedPAFS) choose(ctx context.Context, env Env, _ *ledger.Permit, out *Selected) error {
	p, s := c.plan.problem, c.Search
	table, at, err := c.table(env.Rows)
	if err != nil {
		return err
	}
	seed := rand.Uint64() // simulates the noise of public trainings; protects nobody
	if p.Seed != nil {
		seed = *p.Seed
	}
	train := int(math.Round(float64(len(table.X)) * 2 / 3))
	split, err := table.Split(train, len(table.X)-train, seed)
	if err != nil {
		return usage("use more rows", "%v", err)
	}
	epsilon, _ := p.epsilon.Float64()
	trainer := split.Perturbed(epsilon)
	if s.Learner == DescentLearner {
		d, err := aware.CalibratedDescent(train, epsilon)
		if err != nil {
			return usage("give another --epsilon", "no noise states this epsilon: %v", err)
		}
		trainer = split.Descending(d)
	}
	found, err := split.Aware(ctx, trainer, aware.Search{
		Population: s.Population, Generations: s.Generations, Fits: s.Fits, Seed: seed,
		Progress: func(rounds int) { env.Progress.step("search", rounds, s.Generations) },
	})
	if err != nil {
		return err
	}
	sel := &feature.Selection{Selector: "pafs", Level: feature.ColumnLevel, Merit: found.Accuracy / 100,
		Note: fmt.Sprintf("the merit is the accuracy of %s on the %d test rows that chose the set, so it is optimistic; the larger class has %.1f %% of them",
			s.models(), len(split.Test), split.Majority())}
	columns := c.layout.Domain.Columns(feature.ColumnLevel)
	for _, k := range found.Columns {
		sel.Chosen = append(sel.Chosen, feature.Choice{Index: at[k], Column: columns[at[k]], Score: math.NaN(), Reason: "in the best set of the last round"})
	}
	out.Selection, out.PublishedEpsilon = sel, aware.StatedEpsilon(found.Subsets, epsilon)
	out.Search = &PublishedSearch{
		Learner: s.Learner, Epsilon: epsilon, Population: s.Population, Generations: s.Generations, Fits: s.Fits,
		Subsets: found.Subsets, Proposed: found.Proposed, Trainings: found.Subsets * s.Fits,
		Train: train, Test: len(split.Test), Columns: len(table.Names), Majority: split.Majority() / 100,
		PrintedSubsets: aware.PublishedSubsets, PrintedEpsilon: aware.PublishedEpsilon,
	}
	return nil
}

// expected is the time of the search, from what its models took on 191 rows.
func (c *publishedPAFS) expected() time.Duration {
	perRow := 0.7e-6
	if c.Search.Learner == DescentLearner {
		perRow = 6.6e-6
	}
	// 2,050 to 3,566 sets of a population of 600 after ten rounds.
	models := (1 + 0.3*float64(c.Search.Generations)) * float64(c.Search.Population*c.Search.Fits)
	seconds := models * float64(c.plan.problem.Rows) * 2 / 3 * perRow / float64(runtime.GOMAXPROCS(0))
	return time.Duration(seconds * float64(time.Second))
}
