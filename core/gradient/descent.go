// Package gradient trains by noisy gradient descent: the sum of clipped
// per-row gradients over a lot, plus Gaussian noise, divided by a public number.
//
// Guarantee: the weights returned by Descend are a post-processing of Steps
// releases, each of a vector of L2 sensitivity ClippingNorm × rows per unit (twice
// that under ReplaceOne) with Gaussian noise of NoiseMultiplier times that, on a
// lot that every unit joins with all its rows with probability SamplingRate
// (exactly what Descent.Event says). The noisy sum is rounded to a public grid as a
// whole (noise.Grid), whoever is in the lot. Divisor, learning rate, momentum and
// averaging are public and do not enter the guarantee.
package gradient

import (
	"context"
	"errors"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/design"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
	"pawl/data/encode"
)

// Loss is the per-example loss of a linear model.
type Loss string

const (
	// Logistic is binary cross-entropy of sigmoid(wᵀx); targets are 0 or 1.
	Logistic Loss = "logistic"
	// Softmax is cross-entropy over Outputs classes; targets are class indices.
	Softmax Loss = "softmax"
	// Residual is the squared error of wᵀx with its residual clipped (a Huber
	// loss); targets are real numbers.
	Residual Loss = "residual"
)

// Privacy holds what the guarantee depends on. Every field is required.
type Privacy struct {
	Scope dp.Scope
	// ClippingNorm bounds the L2 norm of one row's contribution to the sum.
	ClippingNorm float64
	// NoiseMultiplier is the noise's standard deviation over the sensitivity, per
	// step.
	NoiseMultiplier float64
	// Steps is the number of noisy sums.
	Steps int
	// SamplingRate is the chance with which a unit joins a lot; 1 is full batch.
	SamplingRate float64
}

// Descent is one training run of a linear model.
type Descent struct {
	Privacy
	Encoding *encode.Encoding
	Loss     Loss
	// Outputs is the number of score columns: classes for Softmax, else 1.
	Outputs int
	// Target maps a row's cells to its target; NaN takes the row out.
	Target func(cells []float64) float64
	// ExpectedRows is the public divisor of the full sum: the nominal number of
	// rows in Scope. A lot's sum is divided by SamplingRate·ExpectedRows.
	ExpectedRows float64
	// LearningRate and Momentum are those of heavy-ball descent.
	LearningRate, Momentum float64
	// Progress, when not nil, is told the number of steps done: a public number.
	Progress func(done, steps int)
}

// Event is what a run costs, from public parameters only.
func (p Privacy) Event() dp.Event {
	var step dp.Event = dp.Gaussian{NoiseMultiplier: p.NoiseMultiplier}
	if p.SamplingRate < 1 {
		step = dp.PoissonSampled{Rate: p.SamplingRate, Event: step}
	}
	return dp.Repeat{Count: int64(p.Steps), Event: step}
}

// Validate reports the first parameter without meaning.
func (d *Descent) Validate() error {
	positive := func(name string, v float64) error {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("gradient: %s must be a finite number > 0, got %g", name, v)
		}
		return nil
	}
	switch {
	case !d.Scope.Valid():
		return fmt.Errorf("gradient: scope %v is not valid", d.Scope)
	case d.Steps < 1:
		return fmt.Errorf("gradient: steps must be at least 1, got %d", d.Steps)
	case d.Encoding == nil || d.Target == nil:
		return errors.New("gradient: encoding and target are required")
	case !(d.SamplingRate > 0 && d.SamplingRate <= 1):
		return fmt.Errorf("gradient: sampling rate must lie in (0, 1], got %g", d.SamplingRate)
	case d.Loss == Softmax && d.Outputs < 2, d.Loss != Softmax && d.Outputs != 1:
		return fmt.Errorf("gradient: %s loss does not go with %d outputs", d.Loss, d.Outputs)
	case d.Loss != Logistic && d.Loss != Softmax && d.Loss != Residual:
		return fmt.Errorf("gradient: unknown loss %q", d.Loss)
	case !(d.Momentum >= 0 && d.Momentum < 1):
		return fmt.Errorf("gradient: momentum must lie in [0, 1), got %g", d.Momentum)
	case !design.Fits(d.Encoding):
		return errors.New("gradient: the schema has more categories than one model can hold (65,534)")
	}
	return errors.Join(positive("clipping norm", d.ClippingNorm),
		positive("expected rows", d.ExpectedRows), positive("learning rate", d.LearningRate))
}

// Descend runs d on the rows of its scope and returns the weights (Dim×Outputs,
// row-major): the mean of the iterates of the last half of the steps. permit must
// hold d.Event() on d.Scope, unused.
//
// Errors: invalid parameters or a missing permit before any row is read;
// ctx.Err() when interrupted, with the charge kept.
func Descend(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, d Descent) (weights []float64, err error) {
	defer sealed.Contain(&err)
	if err := d.Validate(); err != nil {
		return nil, err
	}
	if !(d.NoiseMultiplier > 0) || math.IsInf(d.NoiseMultiplier, 0) {
		return nil, fmt.Errorf("gradient: noise multiplier must be a finite number > 0, got %g", d.NoiseMultiplier)
	}
	if permit == nil {
		return nil, sealed.ErrNotReserved
	}
	std := d.NoiseMultiplier * d.ClippingNorm * float64(permit.RowsApart()) * rounding
	if err := inRange(std); err != nil {
		return nil, err
	}
	view, err := sealed.Open(rows, permit, d.Scope, d.Event())
	if err != nil {
		return nil, err
	}
	return d.run(ctx, view, std, view.Noise())
}

// inRange refuses noise whose deviation left the range of a float64: a product of small
// numbers may have become 0, and would add nothing at a finite price.
func inRange(std float64) error {
	if !(std >= 0x1p-960 && std <= 0x1p960) {
		return fmt.Errorf("gradient: a noise of %g is out of the range of a 64-bit float", std)
	}
	return nil
}

// rounding is the factor by which the sensitivity is enlarged: norms of rows and
// clipped residuals are right to 1e-14 or so, and so is the product above.
const rounding = 1 + 1e-12

// DescendPublic runs d without noise. It opens public data sets only; its result
// carries no guarantee. ClippingNorm still applies.
func DescendPublic(ctx context.Context, rows *sealed.Rows, d Descent) ([]float64, error) {
	d.NoiseMultiplier, d.SamplingRate = 0, 1
	if err := d.Validate(); err != nil {
		return nil, err
	}
	view, err := sealed.OpenPublic(rows, d.Scope)
	if err != nil {
		return nil, err
	}
	return d.run(ctx, view, 0, nil)
}

func (d *Descent) run(ctx context.Context, view *sealed.View, noiseStdDev float64, src *entropy.Source) ([]float64, error) {
	m := design.New(view, d.Encoding, d.Target)
	size := d.Encoding.Dim * d.Outputs
	var (
		w, velocity, sum, mean = make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
		pass                   design.Pass
		draws                  *entropy.Source
		lots                   lots
		include                []bool
	)
	if src != nil {
		draws = src.Split("noise")
		lots = newLots(view, d.SamplingRate, src.Split("lots"))
	}
	contribution := d.contribution(m)
	divisor := d.SamplingRate * d.ExpectedRows
	tail := (d.Steps + 1) / 2
	for t := range d.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if d.SamplingRate < 1 {
			include = lots.draw()
		}
		clear(sum)
		m.Sum(&pass, sum, w, d.Outputs, include, contribution)
		// Noise goes on the clipped sum; dividing by a public number comes after.
		if noiseStdDev > 0 {
			noise.AddGaussian(draws, sum, noiseStdDev)
			noise.OnGrid(sum, noiseStdDev)
		}
		for j := range w {
			velocity[j] = d.Momentum*velocity[j] + sum[j]/divisor
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

// contribution returns the function that turns scores into the clipped residual
// r_i with ‖r_i‖₂·‖x_i‖₂ <= ClippingNorm, which is the norm of the row's gradient
// x_i r_iᵀ. A row without a target, and a residual that is not finite, contribute
// nothing: success of a step must not depend on one row.
func (d *Descent) contribution(m *design.Matrix) func(i int, scores []float64) {
	c := d.ClippingNorm
	switch d.Loss {
	case Logistic:
		return func(i int, s []float64) {
			s[0] = clip(1/(1+math.Exp(-s[0]))-m.Target[i], c, m.Norm[i])
		}
	case Residual:
		return func(i int, s []float64) {
			// The residual itself is capped at c; ‖x_i‖ <= 1 makes that a bound on
			// the gradient, and rows of smaller norm count less.
			s[0] = clip(s[0]-m.Target[i], c, 1)
		}
	default:
		return func(i int, s []float64) { softmaxResidual(s, m.Target[i], c, m.Norm[i]) }
	}
}

// clip bounds |r| by c/norm.
func clip(r, c, norm float64) float64 {
	if r != r || norm == 0 {
		return 0
	}
	return min(max(r, -c/norm), c/norm)
}

func softmaxResidual(s []float64, target, c, norm float64) {
	if target != target || norm == 0 {
		clear(s)
		return
	}
	top := s[0]
	for _, v := range s {
		top = max(top, v)
	}
	total := 0.0
	for k, v := range s {
		s[k] = math.Exp(v - top)
		total += s[k]
	}
	square := 0.0
	for k := range s {
		s[k] /= total
		if k == int(target) {
			s[k]--
		}
		square += s[k] * s[k]
	}
	length := math.Sqrt(square) * norm
	switch {
	// Below 1e-290 the squares have underflowed and the length says too little.
	case length != length || math.IsInf(length, 0) || square < 1e-290:
		clear(s)
	case length > c:
		for k := range s {
			s[k] *= c / length
		}
	}
}
