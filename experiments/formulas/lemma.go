package formulas

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"pawl/evidence/theory"
)

// LinearModel is a linear model under output perturbation, with one feature that
// might be left out: θ̃ = θ + N(0, σ²I), against θ̃′, which has no coefficient at
// Feature and noise of standard deviation σ′ on the others ([B] Sec. III-B). The
// other coefficients are not fitted again.
type LinearModel struct {
	Coefficients  []float64 // θ
	Feature       int       // m, from 0
	StdDev        float64   // σ, all features
	StdDevDropped float64   // σ′, one feature fewer
}

func (m LinearModel) check(rows [][]float64, targets []float64) error {
	switch {
	case m.Feature < 0 || m.Feature >= len(m.Coefficients):
		return fmt.Errorf("%w: no feature %d among %d", theory.ErrInput, m.Feature, len(m.Coefficients))
	case !(m.StdDev >= 0) || !(m.StdDevDropped >= 0):
		return fmt.Errorf("%w: standard deviations must not be negative", theory.ErrInput)
	case len(rows) == 0 || len(rows) != len(targets):
		return fmt.Errorf("%w: %d rows and %d targets", theory.ErrInput, len(rows), len(targets))
	}
	for i, x := range rows {
		if len(x) != len(m.Coefficients) {
			return fmt.Errorf("%w: row %d has %d features, the model has %d", theory.ErrInput, i, len(x), len(m.Coefficients))
		}
	}
	return nil
}

// DropAtPoint is what leaving the feature out does to the expected squared error at
// one point (x, y). With c = y − θ·x, t = θ_m·x_m, a = σ‖x‖ and b = σ′‖x′‖, where x′
// is x without feature m:
//
//	Full = c² + a²,   Dropped = (c + t)² + b²
//
// ([B] Eq. (10), with c² where our copy has c).
type DropAtPoint struct {
	Residual      float64 // c
	Effect        float64 // t = θ_m·x_m
	NoiseSaved    float64 // a² − b²
	Full, Dropped float64 // expected squared errors
}

// AtPoint evaluates both models at one point.
func (m LinearModel) AtPoint(x []float64, y float64) (DropAtPoint, error) {
	if err := m.check([][]float64{x}, []float64{y}); err != nil {
		return DropAtPoint{}, err
	}
	return m.at(x, y), nil
}

func (m LinearModel) at(x []float64, y float64) DropAtPoint {
	c := y - floats.Dot(m.Coefficients, x)
	t := m.Coefficients[m.Feature] * x[m.Feature]
	squared := floats.Dot(x, x)
	a2 := m.StdDev * m.StdDev * squared
	b2 := 0.0
	for i, v := range x {
		if i != m.Feature {
			b2 += v * v
		}
	}
	b2 *= m.StdDevDropped * m.StdDevDropped
	return DropAtPoint{c, t, a2 - b2, c*c + a2, (c+t)*(c+t) + b2}
}

// Helps is the exact rule: dropping does not raise the expected error, Dropped <=
// Full, which is
//
//	−√(c²+a²−b²) − c  <=  θ_m·x_m  <=  √(c²+a²−b²) − c.
//
// With c²+a²−b² < 0 (possible when σ′ > σ) it never does.
func (d DropAtPoint) Helps() bool { return d.Dropped <= d.Full }

// PrintedRuleHolds is the condition of Lemma 1 of [B],
//
//	|θ_m| <= (√(c²+a²−b²) − |c|)/|x_m|,
//
// multiplied by |x_m|. It implies Helps. The converse, which our copy states too,
// holds only where c and the effect do not have opposite signs: otherwise the
// feature makes the error larger even without noise, and dropping it helps up to
// √(c²+a²−b²) + |c|.
func (d DropAtPoint) PrintedRuleHolds() bool {
	square := d.Residual*d.Residual + d.NoiseSaved
	return square >= 0 && math.Abs(d.Effect) <= math.Sqrt(square)-math.Abs(d.Residual)
}

// CorollaryHolds is Corollary 1 of [B]: at a point without error (c = 0, x_m ≠ 0)
// and with σ = σ′, dropping helps exactly when |θ_m| <= σ.
func (m LinearModel) CorollaryHolds() bool {
	return math.Abs(m.Coefficients[m.Feature]) <= m.StdDev
}

// Simulated is a pair of mean squared errors with their standard errors.
type Simulated struct{ Full, Dropped, FullStdErr, DroppedStdErr float64 }

// Simulate draws the noise of both models and measures what AtPoint computes. The
// common coordinates of the two models share their standard normals.
func (m LinearModel) Simulate(x []float64, y float64, draws int, rng *rand.Rand) (Simulated, error) {
	if err := m.check([][]float64{x}, []float64{y}); err != nil {
		return Simulated{}, err
	}
	if draws < 2 {
		return Simulated{}, fmt.Errorf("%w: %d draws, need at least 2", theory.ErrInput, draws)
	}
	full, dropped := make([]float64, draws), make([]float64, draws)
	for i := range draws {
		f, d := y, y
		for j, v := range x {
			z := rng.NormFloat64()
			f -= (m.Coefficients[j] + m.StdDev*z) * v
			if j != m.Feature {
				d -= (m.Coefficients[j] + m.StdDevDropped*z) * v
			}
		}
		full[i], dropped[i] = f*f, d*d
	}
	var s Simulated
	s.Full, s.FullStdErr = meanStdErr(full)
	s.Dropped, s.DroppedStdErr = meanStdErr(dropped)
	return s, nil
}

func meanStdErr(sample []float64) (mean, standardError float64) {
	mean, deviation := stat.MeanStdDev(sample, nil)
	return mean, deviation / math.Sqrt(float64(len(sample)))
}
