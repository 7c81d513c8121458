package release

import (
	"context"
	"math"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
)

// Covariance releases the second moments of a scope's rows (Dwork, Talwar, Thakurta
// and Zhang, "Analyze Gauss", STOC 2014):
//
//	M = Σ_i x_i x_iᵀ + E
//
// x_i is a row's vector minus Centre, scaled down to norm R = Norm if it is longer. E is symmetric,
// of standard deviation s = NoiseMultiplier·Δ on the diagonal and s/√2 off it. A row adds xxᵀ of
// Frobenius norm at most R², so with up to k rows per unit the L2 sensitivity Δ is k·R², and
// √2·k·R² under ReplaceOne; sum.Moments has both arguments, and shows why less noise suffices off
// the diagonal.
type Covariance struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Features is the length of a row's vector, Norm the bound on its L2 norm.
	Features int
	Norm     float64
	// Row fills x, Features zeros, with a vector computed from a row's cells; if Row is nil, the dense
	// input is the vector. A vector that is not finite leaves the row out.
	Row func(x, cells []float64)
	// Centre, if not nil, is subtracted from every vector before it is scaled. It is public, or was
	// released before, such as an InputMean.
	Centre []float64
}

// SecondMoments is the release of a Covariance.
type SecondMoments struct {
	Features int
	// Matrix is Features×Features, row-major and symmetric. Noise may give it negative
	// eigenvalues.
	Matrix []float64
	// StdDev is the standard deviation of the noise on the diagonal, StdDev/√2 off it; 0 for a public
	// data set.
	StdDev float64
}

// SpectralNoise returns √(2·Features)·StdDev, the limit of the noise's spectral norm for many
// features: an eigenvalue below it may be noise alone.
func (m *SecondMoments) SpectralNoise() float64 { return m.StdDev * math.Sqrt(2*float64(m.Features)) }

// Event returns the cost of Release.
func (c Covariance) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: c.NoiseMultiplier} }

// StdDev returns the standard deviation s of the noise on the diagonal, which is public. It is
// +Inf, with an error, for a relation without a bound.
func (c Covariance) StdDev(relation dp.Relation, rowsPerUnit int) (float64, error) {
	s, err := c.moments().StdDev(relation, rowsPerUnit)
	return s * c.Norm * c.Norm, err
}

func (c Covariance) moments() sum.Moments {
	return sum.Moments{Scope: c.Scope, Event: dp.Gaussian{NoiseMultiplier: c.NoiseMultiplier}, Groups: 1, Features: c.Features, Norm: c.Norm,
		Products: true, Row: sum.OneGroup(c.Row), Centre: c.Centre}
}

// Release returns the noisy second moments.
func (c Covariance) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (*SecondMoments, error) {
	sums, err := c.moments().Release(ctx, permit, rows)
	if err != nil {
		return nil, err
	}
	std, err := c.StdDev(permit.Relation(), permit.MaxRows())
	if err != nil {
		return nil, err
	}
	return &SecondMoments{Features: c.Features, Matrix: sums.Products, StdDev: std}, nil
}

// Public returns the exact second moments of a public data set, and an error for any other.
func (c Covariance) Public(ctx context.Context, rows *sealed.Rows) (*SecondMoments, error) {
	sums, err := c.moments().Public(ctx, rows)
	if err != nil {
		return nil, err
	}
	return &SecondMoments{Features: c.Features, Matrix: sums.Products}, nil
}
