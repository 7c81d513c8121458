package describe

import (
	"math"

	"pawl/report"
)

// rankScale maps a cell to its rank in [−1, 1], by a released histogram: twice the share of known
// rows in the levels below its own, with half of those in it, less 1. Rows of one bin are ties, and
// ranks have mean 0 over that histogram.
type rankScale struct {
	ranks []float64
	// power is the mean square of ranks over all rows; a missing cell has rank 0.
	power float64
}

// newRankScale takes the counts of known levels as shown, and the number of all rows.
func newRankScale(counts []float64, rows float64) rankScale {
	s := rankScale{ranks: make([]float64, len(counts))}
	total := sumOf(counts)
	if !(total > 0) || !(rows > 0) {
		return s
	}
	below := 0.0
	for i, n := range counts {
		s.ranks[i] = math.Min(math.Max((2*below+n)/total-1, -1), 1)
		below += n
		s.power += n / total * s.ranks[i] * s.ranks[i]
	}
	s.power *= math.Min(total/rows, 1)
	return s
}

// rank is that of a cell; an unknown one has the middle rank.
func (s *rankScale) rank(c *column, cell float64) float64 {
	if l := c.level(cell); l >= 0 && l < len(s.ranks) {
		return s.ranks[l]
	}
	return 0
}

// leastPower is the mean square of ranks below which a column hardly varies: 99 % of its rows are
// alike.
const leastPower = 0.01

// correlations reads the products of ranks. The interval is normal: the noise on the product, and
// the sampling of units by the variance (1−ρ²)²/n of a correlation, with a fifth more for ranks.
func (g *reading) correlations(products []int64, scales []rankScale) *report.Correlations {
	l := g.r.Layout
	q := len(l.scored)
	out := &report.Correlations{Matrix: make([][]*report.Figure, q)}
	for i, j := range l.scored {
		out.Columns = append(out.Columns, l.columns[j].name)
		out.Matrix[i] = make([]*report.Figure, q)
	}
	at := 0
	for i := range q {
		if scales[i].power > leastPower {
			out.Matrix[i][i] = &report.Figure{Value: 1, Interval: [2]report.Number{1, 1}}
		}
		for j := i + 1; j < q; j++ {
			product := float64(products[at]) / rankGrid
			at++
			scale := g.n * math.Sqrt(scales[i].power*scales[j].power)
			if !(g.n > 0) || scales[i].power <= leastPower || scales[j].power <= leastPower {
				continue
			}
			rho := math.Min(math.Max(product/scale, -1), 1)
			half := z95 * math.Sqrt(g.ranks*g.ranks/(scale*scale)+1.2*g.k*(1-rho*rho)*(1-rho*rho)/g.n)
			f := report.Figure{Value: number(rho), Interval: [2]report.Number{number(math.Max(rho-half, -1)), number(math.Min(rho+half, 1))}}
			if f.Interval == [2]report.Number{-1, 1} {
				f.Value = number(math.NaN())
			}
			out.Matrix[i][j], out.Matrix[j][i] = &f, &f
		}
	}
	return out
}
