package formulas

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/evidence/theory"
)

// Population is a mixture of two Gaussian classes with independent features:
// x | class k ~ N(Mean[k], diag(Variance[k])) ([D] Definition 3, before noise). Class
// C1 of the paper is index 0.
type Population struct{ Mean, Variance [2][]float64 }

// Features is the dimension p.
func (p *Population) Features() int { return len(p.Mean[0]) }

// Rows draws count rows of each class.
func (p *Population) Rows(count int, rng *rand.Rand) [2][][]float64 {
	var rows [2][][]float64
	for k := range rows {
		rows[k] = make([][]float64, count)
		for i := range rows[k] {
			x := make([]float64, p.Features())
			for j := range x {
				x[j] = p.Mean[k][j] + math.Sqrt(p.Variance[k][j])*rng.NormFloat64()
			}
			rows[k][i] = x
		}
	}
	return rows
}

// Mixture is the law of populations in the synthetic study of [D] Sec. 4.1: means 0
// in the first class; in the second, independently for each feature,
//
//	(1 − NonzeroShare)·δ₀ + NonzeroShare·Laplace(LaplaceScale);
//
// variances exponential with mean MeanVariance, drawn for each class separately.
type Mixture struct {
	Features     int
	NonzeroShare float64
	LaplaceScale float64
	MeanVariance float64
}

// SparseMixture is the reading that we use by default. Our copy of [D] has
// (1−c)δ₀ + ½c·exp(−2|x|) with c = 0.88, which has mass 0.56. Read as a Laplace law of
// scale ½ with weight c it is a density, but 88 % of the means differ, while the text
// wants sparse ones; this reading gives the weight 0.88 to zero. Variances are
// exp(0.1) in our copy: we take 0.1 for the rate, so the mean is 10.
func SparseMixture() Mixture {
	return Mixture{Features: 3000, NonzeroShare: .12, LaplaceScale: .5, MeanVariance: 10}
}

// DenseMixture is the other reading of the weight: 88 % of the means differ.
func DenseMixture() Mixture {
	m := SparseMixture()
	m.NonzeroShare = .88
	return m
}

func (m Mixture) check() error {
	switch {
	case m.Features < 1:
		return fmt.Errorf("%w: %d features", theory.ErrInput, m.Features)
	case !(m.NonzeroShare >= 0 && m.NonzeroShare <= 1):
		return fmt.Errorf("%w: share of nonzero means must lie in [0, 1]", theory.ErrInput)
	case !positive(m.LaplaceScale) || !positive(m.MeanVariance):
		return fmt.Errorf("%w: Laplace scale and mean variance must be positive", theory.ErrInput)
	}
	return nil
}

// Draw draws a population.
func (m Mixture) Draw(rng *rand.Rand) (*Population, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	p := new(Population)
	for k := range p.Mean {
		p.Mean[k], p.Variance[k] = make([]float64, m.Features), make([]float64, m.Features)
	}
	for j := range m.Features {
		// The uniform and the exponential are drawn whether they are used or not, so
		// that populations of two shares are coupled.
		u, size, sign := rng.Float64(), rng.ExpFloat64(), 1-2*float64(rng.IntN(2))
		if u < m.NonzeroShare {
			p.Mean[1][j] = sign * m.LaplaceScale * size
		}
		for k := range p.Variance {
			p.Variance[k][j] = m.MeanVariance * rng.ExpFloat64()
		}
	}
	return p, nil
}

// AddNoise returns rows with independent N(0, stdDev²) on every entry: the private
// mixture of [D] Eq. (4).
func AddNoise(rows [2][][]float64, stdDev float64, rng *rand.Rand) [2][][]float64 {
	return Each(rows, func(v float64) float64 { return v + stdDev*rng.NormFloat64() })
}

// Each is a copy of the rows, each entry changed, in their order.
func Each(rows [2][][]float64, entry func(v float64) float64) (out [2][][]float64) {
	for k := range rows {
		out[k] = make([][]float64, len(rows[k]))
		for i, x := range rows[k] {
			z := make([]float64, len(x))
			for j, v := range x {
				z[j] = entry(v)
			}
			out[k][i] = z
		}
	}
	return out
}

// Calibration says how much noise hides a row whose norm is bounded by the largest
// norm among the rows. That maximum is a fact about the rows, so none of these is a
// guarantee: they are compared in simulations only.
type Calibration string

const (
	// Published is [D] Eq. (4): standard deviation 2·C·ln(1/δ)/ε, C the largest L1 norm.
	Published Calibration = "published"
	// PublishedAsVariance takes the second argument of [D] Algorithm 1, line 7, for a
	// variance: √(2·C·ln(1/δ)/ε). Too little noise for (ε, δ) as soon as C is above a
	// few units.
	PublishedAsVariance Calibration = "published-as-variance"
	// Analytic is the analytic Gaussian with L2 sensitivity 2·C, C the largest L2
	// norm: one row replaced by another.
	Analytic Calibration = "analytic"
)

// Norms are the largest norms among some rows.
type Norms struct{ L1, L2 float64 }

// StdDev is the standard deviation of the noise on each entry. ε = +Inf gives 0.
func (c Calibration) StdDev(n Norms, b Budget) (float64, error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	switch c {
	case Published:
		return 2 * n.L1 * b.MixtureNoiseMultiplier(), nil
	case PublishedAsVariance:
		return math.Sqrt(2 * n.L1 * b.MixtureNoiseMultiplier()), nil
	case Analytic:
		multiplier, err := b.AnalyticNoiseMultiplier()
		return 2 * n.L2 * multiplier, err
	}
	return 0, fmt.Errorf("%w: unknown calibration %q", theory.ErrInput, string(c))
}

// MaxNorms returns the largest norms among rows of both classes; C_p of [D] Eq. (4)
// is L1.
func MaxNorms(rows [2][][]float64) Norms {
	all := Identity(len(rows[0][0]))
	return normsByCount(rows, all)[len(all)-1]
}
