package optim

import (
	"fmt"
	"math"
)

// Noise holds the public numbers that fix the noise in a mean gradient.
type Noise struct {
	// ClippingNorm is C, NoiseMultiplier σ, ExpectedBatchSize B.
	ClippingNorm, NoiseMultiplier, ExpectedBatchSize float64
}

// Deviation is σC/B, the standard deviation of the noise in a coordinate.
func (n Noise) Deviation() float64 {
	return n.NoiseMultiplier * n.ClippingNorm / n.ExpectedBatchSize
}

// EffectiveStep is α_ESS = base/(σC/B + 1e-8), the step of AdamWOSM: what Adam
// with learning rate base comes to under noise. The published base is 1e-3: σ = 2,
// B = 250, C = 0.5 give 0.25. StepRule.Base is a better one at large batches.
func (n Noise) EffectiveStep(base float64) float64 { return base / (n.Deviation() + 1e-8) }

// leastNoise is the noise multiplier below which the step of StepRule stops
// growing: with less noise the curvature of the loss bounds the step, not the noise.
// Measured at ε = 1000 (σ from 0.06 to 0.09), one run each, without the bound and
// with it: a CNN on MNIST 9.8 and 94.7 %, two dense nets 90.9 and 97.0, 92.9 and
// 96.5, a dense net on Fashion-MNIST 61.9 and 84.6; at ε = 100 there 80.1 and 84.1.
const leastNoise = 0.35

// gentle is the slope of the restoring force, times the step, that a run bears however
// little momentum it has: the swings that a slope of 2 sets off stay small at first. Measured
// without momentum on MNIST and Fashion-MNIST: best between 34 and 94 in place of 21 and below.
const gentle = 8

// StepRule holds the public numbers of a private run from which a step size
// follows. Every field but Schedule, Scores and Momentum is required.
type StepRule struct {
	Noise
	// Kappa is the standard deviation of the noise that a pre-activation may
	// accumulate over the whole run: 2 for linear models and 2.5 for nets were best
	// on MNIST, Fashion-MNIST, CIFAR-10 and SMS, within a factor of 1.5.
	Kappa float64
	// Radius is the largest typical norm of an input of the trained layers: 1 for
	// unit rows, √d for d standardized inputs, 0.6·√d after a tanh layer of width d.
	Radius float64
	// Steps is T.
	Steps int
	// Schedule is how the step size changes; the rule gives its largest value.
	Schedule Schedule
	// Scores is the number K of scores of a softmax, which Largest is derived for. Losses of
	// one score, or 0, have no such bound.
	Scores int
	// Momentum is the μ in [0, 1) of dampened Momentum; 0 for SGD and AdamWOSM, whose
	// first steps are whole ones.
	Momentum float64
}

// Validate reports the first field without meaning.
func (r StepRule) Validate() error {
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"kappa", r.Kappa}, {"radius", r.Radius}, {"clipping norm", r.ClippingNorm}, {"noise multiplier", r.NoiseMultiplier},
		{"expected batch size", r.ExpectedBatchSize}, {"number of steps", float64(r.Steps)},
	} {
		if !(f.value > 0) || math.IsInf(f.value, 0) {
			return fmt.Errorf("optim: the %s of a step rule must be a finite number above 0, got %g", f.name, f.value)
		}
	}
	if !(r.Momentum >= 0 && r.Momentum < 1) {
		return fmt.Errorf("optim: the momentum of a step rule must lie in [0, 1), got %g", r.Momentum)
	}
	return r.Schedule.Validate()
}

// Base is κ/(R·√T'): the step in units of the noise's deviation, where T' is the
// schedule's EffectiveSteps, T for a constant one. It is the base of
// AdamWOSM's EffectiveStep (measured 3 points better than 1e-3 on a small CNN) and
// the natural learning rate of Adam (not measured). It does not depend on Noise.
func (r StepRule) Base() float64 {
	return r.Kappa / (r.Radius * math.Sqrt(r.Schedule.EffectiveSteps(r.Steps)))
}

// Largest is the largest step with which what all examples have in common does not begin to
// swing, +Inf below two scores. Near equal scores the force that pulls a shift of
// everybody's scores back grows by
//
//	ζ·C·R = C·R · (K−2)/(K·(K−1)·√(1−1/K))
//
// a unit of the shift: examples whose inputs of norm R point the same way change each
// other's scores by α·C·R in the direction of softmax − truth, the softmax of a shift z is
// (1+z)/K, and clipping leaves of a change of softmax − truth, whose norm is √(1−1/K), the part
// across it, (K−2)/(K−1) on average over the classes. Gradient descent with dampened
// momentum μ is stable while α·ζ·C·R < 2(1+μ)/(1−μ) (Polyak 1964), which gives Largest: α·C·R = 406 for
// ten classes and momentum 0.9. Inputs that agree less bear more: by 1 over the share of the mean
// in the mean square, which is 0.55, 0.66 and 0.83 for the DCT inputs of MNIST, Fashion-MNIST and
// CIFAR-10 and which no public number tells. Two classes have no such force to first order and
// count as three, as measured; 2(1+μ)/(1−μ) counts as 8 at least.
func (r StepRule) Largest() float64 {
	if r.Scores < 2 {
		return math.Inf(1)
	}
	k := float64(max(r.Scores, 3))
	slope := (k - 2) / (k * (k - 1) * math.Sqrt(1-1/k)) * r.ClippingNorm * r.Radius
	return max(2*(1+r.Momentum)/(1-r.Momentum), gentle) / slope
}

// LearningRate is α = κ·B/(σ·√T'·R·C), or Largest if that is less, for SGD and for dampened
// Momentum (the undampened form takes (1−μ)·α). The noise of T steps then adds up
// to deviation κ in a pre-activation at most, whatever the schedule: with step sizes α·s_t
// its variance is α²·Σs_t²·(σCR/B)², so a schedule that falls starts from a larger
// step (by 1.63 for a cosine, 1.73 for a line). A σ below 0.35 counts as 0.35.
// Errors: a field that is not above 0, a schedule without meaning, a momentum outside [0, 1).
func (r StepRule) LearningRate() (float64, error) {
	if err := r.Validate(); err != nil {
		return 0, err
	}
	r.NoiseMultiplier = max(r.NoiseMultiplier, leastNoise)
	return min(r.Base()/r.Deviation(), r.Largest()), nil
}
