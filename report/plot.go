package report

import (
	"math"
	"strconv"
)

// The plots are inline SVG, placed by these functions and drawn by the template, so
// that every text in them passes through the template's escaping. Coordinates are
// user units of the viewBox.

type tick struct {
	X     float64
	Label string
	Under string
}

// segment is one part of a stacked bar.
type segment struct {
	X, Width    float64
	Class       string
	Name, Label string
}

// ledgerBar stacks spent, reserved and left over the width. It is nil when the total
// is not a positive finite number: a budget without a limit has no parts.
func ledgerBar(b Budget, width float64) []segment {
	total := float64(b.Total.Epsilon)
	parts := []segment{
		{Name: "spent", Class: "spent", Label: up2(b.Spent.Epsilon), Width: float64(b.Spent.Epsilon)},
		{Name: "reserved", Class: "reserved", Label: up2(b.Reserved.Epsilon), Width: float64(b.Reserved.Epsilon)},
		{Name: "left", Class: "left", Label: down2(b.Left.Epsilon), Width: float64(b.Left.Epsilon)},
	}
	sum := 0.0
	for _, p := range parts {
		if !(p.Width >= 0) || math.IsInf(p.Width, 1) {
			return nil
		}
		sum += p.Width
	}
	if !(total > 0) || math.IsInf(total, 1) || sum == 0 {
		return nil
	}
	// The filter's account does not add up exactly; the bar shows the parts to scale.
	scale := width / math.Max(total, sum)
	x := 0.0
	for i := range parts {
		parts[i].X, parts[i].Width = x, parts[i].Width*scale
		x += parts[i].Width
	}
	return parts
}

// intervalRow is a point with its 95 % interval.
type intervalRow struct {
	Name, Value, Interval string
	Class                 string
	Y, X, X1, X2          float64
	HasPoint, HasInterval bool
}

type intervalPlot struct {
	Label string // read out in place of the picture
	Axis  string
	Ticks []tick
	Rows  []intervalRow
}

const (
	plotLeft  = 18.0
	plotRight = 320.0
)

// scorePlot places the released score above its baseline. Values that were not
// released leave a gap.
func scorePlot(s *Statement) *intervalPlot {
	if s.Score == nil {
		return nil
	}
	sc := s.Score
	p := &intervalPlot{Axis: metricWords(s)}
	rows := []struct {
		name, class string
		value       Number
		interval    *[2]Number
	}{
		{"This model", "model", sc.Value, &sc.Interval},
		{baselineWords(s), "base", sc.Baseline, sc.BaselineInterval},
	}
	low, high := math.Inf(1), math.Inf(-1)
	widen := func(n Number) bool {
		x := float64(n)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
		low, high = math.Min(low, x), math.Max(high, x)
		return true
	}
	for i, r := range rows {
		row := intervalRow{Name: r.name, Class: r.class, Y: 32 + 44*float64(i),
			Value: scoreText(s, r.value), Interval: intervalText(s, r.interval)}
		if r.interval == nil {
			row.Interval = baselineInterval(s)
		}
		row.HasPoint = widen(r.value)
		row.HasInterval = r.interval != nil && widen(r.interval[0]) && widen(r.interval[1])
		p.Rows = append(p.Rows, row)
		p.Label += r.name + ": " + row.Value + ", " + row.Interval + ". "
	}
	if low > high {
		return p
	}
	low, high, step := scoreAxis(s, low, high)
	at := func(n Number) float64 { return plotLeft + (float64(n)-low)/(high-low)*(plotRight-plotLeft) }
	for k := 0.0; low+k*step <= high+step/1e6; k++ {
		x := low + k*step
		p.Ticks = append(p.Ticks, tick{X: at(Number(x)), Label: axisText(s, x, step)})
	}
	for i, r := range rows {
		row := &p.Rows[i]
		if row.HasPoint {
			row.X = at(r.value)
		}
		if row.HasInterval {
			row.X1, row.X2 = at(r.interval[0]), at(r.interval[1])
		}
	}
	return p
}

// scoreAxis is axis for scores: no accuracy is above 1.
func scoreAxis(s *Statement, low, high float64) (lo, hi, step float64) {
	lo, hi, step = axis(low, high)
	if s.Score.Metric == "accuracy" && high <= 1 {
		hi = math.Min(hi, 1)
	}
	return lo, hi, step
}

// axis widens [low, high] to multiples of a round step, with three to six steps.
func axis(low, high float64) (lo, hi, step float64) {
	span := high - low
	if span <= 0 {
		span = math.Max(math.Abs(high)/10, 1e-3)
	}
	raw := span * 1.2 / 4
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	step = 10 * unit
	for _, m := range []float64{1, 2, 5} {
		if m*unit >= raw {
			step = m * unit
			break
		}
	}
	lo, hi = math.Floor((low-span/20)/step)*step, math.Ceil((high+span/20)/step)*step
	if low >= 0 {
		lo = math.Max(lo, 0) // an error or a share below zero has no meaning
	}
	return lo, hi, step
}

// riskScale places epsilon on a logarithmic scale from 0.1 to 10.
type riskScale struct {
	Label  string
	Ticks  []tick
	Marker float64
	Beyond string // "" or which end the marker stands for
	Value  string
	// Anchor keeps the marker's label inside the picture.
	Anchor string
}

func newRiskScale(epsilon float64) riskScale {
	const low, high, left, right = 0.1, 10.0, 60.0, 620.0
	at := func(e float64) float64 {
		return left + math.Log(e/low)/math.Log(high/low)*(right-left)
	}
	r := riskScale{Value: "ε " + up2(Number(epsilon)), Anchor: "middle"}
	for _, e := range []float64{0.1, 0.25, 0.5, 1, 2, 4, 8} {
		r.Ticks = append(r.Ticks, tick{X: at(e), Label: strconv.FormatFloat(e, 'g', -1, 64),
			Under: tickPercent(posterior(0.5, e))})
	}
	switch {
	case epsilon < low:
		r.Marker, r.Beyond = left, "or less"
	case epsilon > high:
		r.Marker, r.Beyond = right, "beyond the scale"
	default:
		r.Marker = at(epsilon)
	}
	switch {
	case r.Marker < left+60:
		r.Anchor = "start"
	case r.Marker > right-60:
		r.Anchor = "end"
	}
	r.Label = "Scale of epsilon from 0.1, more private, to 10, less private; this run stands at " + up2(Number(epsilon)) + "."
	return r
}

// tickPercent keeps the last mark from reading 100%, which no finite epsilon reaches.
func tickPercent(p float64) string {
	if near := percent(p); near != "100.0%" {
		return near
	}
	return percentUp(p)
}
