package gradient

import (
	"errors"
	"fmt"
	"math"

	"pawl/core/entropy"
	"pawl/core/noise"
)

// shareRate is η, by which the logarithm of the norm follows the share.
const shareRate = 0.2

// quantile is the clipping norm of a run that follows a quantile of the norms. Beside
// the sum G of clipped gradients a step releases the share of examples in its lot that
// were not clipped, and the norm moves by
//
//	C ← C·exp(−η·(b̃ − γ)),   b̃ = 1/2 + (Σ_i (b_i − 1/2) + noise)/B,
//
// where b_i is 1 if ‖g_i‖ ≤ C and else 0, γ is UnclippedShare and B the public expected
// lot (Andrew et al., Algorithm 1, with η = 0.2; b̃ is cut to [0, 1], C to the range of
// clipping norms). Both are parts of one Gaussian release. A row adds to the sums a
// gradient of norm C at most and a number of size exactly 1/2, which is why 1/2 is taken
// off: a row that adds 0 or 1 would have sensitivity 1. With noise of deviations z_Δ·C on
// each coordinate of G and σ_b on the count, the pair (G/(z_Δ·C), Σ(b_i−1/2)/σ_b) has unit
// noise, and a row moves it by
//
//	√((1/z_Δ)² + (1/2σ_b)²) = 1/z    for    z_Δ = (z⁻² − (2σ_b)⁻²)^(−1/2)
//
// at most: a step is one Gaussian mechanism of multiplier z on one lot, which is what
// Event says. k rows move it by k/z, as they do without a count, so both deviations take
// the factor k. C is a function of earlier releases; given those it is a constant of the
// step, and steps compose adaptively.
//
// σ_b is B/20 as published, by which z_Δ is hardly above z, or z where that is more: in a
// small lot the count then takes a quarter of the precision, not all of it.
type quantile struct {
	share, lot, norm float64
	// stdDev is the deviation of the noise on G over the norm, half that of the noise on
	// twice the count; both are 0 for none.
	stdDev, half float64
	src          *entropy.Source
	step         uint64
}

// splitNoise is z_Δ and σ_b.
func splitNoise(z, lot float64) (gradient, count float64) {
	count = max(lot/20, z)
	x := z / (2 * count)
	return z / math.Sqrt((1-x)*(1+x)), count
}

// newQuantile has noise that amounts to noiseStdDev on a sum of the first step alone.
func newQuantile(t *Training, noiseStdDev float64, src *entropy.Source) *quantile {
	q := &quantile{share: t.UnclippedShare, lot: t.SamplingRate * t.ExpectedRows, norm: t.ClippingNorm, src: src}
	if noiseStdDev > 0 {
		gradient, count := splitNoise(t.NoiseMultiplier, q.lot)
		apart := noiseStdDev / (t.NoiseMultiplier * t.ClippingNorm)
		q.stdDev, q.half = gradient*apart, count*apart
	}
	return q
}

// release turns the number of examples within the norm, of all in the lot, into their
// noisy share, and moves the norm. Twice the count is an integer; what leaves is rounded
// to one, so that no digits of the noise below that show which integer it was.
func (q *quantile) release(within, all int) (share float64) {
	twice := float64(2*within - all)
	if q.half > 0 {
		// A stream for each step: a run that resumes at a step needs its number only.
		twice = math.Round(twice + 2*q.half*noise.Gaussian(q.src.Split("step", q.step)))
	}
	q.step++
	share = min(max((1+twice/q.lot)/2, 0), 1)
	q.norm = moved(q.norm, share, q.share)
	return share
}

// moved is the norm after a step with this share of examples within it.
func moved(norm, share, want float64) float64 {
	return min(max(norm*math.Exp(-shareRate*(share-want)), LeastNorm), GreatestNorm)
}

// NextNorm returns the clipping norm after a step for which Follow received norm and share. It is a
// function of released numbers.
func (t *Training) NextNorm(norm, share float64) float64 {
	return moved(norm, share, t.UnclippedShare)
}

// follow releases what a step shows of its norm.
func (s *step) follow() {
	share := math.NaN()
	if s.tuner != nil {
		share = s.tuner.release(s.workers[0].within+s.workers[1].within, len(s.lot))
	}
	if s.t.Follow != nil {
		s.t.Follow(s.norm, share)
	}
}

// checkQuantile reports the first parameter of Quantile without meaning, and those of
// Quantile that another clipping has. A run that goes on with another norm than it had
// would put the noise of a step on two sums.
func (t *Training) checkQuantile() error {
	on, goesOn := t.Clipping == Quantile, t.Clipping == Quantile && t.First > 0
	switch {
	case on && !(t.UnclippedShare > 0 && t.UnclippedShare < 1):
		return fmt.Errorf("gradient: the share that a quantile leaves unclipped must lie in (0, 1), got %g", t.UnclippedShare)
	case !on && t.UnclippedShare != 0:
		return fmt.Errorf("gradient: an unclipped share goes with clipping %q only", Quantile)
	case goesOn && !(t.FirstNorm >= LeastNorm && t.FirstNorm <= GreatestNorm):
		return fmt.Errorf("gradient: a resumed run must have a clipping norm in [%g, %g], got %g", LeastNorm, GreatestNorm, t.FirstNorm)
	case !goesOn && t.FirstNorm != 0:
		return errors.New("gradient: a first norm is only for a resumed run with clipping by quantile")
	}
	return nil
}
