package serve

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// chart is a picture that the template draws: all texts pass through its escaping. Coordinates are
// those of a view box of Width by Height.
type chart struct {
	Label          string // read out in place of the picture
	XTitle, YTitle string
	Width, Height  float64
	Left, Right    float64
	Top, Floor     float64
	XTicks, YTicks []tick
	Curves         []curve
	// Mark is a vertical line at MarkX, where HasMark.
	HasMark bool
	MarkX   float64
	MarkOf  string
}

// YLabel is where the labels of the y axis end, Under a place below the x axis.
func (c *chart) YLabel() float64         { return c.Left - 8 }
func (c *chart) Under(d float64) float64 { return c.Floor + d }

type tick struct {
	At    float64
	Label string
}

// curve is one line with its points; Class is its colour.
type curve struct {
	Class, Name string
	Path        string
	Dots        []dot
}

type dot struct{ X, Y, Low, High float64 }

// series are the points of a curve. Low and High are intervals, or nil.
type series struct {
	Name      string
	X, Y      []float64
	Low, High []float64
}

// scale maps values to a length, by their logarithm where it is asked.
type scale struct {
	low, high, from, to float64
	log, whole          bool
}

func (s scale) at(x float64) float64 {
	a, b := s.low, s.high
	if s.log {
		x, a, b = math.Log(x), math.Log(a), math.Log(b)
	}
	return math.Round(10*(s.from+(x-a)/(b-a)*(s.to-s.from))) / 10
}

// ticks are round values on the scale.
func (s scale) ticks() (all []tick) {
	if !s.log {
		step := roundStep((s.high - s.low) / 7)
		if s.whole {
			step = math.Max(step, 1)
		}
		for v := math.Ceil(s.low/step-1e-9) * step; v <= s.high+step/1e6; v += step {
			all = append(all, tick{s.at(v), short(v)})
		}
		return all
	}
	multiples := []float64{1}
	if s.high/s.low < 300 {
		multiples = []float64{1, 2, 5}
	}
	for p := math.Pow(10, math.Floor(math.Log10(s.low))); p <= s.high*1.000001; p *= 10 {
		for _, m := range multiples {
			if v := p * m; v >= s.low*0.999999 && v <= s.high*1.000001 {
				all = append(all, tick{s.at(v), short(v)})
			}
		}
	}
	return all
}

func roundStep(raw float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*unit >= raw {
			return m * unit
		}
	}
	return 10 * unit
}

func short(x float64) string {
	text := strconv.FormatFloat(math.Round(x*1e9)/1e9, 'g', 4, 64)
	if a := math.Abs(x); a >= 1e4 && a < 1e7 {
		text = strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strings.Replace(text, "-", "−", 1)
}

// axes say how a chart is scaled and named.
type axes struct {
	x, y       string
	logX, logY bool
	// counts says that x is a whole number.
	counts bool
}

// newChart places series; nil where there is nothing to draw. Points that are not finite leave a
// gap.
func newChart(a axes, all ...series) *chart {
	c := &chart{XTitle: a.x, YTitle: a.y, Width: 640, Height: 300, Left: 56, Right: 612, Top: 12, Floor: 252}
	xs, ys := scale{math.Inf(1), math.Inf(-1), c.Left, c.Right, a.logX, a.counts}, scale{math.Inf(1), math.Inf(-1), c.Floor, c.Top, a.logY, false}
	usable := func(x, y float64) bool {
		return !math.IsNaN(x+y) && !math.IsInf(x+y, 0) && (!a.logX || x > 0) && (!a.logY || y > 0)
	}
	widen := func(s *scale, v float64) { s.low, s.high = math.Min(s.low, v), math.Max(s.high, v) }
	for _, s := range all {
		for i := range s.X {
			if !usable(s.X[i], s.Y[i]) {
				continue
			}
			widen(&xs, s.X[i])
			widen(&ys, s.Y[i])
			if s.Low != nil && usable(s.Low[i], s.High[i]) {
				widen(&ys, s.Low[i])
				widen(&ys, s.High[i])
			}
		}
	}
	if !(xs.low < xs.high) || ys.low > ys.high {
		return nil
	}
	if a.logY {
		ys.low, ys.high = ys.low/1.1, ys.high*1.1
	} else {
		room := math.Max((ys.high-ys.low)/20, math.Abs(ys.high)*1e-3+1e-9)
		ys.low, ys.high = ys.low-room, ys.high+room
	}
	c.XTicks, c.YTicks = xs.ticks(), ys.ticks()
	var label strings.Builder
	fmt.Fprintf(&label, "%s against %s.", a.y, a.x)
	for k, s := range all {
		line := curve{Class: fmt.Sprint("c", k%6), Name: s.Name}
		var path strings.Builder
		pen := false
		first, last := -1, -1
		for i := range s.X {
			if !usable(s.X[i], s.Y[i]) {
				pen = false
				continue
			}
			if first < 0 {
				first = i
			}
			last = i
			d := dot{X: xs.at(s.X[i]), Y: ys.at(s.Y[i])}
			if s.Low != nil {
				d.Low, d.High = ys.at(s.Low[i]), ys.at(s.High[i])
				line.Dots = append(line.Dots, d)
			}
			if pen {
				fmt.Fprintf(&path, "L%g,%g", d.X, d.Y)
			} else {
				fmt.Fprintf(&path, "M%g,%g", d.X, d.Y)
			}
			pen = true
		}
		if line.Path = path.String(); first >= 0 {
			fmt.Fprintf(&label, " %s: from %s at %s to %s at %s.", s.Name, short(s.Y[first]), short(s.X[first]), short(s.Y[last]), short(s.X[last]))
		}
		c.Curves = append(c.Curves, line)
	}
	c.Label = label.String()
	return c
}

// mark draws a vertical line at a value of the x axis.
func (c *chart) mark(a axes, low, high, x float64, of string) *chart {
	if c != nil && x >= low && x <= high {
		c.HasMark, c.MarkX, c.MarkOf = true, scale{low, high, c.Left, c.Right, a.logX, false}.at(x), of
	}
	return c
}
