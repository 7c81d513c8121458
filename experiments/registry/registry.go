// Package registry lists all replays.
package registry

import "pawl/experiments"

// All returns the replays that there are.
func All() *experiments.Registry {
	return experiments.NewRegistry()
}
