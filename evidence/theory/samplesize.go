package theory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// SizeCurve is the form that [B] Sec. VI-B fits to the ε at which a model reaches a
// fixed accuracy with n training rows:
//
//	ε = ln(α + β/n),   α >= 1, β > 0.
type SizeCurve struct{ Alpha, Beta float64 }

// Epsilon is ln(α + β/n). n = 0 gives +Inf, n = +Inf the floor ln α.
func (c SizeCurve) Epsilon(rows float64) float64 { return math.Log(c.Alpha + c.Beta/rows) }

// Rows is the inverse: n = β/(e^ε − α). At or below the floor ε = ln α no number of
// rows is enough: +Inf.
func (c SizeCurve) Rows(epsilon float64) float64 {
	gap := math.Exp(epsilon) - c.Alpha
	if !(gap > 0) {
		return math.Inf(1)
	}
	return c.Beta / gap
}

// SizeRuns are the trainings at one number of rows: the ε of those that reached the
// accuracy, and how many were tried. Tried 0 means that all reached it.
type SizeRuns struct {
	Rows     float64
	Epsilons []float64
	Tried    int
}

// reachShare is the share of trainings that must reach the accuracy for a size to be
// used: with less, the ε of those that did are a selected sample.
const reachShare = .95

// SizeFit is a fitted curve with bootstrap intervals.
type SizeFit struct {
	SizeCurve
	AlphaInterval, BetaInterval Interval
	// Floored is true where least squares wanted α < 1 and α = 1 was taken.
	Floored bool
	// Used are the sizes that entered, in the order given.
	Used []float64

	replicates []SizeCurve
	confidence float64
}

// Bootstrap says how an interval is drawn.
type Bootstrap struct {
	Replicates int // 2000 is usual
	Confidence float64
	Seed       uint64
}

func (b Bootstrap) check() error {
	if b.Replicates < 100 {
		return fmt.Errorf("%w: %d bootstrap replicates, need 100", ErrInput, b.Replicates)
	}
	return CheckConfidence(b.Confidence)
}

// FitSizes fits α and β by weighted least squares of e^ε on 1/n over all runs. The
// weight of a run is e^(−2ε̄), ε̄ the mean at its size: if ε has one standard deviation
// everywhere, e^ε has a standard deviation that grows with e^ε. (Weights from each
// run's own ε would prefer low ones.) The fit is bent to α >= 1.
//
// Sizes at which fewer than 95 % of the trainings reached the accuracy are left out.
// Two sizes must remain, with two runs each: the bootstrap draws runs within a size,
// and its percentile interval holds for these sizes, not for others. With 10 runs at
// 6 sizes the 95 % interval for Rows held the truth in 89 % of 300 simulations.
func FitSizes(runs []SizeRuns, b Bootstrap) (*SizeFit, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	var kept []SizeRuns
	for _, r := range runs {
		if !positive(r.Rows) {
			return nil, fmt.Errorf("%w: number of rows must be positive", ErrInput)
		}
		if float64(len(r.Epsilons)) < reachShare*float64(r.Tried) {
			continue
		}
		if err := checkSample(r.Epsilons, 2); err != nil {
			return nil, fmt.Errorf("%.0f rows: %w", r.Rows, err)
		}
		if slices.Min(r.Epsilons) <= 0 {
			return nil, fmt.Errorf("%.0f rows: %w: epsilon must be positive", r.Rows, ErrInput)
		}
		kept = append(kept, r)
	}
	fit := &SizeFit{confidence: b.Confidence}
	for _, r := range kept {
		if !slices.Contains(fit.Used, r.Rows) {
			fit.Used = append(fit.Used, r.Rows)
		}
	}
	if len(fit.Used) < 2 {
		return nil, fmt.Errorf("%w: %d sizes at which training runs reach the accuracy reliably, need 2", ErrInput, len(fit.Used))
	}
	fit.SizeCurve, fit.Floored = fitCurve(kept)
	if !positive(fit.Beta) {
		return nil, fmt.Errorf("%w: epsilon does not fall with the number of rows, or is too large for a fit", ErrInput)
	}
	fit.bootstrap(kept, b)
	return fit, nil
}

func (f *SizeFit) bootstrap(runs []SizeRuns, b Bootstrap) {
	rng := rand.New(rand.NewPCG(b.Seed, 0))
	drawn := make([]SizeRuns, len(runs))
	for i, r := range runs {
		drawn[i] = SizeRuns{Rows: r.Rows, Epsilons: make([]float64, len(r.Epsilons))}
	}
	alphas, betas := make([]float64, b.Replicates), make([]float64, b.Replicates)
	f.replicates = make([]SizeCurve, b.Replicates)
	for i := range b.Replicates {
		for j, r := range runs {
			resample(drawn[j].Epsilons, r.Epsilons, rng)
		}
		curve, _ := fitCurve(drawn)
		f.replicates[i], alphas[i], betas[i] = curve, curve.Alpha, curve.Beta
	}
	slices.Sort(alphas)
	slices.Sort(betas)
	f.AlphaInterval = percentileInterval(f.Alpha, alphas, b.Confidence)
	f.BetaInterval = percentileInterval(f.Beta, betas, b.Confidence)
}

// RowsInterval is Rows with its bootstrap interval; +Inf at either end where a
// replicate's floor ln α is not below ε.
func (f *SizeFit) RowsInterval(epsilon float64) Interval {
	values := make([]float64, len(f.replicates))
	for i, c := range f.replicates {
		values[i] = c.Rows(epsilon)
	}
	slices.Sort(values)
	return percentileInterval(f.Rows(epsilon), values, f.confidence)
}

// fitCurve regresses e^(ε−ε̄) on e^(−ε̄) and e^(−ε̄)/n: the weighted problem in a form that
// does not overflow.
func fitCurve(runs []SizeRuns) (curve SizeCurve, floored bool) {
	var uu, uv, vv, uy, vy float64
	for _, r := range runs {
		mean := stat.Mean(r.Epsilons, nil)
		u := math.Exp(-mean)
		v := u / r.Rows
		for _, epsilon := range r.Epsilons {
			y := math.Exp(epsilon - mean)
			uu, uv, vv = uu+u*u, uv+u*v, vv+v*v
			uy, vy = uy+u*y, vy+v*y
		}
	}
	determinant := uu*vv - uv*uv
	curve = SizeCurve{(uy*vv - vy*uv) / determinant, (vy*uu - uy*uv) / determinant}
	if !(curve.Alpha >= 1) { // NaN too: then β alone is fitted
		floored = true
		curve = SizeCurve{1, (vy - uv) / vv}
	}
	curve.Beta = max(curve.Beta, 0) // a bootstrap replicate may see no fall
	return curve, floored
}

// resample fills out with draws from sample, with replacement, each stretched away
// from the mean by √(R/(R−1)): draws from R values have a variance that is too small
// by (R−1)/R.
func resample(out, sample []float64, rng *rand.Rand) {
	mean, stretch := stat.Mean(sample, nil), bootstrapStretch(len(sample))
	for i := range out {
		out[i] = mean + stretch*(sample[rng.IntN(len(sample))]-mean)
	}
}

func bootstrapStretch(n int) float64 { return math.Sqrt(float64(n) / float64(n-1)) }
