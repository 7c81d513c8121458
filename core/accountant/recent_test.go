package accountant

import (
	"testing"

	"pawl/core/dp"
)

// What is answered from memory is what was computed, also after a caller changed its copy,
// and no other question has the same answer.
func TestRecentResults(t *testing.T) {
	ask := func(noise, delta float64, rel dp.Relation, by Method) Result {
		t.Helper()
		r, err := Upper(dp.PoissonSampled{Rate: 0.1, Event: dp.Gaussian{NoiseMultiplier: noise}}, rel, delta, by)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := ask(2, 1e-5, dp.AddOrRemoveOne, MethodMin)
	for name := range first.Bounds {
		first.Bounds[name] = 0
	}
	again := ask(2, 1e-5, dp.AddOrRemoveOne, MethodMin)
	if again.Epsilon != first.Epsilon || again.Bounds[again.Method] != again.Epsilon {
		t.Errorf("%+v, and before %+v", again, first)
	}
	for what, other := range map[string]Result{
		"noise":    ask(2.0001, 1e-5, dp.AddOrRemoveOne, MethodMin),
		"delta":    ask(2, 1.0001e-5, dp.AddOrRemoveOne, MethodMin),
		"relation": ask(2, 1e-5, dp.ReplaceOne, MethodMin),
		"method":   ask(2, 1e-5, dp.AddOrRemoveOne, MethodRDP),
	} {
		if other.Epsilon == first.Epsilon {
			t.Errorf("another %s has the same epsilon %g", what, other.Epsilon)
		}
	}
	// Older ones make room.
	for i := range recent.most + 8 {
		ask(3+float64(i), 1e-5, dp.AddOrRemoveOne, MethodRDP)
	}
	if n := len(recent.known); n > recent.most {
		t.Errorf("%d results are kept, more than %d", n, recent.most)
	}
	if r := ask(2, 1e-5, dp.AddOrRemoveOne, MethodMin); r.Epsilon != first.Epsilon {
		t.Errorf("computed again: %g, and before %g", r.Epsilon, first.Epsilon)
	}
}
