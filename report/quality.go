package report

import (
	"fmt"
	"math"
	"strings"

	"pawl/evidence/quality"
)

// undetermined stands for a number that the noise, or too few rows, leave unknown.
const undetermined = "not determined"

// estimate writes a value with its interval.
func estimate(e *quality.Estimate, text func(float64) string) string {
	if e == nil || !e.Known() {
		return undetermined
	}
	return fmt.Sprintf("%s (%s to %s)", text(*e.Value), text(e.Interval[0]), text(e.Interval[1]))
}

// three writes a number between 0 and 1 that is no percentage.
func three(x float64) string { return fmt.Sprintf("%.3f", x) }

// points writes a difference of percentages.
func points(x float64) string { return strings.TrimSuffix(percent(x), "%") }

// auroc is the area under the ROC curve as an estimate, nil where there is none.
func auroc(sc *Score) *quality.Estimate { return asEstimate(sc.AUROC, sc.AUROCInterval) }

func asEstimate(value *Number, interval *[2]Number) *quality.Estimate {
	if value == nil || interval == nil || math.IsNaN(float64(*value)) {
		return nil
	}
	v := float64(*value)
	return &quality.Estimate{Value: &v, Interval: &[2]float64{float64(interval[0]), float64(interval[1])}}
}

// qualityRows are the further scores, the most useful first.
func qualityRows(s *Statement) (out []row) {
	if s.Score == nil {
		return nil
	}
	if c := s.Score.Classification; c != nil {
		if a := auroc(s.Score); a != nil || c.AveragePrecision != nil {
			out = append(out, row{"Area under the ROC curve", estimate(a, three)})
		}
		if o := c.Advised; o != nil {
			out = append(out, row{"Balanced accuracy at the advised threshold of " + probability(o.Threshold), estimate(&o.BalancedAccuracy, percent)},
				row{"… recall at this threshold", estimate(&o.Recall, percent)}, row{"… precision at this threshold", estimate(&o.Precision, percent)})
		}
		out = append(out, row{"Balanced accuracy of the labels", estimate(&c.BalancedAccuracy, percent)})
		if c.Positive != "" {
			class := " of " + short(Plain(c.Positive), 20)
			out = append(out, row{"Recall" + class, estimate(c.Recall, percent)}, row{"Precision" + class, estimate(c.Precision, percent)})
		}
		if c.AveragePrecision != nil {
			out = append(out, row{"Average precision", estimate(c.AveragePrecision, three)})
		}
		if c.LogLoss != nil {
			how := ", not calibrated"
			if c.Calibrated {
				how = ", calibrated"
			}
			if c.TopLabel {
				how = " of the predicted class" + how
			}
			out = append(out, row{"Log-loss" + how, estimate(c.LogLoss, three)}, row{"Brier score" + how, estimate(c.Brier, three)})
		}
	}
	if r := s.Score.Regression; r != nil {
		out = append(out, row{"R²", estimate(&r.R2, three)}, row{"Root mean square error", estimate(&r.RMSE, quantity)},
			row{"Mean absolute error of predicting the median", estimate(&r.MedianBaseline, quantity)})
		for _, i := range r.Intervals {
			out = append(out, row{fmt.Sprintf("%.0f%% of predictions are off by at most", 100*i.Level), quantity(i.HalfWidth)})
		}
	}
	return out
}

// qualityLine has the first of them, for page 1.
func qualityLine(s *Statement) string {
	var parts []string
	for _, r := range qualityRows(s) {
		if len(parts) < 2 && !strings.HasPrefix(r.Name, "…") {
			parts = append(parts, r.Name+": "+r.Value)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ". ") + "."
}

// exactQuality prints the further scores with all digits.
func exactQuality(s *Statement) []row {
	if s.Score == nil || s.Score.Gain == nil {
		return nil
	}
	all := func(x float64) string { return exact(Number(x)) }
	out := []row{{"gain over the best constant", estimate(s.Score.Gain, all)}}
	add := func(name string, e *quality.Estimate) {
		if e != nil {
			out = append(out, row{name, estimate(e, all)})
		}
	}
	add("area under the ROC curve, 95% interval", auroc(s.Score))
	if c := s.Score.Classification; c != nil {
		add("balanced accuracy of the labels", &c.BalancedAccuracy)
		add("average precision", c.AveragePrecision)
		add("log-loss", c.LogLoss)
		add("log-loss, not calibrated", c.RawLogLoss)
		add("Brier score", c.Brier)
	}
	if r := s.Score.Regression; r != nil {
		add("R²", &r.R2)
		add("root mean square error", &r.RMSE)
		add("mean absolute error of predicting the median", &r.MedianBaseline)
		add("mean absolute error of predicting the mean", &r.MeanBaseline)
	}
	return out
}
