package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"pawl/evidence/quality"
)

func page2(t *testing.T, s *Statement) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The pictures of a classifier are on page 2, with what is not determined left out of lines and
// said in the table; groups have theirs.
func TestCurvesOfAClassifier(t *testing.T) {
	s := hospital()
	c := curvesOf("", s.Score.Classification, auroc(s.Score))
	if len(c.Figures) != 4 {
		t.Fatalf("%d figures", len(c.Figures))
	}
	roc := c.Figures[0]
	if len(roc.Crosses) != 2 || !roc.HasMark || strings.Count(roc.Lines[0].D, "L") != 3 {
		t.Errorf("ROC of two known thresholds, the ends and the advised one: %+v", roc)
	}
	// (.19, .78) lies left of and above the diagonal.
	if at := roc.Crosses[1]; at.X != across(.61) || at.Y != upright(.97) || roc.MarkX != across(.19) || roc.MarkY != upright(.78) {
		t.Errorf("the ROC curve passes %+v, its mark is at %g, %g", at, roc.MarkX, roc.MarkY)
	}
	if r := c.Figures[2]; len(r.Crosses) != 2 {
		t.Errorf("calibration of two known bins: %+v", r)
	}
	if last := c.Rows[2]; last.Recall != undetermined || c.Rows[1].Mark != "advised" || c.Rows[0].Mark != "" {
		t.Errorf("rows %+v", c.Rows)
	}
	for _, f := range c.Figures {
		for _, l := range f.Lines {
			if strings.Contains(l.D+l.Band, "NaN") {
				t.Errorf("%s: %s %s", f.Title, l.D, l.Band)
			}
		}
	}
	text := page2(t, s)
	for _, want := range []string{"Quality in detail", "ROC curve", "Calibration curve", "By threshold", "0.24 advised"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	s.Score.ByGroup = &ByGroup{Attribute: "sex", How: "released", Epsilon: 1, Groups: []GroupScore{
		{Group: "f", Value: .8, Interval: &[2]Number{.7, .9}, Rows: 900, AUROC: number(.8), AUROCInterval: &[2]Number{.7, .9}, Classification: classification()},
		{Group: "m", Value: Number(math.NaN()), TooFew: true}}}
	if text = page2(t, s); !strings.Contains(text, "<h3>sex = f</h3>") || strings.Contains(text, "<h3>sex = m</h3>") {
		t.Error("the group that has curves shows them, and the other one does not")
	}
}

// A picture without a point says so.
func TestEmptyCurvesSayNotDetermined(t *testing.T) {
	c := curvesOf("", &quality.Classification{Thresholds: []quality.Operating{{Threshold: .5}}}, nil)
	for _, f := range c.Figures {
		if f.Empty != undetermined || len(f.Lines) > 0 {
			t.Errorf("%s: %+v", f.Title, f)
		}
	}
	if curvesOf("", &quality.Classification{}, nil) != nil {
		t.Error("no thresholds were released")
	}
}

// Labels that follow a wish are not said to need another threshold.
func TestHeadlineOfADecision(t *testing.T) {
	for _, d := range []quality.Decision{{FalseNegative: 10, FalsePositive: 1}, {Recall: .8}, {Threshold: .1}} {
		s := hospital()
		s.Score.Decision, s.Score.UsefulFor = &d, quality.ForRanking
		if d.Costs() {
			s.Score.Classification.CostGain = about(.02, -.01, .05)
		}
		headline, why := verdict(s)
		if strings.Contains(headline, "need") || !strings.Contains(headline, "follow") || strings.Contains(why, "majority") {
			t.Errorf("%+v: %s %s", d, headline, why)
		}
		if d.Costs() != strings.Contains(why, "save") {
			t.Errorf("%+v: %s", d, why)
		}
	}
	s := hospital()
	s.Score.UsefulFor = quality.ForRanking
	s.Score.Classification.BalancedAccuracy = quality.Estimate{}
	if headline, _ := verdict(s); !strings.Contains(headline, "need another threshold") {
		t.Errorf("without a wish: %s", headline)
	}
}

// More than two classes have a curve of confidence, the accuracy of confident answers and a confusion table.
func TestAnswersOfManyClasses(t *testing.T) {
	known := func(v, low, high float64) quality.Estimate {
		return quality.Estimate{Value: &v, Interval: &[2]float64{low, high}}
	}
	loss := known(.5, .4, .6)
	c := &quality.Classification{TopLabel: true, Calibrated: true, LogLoss: &loss, RawLogLoss: &loss, Brier: &loss, BalancedAccuracy: known(.7, .6, .8),
		Confusion:    &quality.Confusion{Classes: []string{"a", "b <i>", "c"}, Rows: [][]float64{{5, -.4, 2}, {1, 7, 0}, {0, 1, 9}}, NoiseSD: 3},
		Reliability:  []quality.Reliability{{Predicted: .5, Observed: known(.4, .3, .5), Rows: 90}, {Predicted: .9, Rows: 2}},
		ByConfidence: []quality.Answering{{Confidence: .6, Answered: known(.5, .4, .6), Accuracy: known(.9, .8, .95)}}}
	accuracy := known(.8, .7, .9)
	v := answersOf(c, &accuracy)
	if len(v.Figures) != 2 || len(v.Figures[0].Crosses) != 1 || len(v.Figures[1].Crosses) != 2 || v.Figures[1].Crosses[1].X != across(1) || v.Figures[1].Crosses[1].Y != upright(.8) {
		t.Errorf("figures %+v", v.Figures)
	}
	if v.Confusion.Rows[0].Cells[1] != "0" || v.Answering[0].Answered != "50.0% (40.0% to 60.0%)" {
		t.Errorf("%+v, %+v", v.Confusion, v.Answering)
	}
	s := hospital()
	s.Score.Classification, s.Score.AUROC, s.Score.AUROCInterval = c, nil, nil
	text := page2(t, s)
	for _, want := range []string{"Answering only when confident", "Rows by class", "b &lt;i&gt;", "noise of standard deviation 3"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if answersOf(&quality.Classification{Positive: "yes", Confusion: c.Confusion}, nil) != nil {
		t.Error("two classes have these pictures too")
	}
}
