package sum

import (
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
)

// Lots draws Poisson lots of units. A unit joins with all its rows or with none: rows that join one
// by one would be a different mechanism from dp.PoissonSampled, with a larger probability that some
// row of the unit is in the lot.
type Lots struct {
	src     *entropy.Source
	rate    float64
	unit    []int32 // of each row; nil where rows are units
	units   int
	joined  []int32
	rows    []int32
	member  []bool    // by unit
	include []bool    // by row
	groups  [][]int32 // units of each group, which take turns; nil for one of all
	turn    int
}

// NewLots returns lots drawn from src at this rate; rate 1 always takes all rows.
func NewLots(v *sealed.View, rate float64, src *entropy.Source) Lots {
	l := Lots{src: src, rate: rate}
	if rate < 1 {
		l.unit, l.units = v.Units()
		l.member, l.include = make([]bool, l.units), make([]bool, v.Len())
		if l.unit == nil {
			l.include = l.member
		}
	}
	return l
}

// NewLotsOf returns the lots of p. With Coefficients, units fall into Groups by a keyed hash of the
// unit alone, so that no unit changes another's group, and step t draws from the units of group t
// mod Groups.
func NewLotsOf(v *sealed.View, p Privacy, src *entropy.Source) Lots {
	if p.Coefficients == nil {
		return NewLots(v, p.SamplingRate, src)
	}
	l := Lots{src: src, rate: p.Chance(), groups: make([][]int32, p.Groups), include: make([]bool, v.Len())}
	l.unit, l.units = v.Units()
	if l.member = l.include; l.unit != nil {
		l.member = make([]bool, l.units)
	}
	seen := make([]bool, l.units)
	for i, seed := range v.Seeds() {
		u := int32(i)
		if l.unit != nil {
			u = l.unit[i]
		}
		if !seen[u] { // the seed of a unit's first row is that of the unit
			seen[u] = true
			g := src.Split("group", seed).Uint64n(uint64(p.Groups))
			l.groups[g] = append(l.groups[g], u)
		}
	}
	return l
}

// Rows returns the rows of the next lot in ascending order; all reports that it has every row. The slice is valid
// until the next call.
func (l *Lots) Rows() (rows []int32, all bool) {
	if l.rate == 1 && l.groups == nil { // the chance 1 of a group is that of its units alone
		return nil, true
	}
	if l.unit == nil && l.groups == nil {
		l.join()
		return l.joined, false // rows are units
	}
	l.rows = l.rows[:0]
	for i, in := range l.Draw() {
		if in {
			l.rows = append(l.rows, int32(i))
		}
	}
	return l.rows, false
}

// Draw reports for each row whether it is in the next lot; nil means all rows. The slice is valid
// until the next call.
func (l *Lots) Draw() []bool {
	clear(l.member)
	switch {
	case l.groups != nil:
		group := l.groups[l.turn%len(l.groups)]
		l.turn++
		l.joined = l.src.Subset(l.joined[:0], len(group), l.rate)
		for _, i := range l.joined {
			l.member[group[i]] = true
		}
	case l.rate == 1:
		return nil
	default:
		l.join()
		for _, u := range l.joined {
			l.member[u] = true
		}
	}
	for i, u := range l.unit {
		l.include[i] = l.member[u]
	}
	return l.include
}

// join draws the units of the next lot, where there are no groups.
func (l *Lots) join() { l.joined = l.src.Subset(l.joined[:0], l.units, l.rate) }
