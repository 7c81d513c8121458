// Package registry lists all replays.
package registry

import (
	"pawl/experiments"
	"pawl/experiments/runners"
)

// All returns the replays that there are.
func All() *experiments.Registry {
	return experiments.NewRegistry(runners.All()...)
}
