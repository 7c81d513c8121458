package sealed

import (
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
)

// Of two trainings that run side by side, each a mean and a full-batch descent, none takes
// the other's descent for its own mean: each event finds its equal first.
func TestEqualEventsAreTakenFirst(t *testing.T) {
	mean, steps := dp.Gaussian{NoiseMultiplier: 10}, dp.Repeat{Count: 4, Event: dp.Gaussian{NoiseMultiplier: 4}}
	one := dp.Compose{Events: []dp.Event{mean, steps}}
	p, err := NewPermit("p", "d", dp.AddOrRemoveOne, 1, dp.Compose{Events: []dp.Event{one, one}}, entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []dp.Event{mean, mean, steps, steps} {
		if _, err := p.take(dp.WholeScope, e); err != nil {
			t.Fatalf("%v: %v", e, err)
		}
	}
	if _, err := p.take(dp.WholeScope, mean); err == nil {
		t.Error("a fifth release found an event")
	}
}
