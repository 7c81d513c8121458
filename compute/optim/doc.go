// Package optim turns noisy mean gradients into steps, iterates into averages, and
// public numbers into step sizes. All of it is post-processing: nothing here sees
// data or changes a guarantee.
//
// Vectors are float32 and flat. Steps go element by element, allocate nothing after
// the first, and give the same bits on every machine: each product is rounded, so
// that no compiler fuses it with a sum.
package optim

import "fmt"

// Optimizer moves params by one step against grad, the noisy clipped sum divided
// by the public expected batch size. It keeps its state from step to step, so one
// value serves one training run, whose vectors have one length.
type Optimizer interface {
	// Step panics when the lengths differ from each other or from earlier steps.
	Step(params, grad []float32)
	Stateful
}

// vectors makes a step's states on first use, and checks lengths.
func vectors(params, grad []float32, states ...*[]float32) {
	if len(params) != len(grad) {
		panic(fmt.Sprintf("optim: a gradient of %d numbers for %d parameters", len(grad), len(params)))
	}
	for _, s := range states {
		if *s == nil {
			*s = make([]float32, len(params))
		}
		if len(*s) != len(params) {
			panic(fmt.Sprintf("optim: %d parameters after steps of %d", len(params), len(*s)))
		}
	}
}
