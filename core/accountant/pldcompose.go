package accountant

import (
	"math"
	"math/bits"
	"math/cmplx"
	"runtime"

	"pawl/core/accountant/search"

	"gonum.org/v1/gonum/dsp/fourier"
)

// composed is the composition of discretised laws on one lattice of step h.
type composed struct {
	h        float64
	laws     []lattice
	counts   []float64
	infinite float64
}

func compose(h float64, laws []lattice, counts []float64) composed {
	logFinite := 0.0
	for i, l := range laws {
		logFinite += counts[i] * math.Log1p(-math.Min(1, l.infinite))
	}
	return composed{h, laws, counts, -math.Expm1(logFinite)}
}

// moments are those of the sum: cumulants add.
func (c composed) moments(t float64) (k, mean, variance float64) {
	type three struct{ k, mean, variance float64 }
	values := make([]three, len(c.laws))
	forEach(len(c.laws), func(i int) { values[i].k, values[i].mean, values[i].variance = c.laws[i].moments(t, c.h) })
	for i, v := range values {
		k += c.counts[i] * v.k
		mean += c.counts[i] * v.mean
		variance += c.counts[i] * v.variance
	}
	return k, mean, variance
}

// tiltFor proposes the tilt whose law is centred near the epsilon at delta: the
// minimiser of the improved conversion at order t+1, since E_P[e^(t·loss)] is the
// Rényi moment of that order.
func (c composed) tiltFor(logDelta float64) float64 {
	return search.Tilt(func(t float64) float64 {
		k, _, _ := c.moments(t)
		return (k - logDelta + logTangent(t)) / t
	}, c.tiltSteps(), GoldenMin)
}

// tiltAt proposes the tilt whose law is centred near epsilon.
func (c composed) tiltAt(epsilon float64) float64 {
	return search.Tilt(func(t float64) float64 {
		k, _, _ := c.moments(t)
		return k - t*epsilon + logTangent(t)
	}, c.tiltSteps(), GoldenMin)
}

// tiltSteps is how often the search for a tilt asks. Any tilt gives a bound, and with
// many laws each answer takes a while.
func (c composed) tiltSteps() int {
	if len(c.laws) > manyParts {
		return 16
	}
	return 36
}

// logTangent is ln max_x e^(−tx)(1−e^(−x)) = t ln t − (t+1) ln(t+1).
func logTangent(t float64) float64 { return t*math.Log(t) - (t+1)*math.Log1p(t) }

func orInf(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, -1) {
		return inf
	}
	return x
}

// tilt is a choice of t with −ln of the tilted mass that may lie outside of the
// window of the transform. That mass wraps round and is added to delta.
type tilt struct{ t, logOutside float64 }

// unit covers the rounding of one complex operation.
const unit = 1.2e-16

// cheapest proposes a fraction of a tilt for which mass outside of its window and rounding stay below 1e-3 of
// delta at epsilon.
func (c composed) cheapest(largest, epsilon, logDelta float64) tilt {
	over := func(t float64) float64 { k, _, _ := c.moments(t); return k - t*epsilon - logDelta }
	rounding := func(t float64) float64 { return math.Log(60*unit*(1+sum(c.counts))) + logTangent(t) }
	t, logOutside := search.Fraction(largest, over, rounding, func(t, logOutside float64) float64 {
		_, lo, hi := c.window(tilt{t, logOutside})
		return hi - lo
	})
	return tilt{t, logOutside}
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// window returns an interval that holds the tilted sum but for 2·e^(−logOutside),
// by Chernoff's bound on either side.
func (c composed) window(by tilt) (k, lo, hi float64) {
	k, _, variance := c.moments(by.t)
	sd := math.Sqrt(variance) + c.h
	lo, hi = math.Inf(-1), inf
	for _, factor := range []float64{0.1, 0.4, 1} {
		s := factor * math.Sqrt(2*by.logOutside) / sd
		above, _, _ := c.moments(by.t + s)
		below, _, _ := c.moments(by.t - s)
		hi = math.Min(hi, orInf((above-k+by.logOutside)/s))
		lo = math.Max(lo, -orInf((below-k+by.logOutside)/s))
	}
	return k, lo, hi
}

// tail is the composed law, tilted by t, on the points (first+i)·h, in the form
// that delta is read from: with Δ_j = (j−i)h
//
//	all[i]  = Σ_{j>=i} p_j e^(−tΔ_j)
//	gain[i] = Σ_{j>=i} p_j e^(−tΔ_j) (1 − e^(−Δ_j))
//
// so that δ(ih) = infinite + e^(K − t·ih)·gain[i], with nothing that cancels.
type tail struct {
	h, t, k   float64
	first     float64
	all, gain []float64
	slack     float64
	infinite  float64
}

// maxTransform bounds the length of the Fourier transform.
const maxTransform = 1 << 19

// steepest is the largest logarithm by which a tilt lets neighbouring points of a lattice differ. A steeper one adds
// nothing, and float64 holds no weights of three points e^700 apart.
const steepest = 300

// transform composes by FFT after tilting every law by e^(t·loss − K): the
// rounding of the transform is then relative to the masses that decide delta, and
// not to the bulk, beside which delta is lost below 1e-9. It fails where a sum is no number, a window holds nothing,
// K has lost the digits after its point, or a place its last digit: nothing of these is an upper bound.
func (c composed) transform(by tilt) (tail, bool) {
	by.t = math.Min(by.t, steepest/c.h)
	t := by.t
	k, lo, hi := c.window(by)
	width := math.Ceil((hi-lo)/c.h) + 2
	if !(t > 0) || !(width >= 2 && width < maxTransform) || !(math.Abs(k) < 1e12) {
		return tail{}, false
	}
	n := fastLength(int(width))
	if len(c.laws) > manyParts && n*len(c.laws) > maxManyPoints {
		return tail{}, false
	}
	// The spectra of different laws are worked out side by side and multiplied.
	workers := 1
	if len(c.laws) > manyParts {
		workers = min(runtime.GOMAXPROCS(0), 4)
	}
	products, shifts := make([][]complex128, workers), make([]float64, workers)
	inParallel(workers, func(w int) { products[w], shifts[w] = c.spectrum(t, n, w, workers) })
	product, shift := products[0], shifts[0]
	for w := 1; w < workers; w++ {
		for j, f := range products[w] {
			product[j] *= f
		}
		shift += shifts[w]
	}
	size := 0.0
	for _, f := range product {
		size += 2 * cmplx.Abs(f)
	}
	seq := fourier.NewFFT(n).Sequence(nil, product)
	first := math.Floor(lo/c.h) - 1
	out := tail{h: c.h, t: t, k: k, first: first, infinite: c.infinite,
		all: make([]float64, n+1), gain: make([]float64, n+1)}
	offset := int(math.Mod(first-shift, float64(n)))
	decay, loss := math.Exp(-t*c.h), -math.Expm1(-c.h)
	all, gain := 0.0, 0.0
	for i := n - 1; i >= 0; i-- {
		at := (offset + i) % n
		if at < 0 {
			at += n
		}
		// 1 − e^(−Δ−h) = (1 − e^(−Δ)) + e^(−Δ)(1 − e^(−h)), and all − gain is the sum
		// with e^(−Δ).
		gain = decay * (gain + loss*(all-gain))
		all = math.Max(0, seq[at]/float64(n)) + decay*all
		out.all[i], out.gain[i] = all, gain
	}
	// What wraps round, and the rounding of n-point transforms raised to the number
	// of uses, spread over the points that the tilt lets count.
	points := math.Min(float64(n), 1/-math.Expm1(-t*c.h))
	rounding := 3 * unit * (1 + sum(c.counts)) * float64(bits.Len(uint(n))) * size / float64(n) * points
	out.slack = (4*math.Exp(-by.logOutside) + rounding) * math.Exp(logTangent(t))
	// The sums at the first point hold all terms, so a NaN anywhere is there.
	return out, !math.IsNaN(out.slack+out.all[0]+out.gain[0]) && math.Abs(first)+math.Abs(shift) < 1<<53
}

// spectrum is the product of the transforms of laws from, from+every, ... of n points,
// each law tilted by t and moved to mean zero, with the sum of what they were moved by.
func (c composed) spectrum(t float64, n, from, every int) (product []complex128, shift float64) {
	fft := fourier.NewFFT(n)
	product = make([]complex128, n/2+1)
	for i := range product {
		product[i] = 1
	}
	seq := make([]float64, n)
	spectrum := make([]complex128, n/2+1)
	for i := from; i < len(c.laws); i += every {
		l := c.laws[i]
		lk, mean, _ := l.moments(t, c.h)
		// Each law is moved to mean zero, which keeps the phases of its powers small.
		centre := math.Round(mean / c.h)
		clear(seq)
		for j, p := range l.mass {
			index := l.at(j)
			at := (index - int(centre)) % n
			if at < 0 {
				at += n
			}
			seq[at] += p * math.Exp(t*float64(index)*c.h-lk)
		}
		spectrum = fft.Coefficients(spectrum, seq)
		if c.counts[i] == 1 {
			for j, f := range spectrum {
				product[j] *= f
			}
		} else {
			for j, f := range spectrum {
				product[j] *= power(f, c.counts[i])
			}
		}
		shift += c.counts[i] * centre
	}
	return product, shift
}

// maxManyPoints bounds the points of all transforms of a plan of many parts.
const maxManyPoints = 1 << 24

func power(f complex128, count float64) complex128 {
	r := count * math.Log(cmplx.Abs(f))
	if r < -60 {
		return 0
	}
	sin, cos := math.Sincos(count * cmplx.Phase(f))
	m := math.Exp(r)
	return complex(m*cos, m*sin)
}

// fastLength is the next length of the form {1, 3, 5}·2^k.
func fastLength(n int) int {
	best := 1 << bits.Len(uint(n))
	for _, f := range []int{1, 3, 5} {
		m := f
		for m < n {
			m *= 2
		}
		best = min(best, m)
	}
	return max(best, 8)
}

// gainAt is e^(−K+tε) δ(ε) of the finite losses:
// Σ p_j e^(−t(ε_j−ε)) (1 − e^(ε−ε_j)), from the sums at the point above.
func (d tail) gainAt(epsilon float64) float64 {
	above := math.Max(0, math.Floor(epsilon/d.h-d.first)+1)
	if !(above < float64(len(d.all))) { // compared as floats: a huge epsilon is no int
		return 0
	}
	i := int(above)
	gap := math.Max(0, (d.first+float64(i))*d.h-epsilon)
	return math.Exp(-d.t*gap) * (d.gain[i]*math.Exp(-gap) - d.all[i]*math.Expm1(-gap))
}

// logDelta is ln δ(ε) from above: what may be wrong is added.
func (d tail) logDelta(epsilon float64) float64 {
	return logAdd(math.Log(d.infinite), d.k-d.t*epsilon+math.Log(d.gainAt(epsilon)+d.slack))
}

// logDeltaBelow is ln δ(ε) from below: what may be wrong is subtracted.
func (d tail) logDeltaBelow(epsilon float64) float64 {
	return logAdd(math.Log(d.infinite), d.k-d.t*epsilon+math.Log(math.Max(0, d.gainAt(epsilon)-d.slack)))
}

// epsilonAt is the smallest epsilon >= 0 with δ(ε) <= delta, +Inf where the
// window does not hold it.
func (d tail) epsilonAt(logDelta float64) float64 {
	ok := func(epsilon float64) bool { return d.logDelta(epsilon) <= logDelta }
	if ok(0) {
		return 0
	}
	hi := (d.first + float64(len(d.all))) * d.h
	if !(hi > 0) || !ok(hi) {
		return inf
	}
	return bisect(0, hi, ok)
}
