// Package registry lists all replays.
package registry

import (
	"slices"

	"pawl/experiments"
	"pawl/experiments/mission"
	"pawl/experiments/runners"
)

// All returns the replays that there are.
func All() *experiments.Registry {
	return experiments.NewRegistry(slices.Concat(runners.All(), mission.All())...)
}
