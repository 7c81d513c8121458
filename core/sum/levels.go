package sum

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
)

// Levels counts the units that hold cells of columns: public cells, such as bins of numbers or the
// cell of missing values, and levels, which are undeclared texts and secret until they are selected.
//
// A text marks at most Most cells, of which one may be a level, so the k rows of a unit mark at most c = Most·P·k cells of
// P columns. A cell counts each unit that marked it once, so neighbours differ by at most 1 in at most c counts: the L2
// sensitivity is √c, whereas counts of rows would have √(Most·P)·k. Every public cell, and every level that somebody holds,
// gets noise of sd = NoiseMultiplier·√c. All public cells are released, and levels above
//
//	T = 1 + sd·z,  z with P(N(0,1) > z) = x,  x = 1 − (1−τ)^(1/c)
//
// with their noise, in the order of their texts.
//
// # Guarantee
//
// The release costs Noise (a Gaussian of NoiseMultiplier) and Failure (τ alone). Let D be D' with one unit more. Of the
// cells that this unit marks, b are levels that nobody else holds: their count is 1 in D, and in D' they do not exist.
// Each is released from D with probability at most x, by its own noise. So with probability 1−t, t = 1−(1−x)^b ≤ τ, none
// of them is, whatever the others' noise; given that, D gives the distribution P' of a release of the other cells, whose
// counts differ by 1 in at most c−b places. Selecting by a threshold is post-processing, so P' and D' are at most as far
// apart as N(√c, sd²) and N(0, sd²): D gives (1−t)P' + tR for some distribution R, and D' gives Q = (1−t)Q + tQ. This pair
// is priced: with probability τ anything, equally on both sides, and otherwise the Gaussian. Under ReplaceOne the rows of
// two units differ, RowsApart counts both, and t is the larger of the two. Neither the number of texts nor the order of
// the rows matters. ZeroOut is refused, because a unit's null rows would mark cells.
type Levels struct {
	Scope dp.Scope
	Noise dp.Gaussian
	// Failure is (0, τ): τ bounds the probability that a level of one unit alone is released. The zero
	// value releases public cells only.
	Failure dp.Approximate
	// Columns are indices of columns whose texts were sealed (intake.Builder.KeepTexts), each once.
	Columns []int
	// Known is the number of public cells of each column, Most the largest number of cells that one
	// text marks.
	Known, Most int
	// Mark returns what a text of Columns[c] marks: public cells, and the name of a level (which need not be the
	// text), "" for none. null stands for a cell without a text. Cells out of range, or beyond Most, are not
	// marked. Mark is called once for each text.
	Mark func(c int, text string, null bool) (known []int, level string)
}

// ColumnLevels is the release of one column. Counts are noisy and may be negative.
type ColumnLevels struct {
	Known  []float64
	Levels []Level // in the order of their texts
}

// Level is a selected level and the noisy number of units that hold it.
type Level struct {
	Text  string
	Units float64
}

// touched is how many cells neighbours may differ in.
func (l Levels) touched(apart int) float64 {
	return float64(l.Most) * float64(len(l.Columns)) * float64(apart)
}

// StdDev returns the standard deviation of the noise on every count if neighbours differ in apart
// rows.
func (l Levels) StdDev(apart int) float64 {
	return l.Noise.NoiseMultiplier * math.Sqrt(l.touched(apart)) * rounding
}

// Threshold returns the value that the noisy count of a level must exceed, +Inf if Failure allows
// no level.
func (l Levels) Threshold(apart int) float64 {
	sd := l.StdDev(apart)
	// A count is rounded to the grid of its noise, at most sd/2¹² wide.
	return 1 + sd*upperQuantile(-math.Expm1(math.Log1p(-l.Failure.Delta)/l.touched(apart))) + sd/(1<<12)
}

// upperQuantile is a z, as small as rounding allows, with P(N(0,1) > z) ≤ x.
func upperQuantile(x float64) float64 {
	lo, hi := -40.0, 40.0
	if x *= 1 - 1e-9; !(math.Erfc(hi/math.Sqrt2)/2 <= x) || x == 0 {
		return math.Inf(1)
	}
	for {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			return hi
		}
		if math.Erfc(mid/math.Sqrt2)/2 <= x {
			hi = mid
		} else {
			lo = mid
		}
	}
}

func (l Levels) check(permit *sealed.Permit) error {
	switch {
	case permit == nil:
		return sealed.ErrNotReserved
	case len(l.Columns) == 0 || l.Known < 0 || l.Most < 1 || l.Known > MostCells/len(l.Columns) || l.Mark == nil:
		return errors.New("sum: levels need columns, cells and a rule what a text marks")
	case l.Failure.Epsilon != 0 || !(l.Failure.Delta >= 0 && l.Failure.Delta < 1):
		return errors.New("sum: levels need a failure probability below 1")
	}
	return noise.InRange(l.StdDev(permit.RowsApart()))
}

// Release returns the noisy counts of each of Columns. permit must hold Noise and Failure on Scope,
// unused; without Failure no level is released.
//
// Errors: before any row is read, a missing permit and invalid parameters; afterwards, with the
// charge kept, ctx.Err() when interrupted and sealed.ErrFault if Mark panics.
func (l Levels) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (out []ColumnLevels, err error) {
	defer sealed.Contain(&err)
	if err := errors.Join(l.check(permit), ctx.Err()); err != nil {
		return nil, err
	}
	if l.Failure.Delta > 0 {
		if _, err := sealed.Open(rows, permit, l.Scope, l.Failure); err != nil {
			return nil, err
		}
	}
	view, err := sealed.Open(rows, permit, l.Scope, l.Noise)
	if err != nil {
		return nil, err
	}
	counts, levels, err := l.count(view, permit.MaxRows())
	if err != nil {
		return nil, err
	}
	if err := errors.Join(ctx.Err(), noise.Perturb(view.Noise(), counts, l.StdDev(permit.RowsApart()))); err != nil {
		return nil, err
	}
	out = make([]ColumnLevels, len(l.Columns))
	for c := range out {
		out[c].Known, counts = counts[:l.Known:l.Known], counts[l.Known:]
	}
	threshold := l.Threshold(permit.RowsApart())
	for i, level := range levels {
		if counts[i] > threshold {
			out[level.column].Levels = append(out[level.column].Levels, Level{level.text, counts[i]})
		}
	}
	return out, nil
}

type secretLevel struct {
	column int
	text   string
}

// count is the number of units that mark each cell: public ones by column, and behind them the levels that rows of
// the view hold, in the order of column and text. A unit of maxRows rows marks a cell once, and no more cells
// than it may.
func (l Levels) count(view *sealed.View, maxRows int) (counts []float64, levels []secretLevel, err error) {
	dictionary, of := view.Texts()
	marks, named := make([][][]int, len(l.Columns)), make([][]secretLevel, len(l.Columns)) // by text, the null first
	place := map[secretLevel]int{}
	for c, column := range l.Columns {
		if column < 0 || column >= len(dictionary) {
			return nil, nil, errors.New("sum: levels of a column without texts")
		}
		for i := range len(dictionary[column]) + 1 {
			text := ""
			if i > 0 {
				text = dictionary[column][i-1]
			}
			known, level := l.Mark(c, text, i == 0)
			var cells []int
			for _, cell := range known {
				if cell >= 0 && cell < l.Known && len(cells) < l.Most {
					cells = append(cells, c*l.Known+cell)
				}
			}
			if len(cells) == l.Most || l.Failure.Delta == 0 {
				level = ""
			}
			marks[c], named[c] = append(marks[c], cells), append(named[c], secretLevel{c, level})
		}
	}
	// A dictionary may hold texts of no row of the view: only what is held is a level.
	for i := range view.Len() {
		for c, column := range l.Columns {
			level := named[c][of(i)[column]+1]
			if _, ok := place[level]; !ok && level.text != "" {
				place[level], levels = 0, append(levels, level)
			}
		}
	}
	slices.SortFunc(levels, func(a, b secretLevel) int {
		return cmp.Or(cmp.Compare(a.column, b.column), strings.Compare(a.text, b.text))
	})
	for i, level := range levels {
		place[level] = l.Known*len(l.Columns) + i
	}
	for c := range named {
		for i, level := range named[c] {
			if cell, ok := place[level]; ok {
				marks[c][i] = append(marks[c][i], cell)
			}
		}
	}
	counts = make([]float64, l.Known*len(l.Columns)+len(levels))
	marked := make([]int, len(counts)) // the last unit that marked a cell, from 1 on
	for unit, rows := range unitRows(view) {
		left := l.Most * len(l.Columns) * maxRows
		for _, row := range rows {
			for c, column := range l.Columns {
				for _, cell := range marks[c][of(row)[column]+1] {
					if marked[cell] != unit+1 && left > 0 {
						marked[cell], left = unit+1, left-1
						counts[cell]++
					}
				}
			}
		}
	}
	return counts, levels, nil
}

// unitRows are the rows of each unit of a view.
func unitRows(view *sealed.View) [][]int {
	of, n := view.Units()
	out := make([][]int, n)
	for i := range view.Len() {
		unit := i
		if of != nil {
			unit = int(of[i])
		}
		out[unit] = append(out[unit], i)
	}
	return out
}
