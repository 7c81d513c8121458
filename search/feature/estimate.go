package feature

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// pairing is what one table says about two columns, in bits.
type pairing struct{ hx, hy, information float64 }

func (p pairing) suc() float64 {
	return SymmetricalUncertainty(p.hx, p.hy, p.hx+p.hy-p.information)
}

// estimator computes the pairings of columns from a table of their attributes.
type estimator struct {
	options MatrixOptions
	noise   float64
	stream  uint64 // of the next table's random numbers: every table has its own
	scratch []float64
}

// Where the streams of label tables and of pair tables begin: the same table is corrected
// by the same numbers whatever else is there.
const (
	labelStream = 0
	pairStream  = 1 << 32
)

// estimate calls visit for each pair of columns of the table's two attributes.
func (e *estimator) estimate(t Table, rows, cols []Column, visit func(i, j int, p pairing)) {
	e.stream++
	clean := e.options.clean(t)
	var null []float64
	if e.options.Correction == NullCorrection {
		null = e.null(clean, rows, cols)
	}
	e.plugIn(clean, rows, cols, func(i, j int, p pairing) {
		if null != nil {
			p.information = max(p.information-null[i*len(cols)+j], 0)
		}
		visit(i, j, p)
	})
}

// plugIn visits the pairings of a table without negative counts.
func (e *estimator) plugIn(t Table, rows, cols []Column, visit func(i, j int, p pairing)) {
	x, y := t.margins()
	total := 0.0
	for _, c := range x {
		total += c
	}
	miller := e.options.Correction == MillerMadowCorrection
	for i, r := range rows {
		hx, kx := split(x, total, r.Level)
		for j, c := range cols {
			hy, ky := split(y, total, c.Level)
			e.scratch = cells(e.scratch[:0], t, x, y, total, r.Level, c.Level)
			joint := Entropy(e.scratch)
			p := pairing{hx, hy, max(hx+hy-joint, 0)}
			if miller {
				// H(x) + H(y) − H(x,y) with each entropy corrected.
				bias := MillerMadow(kx, total) + MillerMadow(ky, total) - MillerMadow(occupied(e.scratch), total)
				p.information = max(p.information+bias, 0)
			}
			visit(i, j, p)
		}
	}
}

// split is the entropy of a whole margin, or of one level against the others, and the
// number of values that occur.
func split(margin []float64, total float64, level int) (entropy float64, values int) {
	if level < 0 {
		return Entropy(margin), occupied(margin)
	}
	two := []float64{margin[level], max(total-margin[level], 0)}
	return Entropy(two), occupied(two)
}

func occupied(counts []float64) int {
	n := 0
	for _, c := range counts {
		if c > 0 {
			n++
		}
	}
	return n
}

// cells appends the joint counts of two columns of a table.
func cells(out []float64, t Table, x, y []float64, total float64, u, v int) []float64 {
	switch {
	case u < 0 && v < 0:
		return append(out, t.Counts...)
	case u >= 0 && v >= 0:
		c := t.Counts[u*t.Cols+v]
		return append(out, c, max(x[u]-c, 0), max(y[v]-c, 0), max(total-x[u]-y[v]+c, 0))
	case u >= 0:
		for w, c := range t.Counts[u*t.Cols : (u+1)*t.Cols] {
			out = append(out, c, max(y[w]-c, 0))
		}
	default:
		for w := range t.Rows {
			c := t.Counts[w*t.Cols+v]
			out = append(out, c, max(x[w]-c, 0))
		}
	}
	return out
}

// null returns the mean information of each pair of columns under independence.
func (e *estimator) null(t Table, rows, cols []Column) []float64 {
	mean := make([]float64, len(rows)*len(cols))
	x, y := t.margins()
	total := t.Total()
	if !(total > 0) {
		return mean
	}
	rng := rand.New(rand.NewPCG(e.options.Seed, e.stream))
	sample := Table{t.Rows, t.Cols, make([]float64, len(t.Counts))}
	for range e.options.Draws {
		for u := range x {
			for v := range y {
				sample.Counts[u*t.Cols+v] = poisson(rng, x[u]*y[v]/total) + e.noise*rng.NormFloat64()
			}
		}
		e.plugIn(e.options.clean(sample), rows, cols, func(i, j int, p pairing) {
			mean[i*len(cols)+j] += p.information / float64(e.options.Draws)
		})
	}
	return mean
}

// poisson draws a count. Above 1000 the normal law is within a hundredth of a standard
// deviation, and what is simulated is itself an estimate.
func poisson(rng *rand.Rand, mean float64) float64 {
	switch {
	case mean <= 0:
		return 0
	case mean > 1000:
		return math.Max(math.Round(mean+math.Sqrt(mean)*rng.NormFloat64()), 0)
	}
	return distuv.Poisson{Lambda: mean, Src: rng}.Rand()
}
