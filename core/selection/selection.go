// Package selection releases the best of a secret random number of private runs.
//
// Theorem (Papernot and Steinke, arXiv:2110.03620, Thm. 2): let K follow the
// truncated negative binomial law D(η, γ), independent of the data; run K
// candidates drawn independently from a law that does not depend on the data,
// each run being a mechanism with Rényi curve at most R(α), its own noisy score
// included; release the best run only. For every α > 1 and α̂ >= 1,
//
//	R'(α) = R(α) + (1+η)·[(1−1/α̂)·R(α̂) + ln(1/γ)/α̂] + ln E[K]/(α−1).
//
// Run keeps the theorem's preconditions by construction: K is drawn before any
// row is read and never leaves the function; candidates see a source and no data;
// every run has its own key and its own permit for the base event; nothing is
// memoised, pruned or stopped early; a run that fails scores −Inf and counts; the
// losers are dropped. When the context ends the study is charged in full and
// releases nothing.
package selection

import (
	"context"
	"errors"
	"fmt"
	"math"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
)

// ErrNothing is returned when every run failed. It says nothing about how many
// there were.
var ErrNothing = errors.New("no candidate could be trained")

// Winner is the one run that leaves.
type Winner[C, M any] struct {
	Candidate C
	Model     M
	// Score is the winner's noisy score. It chose the winner, so it is optimistic.
	Score float64
}

// Run draws the secret number of runs, draws a candidate for each, runs base on
// it and returns the winner; ties go to the first. permit must hold sel, unused.
//
// base must cost at most sel.Event for every candidate that draw can return; its
// permit holds the parts of sel.Event, each once.
func Run[C, M any](
	ctx context.Context, permit *sealed.Permit, sel dp.Select, src *entropy.Source,
	draw func(src *entropy.Source) C,
	base func(ctx context.Context, permit *sealed.Permit, candidate C, src *entropy.Source) (M, float64, error),
) (Winner[C, M], error) {
	best := Winner[C, M]{Score: math.Inf(-1)}
	law, ok := sel.Runs.(dp.TruncatedNegativeBinomial)
	if !ok {
		return best, fmt.Errorf("selection: runs of kind %T have no sampler here", sel.Runs)
	}
	if src == nil {
		return best, errors.New("selection: a source of randomness is required")
	}
	runs, err := drawRuns(law, src.Split("runs"))
	if err != nil {
		return best, err
	}
	next, err := sealed.Runs(permit, sel)
	if err != nil {
		return best, err
	}
	found := false
	for i := range runs {
		candidate := draw(src.Split("candidate", uint64(i)))
		p, err := next()
		if err != nil {
			return Winner[C, M]{Score: math.Inf(-1)}, err
		}
		model, score, err := base(ctx, p, candidate, src.Split("run", uint64(i)))
		p.Close()
		if ctx.Err() != nil {
			return Winner[C, M]{Score: math.Inf(-1)}, ctx.Err()
		}
		if err != nil || math.IsNaN(score) {
			continue // a failed run scores −Inf and counts
		}
		if score > best.Score {
			best, found = Winner[C, M]{Candidate: candidate, Model: model, Score: score}, true
		}
	}
	if !found {
		return best, ErrNothing
	}
	return best, nil
}

// drawRuns inverts the distribution function of D(η, γ) on a 53-bit uniform; its
// total variation distance from the exact law is below 1e-14 up to a mean of a
// hundred, and grows with the mean by the rounding of the sum.
//
//	P(k) ∝ (1−γ)^k · Π_{j<k} (j+η)/(j+1), k >= 1 (for η = 0: (1−γ)^k / k)
func drawRuns(law dp.TruncatedNegativeBinomial, src *entropy.Source) (int, error) {
	if err := law.Validate(); err != nil {
		return 0, err
	}
	gamma, err := accountant.TNBGamma(law)
	if err != nil {
		return 0, err
	}
	p := firstProbability(law.Eta, gamma)
	u, k := src.Float64(), 1
	for cumulative := p; u >= cumulative; cumulative += p {
		ratio := (1 - gamma) * (float64(k) + law.Eta) / float64(k+1)
		p *= ratio
		k++
		if ratio < 1 && p < 1e-17*gamma {
			break // past the mode the tail is below p/γ, less than the resolution of u
		}
	}
	return k, nil
}

func firstProbability(eta, gamma float64) float64 {
	if eta == 0 {
		return (1 - gamma) / math.Log(1/gamma)
	}
	return (1 - gamma) * eta / math.Expm1(-eta*math.Log(gamma)) // a power minus 1 would cancel at small eta
}
