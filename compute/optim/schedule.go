package optim

import (
	"fmt"
	"math"
)

// Schedule is how the step size changes over a run of known length: a public
// function of the step's number. The zero value keeps it constant.
type Schedule struct {
	// Shape is "constant" (or empty), "cosine" or "linear": after the warm-up the
	// factor stays 1, falls like (1+cos πx)/2, or like 1−x, where x grows from 0 to
	// 1 over the steps that are left. The last step is above 0.
	Shape string
	// Warmup is the share of the run, in [0, 1), over which the factor rises to 1 in
	// equal steps.
	Warmup float64
}

// Validate reports what has no meaning.
func (s Schedule) Validate() error {
	switch s.Shape {
	case "", "constant", "cosine", "linear":
	default:
		return fmt.Errorf("unknown schedule %q: there are constant, cosine and linear", s.Shape)
	}
	if !(s.Warmup >= 0 && s.Warmup < 1) {
		return fmt.Errorf("a warm-up must be a share of the steps in [0, 1), got %g", s.Warmup)
	}
	return nil
}

// Factor is what the step size is multiplied by in step t (from 0) of steps; it
// lies in (0, 1].
func (s Schedule) Factor(t, steps int) float64 {
	warm := int(math.Round(s.Warmup * float64(steps)))
	if t < warm {
		return float64(t+1) / float64(warm+1)
	}
	x := float64(t-warm) / float64(max(steps-warm, 1))
	switch s.Shape {
	case "cosine":
		return (1 + math.Cos(math.Pi*x)) / 2
	case "linear":
		return 1 - x
	}
	return 1
}

// EffectiveSteps is Σ Factor²: the number of constant steps whose noise has the same
// variance in the end. It is steps for a constant schedule, about 3/8 of that for a
// cosine and 1/3 for a line.
func (s Schedule) EffectiveSteps(steps int) float64 {
	if (s.Shape == "" || s.Shape == "constant") && s.Warmup == 0 {
		return float64(steps)
	}
	sum := 0.0
	for t := range steps {
		f := s.Factor(t, steps)
		sum += f * f
	}
	return sum
}

// Scheduled runs an optimizer of this package under a Schedule: its step size is
// that of the optimizer, times the factor of the step.
type Scheduled struct {
	inner    Optimizer
	rate     *float64
	peak     float64
	schedule Schedule
	steps, t int
}

// NewScheduled takes over o, whose step size is the largest of the run. It panics
// for an optimizer of another package.
func NewScheduled(o Optimizer, s Schedule, steps int) *Scheduled {
	w := &Scheduled{inner: o, schedule: s, steps: steps}
	switch o := o.(type) {
	case *SGD:
		w.rate = &o.LearningRate
	case *Momentum:
		w.rate = &o.LearningRate
	case *Adam:
		o.LearningRate = or(o.LearningRate, 1e-3)
		w.rate = &o.LearningRate
	case *AdamWOSM:
		w.rate = &o.StepSize
	default:
		panic(fmt.Sprintf("optim: a schedule for a %T", o))
	}
	w.peak = *w.rate
	return w
}

// Step takes one step. Steps beyond the length of the run have the last one's size.
func (w *Scheduled) Step(params, grad []float32) {
	*w.rate = w.peak * w.schedule.Factor(min(w.t, w.steps-1), w.steps)
	w.t++
	w.inner.Step(params, grad)
}
