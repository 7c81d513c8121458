package trials

import (
	"bytes"
	"fmt"
	"math"
	"slices"
)

// sizes draws the score of each trial against the number of trained parameters, on a
// logarithmic axis, and the best score that at most so many parameters reached; "" where
// candidates have no such number.
func (t *table) sizes() string {
	var rows []trial
	for _, row := range t.rows {
		if !row.failed && row.parameters > 0 {
			rows = append(rows, row)
		}
	}
	if len(rows) < 2 {
		return ""
	}
	slices.SortFunc(rows, func(a, b trial) int { return a.parameters - b.parameters })
	least, most := float64(rows[0].parameters), float64(rows[len(rows)-1].parameters)
	low, high := math.Inf(1), math.Inf(-1)
	for _, row := range rows {
		low, high = min(low, row.score), max(high, row.score)
	}
	if least == most {
		least, most = least/2, most*2
	}
	if low == high {
		low, high = low-0.5, high+0.5
	}
	const left, top, width, height = 80.0, 24.0, 860.0, 300.0
	x := func(parameters float64) float64 { return left + width*math.Log(parameters/least)/math.Log(most/least) }
	y := func(score float64) float64 { return top + height*(1-(score-low)/(high-low)) }
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="score of the trials against their trained parameters">`, left+width+50, top+height+55)
	for _, v := range roundValues(low, high) {
		fmt.Fprintf(&b, `<line x1="%g" x2="%g" y1="%.1f" y2="%.1f" class="axis" opacity="0.3"/><text x="%g" y="%.1f" class="tick" text-anchor="end">%.4g</text>`, left, left+width, y(v), y(v), left-8, y(v)+4, v)
	}
	for e := math.Floor(math.Log10(least)); e <= math.Log10(most); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= least && v <= most {
				fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%g" y2="%g" class="axis"/><text x="%.1f" y="%g" class="tick" text-anchor="middle">%s</text>`,
					x(v), x(v), top+height, top+height+5, x(v), top+height+20, parameterText(v))
			}
		}
	}
	fmt.Fprintf(&b, `<line x1="%g" x2="%g" y1="%g" y2="%g" class="axis"/><text x="%g" y="%g" class="name">trained parameters</text><text x="%g" y="%g" class="name" text-anchor="end">score</text>`,
		left, left+width, top+height, top+height, left+width/2, top+height+42, left, top-6)
	best := math.Inf(-1)
	fmt.Fprint(&b, `<polyline fill="none" stroke="#1f6f8b" stroke-width="1.5" stroke-dasharray="4 3" points="`)
	for _, row := range rows {
		if row.score > best {
			if !math.IsInf(best, -1) {
				fmt.Fprintf(&b, "%.1f,%.1f ", x(float64(row.parameters)), y(best))
			}
			best = row.score
			fmt.Fprintf(&b, "%.1f,%.1f ", x(float64(row.parameters)), y(best))
		}
	}
	fmt.Fprintf(&b, `%.1f,%.1f"/>`, left+width, y(best))
	for _, row := range rows {
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="4" fill="#d9822b" opacity="0.75"><title>trial %d: %d parameters, score %.4f</title></circle>`,
			x(float64(row.parameters)), y(row.score), row.number, row.parameters, row.score)
	}
	fmt.Fprint(&b, `</svg><p class="note">Dashed: the best score among trials with at most that many parameters.</p>`)
	return b.String()
}

// roundValues are about five round numbers in a range.
func roundValues(low, high float64) (all []float64) {
	step := math.Pow(10, math.Floor(math.Log10(high-low)))
	for (high-low)/step < 4 {
		step /= 2
	}
	for k := math.Ceil(low / step); k*step <= high; k++ {
		all = append(all, k*step)
	}
	return all
}

func parameterText(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%gM", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%gk", v/1e3)
	}
	return fmt.Sprintf("%g", v)
}
