package optim

import (
	"fmt"
	"math"
)

// Average follows the iterates of a run and has their average. It is
// post-processing and costs no privacy.
type Average interface {
	// Add takes the parameters after a step, in order.
	Add(params []float32)
	// Value is the average so far, in memory of the Average; nil before an iterate
	// has counted.
	Value() []float32
	Stateful
}

// Tail is the mean of the last iterates of a run of known length.
type Tail struct {
	skip, seen int
	mean       []float32
}

// NewTail averages the last ⌈share·steps⌉ of steps iterates, at least the last.
// It panics unless steps ≥ 1 and 0 ≤ share ≤ 1. A quarter is the measured default.
func NewTail(steps int, share float64) *Tail {
	if steps < 1 || !(share >= 0 && share <= 1) {
		panic(fmt.Sprintf("optim: a share of %g of %d steps", share, steps))
	}
	// The margin keeps a product like 0.1·30 from counting one step too many.
	last := max(1, int(math.Ceil(share*float64(steps)-1e-9)))
	return &Tail{skip: steps - last}
}

// Add takes the parameters after a step.
func (a *Tail) Add(params []float32) {
	a.seen++
	if a.seen <= a.skip {
		return
	}
	follow(&a.mean, params, 1/float64(a.seen-a.skip))
}

// Value is the mean so far.
func (a *Tail) Value() []float32 { return a.mean }

// AppendState implements Stateful.
func (a *Tail) AppendState(b []byte) []byte { return appendState(b, a.seen, a.mean) }

// RestoreState implements Stateful.
func (a *Tail) RestoreState(b []byte) ([]byte, error) { return restoreState(b, &a.seen, &a.mean) }

// EMA is the exponential moving average a ← d·a + (1−d)·w with a warm-up: in step
// t, d is min(Decay, (1+t)/(10+t)), so that the first iterates are soon forgotten.
type EMA struct {
	// Decay is d in [0, 1); 0.999 to 0.9999 are common.
	Decay float64

	seen int
	mean []float32
}

// Add takes the parameters after a step.
func (a *EMA) Add(params []float32) {
	a.seen++
	if a.seen == 1 {
		follow(&a.mean, params, 1)
		return
	}
	t := float64(a.seen)
	follow(&a.mean, params, 1-min(a.Decay, (1+t)/(10+t)))
}

// Value is the average so far.
func (a *EMA) Value() []float32 { return a.mean }

// AppendState implements Stateful.
func (a *EMA) AppendState(b []byte) []byte { return appendState(b, a.seen, a.mean) }

// RestoreState implements Stateful.
func (a *EMA) RestoreState(b []byte) ([]byte, error) { return restoreState(b, &a.seen, &a.mean) }

// follow moves mean towards params by a share of the way; a share of 1 copies.
func follow(mean *[]float32, params []float32, share float64) {
	if *mean == nil {
		*mean = make([]float32, len(params))
	}
	m := *mean
	if len(m) != len(params) {
		panic(fmt.Sprintf("optim: an average of %d numbers given %d", len(m), len(params)))
	}
	if share == 1 {
		copy(m, params)
		return
	}
	s := float32(share)
	for i, w := range params {
		m[i] += float32(s * (w - m[i]))
	}
}
