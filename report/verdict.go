package report

import (
	"fmt"
	"math"

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
			"The best available model is " + trivial + "; the file holds that predictor."
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
	return "Whether the model is useful is not determined.", "At this budget and number of scored rows, the noise leaves nothing to say."
}

// gainWords say how much better the model is than a constant, on the same rows.
func gainWords(s *Statement, constant string) string {
	g := s.Score.Gain
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
	return fmt.Sprintf("on the same rows, it differs from %s by %s to %s%s, which may be nothing", constant, low, high, unit)
}

// rankingWords say what is good and what is not.
func rankingWords(s *Statement) string {
	why := "Its labels are not shown to be right more often than those of the majority class"
	if a := auroc(s.Score); a != nil && a.Above(0.5) {
		why = fmt.Sprintf("It ranks well: the area under the ROC curve is %s. But its labels are not shown to be right more often than those of the majority class", estimate(a, three))
	}
	if c := s.Score.Classification; c != nil && c.Advised != nil && c.Advised.BalancedAccuracy.Known() {
		why += fmt.Sprintf("; at a threshold of %s, the balanced accuracy is %s", percent(c.Advised.Threshold), percent(*c.Advised.BalancedAccuracy.Value))
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
