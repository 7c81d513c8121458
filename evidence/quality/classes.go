package quality

import "math"

// Classification is how good the labels and probabilities of a classifier are. Of more than two
// classes the probability is that of the predicted class: see Answers.
type Classification struct {
	// Positive is the second class, of which recall and precision are; empty for more than two.
	Positive string `json:"positive_class,omitempty"`
	// Prevalence is its share of rows.
	Prevalence *Estimate `json:"prevalence,omitempty"`
	// AUROC is the area under the ROC curve. Statements have it beside, as score.auroc.
	AUROC            *Estimate `json:"-"`
	AveragePrecision *Estimate `json:"average_precision,omitempty"`
	// BalancedAccuracy is the mean recall of the classes, Recall and Precision are those of
	// Positive, all of the labels that the model gives.
	BalancedAccuracy Estimate  `json:"balanced_accuracy"`
	Recall           *Estimate `json:"recall,omitempty"`
	Precision        *Estimate `json:"precision,omitempty"`
	// TopLabel says that Brier, LogLoss, RawLogLoss and Reliability are of the predicted class: of its
	// probability, against whether the prediction is right.
	TopLabel bool `json:"top_label,omitempty"`
	// Brier and LogLoss are of the calibrated probabilities, RawLogLoss of those without.
	Brier      *Estimate `json:"brier,omitempty"`
	LogLoss    *Estimate `json:"log_loss,omitempty"`
	RawLogLoss *Estimate `json:"log_loss_uncalibrated,omitempty"`
	// Calibrated says that probabilities are calibrated, by Calibration.
	Calibrated  bool         `json:"calibrated"`
	Calibration *Calibration `json:"calibration,omitempty"`
	Confusion   *Confusion   `json:"confusion,omitempty"`
	// CostGain is by how much the labels are cheaper a row, at the costs of a decision, than the
	// cheaper of giving all rows one class; absent without costs.
	CostGain *Estimate `json:"cost_gain,omitempty"`
	// Advised is the threshold that balances recall of both classes.
	Advised *Operating `json:"advised,omitempty"`
	// Thresholds are the released curve: with Recall over FalsePositiveRate the ROC curve.
	Thresholds []Operating `json:"thresholds,omitempty"`
	// Reliability compares predicted probabilities with what was found.
	Reliability []Reliability `json:"calibration_curve,omitempty"`
	// ByConfidence says, of more than two classes, what comes of answering from a confidence on only.
	ByConfidence []Answering `json:"by_confidence,omitempty"`
}

// Confusion are numbers of rows by true class and predicted class.
type Confusion struct {
	Classes []string `json:"classes"`
	// Rows[i][j] of class i were predicted to be of class j. Noisy numbers may be negative.
	Rows [][]float64 `json:"rows"`
	// NoiseSD is the standard deviation of the noise in each, 0 for exact numbers.
	NoiseSD float64 `json:"noise_sd"`
}

// Reliability is one bin of probabilities.
type Reliability struct {
	Predicted float64  `json:"predicted"`
	Observed  Estimate `json:"observed"`
	Rows      float64  `json:"rows"`
}

// Half is one of the disjoint parts of the scored units, with what the others chose for it.
type Half struct {
	Table *Table
	// Calibration and Advised, a bin's number, or −1, come from other units.
	Calibration Calibration
	Advised     int
}

// Judge puts the halves together. final is the calibration of all of them, which the thresholds
// of the curve are in.
func Judge(halves []Half, final Calibration, calibrated bool) *Classification {
	pooled := halves[0].Table
	for _, h := range halves[1:] {
		pooled = pooled.Plus(h.Table)
	}
	auroc, precision := pooled.AUROC(), pooled.AveragePrecision()
	prevalence := share(fraction(pooled.Positives, pooled.Negatives, pooled.Std, pooled.PerUnit))
	c := &Classification{AUROC: &auroc, AveragePrecision: &precision, Prevalence: &prevalence, Calibrated: calibrated}
	if calibrated {
		c.Calibration = &final
	}
	var parts []judged
	for _, h := range halves {
		j := judged{table: h.Table, std: h.Table.Std, by: h.Calibration}
		for b := range h.Table.Mids {
			j.positives, j.negatives = append(j.positives, h.Table.Positives[b:b+1]), append(j.negatives, h.Table.Negatives[b:b+1])
		}
		parts = append(parts, j)
	}
	_, likely, _ := pooled.fit(pooled.Std, pooled.Std)
	c.losses(parts, Calibration.Probability, []Calibration{final, likely[0], likely[1]}, nil)
	coarse := pooled
	if len(pooled.Mids) > mostBins {
		coarse = pooled.Coarse()
	}
	c.Thresholds = coarse.Curve(final)
	for b := range coarse.Mids {
		predicted := 0.0
		for _, h := range halves {
			p, _ := coarse.mean(b, func(float64) float64 { return 1 }, h.Calibration.Probability)
			predicted += p / float64(len(halves))
		}
		part := fraction(coarse.Positives[b:b+1], coarse.Negatives[b:b+1], coarse.Std, coarse.PerUnit)
		c.Reliability = append(c.Reliability, Reliability{predicted, share(part), part.Whole})
	}
	c.advise(halves, pooled, final)
	return c
}

// judged is one of the disjoint parts of the scored units, with the cells of rows of each bin that have
// what is predicted and of those that do not, with noise of standard deviation std each.
type judged struct {
	table                *Table
	positives, negatives [][]float64
	std                  float64
	by                   Calibration
}

// losses are those of probabilities, over all parts. By likely[0] classes are taken to be mixed within
// a bin; how much that matters shows by the others. totals are known better than the cells say,
// or nil.
func (c *Classification) losses(parts []judged, probability func(c Calibration, score float64) float64, likely []Calibration, totals *Totals) {
	logs := func(by Calibration, score float64) (float64, float64) {
		p := min(max(probability(by, score), 1e-12), 1-1e-12)
		return -math.Log(p), -math.Log(1 - p)
	}
	c.LogLoss = meanLoss(parts, probability, likely, totals, logs)
	c.RawLogLoss = meanLoss(parts, probability, likely, totals, func(_ Calibration, s float64) (float64, float64) { return logs(None, s) })
	c.Brier = meanLoss(parts, probability, likely, totals, func(by Calibration, s float64) (float64, float64) {
		p := probability(by, s)
		return (1 - p) * (1 - p), p * p
	})
}

// meanLoss is the mean of a loss of positives and negatives. Its interval is that of cells.mean, with what is not known
// of scores within bins. With totals, what bins have in common is taken from these:
//
//	Σ x·(g−ḡ) + ḡ·X, by class, for rows x of mean loss g, of mean ḡ over the bins, and a total X.
func meanLoss(parts []judged, probability func(c Calibration, score float64) float64, likely []Calibration, totals *Totals, loss func(by Calibration, score float64) (positive, negative float64)) *Estimate {
	type bin struct{ rows, cells, loss float64 }
	var std, perUnit, doubt, most float64
	var doubts [][2]float64
	var first [2][]bin
	var common [2]float64
	var numerators []float64
	for i, l := range likely {
		var classes [2][]bin
		for _, part := range parts {
			std, perUnit = part.std, part.table.PerUnit
			for b := range part.table.Mids {
				for class, rows := range [2][]float64{part.positives[b], part.negatives[b]} {
					value, variance := part.table.mean(b, func(s float64) float64 { return math.Abs(float64(class) - probability(l, s)) },
						func(s float64) float64 {
							p, q := loss(part.by, s)
							if class == 0 {
								return p
							}
							return q
						})
					x := bin{total(rows), float64(len(rows)), value}
					classes[class], most = append(classes[class], x), max(most, value)
					if i > 0 {
						continue
					}
					if b == len(doubts) {
						doubts = append(doubts, [2]float64{})
					}
					doubts[b][class] += max(x.rows, 0) * math.Sqrt(variance) // alike in all parts
				}
			}
		}
		numerator := 0.0
		for class, bins := range classes {
			mean := 0.0
			if totals != nil {
				for _, x := range bins {
					mean += x.loss / float64(len(bins))
				}
				numerator += mean * [2]float64{totals.Right, totals.Wrong}[class]
			}
			for _, x := range bins {
				numerator += x.rows * (x.loss - mean)
			}
			if i == 0 {
				common[class] = mean
			}
		}
		if numerators = append(numerators, numerator); i == 0 {
			first = classes
		} else {
			doubt += sq(numerator - numerators[0]) // both, as the mixture and the numbers err together
		}
	}
	for _, d := range doubts {
		doubt += sq(d[0] + d[1])
	}
	denominator := 0.0
	for _, bins := range first {
		for _, x := range bins {
			denominator += x.rows
		}
	}
	if totals != nil {
		denominator = totals.Right + totals.Wrong
	}
	e := fieller(numerators[0], denominator, func(a float64) float64 {
		noise, sampling := 0.0, 0.0
		for class, bins := range first {
			from := a
			if totals != nil {
				from = common[class]
				noise += sq(totals.Std * (from - a))
			}
			for _, x := range bins {
				noise, sampling = noise+std*std*x.cells*sq(x.loss-from), sampling+x.rows*sq(x.loss-a)
			}
		}
		return noise + perUnit*max(sampling, 0) + doubt
	}, 0, most)
	return &e
}

// advise judges the advised threshold in each half by the other's.
func (c *Classification) advise(halves []Half, pooled *Table, final Calibration) {
	bin, ok := pooled.Advise(final, c.Calibrated)
	var above, below [2][]float64
	for _, h := range halves {
		if h.Advised < 0 {
			ok = false
			break
		}
		a, b := h.Table.split(h.Advised)
		for class := range above {
			above[class], below[class] = append(above[class], a[class]...), append(below[class], b[class]...)
		}
	}
	if ok {
		o := operate(final.Probability(pooled.Edges[bin]), above, below, halves[0].Table.Std, pooled.PerUnit)
		c.Advised = &o
	}
}

// JudgeAt is Judge of exact scores of public rows, at a threshold that was chosen elsewhere; 0 for none.
func JudgeAt(t *Table, final Calibration, calibrated bool, advised float64) *Classification {
	c := Judge([]Half{{t, final, -1}}, final, calibrated)
	if advised > 0 && len(t.Edges) > 0 {
		at := final.Score(advised)
		edge := 0
		for edge < len(t.Edges)-1 && t.Edges[edge] < at {
			edge++
		}
		above, below := t.split(edge)
		o := operate(advised, above, below, t.Std, t.PerUnit)
		c.Advised = &o
	}
	return c
}

// Labels are noisy numbers of rows of two classes by true and predicted class.
type Labels struct {
	Rows         [2][2]float64 // true, predicted
	Std, PerUnit float64
}

// Total is the number of rows.
func (l Labels) Total() float64 { return total(l.Rows[0][:]) + total(l.Rows[1][:]) }

// Accuracy is the share of right labels.
func (l Labels) Accuracy() Estimate {
	return share(fraction([]float64{l.Rows[0][0], l.Rows[1][1]}, []float64{l.Rows[0][1], l.Rows[1][0]}, l.Std, l.PerUnit))
}

// Majority is the share of the more frequent class, which may be so by luck: Bonferroni's
// margin for two.
func (l Labels) Majority() Estimate {
	class := l.majority()
	s := fraction(l.Rows[class][:], l.Rows[1-class][:], l.Std, l.PerUnit)
	i := s.Interval(z95)
	i[0] = s.Interval(z975)[0]
	return of(s.Value(), i, 0, 1)
}

const z975 = 2.241402727604947

func (l Labels) majority() int {
	if total(l.Rows[1][:]) > total(l.Rows[0][:]) {
		return 1
	}
	return 0
}

// Gain is by how much more rows the labels are right than the more frequent class is, on the
// same rows.
func (l Labels) Gain() Estimate {
	class := l.majority()
	other := 1 - class
	c := cells{rows: []float64{l.Rows[other][other], l.Rows[class][other], l.Rows[other][class], l.Rows[class][class]},
		values: []float64{1, -1, 0, 0}, std: l.Std, perUnit: l.PerUnit}
	e := c.mean(-1, 1)
	return e
}

// CostGain is by how much the labels are cheaper a row than the cheaper of the two constants, at
// the costs of a decision; ok is false where it has none.
func (l Labels) CostGain(d Decision) (gain Estimate, ok bool) {
	if !d.Costs() {
		return Estimate{}, false
	}
	missed, alarm := d.FalseNegative, d.FalsePositive
	c := cells{rows: []float64{l.Rows[0][0], l.Rows[0][1], l.Rows[1][0], l.Rows[1][1]}, std: l.Std, perUnit: l.PerUnit}
	if total(l.Rows[1][:])*missed < total(l.Rows[0][:])*alarm { // flagging none is the cheaper constant
		c.values = []float64{0, -alarm, 0, missed}
	} else {
		c.values = []float64{alarm, 0, -missed, 0}
	}
	most := max(missed, alarm)
	return c.mean(-most, most), true
}

// Fill states the labels' part of a classification of two classes.
func (l Labels) Fill(c *Classification, classes []string) {
	above := [2][]float64{{l.Rows[0][1]}, {l.Rows[1][1]}}
	below := [2][]float64{{l.Rows[0][0]}, {l.Rows[1][0]}}
	o := operate(0, above, below, l.Std, l.PerUnit)
	c.BalancedAccuracy, c.Recall, c.Precision = o.BalancedAccuracy, &o.Recall, &o.Precision
	c.Confusion = &Confusion{Classes: classes, Rows: [][]float64{l.Rows[0][:], l.Rows[1][:]}, NoiseSD: l.Std}
}

// Cross gives each of two halves the calibration and the advised threshold that the other chose;
// a single one has none.
func Cross(halves []Half) {
	for i := range halves {
		halves[i].Calibration, halves[i].Advised = None, -1
	}
	if len(halves) != 2 {
		return
	}
	for i := range halves {
		other := halves[1-i].Table
		var calibrated bool
		halves[i].Calibration, calibrated = other.Calibrate()
		if bin, ok := other.Advise(halves[i].Calibration, calibrated); ok {
			halves[i].Advised = bin
		}
	}
}
