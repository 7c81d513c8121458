package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Chart is a picture of series over a number.
type Chart struct {
	Title, XAxis, YAxis string
	// Log spaces X by its logarithm; all X must then be above 0.
	Log    bool
	Series []Series
}

// MaxSeries is the number of lines that differ in a chart.
const MaxSeries = 6

// Series is a line with the band of its intervals, and points to compare it with.
type Series struct {
	Name   string
	Points []ChartPoint
}

// ChartPoint is a value at X with its interval; Low and High are NaN where there is none. Compare is
// another value there, nil for none.
type ChartPoint struct {
	X, Y, Low, High float64
	Compare         *float64
}

// Charts draws charts for a page with Style. It refers to nothing.
func Charts(all []Chart) (template.HTML, error) {
	var b strings.Builder
	b.WriteString(`<div class="curves">`)
	for _, c := range all {
		if len(c.Series) > MaxSeries {
			return "", fmt.Errorf("chart %q has %d series, at most %d differ", c.Title, len(c.Series), MaxSeries)
		}
		if err := page().ExecuteTemplate(&b, "curve", c.figure()); err != nil {
			return "", err
		}
	}
	b.WriteString("</div>")
	return template.HTML(b.String()), nil
}

// spread is the range of finite numbers; ok is false for none.
type spread struct{ low, high float64 }

func (s *spread) add(v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		s.low, s.high = math.Min(s.low, v), math.Max(s.high, v)
	}
}

func (c Chart) figure() curveFigure {
	f := curveFigure{Title: c.Title, XAxis: c.XAxis, YAxis: c.YAxis}
	xs, ys := spread{math.Inf(1), math.Inf(-1)}, spread{math.Inf(1), math.Inf(-1)}
	var marks []float64
	compared := false
	for _, s := range c.Series {
		for _, p := range s.Points {
			xs.add(p.X)
			marks = append(marks, p.X)
			for _, v := range []float64{p.Y, p.Low, p.High} {
				ys.add(v)
			}
			if p.Compare != nil {
				ys.add(*p.Compare)
				compared = true
			}
		}
	}
	if xs.low > xs.high || ys.low > ys.high {
		f.Empty = undetermined
		return f
	}
	low, high, step := axis(ys.low, ys.high)
	y := func(v float64) float64 { return upright((v - low) / (high - low)) }
	for k := 0.0; low+k*step <= high+step/1e6; k++ {
		f.YTicks = append(f.YTicks, yTick{y(low + k*step), figureOf(low+k*step, step)})
	}
	x := c.xAxis(&f, xs, marks)
	for k, s := range c.Series {
		line := curveLine{Class: k, Name: s.Name}
		var points, upper, lower [][2]float64
		ordered := slices.Clone(s.Points)
		slices.SortStableFunc(ordered, func(a, b ChartPoint) int { return int(math.Copysign(1, a.X-b.X)) })
		for _, p := range ordered {
			points = append(points, [2]float64{x(p.X), y(p.Y)})
			if !math.IsNaN(p.Low) && !math.IsNaN(p.High) {
				upper = append(upper, [2]float64{x(p.X), y(p.High)})
				lower = append([][2]float64{{x(p.X), y(p.Low)}}, lower...)
			}
			if p.Compare != nil {
				f.Dots = append(f.Dots, dot{k, x(p.X), y(*p.Compare)})
			}
		}
		line.D = path(points)
		if len(upper) > 1 {
			line.Band = path(append(upper, lower...)) + "Z"
		}
		f.Lines, f.Legend = append(f.Lines, line), append(f.Legend, line)
	}
	f.Label = fmt.Sprintf("%s against %s, %d lines with 95%% bands", c.YAxis, c.XAxis, len(c.Series))
	if compared {
		f.Label += "; rings are published values"
	}
	f.Label += ". All numbers are in the table."
	return f
}

// xAxis places X and its ticks: round numbers, or with a logarithm the values themselves, as many as
// there is room for.
func (c Chart) xAxis(f *curveFigure, xs spread, marks []float64) func(float64) float64 {
	scale := func(v float64) float64 { return v }
	if c.Log && xs.low > 0 {
		scale = math.Log
	}
	low, high := scale(xs.low), scale(xs.high)
	if !(high > low) {
		low, high = low-0.5, high+0.5
	}
	x := func(v float64) float64 { return across(0.02 + 0.96*(scale(v)-low)/(high-low)) }
	slices.Sort(marks)
	last := math.Inf(-1)
	for _, v := range slices.Compact(marks) {
		if at := x(v); at-last > 34 {
			f.XTicks, last = append(f.XTicks, tick{X: at, Label: strconv.FormatFloat(v, 'g', 4, 64)}), at
		}
	}
	return x
}

// figureOf writes a tick with the places of its step.
func figureOf(v, step float64) string {
	places := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	if math.Abs(v) < step/1e6 {
		v = 0
	}
	return strconv.FormatFloat(v, 'f', places, 64)
}
