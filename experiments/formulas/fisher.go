package formulas

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"pawl/evidence/theory"
)

// Fisher is the Fisher classifier with a diagonal pooled covariance ([D] Definition
// 4): x goes to class 0 where Σ_j (x_j − Center_j)·Weights_j > 0, with
//
//	Center = (μ̂_1 + μ̂_2)/2,   Weights = Σ̂⁻¹(μ̂_1 − μ̂_2),   Σ̂ = diag((S²_1j + S²_2j)/2),
//
// and sample variances with divisor n_k − 1.
type Fisher struct {
	Center, Weights []float64
	Difference      []float64 // μ̂_1 − μ̂_2
}

// TrainFisher estimates the classifier from rows, noisy or not. Each class needs two
// rows. A feature that is constant in both classes is refused, unless the two means
// agree: then its weight is 0.
func TrainFisher(rows [2][][]float64) (*Fisher, error) {
	m, err := momentsOf(rows, [2][][]float64{})
	if err != nil {
		return nil, err
	}
	return m.fisher(Identity(len(m.mean[0])), 0)
}

// moments are the sums of squares of rows x and of unit noise z, by class and
// feature: mean and variance of x + s·z follow for every s without another pass.
type moments struct {
	count                                  int
	mean, variance                         [2][]float64 // of x
	noiseMean, noiseVariance, noiseProduct [2][]float64 // of z; product is the covariance of x and z
}

func momentsOf(rows, noise [2][][]float64) (*moments, error) {
	n := len(rows[0])
	if n < 2 || len(rows[1]) != n {
		return nil, fmt.Errorf("%w: %d and %d rows, need two classes of one size, at least 2", theory.ErrInput, n, len(rows[1]))
	}
	p := len(rows[0][0])
	m := &moments{count: n}
	for k := range rows {
		m.mean[k], m.variance[k] = make([]float64, p), make([]float64, p)
		m.noiseMean[k], m.noiseVariance[k], m.noiseProduct[k] = make([]float64, p), make([]float64, p), make([]float64, p)
		for _, x := range rows[k] {
			if len(x) != p {
				return nil, fmt.Errorf("%w: rows of %d and %d features", theory.ErrInput, p, len(x))
			}
		}
		average(m.mean[k], rows[k])
		covary(m.variance[k], rows[k], rows[k], m.mean[k], m.mean[k])
		if noise[k] != nil {
			average(m.noiseMean[k], noise[k])
			covary(m.noiseVariance[k], noise[k], noise[k], m.noiseMean[k], m.noiseMean[k])
			covary(m.noiseProduct[k], rows[k], noise[k], m.mean[k], m.noiseMean[k])
		}
	}
	return m, nil
}

func average(mean []float64, rows [][]float64) {
	for _, x := range rows {
		for j, v := range x {
			mean[j] += v
		}
	}
	for j := range mean {
		mean[j] /= float64(len(rows))
	}
}

func covary(out []float64, a, b [][]float64, meanA, meanB []float64) {
	for i := range a {
		for j := range out {
			out[j] += (a[i][j] - meanA[j]) * (b[i][j] - meanB[j])
		}
	}
	for j := range out {
		out[j] /= float64(len(a) - 1)
	}
}

// at returns mean and variance of x + s·z in class k, feature j.
func (m *moments) at(k, j int, s float64) (mean, variance float64) {
	mean = m.mean[k][j] + s*m.noiseMean[k][j]
	variance = m.variance[k][j] + 2*s*m.noiseProduct[k][j] + s*s*m.noiseVariance[k][j]
	return mean, max(variance, 0)
}

func (m *moments) fisher(features []int, s float64) (*Fisher, error) {
	f := &Fisher{make([]float64, len(features)), make([]float64, len(features)), make([]float64, len(features))}
	for i, j := range features {
		mean0, var0 := m.at(0, j, s)
		mean1, var1 := m.at(1, j, s)
		f.Center[i], f.Difference[i] = (mean0+mean1)/2, mean0-mean1
		switch pooled := (var0 + var1) / 2; {
		case pooled > 0:
			f.Weights[i] = f.Difference[i] / pooled
		case mean0 != mean1:
			return nil, fmt.Errorf("%w: feature %d is constant within both classes", theory.ErrInput, j)
		}
	}
	return f, nil
}

// Identity are the numbers from 0 to n−1.
func Identity(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Score is Σ_j (x_j − Center_j)·Weights_j; above zero means class 0.
func (f *Fisher) Score(x []float64) float64 {
	score := 0.0
	for j, v := range x {
		score += (v - f.Center[j]) * f.Weights[j]
	}
	return score
}

// Psi is the signed distance, in standard deviations of the score, by which a query
// of the class is on its right side:
//
//	Ψ_1 = (μ_1 − μ̂)ᵀ Σ̂⁻¹ α̂ / √(α̂ᵀ Σ̂⁻¹ Σ Σ̂⁻¹ α̂),   α̂ = μ̂_1 − μ̂_2,
//
// and with the sign turned for class 1. Our copy of [D] Eq. (8) has Σ̂⁻¹ alone under
// the root (PrintedPsi); the score's variance is the sandwich. queryNoise is the
// standard deviation of noise on the query itself, 0 where it is not noised. A
// classifier without weights gives 0.
func (f *Fisher) Psi(p *Population, class int, queryNoise float64) float64 {
	return f.psi(p, Identity(len(f.Weights)), class, queryNoise)
}

func (f *Fisher) psi(p *Population, features []int, class int, queryNoise float64) float64 {
	shift, variance := 0.0, 0.0
	for i, j := range features {
		w := f.Weights[i]
		shift += (p.Mean[class][j] - f.Center[i]) * w
		variance += w * w * (p.Variance[class][j] + queryNoise*queryNoise)
	}
	if class == 1 {
		shift = -shift
	}
	if shift == 0 {
		return 0
	}
	return shift / math.Sqrt(variance)
}

// Error is the classification error given the training rows, averaged over both
// classes: ½Σ_k (1 − Φ(Ψ_k)). 0.5 is a fair coin, and so is a classifier without
// weights.
func (f *Fisher) Error(p *Population, queryNoise float64) float64 {
	return f.errorOn(p, Identity(len(f.Weights)), queryNoise)
}

func (f *Fisher) errorOn(p *Population, features []int, queryNoise float64) float64 {
	sum := 0.0
	for class := range 2 {
		sum += distuv.UnitNormal.CDF(-f.psi(p, features, class, queryNoise))
	}
	return sum / 2
}
