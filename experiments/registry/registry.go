// Package registry lists all replays.
package registry

import (
	"slices"

	"pawl/experiments"
	"pawl/experiments/mission"
	"pawl/experiments/runners"
	"pawl/experiments/selectionstudy"
)

// All returns the replays that there are.
func All() *experiments.Registry {
	return experiments.NewRegistry(append(slices.Concat(runners.All(), mission.All()),
		selectionstudy.Experiment(),
	)...)
}
