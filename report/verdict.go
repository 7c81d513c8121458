package report

import (
	"fmt"
	"math"
	"strings"

	"pawl/evidence/quality"
)

// verdict says in one sentence whether a model worth using came out.
func verdict(s *Statement) (headline, why string) {
	headline, why = verdictWords(s)
	if s.NotPrivate {
		headline = "Without a privacy claim: " + headline
	}
	return headline, why
}

func verdictWords(s *Statement) (headline, why string) {
	trivial, constant := "always predicting the majority class", "that"
	if s.Data.Task == "regression" {
		trivial, constant = "always predicting the mean", "always predicting the median"
	}
	if !s.Choice.UsefulModel {
		return "No useful model at this budget.",
			"The best available model is " + trivial + "; the model file contains this predictor."
	}
	if s.Score == nil {
		return "A model was trained; its quality is unknown.", "No score and baseline were released."
	}
	if s.Score.Verdict == "" {
		return "A model was trained; its quality is unknown.", "The statement has no verdict."
	}
	value := fmt.Sprintf("It scores %s, against %s for %s", scoreText(s, s.Score.Value), scoreText(s, s.Score.Baseline), trivial)
	if math.IsNaN(float64(s.Score.Value)) {
		value = "Its score is not determined"
	}
	switch s.Score.Verdict {
	case quality.Useful:
		if d := s.Score.Decision; d != nil && s.Score.Classification != nil {
			if s.Score.UsefulFor == quality.ForRanking {
				return "The model is useful for ranking; its labels follow " + decisionWords(d) + ".", rankingWords(s)
			}
			return "The model is useful; its labels follow " + decisionWords(d) + ".", fmt.Sprintf("%s: %s.", value, gainWords(s, constant))
		}
		if c := s.Score.Classification; s.Score.UsefulFor == quality.ForRanking && c != nil && c.BalancedAccuracy.Above(0.5) {
			return "The model is useful, though not by accuracy.", fmt.Sprintf("%s, which is no gain; but the mean recall of the classes is %s.", value, estimate(&c.BalancedAccuracy, percent))
		}
		if s.Score.UsefulFor == quality.ForRanking {
			return "The model is useful for ranking; its labels need another threshold.", rankingWords(s)
		}
		return "The model is useful.", fmt.Sprintf("%s: %s.", value, gainWords(s, constant))
	case quality.Worse:
		return "The released model is worse than its baseline.", fmt.Sprintf("%s: %s.", value, gainWords(s, constant))
	case quality.NotShown:
		return "The model may not be better than its baseline.", fmt.Sprintf("%s: %s.", value, gainWords(s, constant))
	}
	return "Whether the model is useful is not determined.", "At this budget and number of scored rows, the noise allows no conclusion."
}

// gainWords say how much better the model is than a constant, on the same rows.
func gainWords(s *Statement, constant string) string {
	g := s.Score.Gain
	if c := s.Score.Classification; c != nil && c.CostGain != nil {
		return costWords(c.CostGain)
	}
	if g == nil || !g.Known() {
		return "the difference on the same rows is not determined"
	}
	unit, text := " percentage points of accuracy", points
	if s.Score.Metric != "accuracy" {
		unit, text = "", quantity
	}
	low, high := text(g.Interval[0]), text(g.Interval[1])
	switch {
	case g.Interval[0] > 0:
		return fmt.Sprintf("on the same rows, it is better than %s by %s to %s%s", constant, low, high, unit)
	case g.Interval[1] < 0:
		return fmt.Sprintf("on the same rows, it is worse than %s by %s to %s%s", constant, text(-g.Interval[1]), text(-g.Interval[0]), unit)
	}
	return fmt.Sprintf("on the same rows, it differs from %s by %s to %s%s, which may be chance", constant, low, high, unit)
}

// decisionWords name what the labels follow.
func decisionWords(d *quality.Decision) string {
	switch {
	case d.Costs():
		return fmt.Sprintf("the chosen costs (a miss %g, a false alarm %g)", d.FalseNegative, d.FalsePositive)
	case d.Recall > 0:
		return fmt.Sprintf("the requested recall (%s)", percent(d.Recall))
	}
	return fmt.Sprintf("the chosen threshold (%s)", probability(d.Threshold))
}

// costWords say how much the labels save, at the costs of a decision.
func costWords(g *quality.Estimate) string {
	cheapest := "the cheaper of flagging every row and flagging none"
	if !g.Known() {
		return "the saving at these costs is not determined"
	}
	low, high := quantity(g.Interval[0]), quantity(g.Interval[1])
	switch {
	case g.Interval[0] > 0:
		return fmt.Sprintf("at these costs, the labels save %s to %s per row against %s", low, high, cheapest)
	case g.Interval[1] < 0:
		return fmt.Sprintf("at these costs, the labels lose %s to %s per row against %s", quantity(-g.Interval[1]), quantity(-g.Interval[0]), cheapest)
	}
	return fmt.Sprintf("at these costs, the labels save %s to %s per row against %s, which may be chance", low, high, cheapest)
}

// rankingWords say what is good and what is not.
func rankingWords(s *Statement) string {
	labels := "its labels are not shown to be right more often than those of the majority class"
	c, d := s.Score.Classification, s.Score.Decision
	if d != nil && c != nil {
		if d.Costs() && c.CostGain != nil {
			labels = costWords(c.CostGain)
		} else {
			labels = fmt.Sprintf("its labels have a recall of %s and a precision of %s", estimate(c.Recall, percent), estimate(c.Precision, percent))
		}
	}
	why := strings.ToUpper(labels[:1]) + labels[1:]
	if a := auroc(s.Score); a != nil && a.Above(0.5) {
		but := "But "
		if d != nil {
			but = "At the chosen threshold, "
			if d.Costs() {
				but = ""
			}
		}
		if but == "" {
			labels = why
		}
		why = fmt.Sprintf("It ranks well: the area under the ROC curve is %s. %s%s", estimate(a, three), but, labels)
	}
	if d != nil {
		return why + "."
	}
	if c != nil && c.Advised != nil && c.Advised.BalancedAccuracy.Known() {
		why += fmt.Sprintf("; at a threshold of %s, the balanced accuracy is %s", probability(c.Advised.Threshold), percent(*c.Advised.BalancedAccuracy.Value))
	}
	return why + "."
}

// exactBaseline reports whether the baseline is a count of the very rows that were
// scored, which are public: it then has no interval and needs none.
func exactBaseline(s *Statement) bool {
	return s.Score.BaselineInterval == nil && s.Score.TestBaseline != nil && publicScore(s)
}

// baselineInterval says how sure the baseline is.
func baselineInterval(s *Statement) string {
	if exactBaseline(s) {
		return "exact on these rows"
	}
	return intervalText(s, s.Score.BaselineInterval)
}
