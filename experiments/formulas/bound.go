package formulas

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"pawl/evidence/theory"
)

// Gamma is the signal that is left under noise, [D] Eq. (10):
//
//	Γ = Σ_j α_j² / (σ_j² + s²),   s the standard deviation of the noise on a row.
//
// Σ_j is the average of both classes' variances, which the theorem takes for equal.
// A feature with α_j = 0 adds 0 even where its variance is 0.
func Gamma(p *Population, noiseStdDev float64) float64 {
	sum := 0.0
	for j := range p.Features() {
		alpha := p.Mean[0][j] - p.Mean[1][j]
		if alpha != 0 {
			sum += alpha * alpha / ((p.Variance[0][j]+p.Variance[1][j])/2 + noiseStdDev*noiseStdDev)
		}
	}
	return sum
}

// MixtureBound is the bound of [D] Theorem 6 on the classification error for queries
// with the noise of the training rows, without its o(1) terms:
//
//	W <= 1 − Φ(Γ / (2√(4p/n + Γ))),   n the rows of both classes together, n_1 = n_2.
//
// It agrees with Fan and Fan, Annals of Statistics 36(6), 2008, Theorem 1, for
// independent features. Without its o(1) terms it can be passed by a little. It is a
// bound from above: that it tends to ½ proves nothing about the error.
type MixtureBound struct {
	Features int     // p
	Rows     int     // n
	Gamma    float64 // Γ
}

// Argument is what Φ is applied to. Γ = 0 gives 0.
func (b MixtureBound) Argument() float64 {
	if b.Gamma == 0 {
		return 0
	}
	return b.Gamma / (2 * math.Sqrt(4*float64(b.Features)/float64(b.Rows)+b.Gamma))
}

// Error is the bound itself, in [0, ½].
func (b MixtureBound) Error() float64 { return distuv.UnitNormal.CDF(-b.Argument()) }

// Slope is the exponent in y ∝ x^slope by least squares on logarithms, with its
// standard error: how fast an argument of Φ decays. At least 3 positive points.
func Slope(xs, ys []float64) (slope, standardError float64, err error) {
	if len(xs) != len(ys) || len(xs) < 3 {
		return 0, 0, fmt.Errorf("%w: %d and %d values for a slope, need 3", theory.ErrInput, len(xs), len(ys))
	}
	logX, logY := make([]float64, len(xs)), make([]float64, len(xs))
	for i := range xs {
		if !positive(xs[i]) || !positive(ys[i]) {
			return 0, 0, fmt.Errorf("%w: point %d of a slope is not positive", theory.ErrInput, i)
		}
		logX[i], logY[i] = math.Log(xs[i]), math.Log(ys[i])
	}
	intercept, slope := stat.LinearRegression(logX, logY, nil, false)
	residual, spread, mean := 0.0, 0.0, stat.Mean(logX, nil)
	for i := range logX {
		e := logY[i] - intercept - slope*logX[i]
		residual += e * e
		spread += (logX[i] - mean) * (logX[i] - mean)
	}
	if spread == 0 {
		return 0, 0, fmt.Errorf("%w: all points of a slope have one abscissa", theory.ErrInput)
	}
	return slope, math.Sqrt(residual / float64(len(xs)-2) / spread), nil
}
