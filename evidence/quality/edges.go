package quality

import "math"

// A classifier's scores are first counted in fine bins, equally wide in asinh(2·score) up to
// scores of ±farthest: narrow near 0, where scores of much noise lie, and wide far from it.
const (
	mostFine  = 64
	leastFine = 8
	// vagueFine is where the rows in fine bins say too little of the scores for a calibration.
	vagueFine = 11
	// fineDeviations is the number of deviations of the noise that the rows in a fine bin are if
	// scores lie in all of them.
	fineDeviations = 2.5
	farthest       = 16
)

var farthestPlace = math.Asinh(2 * farthest)

// FineBins is the number of fine bins for a public number of rows and noise of standard
// deviation std.
func FineBins(rows, std float64) int {
	return int(min(max(rows/(fineDeviations*std), leastFine), mostFine))
}

// FineBin is the bin of a score among bins.
func FineBin(score float64, bins int) int {
	if score != score {
		return 0
	}
	return min(max(int((math.Asinh(2*score)/farthestPlace+1)/2*float64(bins)), 0), bins-1)
}

const (
	// mostBins is as many bins as the area under the curve gains by, without noise; more noise
	// than they are worth comes with each.
	mostBins  = 10
	leastBins = 4
	// spots are scores that rows of a fine bin are taken to have.
	spots = 4
	// binDeviations is the number of deviations of the noise that a bin's rows should be.
	binDeviations = 8
)

// Fine are noisy numbers of rows in the fine bins, with noise of standard deviation Std.
type Fine struct {
	Rows []float64
	Std  float64
}

// Table is an empty table with bins of about equal numbers of rows. binStd is the noise that the
// table's own cells will have: the more, the fewer bins.
func (f Fine) Table(binStd, perUnit float64) *Table {
	return f.table(perUnit, func(rows float64) int {
		if binStd == 0 {
			return mostBins
		}
		return min(max(int(rows/(binDeviations*binStd)), leastBins), mostBins)
	})
}

// TableOf is Table with a given number of bins.
func (f Fine) TableOf(bins int, perUnit float64) *Table {
	return f.table(perUnit, func(float64) int { return bins })
}

func (f Fine) table(perUnit float64, number func(rows float64) int) *Table {
	fine, std := f.Rows, f.Std
	fineEdge := func(i float64) float64 { return math.Sinh((2*i/float64(len(fine))-1)*farthestPlace) / 2 }
	mass, all := make([]float64, len(fine)), 0.0
	for i, h := range fine {
		// Half of the empty bins would otherwise seem to have rows.
		if h > 1.5*std {
			mass[i] = h
		}
		all += mass[i]
	}
	if !(all > 0) {
		for i := range mass {
			if all++; math.Abs(fineEdge(float64(i)+0.5)) < 4 {
				mass[i] = 1
			}
		}
		all = total(mass)
	}
	bins := number(all)
	t := &Table{PerUnit: perUnit, Vague: len(fine) < vagueFine, Positives: make([]float64, bins), Negatives: make([]float64, bins)}
	first, last := 0, len(mass)-1
	for mass[first] == 0 {
		first++
	}
	for mass[last] == 0 {
		last--
	}
	// The rows of a fine bin are taken to lie evenly in it. A bin is made of pieces of them.
	type piece struct{ rows, low, high, std float64 }
	var pieces []piece
	from, done := fineEdge(float64(first)), 0.0
	end := func(to float64) {
		rows, mean := 0.0, 0.0
		for _, p := range pieces {
			rows, mean = rows+p.rows, mean+p.rows*(p.low+p.high)/2
		}
		if mean /= rows; !(rows > 0) { // rounding left nothing
			rows, mean = 1, to
		}
		var within []Score
		for _, p := range pieces {
			for i := range spots {
				at := p.low + (p.high-p.low)*(float64(i)+0.5)/spots
				within = append(within, Score{at, p.rows / spots, math.Sqrt((p.std*p.std + perUnit*p.rows) / spots), p.high - p.low})
			}
		}
		if t.Within = append(t.Within, within); !(rows > 0) || len(within) == 0 {
			t.Within[len(t.Within)-1] = []Score{{mean, 1, 0, 0}}
		}
		doubt := 0.0
		for _, p := range pieces {
			doubt += sq(p.std*((p.low+p.high)/2-mean)/rows) + sq(p.rows*(p.high-p.low)/rows/4)
		}
		t.Mids, t.Widths = append(t.Mids, mean), append(t.Widths, to-from)
		t.Doubts = append(t.Doubts, min(math.Sqrt(doubt), (to-from)/2))
		from, pieces = to, nil
	}
	for i := first; i <= last; i++ {
		low, high, left := fineEdge(float64(i)), fineEdge(float64(i+1)), mass[i]
		for left > 0 && len(t.Edges) < bins-1 && done+left >= all*float64(len(t.Edges)+1)/float64(bins) {
			take := all*float64(len(t.Edges)+1)/float64(bins) - done
			at := low + (high-low)*take/left
			pieces = append(pieces, piece{take, low, at, std * take / mass[i]})
			done, left, low = done+take, left-take, at
			t.Edges = append(t.Edges, at)
			end(at)
		}
		pieces, done = append(pieces, piece{left, low, high, std * left / max(mass[i], 1e-300)}), done+left
		if mass[i] == 0 {
			pieces[len(pieces)-1].std = std
		}
	}
	end(fineEdge(float64(last + 1)))
	// The outer bins reach far, and their rows lie near the edge.
	n := len(t.Mids) - 1
	if n > 0 {
		t.Widths[0] = min(t.Widths[0], 3*(t.Edges[0]-t.Mids[0]))
		t.Widths[n] = min(t.Widths[n], 3*(t.Mids[n]-t.Edges[n-1]))
	}
	return t
}

// Filled is a table with numbers of rows, of the first and the second class in each bin in turn, with
// noise of standard deviation std.
func (t *Table) Filled(rows []float64, std float64) *Table {
	f := *t
	f.Std, f.Positives, f.Negatives = std, make([]float64, len(t.Mids)), make([]float64, len(t.Mids))
	for b := range t.Mids {
		f.Negatives[b], f.Positives[b] = rows[2*b], rows[2*b+1]
	}
	return &f
}

// Bin is the bin of a score.
func (t *Table) Bin(score float64) int {
	b := 0
	for b < len(t.Edges) && score >= t.Edges[b] {
		b++
	}
	return b
}

// ExactTable has a bin for every score of public rows.
func ExactTable(scores []float64, positive []bool, perUnit float64) *Table {
	order := sortedBy(scores)
	t := &Table{PerUnit: perUnit}
	for n, i := range order {
		if n == 0 || scores[i] != t.Mids[len(t.Mids)-1] {
			if n > 0 {
				t.Edges = append(t.Edges, scores[i])
			}
			t.Mids, t.Widths = append(t.Mids, scores[i]), append(t.Widths, 0)
			t.Positives, t.Negatives = append(t.Positives, 0), append(t.Negatives, 0)
		}
		if at := len(t.Mids) - 1; positive[i] {
			t.Positives[at]++
		} else {
			t.Negatives[at]++
		}
	}
	return t
}

// Coarse is the table in at most mostBins bins of about equal numbers of rows, whose edges are
// of t.
func (t *Table) Coarse() *Table {
	rows := total(t.Positives) + total(t.Negatives)
	c := &Table{PerUnit: t.PerUnit, Std: t.Std}
	var p, q, sum, first, done float64
	for b := range t.Mids {
		if p+q == 0 {
			first = t.Mids[b]
		}
		p, q = p+t.Positives[b], q+t.Negatives[b]
		n := t.Positives[b] + t.Negatives[b]
		sum, done = sum+n*t.Mids[b], done+n
		last := b == len(t.Mids)-1
		if !last && done < rows*float64(len(c.Mids)+1)/mostBins {
			continue
		}
		c.Positives, c.Negatives = append(c.Positives, p), append(c.Negatives, q)
		c.Mids, c.Widths = append(c.Mids, sum/(p+q)), append(c.Widths, t.Mids[b]-first)
		if !last {
			c.Edges = append(c.Edges, t.Edges[b])
		}
		p, q, sum = 0, 0, 0
	}
	return c
}
