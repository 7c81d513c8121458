package crossover

import (
	"fmt"

	"pawl/advise"
	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/workflow"
)

// Price is what all runs at the given epsilons would cost together on sensitive rows: each
// training and its noisy score, seeds times for every configuration. in is the table's
// input, with its Delta; Epsilon, Model and Features are set here. Nothing is read and nothing is booked.
func Price(in workflow.Input, specs []Spec, epsilons []float64, seeds int) (epsilon float64, runs int, err error) {
	var events []dp.Event
	for _, s := range specs {
		f := &tableFit{Spec: s, schema: in.Schema, target: in.Target}
		for _, e := range epsilons {
			one := in
			one.Epsilon, one.Model, one.Features, one.Test = number(e), string(s.learner()), s.Features, workflow.HeldOut
			if s.Encoding == "numeric" && one.Features == nil {
				one.Features = f.numbers()
			}
			if s.learner() == advise.Objective {
				one.Delta = "0"
			}
			// A choice of features shares the run's ε, so that one event of all of it bounds
			// both.
			plan, err := workflow.NewPlan(one)
			if err != nil {
				return 0, 0, err
			}
			events = append(events, dp.Repeat{Count: int64(seeds), Event: plan.Event})
			runs += seeds
		}
	}
	price, err := accountant.Epsilon(dp.Compose{Events: events}, dp.AddOrRemoveOne, deltaOf(in.Delta), accountant.MethodRDP)
	return price.Epsilon, runs, err
}

// DefaultDelta is the largest power of ten that is at most 1/(10·rows).
func DefaultDelta(rows int) string {
	k := 0
	for n := 1; n < 10*rows; n *= 10 {
		k++
	}
	return fmt.Sprintf("1e-%02d", k)
}
