package crossover

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// The plot is that of the illustration in Bao, Bauer and Bindschaedler: a curve for each
// configuration over ε, its band, its level without privacy, and where two of them cross.
const (
	plotWidth, plotTop      = 820.0, 34.0
	plotLeft, plotRight     = 70.0, 650.0
	curvesHeight, lowHeight = 300.0, 120.0
	gap                     = 62.0
)

var colours = []string{"#0b5fa5", "#c2410c", "#15803d", "#7c3aed", "#a16207", "#0e7490"}

// Colour is that of the i-th configuration.
func Colour(i int) string { return colours[i%len(colours)] }

// frame maps ε, on a logarithmic axis, and a range of values to a rectangle.
type frame struct {
	low, high   float64 // ln ε
	bottom, top float64 // values
	y, height   float64
}

func (f frame) px(epsilon float64) float64 {
	v := (math.Log(epsilon) - f.low) / (f.high - f.low)
	return plotLeft + min(max(v, 0), 1)*(plotRight-plotLeft)
}

func (f frame) py(v float64) float64 {
	return f.y + f.height*(1-min(max((v-f.bottom)/(f.top-f.bottom), 0), 1))
}

// Plot draws the result as an SVG that stands alone. axis names the score; scale
// multiplies it (100 for percent).
func (r *Result) Plot(axis string, scale, at float64) string {
	e := r.Curves[0].Points
	f := frame{low: math.Log(e[0].Epsilon), high: math.Log(e[len(e)-1].Epsilon), y: plotTop, height: curvesHeight}
	f.bottom, f.top = r.span(scale)
	height := plotTop + curvesHeight + gap + float64(len(r.Pairs))*(lowHeight+gap) + 10
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" font-family="system-ui,sans-serif" font-size="12" role="img" aria-label="%s">`,
		plotWidth, height, plotWidth, height, html.EscapeString(strings.Join(r.Words, ". ")))
	fmt.Fprintf(&b, `<rect width="%g" height="%g" fill="#fff"/>`, plotWidth, height)
	if len(r.Pairs) == 1 {
		r.shade(&b, f, &r.Pairs[0])
	}
	f.axes(&b, e, axis)
	for i, c := range r.Curves {
		c.draw(&b, f, Colour(i), scale)
	}
	r.legend(&b, f)
	f.mark(&b, at, "your ε")
	for i := range r.Pairs {
		p := &r.Pairs[i]
		g := f
		g.y, g.height = plotTop+curvesHeight+gap+float64(i)*(lowHeight+gap), lowHeight
		p.draw(&b, g, e, scale, axis)
		g.mark(&b, at, "")
	}
	b.WriteString("</svg>")
	return b.String()
}

// span is the range of the curves, their bands cut to what keeps the curves readable.
func (r *Result) span(scale float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range r.Curves {
		for _, p := range c.Points {
			low, high = min(low, scale*float64(p.Score.Estimate)), max(high, scale*float64(p.Score.Estimate))
		}
		if c.Plain != nil {
			low, high = min(low, scale*float64(c.Plain.Estimate)), max(high, scale*float64(c.Plain.Estimate))
		}
	}
	pad := .06*(high-low) + 1e-9
	return low - pad, high + pad
}

func text(b *bytes.Buffer, x, y float64, anchor, style, words string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" %s>%s</text>`, x, y, anchor, style, html.EscapeString(words))
}

func (f frame) axes(b *bytes.Buffer, e []Point, axis string) {
	f.values(b, axis)
	last := math.Inf(-1)
	for _, p := range e {
		x := f.px(p.Epsilon)
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#8793a2"/>`, x, x, f.y+f.height, f.y+f.height+5)
		if x-last > 26 {
			text(b, x, f.y+f.height+19, "middle", `fill="#334"`, number(p.Epsilon))
			last = x
		}
	}
	text(b, (plotLeft+plotRight)/2, f.y+f.height+36, "middle", `fill="#334"`, "privacy budget ε of one training run (log scale)")
}

// values draws the frame and ticks of the values.
func (f frame) values(b *bytes.Buffer, axis string) {
	step := math.Pow(10, math.Floor(math.Log10((f.top-f.bottom)/3)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (f.top-f.bottom)/(m*step) <= 6 {
			step *= m
			break
		}
	}
	for k := math.Ceil(f.bottom / step); k*step <= f.top; k++ {
		y := f.py(k * step)
		fmt.Fprintf(b, `<line x1="%g" x2="%g" y1="%.1f" y2="%.1f" stroke="#e3e8ee"/>`, plotLeft, plotRight, y, y)
		text(b, plotLeft-7, y+4, "end", `fill="#334"`, number(rounded(k*step)))
	}
	fmt.Fprintf(b, `<rect x="%g" y="%.1f" width="%g" height="%.1f" fill="none" stroke="#8793a2"/>`, plotLeft, f.y, plotRight-plotLeft, f.height)
	fmt.Fprintf(b, `<text transform="translate(18 %.1f) rotate(-90)" text-anchor="middle" fill="#334">%s</text>`, f.y+f.height/2, html.EscapeString(axis))
}

// draw draws a curve with its band and, dashed, its level without privacy.
func (c *Curve) draw(b *bytes.Buffer, f frame, colour string, scale float64) {
	var up, down, line []string
	for _, p := range c.Points {
		x := f.px(p.Epsilon)
		up = append(up, fmt.Sprintf("%.1f,%.1f", x, f.py(scale*float64(p.Score.Interval[1]))))
		down = append([]string{fmt.Sprintf("%.1f,%.1f", x, f.py(scale*float64(p.Score.Interval[0])))}, down...)
		line = append(line, fmt.Sprintf("%.1f,%.1f", x, f.py(scale*float64(p.Score.Estimate))))
	}
	fmt.Fprintf(b, `<polygon points="%s" fill="%s" opacity="0.16"/>`, strings.Join(append(up, down...), " "), colour)
	if c.Plain != nil {
		y := f.py(scale * float64(c.Plain.Estimate))
		fmt.Fprintf(b, `<line x1="%g" x2="%g" y1="%.1f" y2="%.1f" stroke="%s" stroke-dasharray="2 4" stroke-width="1.4"/>`, plotLeft, plotRight, y, y, colour)
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2.2"/>`, strings.Join(line, " "), colour)
	for _, p := range c.Points {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, f.px(p.Epsilon), f.py(scale*float64(p.Score.Estimate)), colour)
	}
}

// shade marks the crossover and its interval, and says who is better on either side.
func (r *Result) shade(b *bytes.Buffer, f frame, p *Pair) {
	if !p.described() {
		text(b, (plotLeft+plotRight)/2, f.y-6, "middle", `fill="#7a5c00" font-weight="600"`, "no single crossover describes these curves")
		return
	}
	at := float64(p.Crossover.Estimate)
	x1, x2 := f.edge(float64(p.Crossover.Interval[0])), f.edge(float64(p.Crossover.Interval[1]))
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#f4d35e" opacity="0.35"/>`, x1, f.y, max(x2-x1, 1.5), f.height)
	if at > 0 && !math.IsInf(at, 1) {
		x := f.px(at)
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#7a5c00" stroke-width="1.5" stroke-dasharray="6 3"/>`, x, x, f.y, f.y+f.height)
		text(b, x, f.y-18, "middle", `fill="#7a5c00" font-weight="600"`, "crossover ε = "+number(rounded(at)))
	}
	y := f.y - 4
	if x1 > plotLeft+60 {
		text(b, (plotLeft+x1)/2, y, "middle", fmt.Sprintf(`fill="%s"`, r.colourOf(p.Simple)), "← "+p.Simple+" better")
	}
	if x2 < plotRight-60 {
		text(b, (plotRight+x2)/2, y, "middle", fmt.Sprintf(`fill="%s"`, r.colourOf(p.Complex)), p.Complex+" better →")
	}
}

func (f frame) edge(epsilon float64) float64 {
	switch {
	case epsilon == 0:
		return plotLeft
	case math.IsInf(epsilon, 1):
		return plotRight
	}
	return f.px(epsilon)
}

func (r *Result) colourOf(name string) string {
	for i, c := range r.Curves {
		if c.Name == name {
			return Colour(i)
		}
	}
	return "#334"
}

// mark draws the ε of the answer.
func (f frame) mark(b *bytes.Buffer, at float64, words string) {
	if at <= 0 {
		return
	}
	x := f.px(at)
	fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#b3261e" stroke-width="1.2"/>`, x, x, f.y, f.y+f.height)
	if words != "" {
		text(b, x+4, f.y+f.height-6, "start", `fill="#b3261e"`, words)
	}
}

func (r *Result) legend(b *bytes.Buffer, f frame) {
	x, y := plotRight+12, f.y+14.0
	for i, c := range r.Curves {
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="%s" stroke-width="3"/>`, x, x+18, y-4, y-4, Colour(i))
		text(b, x+24, y, "start", `fill="#112" font-weight="600"`, c.Name)
		words := c.Spec
		for len(words) > 0 {
			line := words
			if len(line) > 21 {
				line = line[:21]
			}
			words = words[len(line):]
			y += 15
			text(b, x, y, "start", `fill="#334" font-size="11"`, line)
		}
		y += 22
	}
	y += 6
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="18" height="10" fill="#778" opacity="0.2"/>`, x, y-9)
	text(b, x+24, y, "start", `fill="#334" font-size="11"`, "interval of the mean")
	for _, c := range r.Curves {
		if c.Plain != nil {
			y += 18
			fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#556" stroke-dasharray="2 4" stroke-width="1.4"/>`, x, x+18, y-4, y-4)
			text(b, x+24, y, "start", `fill="#334" font-size="11"`, "without privacy; the")
			text(b, x+24, y+13, "start", `fill="#334" font-size="11"`, "gap is privacy's cost")
			y += 13
			break
		}
	}
	if slices.ContainsFunc(r.Pairs, func(p Pair) bool { return p.described() }) {
		y += 18
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="18" height="10" fill="#f4d35e" opacity="0.5"/>`, x, y-9)
		text(b, x+24, y, "start", `fill="#334" font-size="11"`, "crossover's interval")
	}
}

// draw draws the difference of a pair with its interval: above 0 the simple one is better.
func (p *Pair) draw(b *bytes.Buffer, f frame, e []Point, scale float64, axis string) {
	span := 0.0
	for _, x := range p.Points {
		span = max(span, scale*math.Abs(float64(x.Difference.Estimate)))
	}
	// Room for the intervals, as long as the curve stays readable.
	most := 3 * span
	for _, x := range p.Points {
		for _, end := range x.Difference.Interval {
			span = max(span, min(scale*math.Abs(float64(end)), most))
		}
	}
	f.top = 1.1*span + 1e-9
	f.bottom = -f.top
	if p.described() {
		x1, x2 := f.edge(float64(p.Crossover.Interval[0])), f.edge(float64(p.Crossover.Interval[1]))
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#f4d35e" opacity="0.35"/>`, x1, f.y, max(x2-x1, 1.5), f.height)
	}
	f.axes(b, e, "")
	fmt.Fprintf(b, `<line x1="%g" x2="%g" y1="%.1f" y2="%.1f" stroke="#334"/>`, plotLeft, plotRight, f.py(0), f.py(0))
	var line []string
	for _, x := range p.Points {
		at := f.px(x.Epsilon)
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#334" stroke-width="1.4"/>`, at, at, f.py(scale*float64(x.Difference.Interval[0])), f.py(scale*float64(x.Difference.Interval[1])))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="#334"/>`, at, f.py(scale*float64(x.Difference.Estimate)))
		line = append(line, fmt.Sprintf("%.1f,%.1f", at, f.py(scale*float64(x.Difference.Estimate))))
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="#334" stroke-width="1.4"/>`, strings.Join(line, " "))
	text(b, plotLeft, f.y-6, "start", `fill="#112" font-weight="600"`, fmt.Sprintf("%s less %s", p.Simple, p.Complex))
	text(b, plotRight+12, f.y+14, "start", `fill="#334" font-size="11"`, p.Simple+" better")
	text(b, plotRight+12, f.y+f.height-4, "start", `fill="#334" font-size="11"`, p.Complex+" better")
}
