package describe

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/sum"
	"pawl/report"
)

// Release buys a description of all rows.
//
// The first event pays for one vector of integers. A row adds
//
//	a to one cell of each column's histogram                          (m cells),
//	t to one cell of each column's table with the target; where that is a number y in [−1, 1], t·y,
//	  and t to a second cell that counts rows in which it is known    (c cells),
//	s·z and s·z² for each number z, scaled to [−1, 1] by its bounds   (2 cells, z² + z⁴ ≤ 2),
//
// so its L2 sensitivity to one row is at most √(m·a² + c·t² + 2q·s²), which sum.Tally enforces row by
// row. Weights a, t, s divide the precision by public shares: a group of w cells a row that has a
// share p carries noise of NoiseMultiplier·k·√(w/p) rows. Where Pure, the noise is discrete
// Laplace, the L1 sensitivity m·a + c·t + 2q·s, and the deviation √2·NoiseMultiplier·k·w/p.
//
// The second event pays for the products x_i·x_j of the ranks of q columns, in [−1, 1]: a row moves
// q(q−1)/2 cells by at most 1 each. Ranks follow from the released histograms, so the composition
// is adaptive; whatever their noise makes of a rank, it stays in [−1, 1].
type Release struct {
	Layout *Layout
	// CountNoise and RankNoise are the multipliers of the two events; RankNoise 0 leaves out
	// the second.
	CountNoise, RankNoise float64
	Pure                  bool
}

// Shares of the precision of the first event, where all three groups are there.
const (
	countShare  = 0.4
	targetShare = 0.35
	sumShare    = 0.25
	// RankShare is that of the second event among both.
	RankShare = 0.2
)

const (
	// unit is how many steps of the integers a cell's whole weight is, about: a number is rounded
	// to a 65,536th of half its range before it is added.
	unit = 1 << 16
	// rankGrid is that of the products of ranks.
	rankGrid = 1 << 12
)

// Events are what the release costs, in order.
func (r Release) Events() []dp.Event {
	var first dp.Event = dp.DiscreteGaussian{NoiseMultiplier: r.CountNoise}
	if r.Pure {
		return []dp.Event{dp.DiscreteLaplace{NoiseMultiplier: r.CountNoise}}
	}
	if r.RankNoise > 0 {
		return []dp.Event{first, dp.DiscreteGaussian{NoiseMultiplier: r.RankNoise}}
	}
	return []dp.Event{first}
}

// group is a part of the vector: cells that a row moves by weight at most.
type group struct {
	perRow int
	weight int64
}

// groups are the three parts with their weights.
func (r Release) groups() (counts, target, sums group) {
	l := r.Layout
	m, numbers := len(l.columns), 0
	for j := range l.columns {
		if l.columns[j].numeric() {
			numbers++
		}
	}
	counts.perRow, sums.perRow = m, 2*numbers
	if l.target >= 0 {
		target.perRow = (m - 1) * l.planes()
	}
	for _, g := range []struct {
		*group
		share float64
	}{{&counts, countShare}, {&target, targetShare}, {&sums, sumShare}} {
		if g.perRow == 0 {
			continue
		}
		// Precision goes with the square of the weight; the noise of Laplace with the weight.
		w := g.share / countShare * float64(m) / float64(g.perRow)
		if !r.Pure {
			w = math.Sqrt(w)
		}
		g.weight = int64(math.Round(w * unit))
	}
	return counts, target, sums
}

// planes are the cells of a table with the target that one row moves.
func (l *Layout) planes() int {
	if t := &l.columns[l.target]; t.numeric() && t.unknown {
		return 2
	}
	return 1
}

// places says where the cells of the first vector begin.
type places struct {
	counts, tables []int // of each column; tables of the target itself are −1
	sums           []int // −1 for a column of no numbers
	size           int
}

func (l *Layout) places() (p places) {
	take := func(n int) int { p.size += n; return p.size - n }
	for j := range l.columns {
		p.counts = append(p.counts, take(l.columns[j].levels()))
	}
	for j := range l.columns {
		at := -1
		if l.target >= 0 && j != l.target {
			at = take(l.columns[j].levels() * max(l.classes(), l.planes()))
		}
		p.tables = append(p.tables, at)
	}
	for j := range l.columns {
		at := -1
		if l.columns[j].numeric() {
			at = take(2)
		}
		p.sums = append(p.sums, at)
	}
	return p
}

// cells is the first vector.
func (r Release) cells() sum.Cells {
	l := r.Layout
	counts, target, sums := r.groups()
	at := l.places()
	m, numeric := len(l.columns), l.target >= 0 && l.columns[max(l.target, 0)].numeric()
	classes, planes := l.classes(), 1
	if l.target >= 0 {
		planes = l.planes()
	}
	levels := make([]int, m)
	l1, l2 := int64(0), int64(0)
	for _, g := range []group{counts, target, sums} {
		l1 += int64(g.perRow) * g.weight
		l2 += int64(g.perRow) * g.weight * g.weight
	}
	return sum.Cells{Scope: dp.WholeScope, Event: r.Events()[0], Size: at.size, L1: l1, L2Squared: l2,
		Row: func(cells []float64, _ []float32, add *sum.Tally) {
			for j := range l.columns {
				c := &l.columns[j]
				levels[j] = c.level(cells[c.index])
				if levels[j] >= 0 {
					add.Add(at.counts[j]+levels[j], counts.weight)
				}
			}
			for j := range l.columns {
				if at.tables[j] < 0 || levels[j] < 0 {
					continue
				}
				if !numeric {
					if k := levels[l.target]; k >= 0 {
						add.Add(at.tables[j]+levels[j]*classes+k, target.weight)
					}
					continue
				}
				t := &l.columns[l.target]
				if y := t.scaled(cells[t.index]); y == y {
					cell := at.tables[j] + levels[j]*planes
					add.Add(cell, int64(math.Round(y*float64(target.weight))))
					if planes == 2 {
						add.Add(cell+1, target.weight)
					}
				}
			}
			for j := range l.columns {
				if at.sums[j] < 0 {
					continue
				}
				c := &l.columns[j]
				if z := c.scaled(cells[c.index]); z == z {
					add.Add(at.sums[j], int64(math.Round(z*float64(sums.weight))))
					add.Add(at.sums[j]+1, int64(math.Round(z*z*float64(sums.weight))))
				}
			}
		}}
}

// StdDevs are the deviations of the noise, in rows where neighbours differ in at most apart rows:
// of counts, of cells with the target (0 without one), of sums (0 without numbers) and of
// products of ranks (0 without).
func (r Release) StdDevs(apart int) (counts, target, sums, ranks float64) {
	a, t, s := r.groups()
	c := r.cells()
	std := c.StdDev(apart)
	of := func(g group) float64 {
		if g.weight == 0 {
			return 0
		}
		return std / float64(g.weight)
	}
	if r.RankNoise > 0 && !r.Pure {
		ranks = r.rankCells(nil).StdDev(apart) / rankGrid
	}
	return of(a), of(t), of(s), ranks
}

// rankCells is the second vector.
func (r Release) rankCells(scales []rankScale) sum.Cells {
	l := r.Layout
	q := len(l.scored)
	pairs := q * (q - 1) / 2
	x := make([]float64, q)
	return sum.Cells{Scope: dp.WholeScope, Event: dp.DiscreteGaussian{NoiseMultiplier: r.RankNoise}, Size: pairs,
		L1: int64(pairs) * rankGrid, L2Squared: int64(pairs) * rankGrid * rankGrid,
		Row: func(cells []float64, _ []float32, add *sum.Tally) {
			for i, j := range l.scored {
				x[i] = scales[i].rank(&l.columns[j], cells[l.columns[j].index])
			}
			at := 0
			for i := range q {
				for j := i + 1; j < q; j++ {
					add.Add(at, int64(math.Round(x[i]*x[j]*rankGrid)))
					at++
				}
			}
		}}
}

// Release releases the description. permit must hold Events on all rows, unused. Errors are those
// of sum.Cells.
func (r Release) Release(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (*report.Description, error) {
	return r.run(permit.RowsApart(), func(c sum.Cells) ([]int64, error) { return c.Release(ctx, permit, rows) })
}

// Public is the exact description of a public data set; it fails for every other.
func (r Release) Public(rows *intake.Rows) (*report.Description, error) {
	r.CountNoise, r.RankNoise, r.Pure = 1, 1, false // no noise is drawn: they choose the bound
	return r.run(0, func(c sum.Cells) ([]int64, error) { return c.Public(rows) })
}

// run makes the description of the cells that release gives; apart 0 says that they are exact.
func (r Release) run(apart int, release func(sum.Cells) ([]int64, error)) (*report.Description, error) {
	if r.Layout.classes() > MostClasses {
		return nil, fmt.Errorf("describe: a target of %d classes", r.Layout.classes())
	}
	noisy, err := release(r.cells())
	if err != nil {
		return nil, err
	}
	g := r.reading(noisy, apart)
	d, scales := g.description()
	if len(scales) < 2 || r.RankNoise == 0 || r.Pure {
		return d, nil
	}
	products, err := release(r.rankCells(scales))
	if err != nil {
		return nil, err
	}
	d.Ranks = g.correlations(products, scales)
	return d, nil
}
