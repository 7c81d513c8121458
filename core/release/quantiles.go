package release

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
)

// Quantiles releases histograms of numeric columns on public edges, from which any
// quantile follows as post-processing.
//
// A row adds 1 to one bin of each of the P columns, or to none where the cell is
// unknown, so the vector of all bins has L1 sensitivity P and L2 sensitivity √P under
// AddOrRemoveOne. With discrete Laplace noise of scale k·P·NoiseMultiplier on every bin it
// is pure (1/NoiseMultiplier)-DP; without Pure the noise is discrete Gaussian of
// standard deviation k·√P·NoiseMultiplier, and rho = 1/(2·NoiseMultiplier²).
//
// The histogram is flat and no tree of intervals, because a grid of doublings has about a
// hundred bins. A sum of a hundred bins has ten times the noise of one; in a tree of
// seven levels every node has seven times the noise, and a sum takes up to six of them.
type Quantiles struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Pure asks for pure epsilon.
	Pure    bool
	Columns []QuantileColumn
}

// QuantileColumn is a column and the grid on which its distribution is released.
type QuantileColumn struct {
	// Column is the index of the schema's column.
	Column int
	// Edges are public and ascend; bin j is [Edges[j], Edges[j+1]). Values beyond the
	// outer ones count in the outer bins.
	Edges []float64
}

// DoublingEdges returns public edges for a column of unknown scale: lower and upper, and
// between them 0 and ±smallest·2^(i/perDoubling) for i = 0, 1, …
func DoublingEdges(lower, upper, smallest float64, perDoubling int) ([]float64, error) {
	if !(lower < upper) || math.IsInf(lower, 0) || math.IsInf(upper, 0) {
		return nil, errors.New("release: edges need finite bounds with lower < upper")
	}
	if err := sum.Positive("smallest edge", smallest); err != nil {
		return nil, err
	}
	if perDoubling < 1 || perDoubling > 64 {
		return nil, fmt.Errorf("release: edges need 1 to 64 to a doubling, got %d", perDoubling)
	}
	edges := []float64{lower, upper}
	add := func(x float64) {
		if lower < x && x < upper {
			edges = append(edges, x)
		}
	}
	add(0)
	most := max(math.Abs(lower), math.Abs(upper))
	for i := 0; ; i++ {
		x := smallest * math.Exp2(float64(i)/float64(perDoubling))
		if !(x < most) {
			break
		}
		add(x)
		add(-x)
	}
	slices.Sort(edges)
	return slices.Compact(edges), nil
}

// Distribution is the released histogram of one column.
type Distribution struct {
	Edges []float64
	// Counts[j] is the noisy number of values in bin j; it may be negative.
	Counts []int64
	// StdDev is the standard deviation of the noise in a bin.
	StdDev float64
}

// Event is what Release costs.
func (q Quantiles) Event() dp.Event {
	return discrete(q.Pure, q.NoiseMultiplier)
}

func (q Quantiles) validate(columns int) error {
	if len(q.Columns) == 0 {
		return errors.New("release: quantiles of no column")
	}
	bins := 0
	for _, c := range q.Columns {
		if c.Column < 0 || c.Column >= columns {
			return fmt.Errorf("release: quantiles of column %d of %d", c.Column, columns)
		}
		if len(c.Edges) < 2 {
			return errors.New("release: quantiles need at least 2 edges")
		}
		for j, e := range c.Edges {
			if math.IsNaN(e) || math.IsInf(e, 0) || j > 0 && !(c.Edges[j-1] < e) {
				return errors.New("release: edges must be finite and ascend")
			}
		}
		if bins += len(c.Edges) - 1; bins > sum.MostCells {
			return fmt.Errorf("release: quantiles on more than %d bins", sum.MostCells)
		}
	}
	return nil
}

// cells is the sum: the bins of one column behind those of another.
func (q Quantiles) cells(rows *sealed.Rows) (sum.Cells, error) {
	if err := q.validate(len(rows.Schema().Columns)); err != nil {
		return sum.Cells{}, err
	}
	first, size := make([]int, len(q.Columns)), 0
	for k, c := range q.Columns {
		first[k] = size
		size += len(c.Edges) - 1
	}
	columns := int64(len(q.Columns))
	return sum.Cells{Scope: q.Scope, Event: q.Event(), Size: size, L1: columns, L2Squared: columns,
		Row: func(cells []float64, _ []float32, add *sum.Tally) {
			for k, c := range q.Columns {
				v := cells[c.Column]
				if v != v {
					continue
				}
				// The first edge above v closes its bin.
				j := sort.Search(len(c.Edges), func(j int) bool { return c.Edges[j] > v }) - 1
				add.Add(first[k]+min(max(j, 0), len(c.Edges)-2), 1)
			}
		}}, nil
}

// Release returns a distribution for each column.
func (q Quantiles) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) ([]Distribution, error) {
	c, err := q.cells(rows)
	if err != nil {
		return nil, err
	}
	bins, err := c.Release(ctx, permit, rows)
	if err != nil {
		return nil, err
	}
	return q.split(bins, c.StdDev(permit.RowsApart())), nil
}

// Public returns the exact histograms of a public data set; it fails for every other.
func (q Quantiles) Public(rows *sealed.Rows) ([]Distribution, error) {
	c, err := q.cells(rows)
	if err != nil {
		return nil, err
	}
	bins, err := c.Public(rows)
	if err != nil {
		return nil, err
	}
	return q.split(bins, 0), nil
}

// split takes the columns apart.
func (q Quantiles) split(bins []int64, stdDev float64) []Distribution {
	columns := make([]Distribution, len(q.Columns))
	for k, c := range q.Columns {
		n := len(c.Edges) - 1
		columns[k] = Distribution{Edges: slices.Clone(c.Edges), Counts: bins[:n:n], StdDev: stdDev}
		bins = bins[n:]
	}
	return columns
}

// ErrTooNoisy is returned where a released distribution says nothing about a quantile.
var ErrTooNoisy = errors.New("the noise is as large as what it hides: more budget, more rows or a coarser grid is needed")

// Bounds returns the innermost edges outside of which about a share low of the values
// lies below and a share 1−high above: a public range for the column. It is computed
// from the released counts alone.
//
// The running sums are first made to ascend by the closest such sequence (isotonic
// regression), so that a hundred empty bins with noise do not look like values. The
// error is ErrTooNoisy where the noise that all bins add up to has a standard
// deviation above half of the smaller of the two tails, low·total and (1−high)·total, and a
// bound would be one of the noise; a tail of 0 asks for the extremes and always is.
func (d Distribution) Bounds(low, high float64) (lower, upper float64, err error) {
	if !(low >= 0 && low < high && high <= 1) {
		return math.NaN(), math.NaN(), errors.New("release: ranks need 0 <= low < high <= 1")
	}
	sums := make([]float64, len(d.Counts))
	total := 0.0
	for j, c := range d.Counts {
		total += float64(c)
		sums[j] = total
	}
	spread := d.StdDev * math.Sqrt(float64(len(d.Counts)))
	if !(total > 0) || spread > 0 && !(spread <= min(low, 1-high)*total/2) {
		return math.NaN(), math.NaN(), ErrTooNoisy
	}
	ascend(sums)
	// sums[j] is the number of values below Edges[j+1]; below Edges[0] there are none.
	a := sort.Search(len(sums), func(j int) bool { return sums[j] > low*total })
	b := sort.Search(len(sums), func(j int) bool { return sums[j] >= high*total })
	a, b = min(a, len(sums)-1), min(b, len(sums)-1)
	return d.Edges[a], d.Edges[b+1], nil
}

// ascend replaces x by the closest sequence, in squares, that does not descend: pools of
// neighbours that descend take their mean.
func ascend(x []float64) {
	type pool struct {
		mean float64
		n    int
	}
	var pools []pool
	for _, v := range x {
		p := pool{v, 1}
		for len(pools) > 0 && pools[len(pools)-1].mean >= p.mean {
			last := pools[len(pools)-1]
			n := last.n + p.n
			p = pool{last.mean + (p.mean-last.mean)*float64(p.n)/float64(n), n}
			pools = pools[:len(pools)-1]
		}
		pools = append(pools, p)
	}
	i := 0
	for _, p := range pools {
		for range p.n {
			x[i] = p.mean
			i++
		}
	}
}
