package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// A chart places values by its axes, whatever the order of the points, draws a band where there are
// intervals alone, and a ring for each value to compare with.
func TestCharts(t *testing.T) {
	published, nan := 80.0, math.NaN()
	c := Chart{Title: "A <title>", XAxis: "features", YAxis: "% right", Log: true, Series: []Series{
		{Name: "all", Points: []ChartPoint{{X: 100, Y: 60, Low: 58, High: 62, Compare: &published}, {X: 1, Y: 70, Low: 69, High: 71}, {X: 10, Y: 80, Low: 79, High: 81}}},
		{Name: "one run", Points: []ChartPoint{{X: 1, Y: 60, Low: nan, High: nan}, {X: 100, Y: 65, Low: nan, High: nan}}},
	}}
	f := c.figure()
	if len(f.Lines) != 2 || f.Lines[0].Band == "" || f.Lines[1].Band != "" || len(f.Dots) != 1 {
		t.Fatalf("%+v", f)
	}
	// On a logarithm 10 lies half way between 1 and 100.
	var x, y [3]float64
	if n, err := fmt.Sscanf(strings.NewReplacer("M", "", "L", " ").Replace(f.Lines[0].D), "%g %g %g %g %g %g", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2]); n != 6 {
		t.Fatalf("%s: %v", f.Lines[0].D, err)
	}
	if math.Abs(x[1]-(x[0]+x[2])/2) > 0.2 || !(x[0] < x[1] && x[1] < x[2]) || !(y[1] < y[0] && y[0] < y[2]) {
		t.Errorf("%v %v: want rising X with 10 in the middle, and 80 above 70 above 60", x, y)
	}
	if d := f.Dots[0]; d.X != x[2] || math.Abs(d.Y-y[1]) > 0.2 {
		t.Errorf("published at %+v, want above the point of 100 at the height of 80", d)
	}
	html, err := Charts([]Chart{c})
	if err != nil || !strings.Contains(string(html), "A &lt;title&gt;") || strings.Contains(string(html), "<title>") {
		t.Errorf("%v\n%s", err, html)
	}
	if _, err := Charts([]Chart{{Series: make([]Series, MaxSeries+1)}}); err == nil {
		t.Error("more series than differ were drawn")
	}
}

func TestAccuracyAxisEndsAtAll(t *testing.T) {
	for _, tt := range []struct {
		metric    string
		low, high float64
		want      float64
	}{
		{"accuracy", 0.353, 1, 1},
		{"accuracy", 1, 1, 1},
		{"accuracy", 0.5, 0.6, 0.65},
		{"mean_absolute_error", 0.353, 1, 1.2},
	} {
		lo, hi, step := scoreAxis(&Statement{Score: &Score{Metric: tt.metric}}, tt.low, tt.high)
		if math.Abs(hi-tt.want) > 1e-9 || !(lo < tt.low) || !(step > 0) {
			t.Errorf("%s from %v to %v: axis from %v to %v by %v, want an end of %v", tt.metric, tt.low, tt.high, lo, hi, step, tt.want)
		}
	}
}
