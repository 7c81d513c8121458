package optim

import "pawl/compute/kernel"

// SGD is w ← w − α·g.
type SGD struct {
	// LearningRate is α.
	LearningRate float64
}

// Step takes one step.
func (o *SGD) Step(params, grad []float32) {
	vectors(params, grad)
	kernel.AddScaled(params, grad, -float32(o.LearningRate))
}

// Momentum is v ← μ·v + g, w ← w − α·v; dampened, v ← μ·v + (1−μ)·g. The dampened
// form with α equals the other with (1−μ)·α: it is the one that StepRule is stated
// for.
type Momentum struct {
	// LearningRate is α, Momentum is μ in [0, 1).
	LearningRate, Momentum float64
	Dampened               bool

	velocity []float32
}

// Step takes one step.
func (o *Momentum) Step(params, grad []float32) {
	vectors(params, grad, &o.velocity)
	rate, keep, take := float32(o.LearningRate), float32(o.Momentum), float32(1)
	if o.Dampened {
		take = float32(1 - o.Momentum)
	}
	v, w := o.velocity[:len(grad)], params[:len(grad)]
	for i, g := range grad {
		v[i] = float32(keep*v[i]) + float32(take*g)
		w[i] -= float32(rate * v[i])
	}
}
