package workflow

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"pawl/model"
)

// GroupScore is the score of the rows of one group.
type GroupScore struct {
	Group    string
	Value    float64 // NaN where TooFew
	Interval [2]float64
	// Rows is their number: noisy where the score was released, exact on public rows.
	Rows   float64
	TooFew bool
	// Exact stands beside a released value on public data.
	Exact *float64
}

// groupTally is the exact score by group on public rows.
type groupTally struct {
	column int
	names  []string
	losses [][]float64
}

// groupTally is nil where no groups are asked for.
func (p *problem) groupTally() *groupTally {
	column, names, ok := p.groupColumn()
	if !ok {
		return nil
	}
	return &groupTally{column: column, names: names, losses: make([][]float64, len(names)+1)}
}

// add takes a row whose loss is 0 or 1, or an absolute error in target units.
func (g *groupTally) add(cells []float64, loss float64) {
	at := groupOf(cells[g.column], len(g.names))
	if at < 0 {
		at = len(g.names)
	}
	g.losses[at] = append(g.losses[at], loss)
}

// scores has every group, that of unknown rows only where there are any.
func (g *groupTally) scores(task model.Task) []GroupScore {
	var out []GroupScore
	for i, l := range g.losses {
		n := float64(len(l))
		if i == len(g.names) && n == 0 {
			continue
		}
		s := GroupScore{Group: groupName(g.names, i), Rows: n, TooFew: n == 0, Value: math.NaN(), Interval: [2]float64{0, 1}}
		if n > 0 {
			mean := stat.Mean(l, nil)
			if task == model.Regression {
				half := z95 * stat.StdErr(stat.StdDev(l, nil), n) // NaN, not known, for one row
				s.Value, s.Interval = mean, [2]float64{max(mean-half, 0), mean + half}
			} else {
				s.Value, s.Interval = 1-mean, wilson(1-mean, n)
			}
			exact := s.Value
			s.Exact = &exact
		}
		out = append(out, s)
	}
	return out
}

// accompany puts exact values of a public data set beside released ones.
func (g *groupTally) accompany(groups []GroupScore, task model.Task) {
	for _, e := range g.scores(task) {
		for i := range groups {
			if groups[i].Group == e.Group {
				groups[i].Exact = e.Exact
			}
		}
	}
}
