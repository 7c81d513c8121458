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

const (
	// mostSlopeError of the slope, and leastWald of the pair's distance from none, are where a
	// calibration is worth its own error (TestCalibrationIsNotWorse).
	mostSlopeError = 0.4
	leastSlope     = 0.3
	leastWald      = 12
)

// Calibrate fits a calibration to a table by weighted logistic regression: both numbers, or where
// the counts do not determine these, the intercept alone, which takes the share of the second
// class only. ok is false, and the calibration None, where they determine none better than none.
// With H the
// information of the rows and x = (1, score), the covariance of (intercept, slope) is
//
//	H⁻¹(k·H + Σ(s²·(m² + (1−m)²) + (n·m(1−m)·slope·d)²)·xxᵀ)H⁻¹
//
// for n rows in a bin, of fitted probability m and a mean score that is known to d: by sampling,
// by noise, and by what is not known of the scores in a bin.
func (t *Table) Calibrate() (c Calibration, ok bool) {
	if t.Vague {
		return None, false
	}
	if c, ok = t.calibrate(); !ok {
		c, ok = t.shift()
	}
	return c, ok
}

// variance is that of positives in a bin minus those expected, but for sampling.
func (t *Table) variance(bin int, m, slope float64) float64 {
	v := t.Std * t.Std * (m*m + (1-m)*(1-m))
	if t.Doubts != nil {
		v += sq(max(t.Positives[bin]+t.Negatives[bin], 0) * m * (1 - m) * slope * t.Doubts[bin])
	}
	return v
}

// shift is the calibration of slope 1.
func (t *Table) shift() (c Calibration, ok bool) {
	a := 0.0
	for step := 0; ; step++ {
		var g, h, v float64
		for i, x := range t.Mids {
			m := sigmoid(a + x)
			g += t.Positives[i]*(1-m) - t.Negatives[i]*m
			h += max(t.Positives[i]+t.Negatives[i], 0) * m * (1 - m)
			v += t.variance(i, m, 1)
		}
		if !(h > 0) || step == 100 {
			return None, false
		}
		d := g / h
		if a += min(max(d, -1), 1); math.Abs(d) < 1e-9 {
			if a*a*h*h > leastWald*(t.PerUnit*h+v) {
				return Calibration{a, 1}, true
			}
			return None, false
		}
	}
}

func (t *Table) calibrate() (c Calibration, ok bool) {
	a, b := 0.0, 1.0
	var h, v [3]float64 // of matrices: 00, 01, 11
	for step := 0; ; step++ {
		var g [2]float64
		h, v = [3]float64{}, [3]float64{}
		for i, x := range t.Mids {
			m := sigmoid(a + b*x)
			r := t.Positives[i]*(1-m) - t.Negatives[i]*m
			w := max(t.Positives[i]+t.Negatives[i], 0) * m * (1 - m)
			n := t.variance(i, m, b)
			g[0], g[1] = g[0]+r, g[1]+r*x
			for j, xx := range [3]float64{1, x, x * x} {
				h[j], v[j] = h[j]+w*xx, v[j]+n*xx
			}
		}
		det := h[0]*h[2] - h[1]*h[1]
		if !(det > 1e-9*h[0]*h[2]) {
			return None, false
		}
		da, db := (h[2]*g[0]-h[1]*g[1])/det, (h[0]*g[1]-h[1]*g[0])/det
		shrink := min(1, 1/max(math.Abs(da), math.Abs(db))) // a step of at most 1
		a, b = a+shrink*da, b+shrink*db
		if math.Abs(da)+math.Abs(db) < 1e-9 {
			break
		}
		if step == 100 || !(math.Abs(a)+math.Abs(b) < 1e3) {
			return None, false
		}
	}
	det := h[0]*h[2] - h[1]*h[1]
	inverse := [3]float64{h[2] / det, -h[1] / det, h[0] / det}
	for j := range v {
		v[j] += t.PerUnit * h[j]
	}
	cov := sandwich(inverse, v)
	sd, det := math.Sqrt(cov[2]), cov[0]*cov[2]-cov[1]*cov[1]
	wald := (a*a*cov[2] - 2*a*(b-1)*cov[1] + (b-1)*(b-1)*cov[0]) / det
	if !(b > 0 && sd < mostSlopeError*max(b, leastSlope) && wald > leastWald) {
		return None, false
	}
	return Calibration{a, b}, true
}

// sandwich is aba of symmetric matrices.
func sandwich(a, b [3]float64) [3]float64 {
	// ab, then (ab)a.
	p, q := a[0]*b[0]+a[1]*b[1], a[0]*b[1]+a[1]*b[2]
	r, s := a[1]*b[0]+a[2]*b[1], a[1]*b[1]+a[2]*b[2]
	return [3]float64{p*a[0] + q*a[1], p*a[1] + q*a[2], r*a[1] + s*a[2]}
}
