package membership

import (
	"bytes"
	"fmt"
	template "html/template"
	"io"
	"math"
	"strings"

	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
)

// Page is an attack as one self-contained page: its curve on linear axes and on
// logarithmic ones, where the few false positives that matter can be seen, and its numbers.
func (out *Audit) Page(to io.Writer) error {
	var text bytes.Buffer
	if err := out.Text(&text); err != nil {
		return err
	}
	red := ""
	if out.Convicted() {
		red = fmt.Sprintf("%s. Epsilon is at least %s.", out.Headline(), bound.Figure(out.OneRun.Sure.Epsilon))
	}
	return auditPage.Execute(to, map[string]any{
		"Attack": out.Attack, "Data": out.Data, "Internal": out.Internal, "Red": red, "Text": text.String(), "Notes": out.AllNotes(),
		"Linear": template.HTML(rocPlot(out.Report.Curve, false, 0)), "Log": template.HTML(rocPlot(out.Report.Curve, true, leastRate(out.Report))),
	})
}

// leastRate is a false positive rate below which the records show nothing.
func leastRate(r *attack.Report) float64 {
	return math.Pow(10, math.Floor(math.Log10(1/float64(max(r.NonMembers, 10)))))
}

// rocPlot draws true against false positives, with chance as a dashed line.
func rocPlot(curve []attack.Point, log bool, least float64) string {
	const size, edge = 320.0, 50.0
	place := func(x float64) float64 {
		if log {
			return 1 - math.Log10(max(x, least))/math.Log10(least)
		}
		return x
	}
	x := func(v float64) float64 { return edge + place(v)*size }
	y := func(v float64) float64 { return edge/2 + (1-place(v))*size }
	ticks := []float64{0, 0.25, 0.5, 0.75, 1}
	title := "linear axes"
	if log {
		title = "logarithmic axes"
		ticks = nil
		for t := least; t < 1.5; t *= 10 {
			ticks = append(ticks, t)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="true against false positive rate, %s">`, size+2*edge, size+2*edge, title)
	fmt.Fprintf(&b, `<rect x="%g" y="%g" width="%g" height="%g" class="frame"/>`, edge, edge/2, size, size)
	for _, t := range ticks {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">%.3g</text>`, x(t), edge/2+size+16, t)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="end">%.3g</text>`, edge-5, y(t)+4, t)
	}
	var chance, points []string
	for i := range 65 {
		v := float64(i) / 64
		if log {
			v = math.Pow(least, 1-v)
		}
		chance = append(chance, fmt.Sprintf("%.1f,%.1f", x(v), y(v)))
	}
	for _, p := range curve {
		points = append(points, fmt.Sprintf("%.1f,%.1f", x(p.FalsePositives), y(p.TruePositives)))
	}
	fmt.Fprintf(&b, `<polyline points="%s" class="chance"/><polyline points="%s" class="curve"/>`, strings.Join(chance, " "), strings.Join(points, " "))
	fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="middle">false positive rate, %s</text>`, edge+size/2, edge/2+size+36, title)
	fmt.Fprintf(&b, `<text x="%g" y="%g">true positive rate</text></svg>`, edge, edge/2-6)
	return b.String()
}

var auditPage = template.Must(template.New("audit").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Membership inference: {{.Attack}} on {{.Data}}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
svg{width:26rem;max-width:100%;font-size:12px} pre{white-space:pre-wrap;background:#f5f5f5;padding:1rem}
.frame{fill:none;stroke:#999} .chance{fill:none;stroke:#999;stroke-dasharray:4} .curve{fill:none;stroke:#0a5;stroke-width:2}
.red{background:#b00020;color:#fff;padding:.6rem 1rem;font-weight:bold} .warn{background:#fff3cd;padding:.6rem 1rem}
</style></head><body>
<h1>Membership inference: {{.Attack}} on {{.Data}}</h1>
{{if .Red}}<p class="red">{{.Red}}</p>{{end}}
{{if .Internal}}<p class="warn">Internal: computed from records without noise. Do not publish.</p>{{end}}
<p>A failed attack proves nothing. Dashed: random guessing.</p>
{{.Linear}}{{.Log}}
<pre>{{.Text}}</pre>
<ul>{{range .Notes}}<li>{{.}}</li>{{end}}</ul>
</body></html>
`))
