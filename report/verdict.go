package report

import (
	"fmt"
	"math"
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
	trivial := "always predicting the majority class"
	if s.Data.Task == "regression" {
		trivial = "always predicting the mean"
	}
	if !s.Choice.UsefulModel {
		return "No useful model at this budget.",
			"The best available model is " + trivial + "; the file holds that predictor."
	}
	if s.Score == nil || math.IsNaN(float64(s.Score.Value)) || math.IsNaN(float64(s.Score.Baseline)) {
		return "A model was trained; its quality is unknown.",
			"No score and baseline were released."
	}
	value, base := scoreText(s, s.Score.Value), scoreText(s, s.Score.Baseline)
	switch separation(s) {
	case better:
		return "The model is useful.", fmt.Sprintf("It scores %s, against %s for %s, and the intervals do not overlap.", value, base, trivial)
	case overlap:
		return "The model may not be better than its baseline.", fmt.Sprintf("It scores %s, against %s for %s, and the intervals overlap.", value, base, trivial)
	case worse:
		return "The released model is worse than its baseline.", fmt.Sprintf("It scores %s, against %s for %s.", value, base, trivial)
	}
	return "The model may not be better than its baseline.", fmt.Sprintf("It scores %s, against %s for %s; an interval is missing.", value, base, trivial)
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

type relationToBaseline int

const (
	unknown relationToBaseline = iota
	better
	overlap
	worse
)

func separation(s *Statement) relationToBaseline {
	sc := s.Score
	m, b := sc.Interval, [2]Number{sc.Baseline, sc.Baseline}
	switch {
	case sc.BaselineInterval != nil:
		b = *sc.BaselineInterval
	case !exactBaseline(s):
		return unknown
	}
	if sc.Metric != "accuracy" {
		m, b = [2]Number{-m[1], -m[0]}, [2]Number{-b[1], -b[0]} // an error: smaller is better
	}
	switch {
	case m[0] > b[1]:
		return better
	case m[1] < b[0]:
		return worse
	case m[0] <= b[1] && b[0] <= m[1]:
		return overlap
	}
	return unknown // NaN
}
