package theory

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is an estimate with a confidence interval.
type Interval struct{ Estimate, Lower, Upper float64 }

// MeanInterval is the mean of a sample with Student's interval,
//
//	x̄ ± t_{R−1} · S/√R,
//
// exact for normal samples, close for others of a dozen or more values. It needs
// two values or more, all finite, and a confidence inside (0, 1). Equal values give
// an interval of no width.
func MeanInterval(sample []float64, confidence float64) (Interval, error) {
	if err := checkSample(sample, 2); err != nil {
		return Interval{}, err
	}
	if err := CheckConfidence(confidence); err != nil {
		return Interval{}, err
	}
	mean, deviation := stat.MeanStdDev(sample, nil)
	half := studentQuantile(float64(len(sample)-1), confidence) * deviation / math.Sqrt(float64(len(sample)))
	return Interval{mean, mean - half, mean + half}, nil
}

// PairedInterval is the mean of a[i] − b[i] with Student's interval: the comparison
// of two methods that met the same seeds. Both samples have one length.
func PairedInterval(a, b []float64, confidence float64) (Interval, error) {
	if len(a) != len(b) {
		return Interval{}, fmt.Errorf("%w: %d and %d paired values", ErrInput, len(a), len(b))
	}
	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = a[i] - b[i]
	}
	return MeanInterval(differences, confidence)
}

// UnpairedInterval is mean(a) − mean(b) with Welch's interval: degrees of freedom
//
//	(u+v)² / (u²/(R−1) + v²/(S−1)),   u = var(a)/R, v = var(b)/S.
//
// Each sample needs two values. No spread in both gives an interval of no width.
func UnpairedInterval(a, b []float64, confidence float64) (Interval, error) {
	for _, sample := range [][]float64{a, b} {
		if err := checkSample(sample, 2); err != nil {
			return Interval{}, err
		}
	}
	if err := CheckConfidence(confidence); err != nil {
		return Interval{}, err
	}
	r, s := float64(len(a)), float64(len(b))
	meanA, varA := stat.MeanVariance(a, nil)
	meanB, varB := stat.MeanVariance(b, nil)
	u, v := varA/r, varB/s
	mean := meanA - meanB
	if u+v == 0 {
		return Interval{mean, mean, mean}, nil
	}
	freedom := (u + v) * (u + v) / (u*u/(r-1) + v*v/(s-1))
	half := studentQuantile(freedom, confidence) * math.Sqrt(u+v)
	return Interval{mean, mean - half, mean + half}, nil
}

// studentQuantile is the two-sided quantile of Student's t.
func studentQuantile(freedom, confidence float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile((1 + confidence) / 2)
}

// percentileInterval reads an interval off sorted bootstrap values. It picks values
// and never averages them, because 0 and +Inf are answers here.
func percentileInterval(estimate float64, sorted []float64, confidence float64) Interval {
	tail := (1 - confidence) / 2
	return Interval{
		estimate,
		stat.Quantile(tail, stat.Empirical, sorted, nil),
		stat.Quantile(1-tail, stat.Empirical, sorted, nil),
	}
}

func checkSample(sample []float64, least int) error {
	if len(sample) < least {
		return fmt.Errorf("%w: %d values, need at least %d", ErrInput, len(sample), least)
	}
	for i, x := range sample {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: value %d is not finite", ErrInput, i)
		}
	}
	return nil
}

// CheckConfidence refuses what does not lie inside (0, 1), with ErrInput.
func CheckConfidence(confidence float64) error {
	if !(confidence > 0 && confidence < 1) {
		return fmt.Errorf("%w: confidence must lie inside (0, 1)", ErrInput)
	}
	return nil
}

// positive reports whether x is a finite number above zero.
func positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// CostOfPrivacy estimates the cost from errors measured over runs, with Welch's
// interval: private and plain runs are not paired, and may differ in number.
func CostOfPrivacy(private, plain []float64, confidence float64) (Interval, error) {
	return UnpairedInterval(private, plain, confidence)
}
