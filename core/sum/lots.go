package sum

import (
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
)

// Lots draws Poisson lots of units. A unit joins with all its rows or with none:
// rows that join one by one would be another mechanism than dp.PoissonSampled,
// with a larger chance that some row of the unit is in the lot.
type Lots struct {
	src     *entropy.Source
	rate    float64
	unit    []int32 // of each row; nil where rows are units
	units   int
	joined  []int32
	member  []bool // by unit
	include []bool // by row
}

// NewLots draws from src with this rate; 1 takes all rows, always.
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

// Draw says for each row whether it is in the next lot, nil for all. The slice is good until
// the next call.
func (l *Lots) Draw() []bool {
	if l.rate == 1 {
		return nil
	}
	clear(l.member)
	l.joined = l.src.Subset(l.joined[:0], l.units, l.rate)
	for _, u := range l.joined {
		l.member[u] = true
	}
	for i, u := range l.unit {
		l.include[i] = l.member[u]
	}
	return l.include
}
