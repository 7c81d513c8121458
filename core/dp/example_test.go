package dp_test

import (
	"fmt"

	"pawl/core/dp"
)

func ExampleEncodeEvent() {
	raw, err := dp.EncodeEvent(dp.Repeat{Count: 480, Event: dp.PoissonSampled{Rate: 0.25, Event: dp.Gaussian{NoiseMultiplier: 1.1}}})
	fmt.Println(string(raw), err)
	// Output: {"version":1,"kind":"repeat","count":480,"event":{"kind":"poisson_sampled","rate":0.25,"event":{"kind":"gaussian","noise_multiplier":1.1}}} <nil>
}

// What one unit meets of a plan with two scopes.
func ExampleResolve() {
	plan := dp.Compose{Events: []dp.Event{
		dp.Scoped{Scope: dp.Scope{Lower: 0, Upper: 0.8}, Event: dp.Gaussian{NoiseMultiplier: 1}},
		dp.Scoped{Scope: dp.Scope{Lower: 0.8, Upper: 1}, Event: dp.Pure{Epsilon: 0.1}},
	}}
	for _, point := range dp.Breakpoints(plan) {
		fmt.Println(point, dp.Resolve(plan, point))
	}
	// Output:
	// 0 {[{1}]}
	// 0.8 {[{0.1}]}
}
