package report

import (
	"fmt"
	"math"
	"strconv"

	"pawl/evidence/quality"
)

// mostShown classes fit a confusion table across the page.
const mostShown = 12

// answeringRow is a line of the table of confidences.
type answeringRow struct{ Confidence, Answered, Accuracy string }

// confusionTable has true classes in rows and predicted ones in columns.
type confusionTable struct {
	Classes []string
	Rows    []confusionRow
	Note    string
}

type confusionRow struct {
	Class string
	Cells []string
}

// answersOf has the pictures of a classifier of more than two classes, nil where it has none.
func answersOf(c *quality.Classification, accuracy *quality.Estimate) *curves {
	if c == nil || c.Positive != "" || c.Confusion == nil {
		return nil
	}
	v := &curves{Facts: fmt.Sprintf("Balanced accuracy, the mean recall of all classes: %s.", estimate(&c.BalancedAccuracy, percent))}
	if c.TopLabel {
		f := reliabilityFigure(c)
		f.XAxis, f.YAxis = "confidence: probability of the predicted class", "share correct"
		f.Label = fmt.Sprintf("Share of correct answers against the confidence, in %d bins with 95%% intervals; the diagonal is perfect.", len(f.Crosses))
		v.Figures = []curveFigure{f, answeringFigure(c, accuracy)}
		for i := range v.Figures {
			if f := &v.Figures[i]; len(f.Crosses) == 0 {
				f.Lines, f.Empty = nil, undetermined
			}
		}
		which := "The probabilities are not recalibrated: the counts show no error in them."
		if c.Calibrated {
			which = fmt.Sprintf("The probabilities are calibrated; the log-loss without calibration is %s.", estimate(c.RawLogLoss, three))
		}
		v.Facts += " " + which
		for _, a := range c.ByConfidence {
			v.Answering = append(v.Answering, answeringRow{probability(a.Confidence), estimate(&a.Answered, percent), estimate(&a.Accuracy, percent)})
		}
	} else {
		v.Facts += " The scored rows are too few for a calibration, or the model gives no probabilities."
	}
	v.Confusion = confusionOf(c.Confusion)
	return v
}

// answeringFigure has the accuracy of the answers against the share that is answered, of the most
// confident answers first.
func answeringFigure(c *quality.Classification, accuracy *quality.Estimate) curveFigure {
	f := curveFigure{Title: "Answering only when confident", XAxis: "share of rows that are answered, the most confident first", YAxis: "accuracy"}
	f.shares()
	points := c.ByConfidence
	if accuracy != nil { // all are answered
		one := 1.0
		points = append([]quality.Answering{{Answered: quality.Estimate{Value: &one, Interval: &[2]float64{1, 1}}, Accuracy: *accuracy}}, points...)
	}
	var line [][2]float64
	for i := len(points) - 1; i >= 0; i-- {
		if x, ok := at(points[i].Answered, points[i].Accuracy); ok {
			line, f.Crosses = append(line, [2]float64{x.X, x.Y}), append(f.Crosses, x)
		}
	}
	f.Lines = []curveLine{{D: path(line)}}
	f.Label = fmt.Sprintf("Accuracy of the answers at %d shares of rows answered, with 95%% intervals; all numbers are in the table of confidences.", len(f.Crosses))
	return f
}

func confusionOf(c *quality.Confusion) *confusionTable {
	if len(c.Classes) > mostShown {
		return nil
	}
	t := &confusionTable{Note: "Exact numbers of rows."}
	if c.NoiseSD > 0 {
		t.Note = fmt.Sprintf("Each number has noise of standard deviation %s, and may be negative.", quantity(c.NoiseSD))
	}
	for i, class := range c.Classes {
		t.Classes = append(t.Classes, short(Plain(class), 12))
		r := confusionRow{Class: t.Classes[i]}
		for _, n := range c.Rows[i] {
			r.Cells = append(r.Cells, strconv.FormatFloat(math.Round(n)+0, 'f', -1, 64))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}
