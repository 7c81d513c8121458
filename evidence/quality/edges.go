package quality

import "math"

// A classifier's score is first counted in Fine bins, equally wide in asinh(2·score) up to
// scores of ±farthest: fine near 0, where scores of much noise lie, and wide far from it.
const (
	Fine     = 64
	farthest = 16
)

var farthestPlace = math.Asinh(2 * farthest)

// FineBin is the bin of a score.
func FineBin(score float64) int {
	if score != score {
		return 0
	}
	return min(max(int((math.Asinh(2*score)/farthestPlace+1)/2*Fine), 0), Fine-1)
}

func fineEdge(i float64) float64 { return math.Sinh((2*i/Fine-1)*farthestPlace) / 2 }

const (
	// mostBins is as many bins as the area under the curve gains by, without noise; more noise
	// than they are worth comes with each.
	mostBins  = 12
	leastBins = 4
	// binDeviations is the number of deviations of the noise that a bin's rows should be.
	binDeviations = 8
)

// NewTable is an empty table with bins of about equal numbers of rows, by noisy numbers of rows
// in the fine bins with noise of standard deviation std. binStd is the noise that the
// table's own cells will have: the more, the fewer bins.
func NewTable(fine []float64, std, binStd, perUnit float64) *Table {
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
	bins := mostBins
	if binStd > 0 {
		bins = min(max(int(all/(binDeviations*binStd)), leastBins), mostBins)
	}
	t := &Table{PerUnit: perUnit, Positives: make([]float64, bins), Negatives: make([]float64, bins)}
	first, last := 0, len(mass)-1
	for mass[first] == 0 {
		first++
	}
	for mass[last] == 0 {
		last--
	}
	from, done := fineEdge(float64(first)), 0.0
	inBin, weighted := 0.0, 0.0
	end := func(to float64) {
		t.Mids, t.Widths = append(t.Mids, weighted/inBin), append(t.Widths, to-from)
		from, inBin, weighted = to, 0, 0
	}
	for i := first; i <= last; i++ {
		// The rows of a fine bin are taken to lie evenly in it.
		low, high, left := fineEdge(float64(i)), fineEdge(float64(i+1)), mass[i]
		for len(t.Edges) < bins-1 && done+left >= all*float64(len(t.Edges)+1)/float64(bins) {
			take := all*float64(len(t.Edges)+1)/float64(bins) - done
			at := low + (high-low)*take/left
			inBin, weighted = inBin+take, weighted+take*(low+at)/2
			done, left, low = done+take, left-take, at
			t.Edges = append(t.Edges, at)
			end(at)
			if left <= 0 {
				break
			}
		}
		inBin, weighted, done = inBin+left, weighted+left*(low+high)/2, done+left
	}
	if inBin <= 0 { // rounding left nothing above the last edge
		inBin, weighted = 1, fineEdge(float64(last+1))
	}
	end(fineEdge(float64(last + 1)))
	return t
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
