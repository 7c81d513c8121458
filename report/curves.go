package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"pawl/evidence/quality"
)

// curves are the pictures of a classifier: what was released of its scores.
type curves struct {
	Of        string // "" for all rows, or the group
	Facts     string
	Figures   []curveFigure
	Rows      []operatingRow  // of two classes
	Answering []answeringRow  // of more
	Confusion *confusionTable // of more
}

// curves fills in the pictures: of all rows, and of each group that has them.
func (v *view) curves(s *Statement) {
	if s.Score == nil {
		return
	}
	c := s.Score.Classification
	if all := curvesOf("", c, auroc(s.Score)); all != nil {
		v.Curves = append(v.Curves, all)
		if c.Advised != nil {
			v.CurvesNote = fmt.Sprintf(" The advised threshold, %s, balances the recalls of both classes: marked by a ring, and by a dashed line in the plot by threshold.", probability(c.Advised.Threshold))
		}
	}
	if all := answersOf(c, asEstimate(&s.Score.Value, &s.Score.Interval)); all != nil {
		v.Curves = append(v.Curves, all)
	}
	if b := s.Score.ByGroup; b != nil {
		for _, g := range b.Groups {
			if k := curvesOf(or(b.Attribute, "group")+" = "+or(g.Group, "—"), g.Classification, g.area()); k != nil {
				v.Curves = append(v.Curves, k)
			}
		}
	}
}

// curveFigure is one picture. Coordinates are user units of the viewBox.
type curveFigure struct {
	Title, Label string // Label is read out in place of the picture
	XAxis, YAxis string
	XTicks       []tick
	YTicks       []yTick
	Lines        []curveLine
	Dots         []dot
	Crosses      []cross
	Legend       []curveLine
	Chance       string // a path to compare with
	MarkX, MarkY float64
	HasMark      bool
	Empty        string // said in place of a curve
}

// curveLine is a path, with the band of its intervals.
type curveLine struct {
	Class int
	Name  string
	D     string
	Band  string
}

// dot is a point to compare a line of its class with.
type dot struct {
	Class int
	X, Y  float64
}

// cross is a point with its intervals, of which one may have no width.
type cross struct{ X, Y, X1, X2, Y1, Y2 float64 }

type operatingRow struct {
	Threshold, Flagged, Recall, Alarms, Precision, Balanced string
	Mark                                                    string // "advised", or ""
}

const (
	curveLeft, curveRight = 34.0, 306.0
	curveTop, curveFloor  = 8.0, 178.0
)

// across and upright place a number within [0, 1].
func across(x float64) float64 { return tenth(curveLeft + x*(curveRight-curveLeft)) }
func upright(y float64) float64 {
	return tenth(curveFloor - y*(curveFloor-curveTop))
}

func (f *curveFigure) shares() {
	for _, v := range []float64{0, .25, .5, .75, 1} {
		label := fmt.Sprintf("%.0f%%", 100*v)
		f.XTicks = append(f.XTicks, tick{X: across(v), Label: label})
		f.YTicks = append(f.YTicks, yTick{upright(v), label})
	}
}

// path joins points; those of which one coordinate is not known are left out.
func path(points [][2]float64) string {
	var b strings.Builder
	for _, p := range points {
		if p[0] != p[0] || p[1] != p[1] {
			continue
		}
		letter := "L"
		if b.Len() == 0 {
			letter = "M"
		}
		fmt.Fprintf(&b, "%s%g %g", letter, p[0], p[1])
	}
	return b.String()
}

// at is a point of two estimates; ok is false where one of them is not known.
func at(x, y quality.Estimate) (c cross, ok bool) {
	if !x.Known() || !y.Known() {
		return c, false
	}
	return cross{X: across(*x.Value), Y: upright(*y.Value), X1: across(x.Interval[0]), X2: across(x.Interval[1]),
		Y1: upright(y.Interval[0]), Y2: upright(y.Interval[1])}, true
}

func (f *curveFigure) mark(o *quality.Operating, x, y func(quality.Operating) quality.Estimate) {
	if o == nil {
		return
	}
	if c, ok := at(x(*o), y(*o)); ok {
		f.MarkX, f.MarkY, f.HasMark = c.X, c.Y, true
	}
}

func recallOf(o quality.Operating) quality.Estimate    { return o.Recall }
func alarmsOf(o quality.Operating) quality.Estimate    { return o.FalsePositiveRate }
func precisionOf(o quality.Operating) quality.Estimate { return o.Precision }

// curvesOf has the pictures of a classification, nil where it has no curve.
func curvesOf(of string, c *quality.Classification, auroc *quality.Estimate) *curves {
	if c == nil || len(c.Thresholds) == 0 {
		return nil
	}
	v := &curves{Of: of}
	area := undetermined
	if auroc != nil {
		area = estimate(auroc, three)
	}
	v.Facts = fmt.Sprintf("Area under the ROC curve: %s. Average precision: %s.", area, estimate(c.AveragePrecision, three))
	v.Figures = []curveFigure{rocFigure(c), precisionFigure(c), reliabilityFigure(c), thresholdFigure(c)}
	if of != "" { // a group has less room
		v.Figures = append(v.Figures[:1:1], v.Figures[2:]...)
	}
	for i := range v.Figures {
		if f := &v.Figures[i]; len(f.Crosses) == 0 && len(f.Legend) == 0 {
			f.Lines, f.Empty = nil, undetermined
		}
	}
	advised := -1
	if c.Advised != nil {
		for i, t := range c.Thresholds {
			if advised < 0 || math.Abs(t.Threshold-c.Advised.Threshold) < math.Abs(c.Thresholds[advised].Threshold-c.Advised.Threshold) {
				advised = i
			}
		}
	}
	for i, t := range c.Thresholds {
		r := operatingRow{probability(t.Threshold), narrow(&t.Flagged), narrow(&t.Recall), narrow(&t.FalsePositiveRate), narrow(&t.Precision), narrow(&t.BalancedAccuracy), ""}
		if i == advised && math.Abs(t.Threshold-c.Advised.Threshold) < 1e-9 {
			r.Mark = "advised"
		}
		v.Rows = append(v.Rows, r)
	}
	return v
}

// narrow writes a share so that six stand side by side on a page.
func narrow(e *quality.Estimate) string {
	if !e.Known() {
		return undetermined
	}
	return fmt.Sprintf("%s (%s–%s)", percent(*e.Value), points(e.Interval[0]), points(e.Interval[1]))
}

// probability writes a threshold, with two digits that say something.
func probability(p float64) string {
	switch {
	case p < 1e-4:
		return "below 0.0001"
	case p < 0.1:
		return strconv.FormatFloat(p, 'f', 1-int(math.Floor(math.Log10(p))), 64)
	}
	return fmt.Sprintf("%.2f", p)
}

func rocFigure(c *quality.Classification) curveFigure {
	f := curveFigure{Title: "ROC curve", XAxis: "false alarms: share of the other class that is flagged", YAxis: "recall",
		Chance: path([][2]float64{{across(0), upright(0)}, {across(1), upright(1)}})}
	f.shares()
	points := [][2]float64{{across(0), upright(0)}}
	for i := len(c.Thresholds) - 1; i >= 0; i-- { // from few flagged to all
		t := c.Thresholds[i]
		if x, ok := at(t.FalsePositiveRate, t.Recall); ok {
			points, f.Crosses = append(points, [2]float64{x.X, x.Y}), append(f.Crosses, x)
		}
	}
	points = append(points, [2]float64{across(1), upright(1)})
	f.Lines = []curveLine{{D: path(points)}}
	f.mark(c.Advised, alarmsOf, recallOf)
	f.Label = fmt.Sprintf("Receiver operating characteristic through %d released thresholds, with 95%% intervals; all numbers are in the table of thresholds.", len(f.Crosses))
	return f
}

func precisionFigure(c *quality.Classification) curveFigure {
	f := curveFigure{Title: "Precision and recall", XAxis: "recall", YAxis: "precision"}
	f.shares()
	if c.Prevalence != nil && c.Prevalence.Known() {
		y := upright(*c.Prevalence.Value)
		f.Chance = path([][2]float64{{across(0), y}, {across(1), y}})
	}
	var points [][2]float64
	for i := len(c.Thresholds) - 1; i >= 0; i-- {
		t := c.Thresholds[i]
		if x, ok := at(t.Recall, t.Precision); ok {
			points, f.Crosses = append(points, [2]float64{x.X, x.Y}), append(f.Crosses, x)
		}
	}
	if c.Prevalence != nil && c.Prevalence.Known() { // all are flagged
		points = append(points, [2]float64{across(1), upright(*c.Prevalence.Value)})
	}
	f.Lines = []curveLine{{D: path(points)}}
	f.mark(c.Advised, recallOf, precisionOf)
	f.Label = fmt.Sprintf("Precision against recall at %d released thresholds, with 95%% intervals.", len(f.Crosses))
	return f
}

func reliabilityFigure(c *quality.Classification) curveFigure {
	which := "not calibrated"
	if c.Calibrated {
		which = "calibrated"
	}
	f := curveFigure{Title: "Calibration curve", XAxis: "predicted probability, " + which, YAxis: "share found"}
	most := 0.1
	for _, r := range c.Reliability {
		if most = math.Max(most, r.Predicted); r.Observed.Known() {
			most = math.Max(most, r.Observed.Interval[1])
		}
	}
	_, most, step := axis(0, math.Min(most, 1)/1.05)
	most = math.Min(most, 1)
	x, y := func(v float64) float64 { return across(v / most) }, func(v float64) float64 { return upright(math.Min(v/most, 1)) }
	for v := 0.0; v <= most+step/1e6; v += step {
		label := axisPercent(v)
		f.XTicks, f.YTicks = append(f.XTicks, tick{X: x(v), Label: label}), append(f.YTicks, yTick{y(v), label})
	}
	f.Chance = path([][2]float64{{x(0), y(0)}, {x(most), y(most)}})
	var points [][2]float64
	for _, r := range c.Reliability {
		if !r.Observed.Known() {
			continue
		}
		p := cross{X: x(r.Predicted), Y: y(*r.Observed.Value), X1: x(r.Predicted), X2: x(r.Predicted), Y1: y(r.Observed.Interval[0]), Y2: y(r.Observed.Interval[1])}
		points, f.Crosses = append(points, [2]float64{p.X, p.Y}), append(f.Crosses, p)
	}
	f.Lines = []curveLine{{D: path(points)}}
	f.Label = fmt.Sprintf("Share of the second class found against the predicted probability, in %d bins with 95%% intervals; the diagonal is perfect.", len(f.Crosses))
	return f
}

func axisPercent(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.1f", 100*v), "0"), ".") + "%"
}

// logitMarks are those of an axis of thresholds, of equal steps of the log-odds about.
var logitMarks = []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, .8, .9, .95, .98, .99, .995, .999}

// thresholdFigure has recall, precision and the share flagged by threshold, on a scale of log-odds.
func thresholdFigure(c *quality.Classification) curveFigure {
	f := curveFigure{Title: "By threshold", XAxis: "threshold: smallest probability that is flagged", YAxis: "share"}
	for _, v := range []float64{0, .25, .5, .75, 1} {
		f.YTicks = append(f.YTicks, yTick{upright(v), fmt.Sprintf("%.0f%%", 100*v)})
	}
	logit := func(p float64) float64 { p = math.Min(math.Max(p, 1e-6), 1-1e-6); return math.Log(p / (1 - p)) }
	low, high := logit(c.Thresholds[0].Threshold), logit(c.Thresholds[len(c.Thresholds)-1].Threshold)
	if !(high-low > 0.5) {
		low, high = low-0.5, high+0.5
	}
	x := func(p float64) float64 { return across((logit(p) - low) / (high - low)) }
	last := math.Inf(-1)
	for _, m := range logitMarks {
		if l := logit(m); l >= low && l <= high && x(m)-last > 30 {
			f.XTicks, last = append(f.XTicks, tick{X: x(m), Label: axisPercent(m)}), x(m)
		}
	}
	for k, series := range []struct {
		name string
		of   func(quality.Operating) quality.Estimate
	}{{"recall", recallOf}, {"precision", precisionOf}, {"flagged", func(o quality.Operating) quality.Estimate { return o.Flagged }}} {
		var points, upper, lower [][2]float64
		for _, t := range c.Thresholds {
			e := series.of(t)
			if !e.Known() {
				continue
			}
			points = append(points, [2]float64{x(t.Threshold), upright(*e.Value)})
			upper = append(upper, [2]float64{x(t.Threshold), upright(e.Interval[1])})
			lower = append([][2]float64{{x(t.Threshold), upright(e.Interval[0])}}, lower...)
		}
		line := curveLine{Class: k, Name: series.name, D: path(points)}
		if len(points) > 1 {
			line.Band = path(append(upper, lower...)) + "Z"
		}
		if len(points) > 0 {
			f.Lines, f.Legend = append(f.Lines, line), append(f.Legend, line)
		}
	}
	if c.Advised != nil {
		if at := x(c.Advised.Threshold); at >= curveLeft && at <= curveRight {
			f.Chance = path([][2]float64{{at, upright(0)}, {at, upright(1)}})
		}
	}
	f.Label = "Recall, precision and the share of rows flagged against the threshold, with 95% bands; all numbers are in the table of thresholds."
	return f
}
