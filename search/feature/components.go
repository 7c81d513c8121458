package feature

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Moments are second moments Σ xxᵀ of rows, exact or released with noise.
type Moments struct {
	// Matrix is Features×Features, row-major and symmetric.
	Features int
	Matrix   []float64
	// StdDev is the deviation s of the noise on the diagonal, s/√2 off it; 0 for none.
	StdDev float64
}

// SpectralNoise is the size that an eigenvalue of the noise alone reaches:
//
//	√(2m)·s·(1 + m^(−2/3))
//
// for m features. √(2m)·s is the edge of the semicircle law for entries of deviation
// s/√2; the rest is what the largest of finitely many eigenvalues adds in all but about
// a hundredth of cases (Tracy and Widom, Commun. Math. Phys. 177 (1996): the edge times
// 1 + X/(2m^⅔), X <= 2.02 in 99 of 100). It depends on public numbers only.
func SpectralNoise(features int, stdDev float64) float64 {
	m := float64(features)
	return math.Sqrt(2*m) * stdDev * (1 + math.Pow(m, -2.0/3))
}

// MostComponents is how many eigenvalues can at most lie above noise, whatever the rows
// are: rows of norm at most bound have eigenvalues >= 0 that add up to rows·bound² at
// most, so the K-th is at most rows·bound²/K. Real spectra fall, and a tenth of it is
// more likely. +Inf without noise.
func MostComponents(rows, bound, noise float64) float64 {
	return math.Floor(rows * bound * bound / noise)
}

// Components are principal directions: Vectors is Features×Count, row-major, with
// columns of norm 1 by falling eigenvalue, each with its largest entry above 0. The
// first Kept of them stand out of the noise; the columns of the others are zero.
type Components struct {
	Count, Kept int
	Vectors     []float32
	// Values are the eigenvalues of the Kept ones, noise included.
	Values []float64
}

// PrincipalComponents returns the directions of the count largest eigenvalues, without
// those that the noise alone may reach (SpectralNoise). An eigenvalue λ of the exact
// moments shows at λ + m·s²/2λ and its direction keeps 1 − m·s²/2λ² of its square
// (Benaych-Georges and Nadakuditi, Adv. Math. 227 (2011), Sec. 3.1): one that shows just
// above the edge is all noise, at 5/4 of the edge a quarter of it is lost.
//
// It is post-processing. Errors: counts outside 1 to Features, moments that are not
// finite. It takes about 4·count·Features² operations.
func PrincipalComponents(m Moments, count int) (*Components, error) {
	d := m.Features
	switch {
	case count < 1 || count > d:
		return nil, fmt.Errorf("%d components of %d features", count, d)
	case len(m.Matrix) != d*d:
		return nil, fmt.Errorf("%d moments of %d features", len(m.Matrix), d)
	case math.IsNaN(floats.Sum(m.Matrix)) || math.IsInf(floats.Norm(m.Matrix, math.Inf(1)), 0):
		return nil, errors.New("second moments that are not finite")
	}
	values, vectors, err := largest(m.Matrix, d, count)
	if err != nil {
		return nil, err
	}
	c := &Components{Count: count, Vectors: make([]float32, d*count)}
	for k, noise := 0, SpectralNoise(d, m.StdDev); k < count && values[k] > noise; k++ {
		c.Kept++
		c.Values = append(c.Values, values[k])
		v, top := vectors[k], 0.0
		for _, x := range v {
			if math.Abs(x) > math.Abs(top) {
				top = x
			}
		}
		for i, x := range v {
			c.Vectors[i*count+k] = float32(math.Copysign(1, top) * x)
		}
	}
	return c, nil
}

// spareSteps are Lanczos steps beyond two for each eigenvector. Directions that stand
// out of a bulk of eigenvalues by a hundredth are exact to rounding with them.
const spareSteps = 100

// largest returns the count largest eigenvalues of a symmetric matrix and their
// vectors, by the Lanczos process with full orthogonalization (Golub and Van Loan,
// Matrix Computations, Sec. 10.3): EigenSym of all of them takes minutes from a few
// thousand features on.
func largest(matrix []float64, d, count int) (values []float64, vectors [][]float64, err error) {
	steps := min(d, 2*count+spareSteps)
	symmetric := mat.NewSymDense(d, matrix)
	rng := rand.New(rand.NewPCG(1, uint64(d))) // where it starts is of no consequence
	tridiagonal := mat.NewSymDense(steps, nil)
	var basis [][]float64
	next := make([]float64, d)
	size := 0.0
	for j := range steps {
		// A direction that is used up goes on with a fresh one, so that eigenvalues of
		// higher multiplicity are found.
		for tries := 0; size == 0; tries++ {
			if tries == 10 {
				return nil, nil, errors.New("the eigenvectors of the second moments were not found")
			}
			for i := range next {
				next[i] = rng.NormFloat64()
			}
			if size = orthogonal(next, basis); j > 0 {
				tridiagonal.SetSym(j-1, j, 0)
			}
		}
		floats.Scale(1/size, next)
		basis = append(basis, next)
		next = make([]float64, d)
		mat.NewVecDense(d, next).MulVec(symmetric, mat.NewVecDense(d, basis[j]))
		tridiagonal.SetSym(j, j, floats.Dot(next, basis[j]))
		scale := floats.Norm(next, 2)
		if size = orthogonal(next, basis); size <= scale*1e-12 {
			size = 0
		}
		if j+1 < steps {
			tridiagonal.SetSym(j, j+1, size)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(tridiagonal, true) {
		return nil, nil, errors.New("the eigenvectors of the second moments were not found")
	}
	var small mat.Dense
	eigen.VectorsTo(&small)
	ascending := eigen.Values(nil)
	for k := range count {
		column, v := steps-1-k, make([]float64, d)
		for j, b := range basis {
			floats.AddScaled(v, small.At(j, column), b)
		}
		floats.Scale(1/floats.Norm(v, 2), v)
		values, vectors = append(values, ascending[column]), append(vectors, v)
	}
	return values, vectors, nil
}

// orthogonal takes off x what lies in the span of basis and returns the norm of the
// rest. The second pass takes off what rounding left.
func orthogonal(x []float64, basis [][]float64) float64 {
	for range 2 {
		for _, b := range basis {
			floats.AddScaled(x, -floats.Dot(x, b), b)
		}
	}
	return floats.Norm(x, 2)
}
