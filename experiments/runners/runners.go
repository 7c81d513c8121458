// Package runners replays the tables and figures that are files: each of the folder tables is one, and what several
// share is in the folder shared. Go has what measures a cell: trainings, searches, attacks, selections of features.
// A new table of a kind that is here is a new file in tables.
package runners

import (
	"context"
	"embed"
	"math"
	"sync"

	"pawl/experiments"
	"pawl/experiments/formulas"
	"pawl/experiments/published"
	"pawl/experiments/replay"
	"pawl/search/feature"
)

//go:embed tables/*.yaml shared/*.yaml schemas/*.yaml wild.yaml
var files embed.FS

// set is what the files can name.
func set() *replay.Set {
	return &replay.Set{
		Files:  files,
		Tables: describe,
		Kinds: map[string]replay.Kind{
			"train": replay.Of(train), "train rows": replay.Of(trainRows), "fit": replay.Of(fit), "search": replay.Of(searchNets), "attack": replay.Of(attackNets),
			"audit a training": replay.Of(auditTraining), "attack by LiRA": replay.Of(inferMembers),
			"spread": replay.Of(spreadOut), "bound errors": replay.Of(boundErrors), "clock": replay.Of(clock),
			"fit columns": replay.Of(fitColumns), "fit all columns": replay.Of(fitAll), "descend": replay.Of(descend),
			"choose and learn": replay.Of(chooseAndLearn), "best constant": replay.Of(bestConstant),
			"study selection": replay.Of(studySelection),
			"choose columns":  replay.Of(choose), "fit chosen columns": replay.Of(fitChosen), "work": replay.Of(work),
		},
		Functions: func(ctx context.Context, r *experiments.Run) map[string]any {
			return map[string]any{
				// Data and nets.
				"images": opener(r), "net": net, "parameters": parameters, "trained": trained, "effective": effective,
				"rows_of": rowsOf(r), "usual_net": usualNet, "space": choices, "strategy": strategyOf,
				// What is computed of them.
				"states": states, "cross": cross, "reached": reached, "fit_sizes": fitSizes, "size_curve": formulas.PublishedSizeCurve().Epsilon,
				"totals": totals, "candidates": candidatesOf, "signal": signal, "ceiling": ceiling,
				// Columns.
				"majorities": majorities(ctx, r), "majority_rates": majorityRates(ctx, r), "reduced_score": reducedScore(ctx, r),
				"epsilon_name": published.EpsilonName, "sets": published.Sets, "counted": counted, "composition": feature.PublishedCompositionEpsilon,
				// Theory.
				"counter_example": counterExample, "simulate_dropping": simulateDropping, "judge_dropping": judgeDropping, "rank_two": rankTwo,
				"slope": slope, "analytic_multiplier": analyticMultiplier, "true_delta": formulas.TrueDelta, "hypot": math.Hypot,
			}
		},
	}
}

// opened is what took long to open, by what it is.
var opened sync.Map

// once opens what was not opened before under this name, for this kind of thing.
func once[T any](name string, open func() T) T {
	key := struct {
		kind T
		name string
	}{name: name}
	if v, ok := opened.Load(key); ok {
		return v.(T)
	}
	v := open()
	opened.Store(key, v)
	return v
}

// latest keeps what was opened last, by what it is.
type latest[T any] struct {
	sync.Mutex
	name string
	v    T
}

func (l *latest[T]) open(name string, open func() T) T {
	l.Lock()
	defer l.Unlock()
	if l.name != name {
		l.v = open()
		l.name = name
	}
	return l.v
}

// must is v; for an error the cell fails.
func must[T any](v T, err error) T { return experiments.Must(v, err) }

// All are the replays of the folder tables, which are read once.
var All = sync.OnceValue(func() *experiments.Registry { return set().All() })
