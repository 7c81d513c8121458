package sum

import (
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

// Privacy holds everything on which the guarantee of a run of noisy sums depends. Every field is
// required.
type Privacy struct {
	Scope dp.Scope
	// ClippingNorm bounds the L2 norm of one row's contribution to the sum.
	ClippingNorm float64
	// NoiseMultiplier is the noise's standard deviation over the sensitivity, per
	// step.
	NoiseMultiplier float64
	// Steps is the number of noisy sums.
	Steps int
	// SamplingRate is the probability that a unit joins a lot; 1 is full batch. With Coefficients it
	// is the share of all units that a lot holds on average.
	SamplingRate float64
	// Coefficients correlate the noise over the steps (dp.Banded); nil for independent noise. With
	// them, units fall into Groups groups, which take turns, and a unit joins a lot of its group with
	// probability SamplingRate·Groups, at most 1.
	Coefficients []float64
	Groups       int
}

// Event returns the cost of a run, from public parameters only.
func (p Privacy) Event() dp.Event {
	if p.Coefficients != nil {
		return dp.Banded{Steps: int64(p.Steps), Groups: p.Groups, Rate: p.Chance(), NoiseMultiplier: p.NoiseMultiplier, Coefficients: p.Coefficients}
	}
	var step dp.Event = dp.Gaussian{NoiseMultiplier: p.NoiseMultiplier}
	if p.SamplingRate < 1 {
		step = dp.PoissonSampled{Rate: p.SamplingRate, Event: step}
	}
	return dp.Repeat{Count: int64(p.Steps), Event: step}
}

// Chance returns the probability that a unit joins a lot of its group.
func (p Privacy) Chance() float64 {
	if p.Coefficients == nil {
		return p.SamplingRate
	}
	chance := p.SamplingRate * float64(p.Groups)
	if math.Abs(chance-1) <= 1e-12 {
		return 1 // Groups lots of a 1/Groups each, rounded
	}
	return chance
}

// CheckBands returns an error if Coefficients or Groups are invalid.
func (p Privacy) CheckBands() error {
	if p.Coefficients == nil {
		if p.Groups != 0 {
			return errors.New("groups go with coefficients")
		}
		return nil
	}
	if chance := p.Chance(); !(chance > 0 && chance <= 1) {
		return fmt.Errorf("a sampling rate of %g leaves no room for %d groups: the product must lie in (0, 1]", p.SamplingRate, p.Groups)
	}
	for i, c := range p.Coefficients {
		// The noise of a step that another one's leaves then stays of its size (noise.Banded).
		if !(c >= 0 && c <= p.Coefficients[0]) {
			return fmt.Errorf("coefficient %d must lie between 0 and the first one, got %g", i, c)
		}
	}
	return p.Event().Validate()
}

// StdDev returns the standard deviation of the noise of one sum under a permit: the multiplier
// times the sensitivity, enlarged by a margin for the rounding of contributions.
func (p Privacy) StdDev(permit *sealed.Permit, margin float64) (float64, error) {
	if err := Positive("noise multiplier", p.NoiseMultiplier); err != nil {
		return 0, err
	}
	if permit == nil {
		return 0, sealed.ErrNotReserved
	}
	std := p.NoiseMultiplier * p.ClippingNorm * float64(permit.RowsApart()) * margin
	return std, noise.InRange(std)
}

// Linear is a run of sums of gradients of a linear model. At weights w (Dim×Outputs, row-major) it
// adds up x_i r_iᵀ over the rows i of a lot, where r_i is the derivative of row i's loss by its
// scores wᵀx_i, scaled down so that ‖x_i‖·‖r_i‖, the norm of what the row adds, is at most
// ClippingNorm. Noise is added to that sum.
//
// Neighbours that differ in k rows move a sum by k·ClippingNorm (Privacy.StdDev). Weights may
// follow from earlier sums: steps compose adaptively, and the event states their number.
type Linear struct {
	Privacy
	Encoding *encode.Encoding
	Outputs  int
	// Target maps a row's cells to its target; NaN leaves the row out.
	Target func(cells []float64) float64
	Loss   Loss
	// ClassWeights are public factors in (0, 1] on the losses of the classes (Loss.Weighs), nil for 1.
	// They do not affect the guarantee.
	ClassWeights []float64
}

// LinearRun is a Linear with its rows opened.
type LinearRun struct {
	l      *Linear
	matrix *design.Matrix
	packed *design.Packed // of the matrix, where there is one score a row; else nil
	pass   design.Pass
	adds   func(targets, norms, scores []float64)
	lots   Lots
	draws  *entropy.Source
	stdDev float64
	left   int
	sum    []float64
}

// Open takes the event of a run. Errors, before any row is read: a missing permit and invalid
// parameters.
func (l *Linear) Open(permit *sealed.Permit, rows *sealed.Rows) (run *LinearRun, err error) {
	defer sealed.Contain(&err)
	if l.Coefficients != nil || l.Groups != 0 {
		return nil, errors.New("sum: noise of a linear model is not correlated over steps")
	}
	if !l.Loss.Known(l.Outputs) {
		return nil, fmt.Errorf("sum: no loss %q of %d scores", l.Loss, l.Outputs)
	}
	std, err := l.StdDev(permit, rounding)
	if err != nil {
		return nil, err
	}
	view, err := sealed.OpenUnless(rows, permit, l.Scope, l.Event(), sealed.HasTarget(l.Target))
	if err != nil {
		return nil, err
	}
	return l.On(view, std, view.Noise()), nil
}

// OpenPublic opens a public data set for sums over all rows without noise, and returns an error for
// any other. ClippingNorm still applies.
func (l *Linear) OpenPublic(rows *sealed.Rows) (run *LinearRun, err error) {
	defer sealed.Contain(&err)
	view, err := sealed.OpenPublic(rows, l.Scope)
	if err != nil {
		return nil, err
	}
	return l.On(view, 0, nil), nil
}

// On returns a run on opened rows, with noise of stdDev, 0 for none. Without a source the run takes
// all rows, and stdDev must be 0.
func (l *Linear) On(view *sealed.View, stdDev float64, src *entropy.Source) *LinearRun {
	r := &LinearRun{l: l, stdDev: stdDev, left: l.Steps, sum: make([]float64, l.Encoding.Dim*l.Outputs)}
	r.lots.rate = 1
	if src != nil {
		r.draws, r.lots = src.Split("noise"), NewLots(view, l.SamplingRate, src.Split("lots"))
	}
	if l.Outputs == 1 {
		r.matrix, r.packed = design.NewPacked(view, l.Encoding, l.Target, r.lots.rate)
	} else {
		r.matrix = design.New(view, l.Encoding, l.Target)
	}
	r.adds = l.Contribution()
	return r
}

// Next sets dst to the noisy sum at weights w over the next lot. An error leaves dst unchanged.
func (r *LinearRun) Next(dst, w []float64) (err error) {
	defer sealed.Contain(&err)
	if r.left--; r.left < 0 {
		return errors.New("sum: a run has no more steps")
	}
	clear(r.sum)
	if r.packed == nil {
		r.matrix.Sum(&r.pass, r.sum, w, r.l.Outputs, r.lots.Draw(), func(i int, scores []float64) { r.adds(r.matrix.Target[i:i+1], r.matrix.Norm[i:i+1], scores) })
	} else if lot, all := r.lots.Rows(); all {
		r.packed.Sum(r.sum, w, func(first int, scores []float64) {
			r.adds(r.matrix.Target[first:][:len(scores)], r.matrix.Norm[first:][:len(scores)], scores)
		})
	} else {
		r.packed.SumOf(r.sum, w, lot, r.adds)
	}
	// Noise goes on the clipped sum; dividing by a public number comes after. Where a source is
	// missing this is a fault, not a sum without noise.
	if r.stdDev > 0 {
		if err := noise.Perturb(r.draws, r.sum, r.stdDev); err != nil {
			return err
		}
	}
	copy(dst, r.sum)
	return nil
}

// Contribution returns a function that replaces the scores of a row, given its target and norm, by r_i; with
// one output it does so for many rows at once.
func (l *Linear) Contribution() func(targets, norms, scores []float64) {
	return contribution(l.Loss, l.ClippingNorm, l.ClassWeights)
}
