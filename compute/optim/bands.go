package optim

import "math"

// Bands are the numbers from which coefficients of banded noise follow (dp.Banded): all public.
type Bands struct {
	// Bands is the number of coefficients, Steps that of the run.
	Bands, Steps int
	// Momentum is that of a dampened Momentum, through which the noise of a step reaches the
	// parameters; 0 for steps as they are.
	Momentum float64
}

// bandSteps is the largest number of steps that is looked at: longer runs have the coefficients of this
// one. The best ones hardly change once Steps is far above Bands.
const bandSteps = 4096

// Coefficients are c_0 = 1, c_1, …, in [0, 1], rounded to six decimals, with (nearly) the least
// Error. 1 band gives (1). The start are the coefficients of the square root of the matrix
// of prefix sums, 1, 1/2, 3/8, …, cut off (Fichtenberger, Henzinger and Upadhyay, arXiv:2202.11205;
// banded: Kalinin and Lampert, arXiv:2405.13763); from there projected gradient descent with the step sizes of
// Barzilai and Borwein. Errors at 8 bands and 256 steps: 4.55, of the start 4.91, of independent
// noise 11.34 (without momentum).
func (b Bands) Coefficients() []float64 {
	c := make([]float64, max(1, b.Bands))
	c[0] = 1
	for j := 1; j < len(c); j++ {
		c[j] = c[j-1] * (2*float64(j) - 1) / (2 * float64(j))
	}
	at, g := b.gradient(c)
	best, bestAt := append([]float64(nil), c...), at
	step := 0.1
	for range 300 {
		next := append([]float64(nil), c...)
		for j := 1; j < len(c); j++ {
			next[j] = min(max(c[j]-step*g[j], 0), 1)
		}
		nextAt, nextG := b.gradient(next)
		if !(nextAt < bestAt+0.1*math.Abs(bestAt)) { // of logarithms: far uphill
			step /= 4
			if step < 1e-9 {
				break
			}
			continue
		}
		moved, bend := 0.0, 0.0
		for j := range c {
			d := next[j] - c[j]
			moved, bend = moved+d*d, bend+d*(nextG[j]-g[j])
		}
		c, g = next, nextG
		if nextAt < bestAt {
			bestAt = nextAt
			copy(best, c)
		}
		if moved < 1e-18 {
			break
		}
		if step = 0.1; bend > 0 {
			step = min(moved/bend, 10)
		}
	}
	for j := range best {
		best[j] = math.Round(best[j]*1e6) / 1e6
	}
	return best
}

// Error is the root mean square, over the iterates of a run, of the noise of step size 1 in one
// parameter, in units of the noise multiplier, where the noise is y of dp.Banded with these coefficients.
func (b Bands) Error(c []float64) float64 {
	at, _ := b.gradient(c)
	return math.Exp(at)
}

// Relative is Error over that of independent noise of the same multiplier. A run with such noise
// and this times its multiplier has the same noise in its iterates.
func (b Bands) Relative(c []float64) float64 { return b.Error(c) / b.Error([]float64{1}) }

// gradient is the logarithm of Error and its derivatives. With u the first column of C⁻¹, m its
// exponential average and h the sums of m, Error² = ‖c‖²·Σ_t (T−t)·h_t²/T.
func (b Bands) gradient(c []float64) (float64, []float64) {
	steps := min(max(b.Steps, 1), bandSteps)
	u, h := make([]float64, steps), make([]float64, steps)
	m, sum, square := 0.0, 0.0, 0.0
	for t := range u {
		v := 0.0
		if t == 0 {
			v = 1
		}
		for j := 1; j < len(c) && j <= t; j++ {
			v -= c[j] * u[t-j]
		}
		u[t] = v / c[0]
		m = b.Momentum*m + (1-b.Momentum)*u[t]
		sum += m
		h[t] = sum
		square += float64(steps-t) * sum * sum
	}
	norm := 0.0
	for _, x := range c {
		norm += x * x
	}
	g := make([]float64, len(c))
	// From the last step to the first: what u_t moves.
	l := make([]float64, steps)
	r, p := 0.0, 0.0
	for t := steps - 1; t >= 0; t-- {
		r += float64(steps-t) * h[t] / square
		p = r + b.Momentum*p
		v := (1 - b.Momentum) * p
		for j := 1; j < len(c) && t+j < steps; j++ {
			v -= c[j] * l[t+j]
		}
		l[t] = v / c[0]
		for j := 1; j < len(c) && j <= t; j++ {
			g[j] -= l[t] * u[t-j]
		}
	}
	for j := 1; j < len(c); j++ {
		g[j] += c[j] / norm
	}
	return math.Log(norm*square/float64(steps)) / 2, g
}
