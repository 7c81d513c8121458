package optim

import (
	"encoding/binary"
	"fmt"
	"math"
)

// ADADP finds its step size from the noisy gradients that it is given (Koskela and
// Honkela, AISTATS 2020, arXiv:1809.03832): it takes a step of size α at once and in two
// halves, with a gradient of its own for each half,
//
//	p = θ₀ − α·g₁,  θ½ = θ₀ − (α/2)·g₁,  θ = θ½ − (α/2)·g₂,
//	err = √Σ_j (p_j − θ_j)²/max(1, p_j²),  α ← α·min(max(√(τ/err), 0.9), 1.1).
//
// Where err > τ the parameters go back to θ₀, as in the authors' code. A pair of calls is
// such a step: the first leaves θ½ in params, at which the caller takes g₂. Both gradients
// are paid for, so a pair is two of the run's steps. What is stored between calls are
// functions of the gradients: post-processing.
//
// Under noise of deviation s in each of d coordinates err is about α·s·√(d/2), so the
// step settles near τ·√(2/d)/s, for the default τ at 1/(s·√T).
type ADADP struct {
	// Steps is T, the number of calls of the run, which the default tolerance needs; the
	// last of an odd number has no partner and does nothing.
	Steps int
	// Tolerance is τ; 0 stands for √(d/(2T)), where d is the number of parameters.
	Tolerance float64
	// LearningRate is the first α; 0 stands for 1e-3.
	LearningRate float64
	// KeepAll keeps steps of a finite error above τ as well.
	KeepAll bool

	rate         float64
	calls        int
	start, whole []float32 // θ₀ and p
}

// largestRate keeps α a float32 on a long run of gradients that are 0.
const largestRate = 1e30

// Step takes half a step.
func (o *ADADP) Step(params, grad []float32) {
	vectors(params, grad, &o.start, &o.whole)
	if o.Steps < 1 {
		panic(fmt.Sprintf("optim: ADADP for %d steps", o.Steps))
	}
	if o.calls == 0 {
		o.rate = or(o.LearningRate, 1e-3)
	}
	o.calls++
	half, full := float32(o.rate/2), float32(o.rate)
	p, w := o.whole[:len(grad)], params[:len(grad)]
	if o.calls%2 == 1 {
		if o.calls == o.Steps {
			return
		}
		copy(o.start, params)
		for i, g := range grad {
			p[i] = w[i] - float32(full*g)
			w[i] -= float32(half * g)
		}
		return
	}
	square := 0.0
	for i, g := range grad {
		w[i] -= float32(half * g)
		d, scale := float64(p[i])-float64(w[i]), max(1, math.Abs(float64(p[i])))
		square += float64(d / scale * (d / scale))
	}
	err := math.Sqrt(square)
	tolerance := or(o.Tolerance, math.Sqrt(float64(len(grad))/float64(2*o.Steps)))
	// Parameters that are not finite have no finite error, and go back whatever the option.
	if finite := err-err == 0; !finite || err > tolerance && !o.KeepAll {
		copy(params, o.start)
	}
	factor := 0.9
	if f := math.Sqrt(tolerance / err); f > factor {
		factor = min(f, 1.1)
	}
	o.rate = min(o.rate*factor, largestRate)
}

// Between says that params are half of a step: θ½, which no average should count.
func (o *ADADP) Between() bool { return o.calls%2 == 1 && o.calls != o.Steps }

// AppendState implements Stateful. The state between the halves of a step has both.
func (o *ADADP) AppendState(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(o.rate))
	return appendState(b, o.calls, o.start, o.whole)
}

// RestoreState implements Stateful.
func (o *ADADP) RestoreState(b []byte) ([]byte, error) {
	if len(b) < 8 {
		return nil, errShort
	}
	rate := math.Float64frombits(binary.LittleEndian.Uint64(b))
	rest, err := restoreState(b[8:], &o.calls, &o.start, &o.whole)
	if err == nil {
		o.rate = rate
	}
	return rest, err
}
