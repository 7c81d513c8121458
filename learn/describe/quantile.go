package describe

import (
	"math"

	"pawl/report"
)

// quantileShares are those that are described.
var quantileShares = []float64{0.05, 0.25, 0.5, 0.75, 0.95}

// quantiles of a number, by its released histogram: counts are as shown. Within a bin values are
// taken to be spread evenly.
//
// An edge lies surely below the quantile when the rows below it are fewer than the share by more
// than 1.96 deviations, of noise and of sampling, and likewise above. The interval reaches from the
// last edge of which, with all before it, the first is sure, to the first edge of which, with all
// after it, the second is: it is never narrower than a bin.
func (g *reading) quantiles(j int, counts []float64) (out []report.Quantile) {
	c := &g.r.Layout.columns[j]
	total := sumOf(counts)
	raw := g.marginals[j].counts
	n, nVariance := g.knownRows(j)
	L := float64(len(raw))
	for _, q := range quantileShares {
		f := report.Figure{Value: number(math.NaN()), Interval: [2]report.Number{number(c.lower), number(c.upper)}}
		first, last := 0, c.known()-1 // the bins in which the quantile may lie
		if n > 0 {
			// below[i] rows lie under edge i.
			below := 0.0
			side := make([]float64, c.known()+1)
			for i := range side {
				if i > 0 {
					below += raw[i-1]
				}
				s := float64(i)
				// The noise of below − q·n: cells' own parts of a sum over i and over all known.
				v := g.marginals[j].variance * (s*(1-s/L) - 2*q*s*(1-float64(c.known())/L))
				v += nVariance*q*q + g.nVariance*(s/L)*(s/L-2*q*float64(c.known())/L)
				deviation := math.Sqrt(math.Max(v, 0) + g.k*q*(1-q)*n)
				side[i] = (below - q*n) / deviation
			}
			for first < c.known()-1 && side[first+1] < -z95 {
				first++
			}
			for last > 0 && side[last] > z95 {
				last--
			}
			if first > last { // by noise that does not ascend
				first, last = last, first
			}
		}
		lower, _ := c.ends(first)
		_, upper := c.ends(last)
		f.Interval = [2]report.Number{number(lower), number(upper)}
		if total > 0 && (first > 0 || last < c.known()-1) {
			f.Value = min(max(number(c.quantile(counts, q*total)), f.Interval[0]), f.Interval[1])
		}
		out = append(out, report.Quantile{Share: number(q), Figure: f})
	}
	return out
}

// quantile is the value below which so many rows lie.
func (c *column) quantile(counts []float64, rows float64) float64 {
	below := 0.0
	for i, n := range counts {
		if n > 0 && below+n >= rows {
			lower, upper := c.ends(i)
			if c.whole {
				return math.Min(math.Floor(lower+(rows-below)/n*(upper+1-lower)), upper)
			}
			return lower + (rows-below)/n*(upper-lower)
		}
		below += n
	}
	return c.upper
}
