package feature

import (
	"fmt"
	"math"
	"slices"
)

// Table holds the joint counts of two binned attributes, or of one and the label:
// Counts[u·Cols+v] rows have level u of the first and v of the second. Noisy counts may
// be negative.
type Table struct {
	Rows, Cols int
	Counts     []float64
}

// NewTable checks the shape and that every count is finite.
func NewTable(rows, cols int, counts []float64) (Table, error) {
	if rows < 1 || cols < 1 || len(counts) != rows*cols {
		return Table{}, fmt.Errorf("%w: %d counts for a table of %d×%d", ErrShape, len(counts), rows, cols)
	}
	for _, c := range counts {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return Table{}, ErrNotFinite
		}
	}
	return Table{rows, cols, counts}, nil
}

// Total is the sum of all counts.
func (t Table) Total() float64 {
	sum := 0.0
	for _, c := range t.Counts {
		sum += c
	}
	return sum
}

// Clamped sets negative counts to 0 and scales the others back to the total: methods
// that need a distribution accept it. A total that is not positive gives zeros. With
// much noise it is biased towards the uniform table; see Projected.
func (t Table) Clamped() Table {
	out, sum := Table{t.Rows, t.Cols, make([]float64, len(t.Counts))}, 0.0
	for i, c := range t.Counts {
		out.Counts[i] = max(c, 0)
		sum += out.Counts[i]
	}
	total := max(t.Total(), 0)
	if sum > 0 && sum != total {
		for i := range out.Counts {
			out.Counts[i] *= total / sum
		}
	}
	return out
}

// Projected returns the non-negative table of the same total that lies nearest in
// Euclidean distance: max(0, c − τ) with one τ for all cells. Under Gaussian noise it
// keeps the large cells where Clamped takes from them what negative noise left over. A
// total that is not positive gives zeros.
func (t Table) Projected() Table {
	out := Table{t.Rows, t.Cols, slices.Clone(t.Counts)}
	total := t.Total()
	if !(total > 0) {
		clear(out.Counts)
		return out
	}
	if slices.Min(out.Counts) >= 0 {
		return out
	}
	sorted := slices.Clone(t.Counts)
	slices.Sort(sorted)
	// The largest i counts stay positive: τ = (their sum − total)/i, for the largest i
	// whose smallest member exceeds it.
	sum, tau := 0.0, 0.0
	for i := 1; i <= len(sorted); i++ {
		c := sorted[len(sorted)-i]
		sum += c
		if candidate := (sum - total) / float64(i); c > candidate {
			tau = candidate
		}
	}
	for i, c := range out.Counts {
		out.Counts[i] = max(c-tau, 0)
	}
	return out
}

// Entropy returns −Σ p·log₂ p in bits of non-negative counts, p = count/total; 0 for a
// total of 0.
func Entropy(counts []float64) float64 {
	total, sum := 0.0, 0.0
	for _, c := range counts {
		total += c
		sum += xlog2(c)
	}
	if !(total > 0) {
		return 0
	}
	return max(math.Log2(total)-sum/total, 0)
}

// xlog2 is x·log₂ x, continued by 0 at 0.
func xlog2(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return x * math.Log2(x)
}

// MillerMadow returns the correction (K−1)/(2n·ln 2) bits that is added to a plug-in
// entropy from n rows of which K different values occur; 0 without rows.
func MillerMadow(occupied int, rows float64) float64 {
	if occupied < 1 || !(rows > 0) {
		return 0
	}
	return float64(occupied-1) / (2 * rows * math.Ln2)
}

// SymmetricalUncertainty returns 2(1 − H(x,y)/(H(x)+H(y))), [B] Sec. VIII-B, within [0, 1]; 0 where
// the denominator is 0. Entropies in any one unit.
func SymmetricalUncertainty(hx, hy, hxy float64) float64 {
	if !(hx+hy > 0) {
		return 0
	}
	return min(max(2*(1-hxy/(hx+hy)), 0), 1)
}

// margins returns the sums over columns and over rows.
func (t Table) margins() (rows, cols []float64) {
	rows, cols = make([]float64, t.Rows), make([]float64, t.Cols)
	for u := range t.Rows {
		for v, c := range t.Counts[u*t.Cols : (u+1)*t.Cols] {
			rows[u] += c
			cols[v] += c
		}
	}
	return rows, cols
}
