package feature

import (
	"fmt"
	"math"
)

// ClassSums are rows and sums by class, exact or noisy.
type ClassSums struct {
	// Counts[a] is the number of rows of class a.
	Counts []float64
	// Sums[a][j] adds up feature j over class a.
	Sums [][]float64
	// Squares[a][j] adds up its squares; nil where only distances are needed.
	Squares [][]float64
}

func (c *ClassSums) check(classes, features int) error {
	if len(c.Counts) < 2 {
		return ErrOneClass
	}
	if len(c.Counts) != classes || len(c.Sums) != classes || c.Squares != nil && len(c.Squares) != classes {
		return fmt.Errorf("%w: sums of %d classes, %d declared", ErrShape, len(c.Counts), classes)
	}
	occupied := 0
	for a, n := range c.Counts {
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return ErrNotFinite
		}
		if n >= 1 {
			occupied++
		}
		if len(c.Sums[a]) != features || c.Squares != nil && len(c.Squares[a]) != features {
			return fmt.Errorf("%w: sums of %d features, %d declared", ErrShape, len(c.Sums[a]), features)
		}
	}
	if occupied < 2 {
		return ErrOneClass
	}
	return nil
}

// Means returns the mean of every feature in every class. A count below 1, which noise
// may make of a small class, counts as 1.
func (c *ClassSums) Means() [][]float64 {
	means := make([][]float64, len(c.Counts))
	for a, sums := range c.Sums {
		means[a] = make([]float64, len(sums))
		for j, s := range sums {
			means[a][j] = s / max(c.Counts[a], 1)
		}
	}
	return means
}

// variances returns S²_aj = (Q_aj − n·mean²)/(n − 1), at least 0.
func (c *ClassSums) variances(means [][]float64) [][]float64 {
	out := make([][]float64, len(c.Counts))
	for a, squares := range c.Squares {
		n := max(c.Counts[a], 1)
		out[a] = make([]float64, len(squares))
		for j, q := range squares {
			out[a][j] = max((q-n*means[a][j]*means[a][j])/max(n-1, 1), 0)
		}
	}
	return out
}

// Combine says how distances between many classes become one number for a feature. For
// two classes Sum and Max are both |μ̂_1j − μ̂_2j|, the distance criterion of [D] Def. 7.
type Combine string

const (
	Sum     Combine = "sum"     // Σ_{a<b} |μ̂_aj − μ̂_bj|, over all pairs of classes; the default
	Max     Combine = "max"     // the largest of them
	Between Combine = "between" // Σ_a (n_a/n)·(μ̂_aj − μ̂_j)², the variance between classes
)

// Distances returns D_j for every feature. [D]'s rule for many classes stands in an
// appendix that our copy lacks; Sum is our reading.
func (c *ClassSums) Distances(combine Combine) ([]float64, error) {
	if combine == "" {
		combine = Sum
	}
	if combine != Sum && combine != Max && combine != Between {
		return nil, fmt.Errorf("%w: distances are combined by %q, %q or %q, not %q", ErrOption, Sum, Max, Between, string(combine))
	}
	if len(c.Counts) < 2 {
		return nil, ErrOneClass
	}
	means := c.Means()
	out := make([]float64, len(means[0]))
	if combine == Between {
		c.between(out, means)
		return out, nil
	}
	for j := range out {
		for a := range means {
			for b := a + 1; b < len(means); b++ {
				d := math.Abs(means[a][j] - means[b][j])
				if combine == Max {
					out[j] = max(out[j], d)
				} else {
					out[j] += d
				}
			}
		}
	}
	return out, nil
}

func (c *ClassSums) between(out []float64, means [][]float64) {
	total := 0.0
	for _, n := range c.Counts {
		total += max(n, 1)
	}
	for j := range out {
		grand := 0.0
		for a, n := range c.Counts {
			grand += max(n, 1) / total * means[a][j]
		}
		for a, n := range c.Counts {
			out[j] += max(n, 1) / total * (means[a][j] - grand) * (means[a][j] - grand)
		}
	}
}

// TStatistics returns |x̄_aj − x̄_bj| / √(S²_aj/n_a + S²_bj/n_b), [D] Eq. 15; with more
// than two classes the largest over pairs. A feature without spread in both classes has
// +Inf where its means differ, else 0. Under noise on rows the variances grow and the order can
// turn round ([D] Example 1), which Distances do not.
func (c *ClassSums) TStatistics() ([]float64, error) {
	if c.Squares == nil {
		return nil, fmt.Errorf("%w: %s", ErrMissing, NeedClassMoments)
	}
	if len(c.Counts) < 2 {
		return nil, ErrOneClass
	}
	means := c.Means()
	variances := c.variances(means)
	out := make([]float64, len(means[0]))
	for j := range out {
		for a := range means {
			for b := a + 1; b < len(means); b++ {
				d := math.Abs(means[a][j] - means[b][j])
				if d == 0 {
					continue // 0/0 of a constant feature included
				}
				out[j] = max(out[j], d/math.Sqrt(variances[a][j]/max(c.Counts[a], 1)+variances[b][j]/max(c.Counts[b], 1)))
			}
		}
	}
	return out, nil
}

// DistanceThreshold returns y = c·v·n^((γ−1)/2), above which [D] Theorem 8 calls a
// distance real: v bounds the variances, n counts rows, 0 < γ < 1/3, and c > 0 is a
// constant that the theorem leaves open. It is consistent under the theorem's
// assumptions; at a given n it is a rule of thumb.
func DistanceThreshold(c, v, n, gamma float64) (float64, error) {
	switch {
	case !(c > 0) || math.IsInf(c, 0):
		return 0, fmt.Errorf("%w: the constant c = %v must be finite and > 0", ErrOption, c)
	case !(v > 0) || math.IsInf(v, 0):
		return 0, fmt.Errorf("%w: the bound v = %v on variances must be finite and > 0", ErrOption, v)
	case !(n >= 1) || math.IsInf(n, 0):
		return 0, fmt.Errorf("%w: %v rows", ErrOption, n)
	case !(gamma > 0 && gamma < 1.0/3):
		return 0, fmt.Errorf("%w: gamma = %v must lie within (0, 1/3)", ErrOption, gamma)
	}
	return c * v * math.Pow(n, (gamma-1)/2), nil
}
