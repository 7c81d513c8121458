package workflow

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"pawl/evidence/quality"
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
	// Classes are further scores of two classes, nil where TooFew.
	Classes *quality.Classification
}

// groupTally is the exact score by group on public rows.
type groupTally struct {
	column int
	names  []string
	losses []byUnit
	rows   [][]int // numbers of the rows of each group
	span   float64 // of a number's range
}

// groupTally is nil where no groups are asked for.
func (p *problem) groupTally() *groupTally {
	column, names, ok := p.groupColumn()
	if !ok {
		return nil
	}
	g := &groupTally{column: column, names: names, losses: make([]byUnit, len(names)+1), rows: make([][]int, len(names)+1), span: p.scale.Upper - p.scale.Lower}
	for i := range g.losses {
		g.losses[i].perUnit = float64(p.Schema.Unit.MaxRows)
	}
	return g
}

// add takes a row whose loss is 0 or 1, or an absolute error in target units; unit tells
// whose row it is (byUnit), and row its number.
func (g *groupTally) add(cells []float64, loss, unit float64, row int) {
	at := groupOf(cells[g.column], len(g.names))
	if at < 0 {
		at = len(g.names)
	}
	g.losses[at].add(loss, unit)
	g.rows[at] = append(g.rows[at], row)
}

// scores has every group, that of unknown rows only where there are any; classes has the further
// scores of some rows of two classes.
func (g *groupTally) scores(task model.Task, classes func(rows []int) *quality.Classification) []GroupScore {
	var out []GroupScore
	for i, l := range g.losses {
		n := float64(len(l.values))
		if i == len(g.names) && n == 0 {
			continue
		}
		s := GroupScore{Group: groupName(g.names, i), Rows: n, TooFew: n == 0, Value: math.NaN(), Interval: [2]float64{0, 1}}
		if n > 0 {
			if s.Value = stat.Mean(l.values, nil); task == model.Regression {
				s.Interval = l.interval(g.span)
			} else {
				right := l.of(func(i int) float64 { return 1 - l.values[i] })
				s.Value, s.Interval = 1-s.Value, right.share()
			}
			exact := s.Value
			s.Exact = &exact
			if classes != nil {
				s.Classes = classes(g.rows[i])
			}
		}
		out = append(out, s)
	}
	return out
}

// accompany puts exact values of a public data set beside released ones.
func (g *groupTally) accompany(groups []GroupScore, task model.Task) {
	for _, e := range g.scores(task, nil) {
		for i := range groups {
			if groups[i].Group == e.Group {
				groups[i].Exact = e.Exact
			}
		}
	}
}
