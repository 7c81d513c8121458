package quality

import (
	"math"

	"pawl/core/release"
)

// Answers are noisy numbers of rows by true class, predicted class and confidence, of a classifier
// of more than two classes. Confidence is the log odds of the predicted class against all others.
//
// What follows of probabilities is of the predicted class alone (top-label: Gupta and Ramdas, ICLR
// 2022): whether rows of a confidence of 80 % are right in 80 % of cases. How the rest is shared
// among the other classes is not judged.
type Answers struct {
	// Bins has the edges and mean confidences of the bins; its own rows are not used.
	Bins    *Table
	Classes int
	// Rows[b][Classes·i+j] rows of class i in bin b are predicted to be of class j, with
	// independent noise of standard deviation Std; 0 for exact numbers.
	Rows         [][]float64
	Std, PerUnit float64

	exact *Table // right and wrong answers by every confidence, of public rows
}

const (
	// mostConfidenceBins are enough for two numbers of a calibration.
	mostConfidenceBins = 4
	// confidenceDeviations of the noise of all its cells is what the rows of a bin should be.
	confidenceDeviations = 12
)

// ConfidenceBins is the number of bins of confidence for a public number of rows in both halves
// and noise of standard deviation std in a cell of one of them; 1 where that is too much for a
// calibration.
func ConfidenceBins(rows float64, classes int, std float64) int {
	bins := rows / (confidenceDeviations * math.Sqrt2 * std * float64(classes))
	if !(bins >= 2) {
		return 1
	}
	return int(min(bins, mostConfidenceBins))
}

// Confidence is the probability of the predicted one of so many classes, by its log odds: at least
// that of each class where all are alike.
func (c Calibration) Confidence(score float64, classes int) float64 {
	return max(c.Probability(score), 1/float64(classes))
}

// AnswersIn are released answers in the bins of base: numbers of rows by bin, true class and
// predicted class.
func AnswersIn(base *Table, classes int, rows []float64, std float64) *Answers {
	a := &Answers{Bins: base, Classes: classes, Std: std, PerUnit: base.PerUnit}
	for k := classes * classes; len(rows) > 0; rows = rows[k:] {
		a.Rows = append(a.Rows, rows[:k])
	}
	return a
}

// ExactAnswers are those of public rows; scores are the log odds of what is predicted, nil where
// there are none.
func ExactAnswers(truths, predicted []int, scores []float64, classes int, perUnit float64) *Answers {
	a := &Answers{Bins: &Table{}, Classes: classes, PerUnit: perUnit}
	if scores != nil {
		right := make([]bool, len(truths))
		for i, y := range truths {
			right[i] = predicted[i] == y
		}
		a.exact = ExactTable(scores, right, perUnit)
		a.Bins = a.exact.Coarse()
	}
	for range len(a.Bins.Edges) + 1 {
		a.Rows = append(a.Rows, make([]float64, classes*classes))
	}
	for i, y := range truths {
		b := 0
		if scores != nil {
			b = a.Bins.Bin(scores[i])
		}
		a.Rows[b][classes*y+predicted[i]]++
	}
	return a
}

// Plus are the answers of both scopes, whose bins are the same.
func (a *Answers) Plus(o *Answers) *Answers {
	sum := *a
	sum.Rows, sum.Std = nil, math.Hypot(a.Std, o.Std)
	for b := range a.Rows {
		sum.Rows = append(sum.Rows, added(a.Rows[b], o.Rows[b]))
	}
	return &sum
}

// bin are the cells of right and of wrong answers in a bin.
func (a *Answers) bin(b int) (right, wrong []float64) {
	for k, n := range a.Rows[b] {
		if k/a.Classes == k%a.Classes {
			right = append(right, n)
		} else {
			wrong = append(wrong, n)
		}
	}
	return right, wrong
}

// Calibrate fits a calibration of the confidence, as that of a table of right and wrong answers.
func (a *Answers) Calibrate() (c Calibration, ok bool) {
	c, _, ok = a.fit()
	return c, ok
}

func (a *Answers) fit() (c Calibration, likely [2]Calibration, ok bool) {
	if len(a.Rows) < 2 {
		return None, likely, false
	}
	t := *a.Bins
	t.Positives, t.Negatives = make([]float64, len(a.Rows)), make([]float64, len(a.Rows))
	for b := range a.Rows {
		right, wrong := a.bin(b)
		t.Positives[b], t.Negatives[b] = total(right), total(wrong)
	}
	k := float64(a.Classes)
	return t.fit(a.Std*math.Sqrt(k), a.Std*math.Sqrt(k*(k-1)))
}

// CrossAnswers are the calibrations that halves are judged by: each has that of the other, a single
// one has none.
func CrossAnswers(halves []*Answers) []Calibration {
	if len(halves) != 2 {
		return []Calibration{None}
	}
	first, _ := halves[1].Calibrate()
	second, _ := halves[0].Calibrate()
	return []Calibration{first, second}
}

// Labels are the labels of all answers.
func (a *Answers) Labels() Many {
	m := Many{Std: a.Std * math.Sqrt(float64(len(a.Rows))), PerUnit: a.PerUnit}
	for i := range a.Classes {
		row := make([]float64, a.Classes)
		for _, cells := range a.Rows {
			row = added(row, cells[a.Classes*i:a.Classes*(i+1)])
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// JudgeAnswers judges each half by the calibration that was chosen for it. pooled are all of them, and final is
// its calibration, which the confidences of ByConfidence are in. The labels' part is left out.
func JudgeAnswers(halves []*Answers, pooled *Answers, chosen []Calibration, final Calibration, calibrated bool, totals Totals) *Classification {
	c := &Classification{Calibrated: calibrated}
	if calibrated {
		c.Calibration = &final
	}
	if len(pooled.Bins.Mids) == 0 {
		return c
	}
	c.TopLabel = true
	classes := pooled.Classes
	var parts []judged
	for i, h := range halves {
		j := judged{table: h.Bins, std: h.Std, by: chosen[i]}
		cells := h.bin
		if x := h.exact; x != nil {
			j.table, cells = x, func(b int) (right, wrong []float64) { return x.Positives[b : b+1], x.Negatives[b : b+1] }
		}
		for b := range j.table.Mids {
			right, wrong := cells(b)
			j.positives, j.negatives = append(j.positives, right), append(j.negatives, wrong)
		}
		parts = append(parts, j)
	}
	_, likely, _ := pooled.fit()
	c.losses(parts, func(c Calibration, score float64) float64 { return c.Confidence(score, classes) }, []Calibration{final, likely[0], likely[1]}, &totals)
	for b := range pooled.Bins.Mids {
		predicted := 0.0
		for _, by := range chosen {
			p, _ := pooled.Bins.mean(b, func(float64) float64 { return 1 }, func(s float64) float64 { return by.Confidence(s, classes) })
			predicted += p / float64(len(chosen))
		}
		right, wrong := pooled.bin(b)
		part := fraction(right, wrong, pooled.Std, pooled.PerUnit)
		c.Reliability = append(c.Reliability, Reliability{predicted, share(part), part.Whole})
	}
	for b, edge := range pooled.Bins.Edges {
		var above, right, wrong, below []float64
		for i := range pooled.Rows {
			if i <= b {
				below = append(below, pooled.Rows[i]...)
				continue
			}
			r, w := pooled.bin(i)
			above, right, wrong = append(above, pooled.Rows[i]...), append(right, r...), append(wrong, w...)
		}
		c.ByConfidence = append(c.ByConfidence, Answering{final.Confidence(edge, classes),
			share(fraction(above, below, pooled.Std, pooled.PerUnit)), share(fraction(right, wrong, pooled.Std, pooled.PerUnit))})
	}
	return c
}

// Answering is what comes of answering only the rows whose predicted class has a confidence or more.
type Answering struct {
	Confidence float64 `json:"confidence"`
	// Answered is the share of rows that have it, Accuracy the share of these that are right.
	Answered Estimate `json:"answered"`
	Accuracy Estimate `json:"accuracy"`
}

// Many are noisy numbers of rows by true and predicted class, of any number of classes.
type Many struct {
	Rows         [][]float64
	Std, PerUnit float64
}

// Totals are noisy numbers of the same rows: of right and of wrong answers, and of each class, with
// noise of standard deviation Std each.
type Totals struct {
	Right, Wrong float64
	Classes      []float64
	Std          float64
}

// TotalsOf are those of a released accuracy.
func TotalsOf(s release.AccuracyScore) Totals {
	return Totals{s.Counts[0], s.Counts[1], s.Counts[2:], s.CountStd}
}

// Totals are those of exact numbers.
func (m Many) Totals() (t Totals) {
	for i, row := range m.Rows {
		n := total(row)
		t.Classes, t.Right, t.Wrong = append(t.Classes, n), t.Right+row[i], t.Wrong+n-row[i]
	}
	return t
}

// Gain is that of Labels, D/n for D more right answers than rows of the most frequent class. Its
// value comes from the totals, which have less noise than the labels; the labels say on how many rows
// the two differ, as far as sampling goes by it. The class may be the most frequent one by luck, so
// that the gain is above: the upper end keeps Bonferroni's margin for all that may be it.
func (m Many) Gain(t Totals) Estimate {
	class, contenders := 0, 0.0
	for i, n := range t.Classes {
		if n > t.Classes[class] {
			class = i
		}
	}
	top := t.Classes[class]
	for _, n := range t.Classes {
		if n >= top-z95*math.Sqrt(2*(t.Std*t.Std+m.PerUnit*max(top, 0))) {
			contenders++
		}
	}
	n, d := t.Right+t.Wrong, t.Right-top
	differ := min(max(t.Right+top-2*m.Rows[class][class], math.Abs(d)), max(n, 0))
	at := func(z float64) Estimate {
		return fiellerAt(z, d, n, func(a float64) float64 {
			return t.Std*t.Std*((1-a)*(1-a)+a*a+1) + m.PerUnit*max(differ-2*a*d+a*a*n, 0)
		}, -1, 1)
	}
	low, high := at(z95), at(math.Sqrt2*math.Erfinv(1-0.05/contenders))
	if !low.Known() || !high.Known() {
		return Estimate{}
	}
	return of(*low.Value, [2]float64{low.Interval[0], high.Interval[1]}, -1, 1)
}

// Fill states the labels. The mean recall joins those of the classes (MOVER).
func (m Many) Fill(c *Classification, classes []string, t Totals) {
	c.Confusion = &Confusion{Classes: classes, Rows: m.Rows, NoiseSD: m.Std}
	mean, low, high, k := 0.0, 0.0, 0.0, float64(len(m.Rows))
	for i, row := range m.Rows {
		s := release.Share{Part: row[i], Whole: t.Classes[i], PartVariance: m.Std * m.Std, WholeVariance: t.Std * t.Std, PerUnit: m.PerUnit}
		v, iv := s.Value(), s.Interval(z95)
		mean += v / k
		low, high = math.Hypot(low, v-iv[0]), math.Hypot(high, iv[1]-v)
	}
	c.BalancedAccuracy = of(mean, [2]float64{mean - low/k, mean + high/k}, 0, 1)
}
