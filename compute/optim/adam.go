package optim

import "math"

// Adam is Kingma and Ba, arXiv:1412.6980, Algorithm 1:
//
//	m ← β₁m + (1−β₁)g,  v ← β₂v + (1−β₂)g²,
//	w ← w − α·m̂/(√v̂ + ξ)  with  m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ).
//
// Zero fields stand for α = 1e-3, β₁ = 0.9, β₂ = 0.999, ξ = 1e-8. Under noise of
// deviation σC/L per coordinate √v̂ tends to that number, so the step is nearly
// AdamWOSM's with ESS = α/(σC/L).
type Adam struct {
	// LearningRate is α.
	LearningRate float64
	// Beta1, Beta2 and Stabilizer are β₁, β₂ and ξ.
	Beta1, Beta2, Stabilizer float64

	steps int
	m, v  []float32
}

// Step takes one step.
func (o *Adam) Step(params, grad []float32) {
	vectors(params, grad, &o.m, &o.v)
	o.steps++
	b1, b2 := or(o.Beta1, 0.9), or(o.Beta2, 0.999)
	// α·m̂/(√v̂+ξ) = rate·m/(√v + ξ·root): one division less for each number.
	root := math.Sqrt(-math.Expm1(float64(o.steps) * math.Log(b2)))
	rate := float32(or(o.LearningRate, 1e-3) * root / -math.Expm1(float64(o.steps)*math.Log(b1)))
	small := float32(or(o.Stabilizer, 1e-8) * root)
	keep1, take1, keep2, take2 := float32(b1), float32(1-b1), float32(b2), float32(1-b2)
	m, v, w := o.m[:len(grad)], o.v[:len(grad)], params[:len(grad)]
	for i, g := range grad {
		m[i] = float32(keep1*m[i]) + float32(take1*g)
		v[i] = float32(keep2*v[i]) + float32(take2*float32(g*g))
		w[i] -= float32(rate*m[i]) / (float32(math.Sqrt(float64(v[i]))) + small)
	}
}

// AdamWOSM is Adam without its second moment (Mohapatra et al., AAAI 2022):
//
//	m ← β₁m + (1−β₁)g,  w ← w − α_ESS·m/(1−β₁ᵗ).
//
// Noise.EffectiveStep gives α_ESS: of 1e-3 as published, of StepRule.Base as
// measured to be better at large batches.
type AdamWOSM struct {
	// StepSize is α_ESS.
	StepSize float64
	// Beta1 is β₁; 0 stands for 0.9.
	Beta1 float64

	steps int
	m     []float32
}

// Step takes one step.
func (o *AdamWOSM) Step(params, grad []float32) {
	vectors(params, grad, &o.m)
	o.steps++
	b1 := or(o.Beta1, 0.9)
	rate := float32(o.StepSize / -math.Expm1(float64(o.steps)*math.Log(b1)))
	keep, take := float32(b1), float32(1-b1)
	m, w := o.m[:len(grad)], params[:len(grad)]
	for i, g := range grad {
		m[i] = float32(keep*m[i]) + float32(take*g)
		w[i] -= float32(rate * m[i])
	}
}

func or(v, otherwise float64) float64 {
	if v == 0 {
		return otherwise
	}
	return v
}
