package quality

import (
	"math"
	"math/rand/v2"
)

// Table is how many rows of each of two classes have a score in each bin.
type Table struct {
	// Edges part the bins, ascending: a score of Edges[b] or more is above bin b.
	Edges []float64
	// Mids are the mean scores in the bins, as far as they are known, and Widths how far
	// scores lie apart in them. Doubts are standard deviations of the means, 0 where they are exact.
	Mids, Widths, Doubts []float64
	// Within are the scores that rows of a bin are taken to have, nil where all have the mean.
	Within [][]Score
	// Vague says that too little is known of the scores in the bins to calibrate by them.
	Vague bool
	// Positives and Negatives are numbers of rows, with independent noise of standard deviation
	// Std each; 0 for exact numbers.
	Positives, Negatives []float64
	Std                  float64
	// PerUnit is the most rows of one unit, which may be all alike.
	PerUnit float64
}

// Score is a score that some rows have, of which the number is known to Std. It is one of spots scores that
// stand for rows somewhere between two that are Width apart.
type Score struct{ At, Rows, Std, Width float64 }

// mean is the mean of f over the rows of a bin of which each counts by weight, and its variance by
// what is not known of where these are.
func (t *Table) mean(bin int, weight, f func(score float64) float64) (mean, variance float64) {
	if t.Within == nil {
		return f(t.Mids[bin]), 0
	}
	all := 0.0
	for _, s := range t.Within[bin] {
		w := s.Rows * max(weight(s.At), 1e-12)
		all, mean = all+w, mean+w*f(s.At)
	}
	mean /= all
	for _, s := range t.Within[bin] {
		w := max(weight(s.At), 1e-12) / all
		variance += sq(s.Std*w*(f(s.At)-mean)) + spots*sq(s.Rows*w*(f(s.At+s.Width/2)-f(s.At-s.Width/2))/4)
	}
	return mean, variance
}

// Plus is the table of both scopes, whose bins are the same.
func (t *Table) Plus(o *Table) *Table {
	sum := *t
	sum.Positives, sum.Negatives = added(t.Positives, o.Positives), added(t.Negatives, o.Negatives)
	sum.Std = math.Hypot(t.Std, o.Std)
	return &sum
}

func added(a, b []float64) []float64 {
	c := make([]float64, len(a))
	for i := range c {
		c[i] = a[i] + b[i]
	}
	return c
}

// prevalence is the share of positives, NaN where the noise leaves no rows.
func (t *Table) prevalence() float64 {
	p, q := total(t.Positives), total(t.Negatives)
	if !(p > 0 && q > 0) {
		return math.NaN()
	}
	return p / (p + q)
}

// ties is the chance that a positive scores above a negative in each bin. Classes differ in
// the mean within a bin too: where both are normal with one variance, by a share of 1/2 + βw/12
// for bins of width w, with β the difference of the means by that variance. doubt is how far
// that may be wrong: nothing in narrow bins, and the whole of it in those that hold most scores.
func (t *Table) ties() (tie, doubt []float64) {
	moments := func(rows []float64) (n, mean, square float64) {
		for b, r := range rows {
			n, mean, square = n+r, mean+r*t.Mids[b], square+r*t.Mids[b]*t.Mids[b]
		}
		return n, mean / n, square/n - mean*mean/n/n
	}
	p, mp, vp := moments(t.Positives)
	q, mq, vq := moments(t.Negatives)
	variance := (p*vp + q*vq) / (p + q)
	tie, doubt = make([]float64, len(t.Mids)), make([]float64, len(t.Mids))
	for b, w := range t.Widths {
		tie[b] = 0.5
		if w == 0 {
			continue
		}
		if doubt[b] = 0.5; p > 0 && q > 0 && variance > 0 {
			lead := (mp - mq) / variance * w / 12
			tie[b], doubt[b] = min(max(0.5+lead, 0.25), 0.75), min(8*lead*lead, 0.5)
		}
	}
	return tie, doubt
}

// AUROC is the chance that a random positive scores above a random negative. The interval are
// Fieller's limits of a product of two noisy sums: with c the chance for a positive of one bin
// and a negative of another, w = c·q − A·N and v = cᵀ·p − A·P, all A with
//
//	(pᵀcq − A·P·N)² <= z²·(max(s²·(Σw²+Σv²) − S, S) + k·(Σp·w² + Σq·v²)),  S = s⁴·Σ(c−A)².
//
// Without noise, with every score its own bin, this is DeLong's interval. What bins leave in
// doubt widens it.
func (t *Table) AUROC() Estimate {
	p, q := t.Positives, t.Negatives
	P, N := total(p), total(q)
	if !(P > 0 && N > 0) {
		return Estimate{}
	}
	tie, doubt := t.ties()
	bins := float64(len(p))
	// Of a bin of positives u = Σ c·q, of one of negatives y = Σ c·p; and Σc, Σc².
	var won, doubtful, below, above, c1, c2 float64
	var u, y [3]float64 // Σ·, Σ·², and below Σ rows·
	var pu, qy [3]float64
	for b := range p {
		x := below + tie[b]*q[b]
		won, doubtful = won+p[b]*x, doubtful+doubt[b]*max(p[b], 0)*max(q[b], 0)
		u[1], u[2] = u[1]+x, u[2]+x*x
		pu[0], pu[1], pu[2] = pu[0]+p[b], pu[1]+p[b]*x, pu[2]+p[b]*x*x
		below += q[b]
		c1, c2 = c1+tie[b]+float64(b), c2+tie[b]*tie[b]+float64(b)
	}
	for b := len(p) - 1; b >= 0; b-- {
		x := above + tie[b]*p[b]
		y[1], y[2] = y[1]+x, y[2]+x*x
		qy[0], qy[1], qy[2] = qy[0]+q[b], qy[1]+q[b]*x, qy[2]+q[b]*x*x
		above += p[b]
	}
	s2 := t.Std * t.Std
	spread := func(sum [3]float64, n, a, m float64) float64 { return sum[2] - 2*a*m*sum[1] + a*a*m*m*n }
	doubtful = min(doubtful/(P*N), 0.5)
	e := fieller(won, P*N, func(a float64) float64 {
		product := s2 * s2 * (c2 - 2*a*c1 + a*a*bins*bins)
		noise := s2*(spread(u, bins, a, N)+spread(y, bins, a, P)) - product
		return max(noise, product) + t.PerUnit*max(spread(pu, pu[0], a, N)+spread(qy, qy[0], a, P), 0)
	}, 0, 1)
	if !e.Known() {
		return e
	}
	return of(*e.Value, [2]float64{e.Interval[0] - doubtful, e.Interval[1] + doubtful}, 0, 1)
}

// replicates of the counts give the spread of an average precision.
const replicates = 200

// AveragePrecision is the mean precision over all positives, from the highest score down.
// Nothing is known of it where the noise may be most of the positives. Its interval is ±1.96
// times the root mean square deviation of replicates with sampling and noise anew.
func (t *Table) AveragePrecision() Estimate {
	bins := float64(len(t.Positives))
	if !(total(t.Positives) > 2*t.Std*math.Sqrt(bins)) || !(total(t.Positives) > 0 && total(t.Negatives) > 0) {
		return Estimate{}
	}
	value := averagePrecision(t.Positives, t.Negatives)
	rng := rand.New(rand.NewPCG(20, 8)) // post-processing: it protects nobody
	p, q := make([]float64, len(t.Positives)), make([]float64, len(t.Negatives))
	square := 0.0
	for range replicates {
		for b := range p {
			p[b] = t.Positives[b] + rng.NormFloat64()*math.Sqrt(t.Std*t.Std+t.PerUnit*max(t.Positives[b], 0))
			q[b] = t.Negatives[b] + rng.NormFloat64()*math.Sqrt(t.Std*t.Std+t.PerUnit*max(t.Negatives[b], 0))
		}
		d := averagePrecision(p, q) - value
		square += d * d
	}
	half := z95 * math.Sqrt(square/replicates)
	return of(value, [2]float64{value - half, value + half}, 0, 1)
}

// averagePrecision is the area under precision by recall, by trapezia; precisions are held
// to [0, 1].
func averagePrecision(p, q []float64) float64 {
	P, area, tp, fp, before := total(p), 0.0, 0.0, 0.0, math.NaN()
	if !(P > 0) {
		return 0
	}
	for b := len(p) - 1; b >= 0; b-- {
		tp, fp = tp+p[b], fp+q[b]
		precision := before
		if tp+fp > 0 {
			precision = min(max(tp/(tp+fp), 0), 1)
		}
		if precision != precision {
			continue
		}
		if before != before {
			before = precision
		}
		area += p[b] / P * (before + precision) / 2
		before = precision
	}
	return min(max(area, 0), 1)
}
