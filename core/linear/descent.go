// Package linear trains linear and additive models on released sums: by descent and boosting from
// many noisy sums, and by least squares from one. It opens no row and draws no noise.
//
// Descent: the sum of clipped
// per-row gradients over a lot, plus Gaussian noise, divided by a public number.
//
// Guarantee: the weights returned by Descend are a post-processing of Steps releases, each of a
// vector of L2 sensitivity ClippingNorm × rows per unit (twice that under ReplaceOne) with Gaussian
// noise of NoiseMultiplier times that, on a lot that every unit joins with all its rows with
// probability SamplingRate (exactly what Descent.Event says). The noisy sum is rounded to a public
// grid as a whole (noise.Grid), whatever the lot. Divisor, learning rate, momentum and averaging
// are public and do not affect the guarantee.
package linear

import (
	"context"
	"errors"
	"fmt"

	"pawl/core/internal/sealed"
	"pawl/core/sum"
	"pawl/data/encode"
)

// Loss is the per-example loss of a model.
type Loss = sum.Loss

const (
	Logistic = sum.Logistic
	Softmax  = sum.Softmax
	Residual = sum.Residual
	Bounded  = sum.Bounded
)

// Privacy holds everything on which the guarantee depends.
type Privacy = sum.Privacy

// Descent is one training run of a linear model.
type Descent struct {
	Privacy
	Encoding *encode.Encoding
	Loss     Loss
	// Outputs is the number of score columns: the number of classes for Softmax, otherwise 1.
	Outputs int
	// Target maps a row's cells to its target; NaN leaves the row out.
	Target func(cells []float64) float64
	// ClassWeights are public factors in (0, 1] on the losses of the classes, nil for 1; a row whose
	// target is not a class then contributes nothing.
	ClassWeights []float64
	// ExpectedRows is the public divisor of the full sum: the nominal number of
	// rows in Scope. A lot's sum is divided by SamplingRate·ExpectedRows.
	ExpectedRows float64
	// LearningRate and Momentum are the parameters of heavy-ball descent.
	LearningRate, Momentum float64
	// Start are the weights before the first step, public or released; nil for zeros.
	Start []float64
	// Progress, if not nil, receives the number of completed steps, which is public.
	Progress func(done, steps int)
}

var errTooWide = errors.New("linear: the schema has more categories than one model can hold (65,534)")

// Validate returns an error for the first invalid parameter.
func (d *Descent) Validate() error {
	switch {
	case !d.Scope.Valid():
		return fmt.Errorf("linear: scope %v is not valid", d.Scope)
	case d.Steps < 1:
		return fmt.Errorf("linear: steps must be at least 1, got %d", d.Steps)
	case d.Encoding == nil || d.Target == nil:
		return errors.New("linear: encoding and target are required")
	case !(d.SamplingRate > 0 && d.SamplingRate <= 1):
		return fmt.Errorf("linear: sampling rate must lie in (0, 1], got %g", d.SamplingRate)
	case !d.Loss.Known(d.Outputs):
		return fmt.Errorf("linear: there is no loss %q of %d outputs", d.Loss, d.Outputs)
	case !d.Loss.Weighs(d.ClassWeights, d.Outputs):
		return fmt.Errorf("linear: class weights must lie in (0, 1], one for each class of a %s loss, got %v", d.Loss, d.ClassWeights)
	case !(d.Momentum >= 0 && d.Momentum < 1):
		return fmt.Errorf("linear: momentum must lie in [0, 1), got %g", d.Momentum)
	case !d.Encoding.Fits(0):
		return errTooWide
	case d.Start != nil && len(d.Start) != d.Encoding.Dim*d.Outputs:
		return fmt.Errorf("linear: %d weights to start from, the encoding has %d for each of %d outputs", len(d.Start), d.Encoding.Dim, d.Outputs)
	}
	return errors.Join(sum.Positive("clipping norm", d.ClippingNorm),
		sum.Positive("expected rows", d.ExpectedRows), sum.Positive("learning rate", d.LearningRate))
}

// Descend runs d on the rows of its scope and returns the weights (Dim×Outputs,
// row-major): the mean of the iterates of the last half of the steps. permit must
// hold d.Event() on d.Scope, unused.
//
// Errors: before any row is read, invalid parameters and a missing permit; afterwards, with the
// charge kept, ctx.Err() when interrupted.
func Descend(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, d Descent) (weights []float64, err error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	run, err := d.linear().Open(permit, rows)
	if err != nil {
		return nil, err
	}
	return d.run(ctx, run)
}

// DescendPublic runs d without noise, on public data sets only; its result carries no guarantee.
// ClippingNorm still applies.
func DescendPublic(ctx context.Context, rows *sealed.Rows, d Descent) ([]float64, error) {
	d.NoiseMultiplier, d.SamplingRate = 0, 1
	if err := d.Validate(); err != nil {
		return nil, err
	}
	run, err := d.linear().OpenPublic(rows)
	if err != nil {
		return nil, err
	}
	return d.run(ctx, run)
}

func (d *Descent) linear() *sum.Linear {
	return &sum.Linear{Privacy: d.Privacy, Encoding: d.Encoding, Outputs: d.Outputs, Target: d.Target, Loss: d.Loss, ClassWeights: d.ClassWeights}
}

func (d *Descent) run(ctx context.Context, run *sum.LinearRun) ([]float64, error) {
	size := d.Encoding.Dim * d.Outputs
	w, velocity, g, mean := make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	copy(w, d.Start)
	divisor := d.SamplingRate * d.ExpectedRows
	tail := (d.Steps + 1) / 2
	for t := range d.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := run.Next(g, w); err != nil {
			return nil, err
		}
		for j := range w {
			velocity[j] = d.Momentum*velocity[j] + g[j]/divisor
			w[j] -= d.LearningRate * velocity[j]
		}
		if t >= d.Steps-tail {
			for j := range mean {
				mean[j] += w[j] / float64(tail)
			}
		}
		if d.Progress != nil {
			d.Progress(t+1, d.Steps)
		}
	}
	return mean, nil
}
