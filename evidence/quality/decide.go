package quality

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"pawl/core/release"
)

// Decision says how probabilities become labels. The zero Decision takes the more probable
// class.
type Decision struct {
	// Threshold, above 0, is the smallest probability of the second class at which it is
	// predicted.
	Threshold float64 `json:"threshold,omitempty"`
	// Recall, above 0, asks for the threshold of fewest false alarms that finds that share of
	// the second class.
	Recall float64 `json:"recall,omitempty"`
	// FalseNegative and FalsePositive, above 0, are costs: the threshold makes their sum small.
	FalseNegative float64 `json:"false_negative,omitempty"`
	FalsePositive float64 `json:"false_positive,omitempty"`
}

// Costs reports whether costs decide.
func (d Decision) Costs() bool { return d.FalseNegative > 0 || d.FalsePositive > 0 }

// Given reports whether anything was asked.
func (d Decision) Given() bool { return d != Decision{} }

// Cut is the score from which on rows are labelled as of the second class, by a table and a
// calibration. ok is false where a recall was asked and the noise leaves none to choose by;
// the cut is then that of training, which is also the one where nothing was asked: a score of 0. What few
// rows say of probabilities may be off, and must not move labels that nobody asked to move.
func (d Decision) Cut(t *Table, c Calibration) (cut float64, ok bool) {
	switch {
	case d.Threshold > 0:
		return c.Score(d.Threshold), true
	case d.Costs():
		// Calling a row of probability p negative costs p·FalseNegative, else (1−p)·FalsePositive.
		return c.Score(d.FalsePositive / (d.FalsePositive + d.FalseNegative)), true
	case d.Recall > 0:
		if t == nil {
			return 0, false
		}
		return t.cutOfRecall(d.Recall)
	}
	return 0, true
}

// cutOfRecall interpolates between edges.
func (t *Table) cutOfRecall(recall float64) (cut float64, ok bool) {
	all, above := total(t.Positives), 0.0
	if !(all > 0) {
		return 0, false
	}
	for b := len(t.Positives) - 1; b >= 0; b-- {
		before := above
		if above += t.Positives[b]; above/all < recall {
			continue
		}
		high := t.Mids[b] + t.Widths[b]/2
		if b < len(t.Edges) {
			high = t.Edges[b]
		}
		low := t.Mids[b] - t.Widths[b]/2
		if b > 0 {
			low = t.Edges[b-1]
		}
		return high - (high-low)*min(max((recall*all-before)/(above-before), 0), 1), true
	}
	return math.Inf(-1), true // every row
}

// Advise is the cut that balances the recalls of both classes, the number of an edge of the table.
// It follows from few numbers, not from the luckiest of many thresholds. Where probabilities
// are calibrated, the sum of the recalls is largest where a row is as probable as the second
// class is among all rows. Elsewhere it is as if the scores of both classes were normal of one
// variance, d apart: halfway, so that Φ(−d/2) of the first class and Φ(d/2) of the second lie
// above, with d = √2·Φ⁻¹(AUROC). ok is false where the noise leaves no such number.
func (t *Table) Advise(c Calibration, calibrated bool) (bin int, ok bool) {
	prevalence, rows := t.prevalence(), total(t.Positives)+total(t.Negatives)
	if len(t.Edges) == 0 || !(rows > 0) {
		return 0, false
	}
	if prevalence != prevalence { // all but noise; it matters little below
		prevalence, calibrated = 0.05, false
	}
	best := math.Inf(1)
	consider := func(i int, off float64) {
		if off = math.Abs(off); off < best {
			bin, best = i, off
		}
	}
	if calibrated {
		want := c.Score(prevalence)
		for i, e := range t.Edges {
			consider(i, e-want)
		}
		return bin, true
	}
	area := 0.75
	if a := t.AUROC(); a.Known() {
		area = min(max(*a.Value, 0.55), 0.98)
	}
	half := distuv.UnitNormal.Quantile(area) / math.Sqrt2
	flagged := distuv.UnitNormal.CDF(-half)*(1-prevalence) + distuv.UnitNormal.CDF(half)*prevalence
	below := 0.0
	for i := range t.Edges {
		below += t.Positives[i] + t.Negatives[i]
		consider(i, below/rows-(1-flagged))
	}
	return bin, true
}

// Operating is what a threshold does.
type Operating struct {
	// Threshold is the smallest probability of the second class that is called so.
	Threshold float64 `json:"threshold"`
	// Flagged is the share of all rows at or above it, Recall that of the second class,
	// FalsePositiveRate that of the first, and Precision the share of the second class among
	// those flagged.
	Flagged           Estimate `json:"flagged"`
	Recall            Estimate `json:"recall"`
	FalsePositiveRate Estimate `json:"false_positive_rate"`
	Precision         Estimate `json:"precision"`
	BalancedAccuracy  Estimate `json:"balanced_accuracy"`
}

// operate reads counts above and below a threshold, with noise of standard deviation std each.
func operate(threshold float64, above, below [2][]float64, std, perUnit float64) Operating {
	recall := fraction(above[1], below[1], std, perUnit)
	alarm := fraction(above[0], below[0], std, perUnit)
	specificity := alarm
	specificity.Part = alarm.Whole - alarm.Part
	specificity.PartVariance = float64(len(below[0])) * std * std
	specificity.Covariance = specificity.PartVariance
	join := func(a, b []float64) []float64 { return append(append([]float64(nil), a...), b...) }
	return Operating{
		Threshold:         threshold,
		Flagged:           share(fraction(join(above[0], above[1]), join(below[0], below[1]), std, perUnit)),
		Recall:            share(recall),
		FalsePositiveRate: share(alarm),
		Precision:         share(precisionOf(above, std, perUnit)),
		BalancedAccuracy:  between(recall, specificity),
	}
}

func precisionOf(above [2][]float64, std, perUnit float64) release.Share {
	return fraction(above[1], above[0], std, perUnit)
}

// split parts the cells of a table at an edge.
func (t *Table) split(edge int) (above, below [2][]float64) {
	return [2][]float64{t.Negatives[edge+1:], t.Positives[edge+1:]}, [2][]float64{t.Negatives[:edge+1], t.Positives[:edge+1]}
}

// Curve has a point for each edge, of which the thresholds ascend.
func (t *Table) Curve(c Calibration) []Operating {
	out := make([]Operating, len(t.Edges))
	for i, e := range t.Edges {
		above, below := t.split(i)
		out[i] = operate(c.Probability(e), above, below, t.Std, t.PerUnit)
	}
	return out
}

// sortedBy lists indices by ascending value.
func sortedBy(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return values[order[i]] < values[order[j]] })
	return order
}
