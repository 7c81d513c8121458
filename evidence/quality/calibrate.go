package quality

import "math"

// Calibration turns the score s of a classifier of two classes into the probability
// 1/(1+exp(−(Intercept + Slope·s))) of the second class. Slope is above 0, so the order of rows
// stays.
type Calibration struct {
	Intercept float64 `json:"intercept"`
	Slope     float64 `json:"slope"`
}

// None leaves scores as they are.
var None = Calibration{0, 1}

// Probability is that of a score.
func (c Calibration) Probability(score float64) float64 { return sigmoid(c.Intercept + c.Slope*score) }

// Score is the score of a probability: where labels change.
func (c Calibration) Score(probability float64) float64 {
	return (math.Log(probability/(1-probability)) - c.Intercept) / c.Slope
}

func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// A calibration is drawn towards none by as much as the counts leave open: before they are seen, the
// log odds are taken to be off by N(0, priorShift²) at the middle of the scores, and the slope to be
// N(1, priorSlope²). leastWald is the pair's squared distance from none, in deviations, from which
// on it is worth its own error. In the simulations of TestCalibrationIsNotWorse, of tables of 400 to
// 10,000 rows, these make fewer calibrations worse than none, and less so, than the fit without a
// prior where the slope's error is small, at the same mean log-loss.
const (
	priorShift = 1
	priorSlope = 0.3
	leastWald  = 9
)

// Calibrate fits a calibration to a table by weighted logistic regression with a prior. ok is false,
// and the calibration None, where the counts are not at odds with none. With H the information of
// the rows, x = (1, score), and n rows in a bin, of fitted probability m and a mean score that is
// known to d, the counts' scatter is
//
//	J = k·H + Σ(s²·(m² + (1−m)²) + (n·m(1−m)·slope·d)²)·xxᵀ
//
// by sampling, by noise, and by what is not known of the scores in a bin. The prior weighs against
// H as J does, so the fit is the mean of both by their precisions; H⁻¹JH⁻¹ judges the distance.
func (t *Table) Calibrate() (c Calibration, ok bool) { return t.calibrate(t.Std, t.Std) }

// calibrate is Calibrate where positives and negatives have noise of two standard deviations.
func (t *Table) calibrate(positive, negative float64) (c Calibration, ok bool) {
	c, _, ok = t.fit(positive, negative)
	return c, ok
}

// fit is calibrate. likely are calibrations that the counts leave as likely: slopes about a deviation below
// and above that of the fit, whether it is applied or not.
func (t *Table) fit(positive, negative float64) (c Calibration, likely [2]Calibration, ok bool) {
	likely = [2]Calibration{{0, 1 - priorSlope}, {0, 1 + priorSlope}}
	var weight, centre float64
	for i, x := range t.Mids {
		m := sigmoid(x)
		w := max(t.Positives[i]+t.Negatives[i], 0) * m * (1 - m)
		weight, centre = weight+w, centre+w*x
	}
	if centre /= weight; t.Vague || !(weight > 0) {
		return None, likely, false
	}
	a, b := 0.0, 1.0
	var h, j [3]float64 // of matrices: 00, 01, 11
	for step := 0; ; step++ {
		var g [2]float64
		h, j = [3]float64{}, [3]float64{}
		for i, x := range t.Mids {
			u := x - centre
			m := sigmoid(centre + a + b*u)
			r := t.Positives[i]*(1-m) - t.Negatives[i]*m
			w := max(t.Positives[i]+t.Negatives[i], 0) * m * (1 - m)
			v := t.PerUnit*w + positive*positive*(1-m)*(1-m) + negative*negative*m*m + t.doubt(i, m, b)
			g[0], g[1] = g[0]+r, g[1]+r*u
			for k, xx := range [3]float64{1, u, u * u} {
				h[k], j[k] = h[k]+w*xx, j[k]+v*xx
			}
		}
		if !(h[0]*h[2]-h[1]*h[1] > 1e-9*h[0]*h[2]) {
			return None, likely, false
		}
		shift, slope := j[0]/h[0]/(priorShift*priorShift), j[2]/h[2]/(priorSlope*priorSlope)
		g[0], g[1] = g[0]-a*shift, g[1]-(b-1)*slope
		h0, h2 := h[0]+shift, h[2]+slope
		det := h0*h2 - h[1]*h[1]
		da, db := (h2*g[0]-h[1]*g[1])/det, (h0*g[1]-h[1]*g[0])/det
		shrink := min(1, 0.5/max(math.Abs(da), math.Abs(db))) // a step of at most 1/2
		a, b = a+shrink*da, b+shrink*db
		if math.Abs(da)+math.Abs(db) < 1e-9 {
			break
		}
		if step == 200 || !(math.Abs(a)+math.Abs(b) < 1e3) {
			return None, likely, false
		}
	}
	det := h[0]*h[2] - h[1]*h[1]
	cov := sandwich([3]float64{h[2] / det, -h[1] / det, h[0] / det}, j)
	sd := min(math.Sqrt(cov[2]), 0.5)
	for i, slope := range []float64{max(b-sd, leastSlope), b + sd} {
		likely[i] = Calibration{centre + a - slope*centre, slope}
	}
	wald := (a*a*cov[2] - 2*a*(b-1)*cov[1] + (b-1)*(b-1)*cov[0]) / (cov[0]*cov[2] - cov[1]*cov[1])
	if !(b > leastSlope && wald > leastWald) {
		return None, likely, false
	}
	return Calibration{centre + a - b*centre, b}, likely, true
}

// leastSlope keeps the order of rows.
const leastSlope = 0.05

// doubt is the variance of positives in a bin, minus those expected, by what is not known of its scores.
func (t *Table) doubt(bin int, m, slope float64) float64 {
	if t.Doubts == nil {
		return 0
	}
	return sq(max(t.Positives[bin]+t.Negatives[bin], 0) * m * (1 - m) * slope * t.Doubts[bin])
}

// sandwich is aba of symmetric matrices.
func sandwich(a, b [3]float64) [3]float64 {
	// ab, then (ab)a.
	p, q := a[0]*b[0]+a[1]*b[1], a[0]*b[1]+a[1]*b[2]
	r, s := a[1]*b[0]+a[2]*b[1], a[1]*b[1]+a[2]*b[2]
	return [3]float64{p*a[0] + q*a[1], p*a[1] + q*a[2], r*a[1] + s*a[2]}
}
