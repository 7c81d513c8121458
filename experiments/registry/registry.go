// Package registry lists all replays.
package registry

import (
	"slices"

	"pawl/experiments"
	"pawl/experiments/audits"
	"pawl/experiments/dfsfigure3"
	"pawl/experiments/dfsfigure4"
	"pawl/experiments/dfsfigure5"
	"pawl/experiments/mission"
	"pawl/experiments/runners"
	"pawl/experiments/selectionstudy"
)

// All returns the replays that there are.
func All() *experiments.Registry {
	return experiments.NewRegistry(append(slices.Concat(runners.All(), mission.All()),
		audits.Counts(),
		audits.Fashion(),
		dfsfigure3.Experiment(),
		dfsfigure4.Experiment(),
		dfsfigure5.Experiment(),
		selectionstudy.Experiment(),
	)...)
}
