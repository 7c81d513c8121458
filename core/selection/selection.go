// Package selection releases the best of a secret random number of private runs.
//
// Theorem (Papernot and Steinke, arXiv:2110.03620, Thm. 2): let K follow the truncated negative
// binomial distribution D(η, γ), independent of the data; run K candidates drawn independently from
// a distribution that does not depend on the data, where each run is a mechanism with Rényi curve
// at most R(α), its own noisy score included; release only the best run. For every α > 1 and α̂ >=
// 1,
//
//	R'(α) = R(α) + (1+η)·[(1−1/α̂)·R(α̂) + ln(1/γ)/α̂] + ln E[K]/(α−1).
//
// A Study meets the theorem's preconditions by construction: K is drawn before any row is read and
// stays inside the function; candidates are drawn from a source without data; every run has its own
// permit for the base event, with its own streams; nothing is memoised, pruned or stopped early; a
// failed run scores −Inf and counts; the losers are dropped. If the context ends, the study is
// charged in full and releases nothing.
package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"pawl/compute/kernel"
	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
)

// ErrNothing is returned if every run failed. It does not reveal the number of runs.
var ErrNothing = errors.New("no candidate could be trained")

// Winner is the run that is released.
type Winner[C, M any] struct {
	Candidate C
	Model     M
	// Score is the winner's noisy score. It chose the winner, so it is optimistic.
	Score float64
}

// Study is a selection: the charged event, the draw of candidates and one run.
type Study[C, M any] struct {
	// Select is the event in the permit.
	Select dp.Select
	// Draw draws one candidate, without data. Several goroutines may call it at once.
	Draw func(src *entropy.Source) C
	// Base is run number run (from 0) on a candidate. It must cost at most Select.Event for every
	// candidate that Draw can return; its permit holds the parts of Select.Event, each once, and has
	// the run's own streams. An error means a failed run. Several goroutines may call Base at once,
	// and its arguments depend on run alone.
	Base func(ctx context.Context, permit *sealed.Permit, run int, candidate C) (M, float64, error)
	// Workers is the largest number of concurrent runs; 0 means one. It does not change the result.
	Workers int
}

// Run draws the secret number of runs, draws a candidate for each, runs Base on them
// and returns the winner; ties go to the first. permit must hold Select, unused.
func (s Study[C, M]) Run(ctx context.Context, permit *sealed.Permit) (Winner[C, M], error) {
	none := Winner[C, M]{Score: math.Inf(-1)}
	switch {
	case permit == nil:
		return none, errors.New("selection: a permit is required")
	case s.Draw == nil || s.Base == nil:
		return none, errors.New("selection: how candidates are drawn and run is required")
	}
	// What cannot be drawn is refused before the event is taken.
	number, err := sampler(s.Select.Runs)
	if err != nil {
		return none, err
	}
	src, permitOf, err := sealed.Runs(permit, s.Select)
	if err != nil {
		return none, err
	}
	runs := number(src.Split("runs"))
	var (
		mu    sync.Mutex
		best  = none
		first = -1 // the number of the best run
		fault error
	)
	one := func(i int) {
		if ctx.Err() != nil {
			return
		}
		candidate := s.Draw(src.Split("candidate", uint64(i)))
		p, err := permitOf(i)
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			fault = err
			return
		}
		model, score, err := s.Base(ctx, p, i, candidate)
		p.Close()
		if err != nil || math.IsNaN(score) || math.IsInf(score, -1) {
			return // a failed run scores −Inf and counts
		}
		mu.Lock()
		defer mu.Unlock()
		if first < 0 || score > best.Score || score == best.Score && i < first {
			best, first = Winner[C, M]{Candidate: candidate, Model: model, Score: score}, i
		}
	}
	kernel.Parallel(max(s.Workers, 1), runs, one)
	switch {
	case ctx.Err() != nil:
		return none, ctx.Err()
	case fault != nil:
		return none, fault
	case first < 0:
		return none, ErrNothing
	}
	return best, nil
}

// sampler returns the sampler of a law, or says why there is none.
func sampler(law dp.Runs) (func(src *entropy.Source) int, error) {
	if law == nil {
		return nil, errors.New("selection: no law for the number of runs")
	}
	if err := law.Validate(); err != nil {
		return nil, err
	}
	switch law := law.(type) {
	case dp.TruncatedNegativeBinomial:
		gamma, err := accountant.TNBGamma(law)
		if err != nil {
			return nil, err
		}
		return func(src *entropy.Source) int { return drawNegativeBinomial(law.Eta, gamma, src) }, nil
	case dp.PoissonRuns:
		if law.Mean > 500 {
			return nil, fmt.Errorf("selection: a Poisson number of runs has a mean of at most 500 here, got %g", law.Mean)
		}
		return func(src *entropy.Source) int { return drawPoisson(law.Mean, src) }, nil
	case dp.RandomStopping:
		most := math.Ceil(-math.Log(law.Delta2) / law.Gamma)
		if !(most <= 1e7) {
			return nil, fmt.Errorf("selection: random stopping after at most %g runs is too long", most)
		}
		return func(src *entropy.Source) int {
			k := 1
			for float64(k) < most && !src.Bernoulli(law.Gamma) {
				k++
			}
			return k
		}, nil
	}
	return nil, fmt.Errorf("selection: runs of kind %T have no sampler here", law)
}

// drawPoisson inverts the distribution function from 0 upwards, P(k) = e^(−μ)·μ^k/k!;
// means above 500 are refused, since e^(−μ) must keep its digits. Zero runs are
// possible, and then nothing is released.
func drawPoisson(mean float64, src *entropy.Source) int {
	p := math.Exp(-mean)
	u, k := src.Float64(), 0
	for cumulative := p; u >= cumulative; cumulative += p {
		k++
		p *= mean / float64(k)
		if float64(k) > mean && p < 1e-20 {
			break
		}
	}
	return k
}

// drawNegativeBinomial inverts the distribution function of D(η, γ) on a 53-bit uniform; its
// total variation distance from the exact law is below 1e-14 up to a mean of a
// hundred, and grows with the mean by the rounding of the sum.
//
//	P(k) ∝ (1−γ)^k · Π_{j<k} (j+η)/(j+1), k >= 1 (for η = 0: (1−γ)^k / k)
func drawNegativeBinomial(eta, gamma float64, src *entropy.Source) int {
	p := firstProbability(eta, gamma)
	u, k := src.Float64(), 1
	for cumulative := p; u >= cumulative; cumulative += p {
		ratio := (1 - gamma) * (float64(k) + eta) / float64(k+1)
		p *= ratio
		k++
		if ratio < 1 && p < 1e-17*gamma {
			break // past the mode the tail is below p/γ, less than the resolution of u
		}
	}
	return k
}

func firstProbability(eta, gamma float64) float64 {
	if eta == 0 {
		return (1 - gamma) / math.Log(1/gamma)
	}
	return (1 - gamma) * eta / math.Expm1(-eta*math.Log(gamma)) // a power minus 1 would cancel at small eta
}
