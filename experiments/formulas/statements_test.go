package formulas

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"pawl/evidence/theory"
)

// Statements of the papers that no replay computes and tests hold against what replays do.

// Grid is a study of every count, ε and ranking, with noise of one calibration.
type Grid struct {
	SelectionStudy
	Data         Synthetic
	Counts       []int
	Epsilons     []float64
	Rankings     []Ranking
	Calibration  Calibration
	NoisyQueries bool
}

// PublishedGrid has the settings of [D] Sec. 4.1, with 100 replicates.
func PublishedGrid() Grid {
	return Grid{
		SelectionStudy: PublishedSelectionStudy(), Data: Synthetic{SparseMixture(), 30},
		Counts: []int{20}, Epsilons: []float64{1, 2, 3, 4, 5, 6, 8, 10}, Rankings: []Ranking{Distance, TStatistic}, Calibration: Published,
	}
}

// Outcome is one arm over all replicates, in their order.
type Outcome struct {
	Arm
	Errors []float64
}

// Outcomes are a study's results.
type Outcomes struct {
	Study Grid
	All   []Outcome
}

// Run runs the study.
func (g Grid) Run(ctx context.Context) (*Outcomes, error) {
	s := g.SelectionStudy
	s.Data = g.Data
	for _, epsilon := range g.Epsilons {
		for _, ranking := range g.Rankings {
			for _, count := range g.Counts {
				s.Arms = append(s.Arms, Arm{ranking, count, epsilon, g.Calibration, g.NoisyQueries})
			}
		}
	}
	errors, err := s.Run(ctx)
	if err != nil {
		return nil, err
	}
	out := &Outcomes{Study: g}
	for i, a := range s.Arms {
		out.All = append(out.All, Outcome{a, errors[i*s.Replicates:][:s.Replicates]})
	}
	return out, nil
}

// Find returns one arm's outcome.
func (o *Outcomes) Find(ranking Ranking, count int, epsilon float64) (Outcome, error) {
	for _, x := range o.All {
		if x.Ranking == ranking && x.Count == count && x.Epsilon == epsilon {
			return x, nil
		}
	}
	return Outcome{}, fmt.Errorf("%w: the study has no arm %s of %d features at ε %v", theory.ErrInput, ranking, count, epsilon)
}

// Difference compares two rankings at one ε.
type Difference struct {
	Epsilon       float64
	First, Second float64         // mean errors
	Difference    theory.Interval // first − second, paired by replicate, simultaneous over ε
}

// Claim is the statement that the first ranking's error lies below the second's at
// every ε of the study.
type Claim struct {
	First, Second Ranking
	Count         int
	Confidence    float64 // of all intervals together
	Points        []Difference
	Verdict       Verdict
}

// Verdict is what a set of simultaneous intervals says about a claim.
type Verdict string

const (
	Holds   Verdict = "holds"   // every interval lies below zero
	Refuted Verdict = "refuted" // some interval lies above zero
	Open    Verdict = "open"    // neither
)

// Below tests “the error of first is below that of second at every ε” with count
// features. Intervals are Student's on paired differences at level 1 − (1−confidence)/E
// for E epsilons (Bonferroni), so that all hold together.
func (o *Outcomes) Below(first, second Ranking, count int, confidence float64) (Claim, error) {
	if err := theory.CheckConfidence(confidence); err != nil {
		return Claim{}, err
	}
	c := Claim{First: first, Second: second, Count: count, Confidence: confidence, Verdict: Holds}
	each := 1 - (1-confidence)/float64(len(o.Study.Epsilons))
	for _, epsilon := range o.Study.Epsilons {
		a, err := o.Find(first, count, epsilon)
		if err != nil {
			return Claim{}, err
		}
		b, err := o.Find(second, count, epsilon)
		if err != nil {
			return Claim{}, err
		}
		d := Difference{Epsilon: epsilon}
		if d.Difference, err = theory.PairedInterval(a.Errors, b.Errors, each); err != nil {
			return Claim{}, err
		}
		for i := range a.Errors {
			d.First += a.Errors[i] / float64(len(a.Errors))
			d.Second += b.Errors[i] / float64(len(b.Errors))
		}
		switch {
		case d.Difference.Lower > 0:
			c.Verdict = Refuted
		case !(d.Difference.Upper < 0) && c.Verdict == Holds:
			c.Verdict = Open
		}
		c.Points = append(c.Points, d)
	}
	return c, nil
}

// OutputNoise is isotropic Gaussian noise on a vector of Parameters numbers, each of
// standard deviation StdDev (in units of the parameters): output perturbation, [B]
// Eq. (3).
type OutputNoise struct {
	Parameters int
	StdDev     float64
}

// ExpectedSquaredNorm is E‖z‖² = m·σ². The law of ‖z‖²/σ² is the central χ² with m
// degrees of freedom. m = 0 and σ = 0 give 0.
func (n OutputNoise) ExpectedSquaredNorm() float64 {
	return float64(n.Parameters) * n.StdDev * n.StdDev
}

// ExpectedNorm is E‖z‖ = σ·√2·Γ((m+1)/2)/Γ(m/2), the mean of a central χ; it lies
// between σ√(m−1/2) and σ√m. m = 0 gives 0.
func (n OutputNoise) ExpectedNorm() float64 {
	if n.Parameters == 0 {
		return 0
	}
	m := float64(n.Parameters)
	above, _ := math.Lgamma((m + 1) / 2)
	below, _ := math.Lgamma(m / 2)
	return n.StdDev * math.Sqrt2 * math.Exp(above-below)
}

// SquaredNormQuantile is the value that ‖z‖² stays below with probability p.
func (n OutputNoise) SquaredNormQuantile(p float64) float64 {
	if n.Parameters == 0 || n.StdDev == 0 {
		return 0
	}
	return n.StdDev * n.StdDev * distuv.ChiSquared{K: float64(n.Parameters)}.Quantile(p)
}

// ClassicNoiseMultiplier is √(2 ln(1.25/δ))/ε, as [B] Eq. (3) has it for every ε.
// Its proof needs ε < 1; TrueDelta says what it gives beyond.
func (b Budget) ClassicNoiseMultiplier() float64 {
	return math.Sqrt(2*math.Log(1.25/b.Delta)) / b.Epsilon
}

// DropOnData is the rule averaged over rows, which is what a choice of features
// needs: dropping helps exactly when
//
//	mean(2·c·θ_m·x_m + θ_m²·x_m²) <= mean(a² − b²).
//
// At the least-squares optimum residuals are orthogonal to every feature, CrossTerm
// is 0 and the rule reads |θ_m|·√mean(x_m²) <= √mean(a²−b²); with σ = σ′ that is
// again |θ_m| <= σ.
type DropOnData struct {
	Full, Dropped float64 // mean expected squared errors
	CrossTerm     float64 // mean of 2·c·θ_m·x_m
	EffectSquared float64 // mean of θ_m²·x_m²
	NoiseSaved    float64 // mean of a² − b²
}

// Helps is the exact rule on the data.
func (d DropOnData) Helps() bool { return d.CrossTerm+d.EffectSquared <= d.NoiseSaved }

// HelpsAtLeastSquares leaves the cross term out.
func (d DropOnData) HelpsAtLeastSquares() bool { return d.EffectSquared <= d.NoiseSaved }

// OnData averages over rows.
func (m LinearModel) OnData(rows [][]float64, targets []float64) (DropOnData, error) {
	if err := m.check(rows, targets); err != nil {
		return DropOnData{}, err
	}
	var sum DropOnData
	for i, x := range rows {
		p := m.at(x, targets[i])
		sum.Full += p.Full
		sum.Dropped += p.Dropped
		sum.CrossTerm += 2 * p.Residual * p.Effect
		sum.EffectSquared += p.Effect * p.Effect
		sum.NoiseSaved += p.NoiseSaved
	}
	n := float64(len(rows))
	return DropOnData{sum.Full / n, sum.Dropped / n, sum.CrossTerm / n, sum.EffectSquared / n, sum.NoiseSaved / n}, nil
}

// Range is the interval of effects θ_m·x_m inside which dropping helps; ok is false
// where there is none.
func (d DropAtPoint) Range() (low, high float64, ok bool) {
	square := d.Residual*d.Residual + d.NoiseSaved
	if square < 0 {
		return math.NaN(), math.NaN(), false
	}
	root := math.Sqrt(square)
	return -root - d.Residual, root - d.Residual, true
}

// PrintedPsi is Ψ of class 0 with the denominator of our copy, √(α̂ᵀ Σ̂⁻¹ α̂). It is close
// to Psi where queries carry the noise of the training rows, and too small where
// they do not: by a factor near √((σ²+s²)/σ²).
func (f *Fisher) PrintedPsi(p *Population) float64 {
	shift, square := 0.0, 0.0
	for j, w := range f.Weights {
		shift += (p.Mean[0][j] - f.Center[j]) * w
		square += w * f.Difference[j]
	}
	if shift == 0 {
		return 0
	}
	return shift / math.Sqrt(square)
}

// GammaLimit is the limit 1/τ² = (ε/ln(1/δ))² of [D] Eq. (11), above Γ whenever noise
// is calibrated as published and some pair of rows is as far apart as the means.
func GammaLimit(b Budget) float64 { m := b.MixtureNoiseMultiplier(); return 1 / (m * m) }

// BetaFor is the β with which the curve passes through (n, ε) at this α.
func BetaFor(c theory.SizeCurve, rows, epsilon float64) float64 {
	return rows * (math.Exp(epsilon) - c.Alpha)
}

// Errors are the generalization errors of one architecture, trained with privacy
// at some (ε, δ) and without.
type Errors struct{ Private, Plain float64 }

// Cost is the cost of privacy
//
//	cost(ε, h) = err_ε(h) − err(h)
//
// ([B] Eq. (2)). It can be negative: noise and clipping regularize.
func (e Errors) Cost() float64 { return e.Private - e.Plain }

// SimplerWins is the comparison rule of [B] Eq. (4) for a simple model h1 and a
// complex model h2:
//
//	cost(ε, h1) < cost(ε, h2) − [err(h1) − err(h2)].
//
// The plain errors cancel, so it says err_ε(h1) < err_ε(h2) and is computed as
// that: the difference form can turn an equality by rounding. Ties and NaN go to h2.
func SimplerWins(h1, h2 Errors) bool { return h1.Private < h2.Private }
