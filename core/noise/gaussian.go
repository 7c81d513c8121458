package noise

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"pawl/compute/kernel"
	"pawl/core/entropy"
)

// Ziggurat of Marsaglia and Tsang (2000): the area under exp(−x²/2), x >= 0, is
// covered by 256 horizontal layers of equal area. Layer 0 is the base strip plus
// the tail beyond tailStart. A draw picks a layer and a point of its width; in 98.5 %
// of draws the point lies under the curve for certain.
const (
	layers = 256
	// tailStart is the right edge of the base strip for 256 layers, from solving
	// "the layers close at height 1"; the test of the tables repeats the closure.
	tailStart = 3.6541528853610087963519472518
)

// ziggurat holds, for layer i: edge, the x where the layer ends (edge[0] is the
// width that gives the base strip, tail included, the common area); height, the
// density at edge; Unit of its strip, edge in steps of 2^-53; Inside, the number of steps that
// certainly lie under the curve; steep and gap of its chord, the line between the points of the curve at
// both ends of the layer: the share of the layer's height that it falls over one unit of x, and how many such
// shares the curve lies from it at most.
type ziggurat struct {
	edge, height [layers + 1]float64
	strips       [layers]kernel.Strip
	chords       [layers]struct{ steep, gap float64 }
}

// normal is a table of constants, computed once because listing it would be
// harder to audit than the recurrence. It is never written again.
var normal = newZiggurat()

func newZiggurat() *ziggurat {
	var z ziggurat
	density := func(x float64) float64 { return math.Exp(-x * x / 2) }
	area := tailStart*density(tailStart) + math.Sqrt(math.Pi/2)*math.Erfc(tailStart/math.Sqrt2)
	z.edge[0] = area / density(tailStart)
	z.edge[1] = tailStart
	for i := 1; i < layers-1; i++ {
		z.edge[i+1] = math.Sqrt(-2 * math.Log(area/z.edge[i]+density(z.edge[i])))
	}
	z.height[layers] = 1
	for i := layers - 1; i >= 0; i-- {
		z.height[i] = density(z.edge[i])
		z.strips[i] = kernel.Strip{Inside: uint64(z.edge[i+1] / z.edge[i] * 0x1p53), Unit: z.edge[i] * 0x1p-53}
		// A curve is within width²/8 times its greatest curvature of a chord, here |x²−1|·exp(−x²/2); a part in 10⁹
		// is far above all rounding.
		width, high := z.edge[i]-z.edge[i+1], z.height[i+1]
		z.chords[i].steep, z.chords[i].gap = 1/width, width*width/8*max(1, z.edge[i]*z.edge[i])*high/(high-z.height[i])+1e-9
	}
	return &z
}

// Gaussian returns one value of N(0, 1). Bits 0–7 of a word choose the layer, bit 8 the sign, the
// upper 53 bits the position; the tail is drawn by Marsaglia's exact method, so no |x| is out of
// reach (P(|x| > 8.3) = 1e-16 still has its exact probability).
func Gaussian(src *entropy.Source) float64 { return draw(src.Uint64(), src) }

// draw makes a value of the word u, and of more words where one does not do.
func draw(u uint64, more entropy.Words) float64 {
	for {
		layer := u & (layers - 1)
		step := u >> 11
		x := float64(int64(step)) * normal.strips[layer].Unit // the conversion from uint64 would branch
		ok := step < normal.strips[layer].Inside
		if !ok {
			x, ok = edgeOfLayer(more, layer, x)
		}
		if ok {
			// The sign bit is moved, not branched on: the branch would be a coin toss.
			return math.Float64frombits(math.Float64bits(x) ^ u>>8<<63)
		}
		u = more.Uint64()
	}
}

// addPlain adds stdDev times draw for consecutive words of 8 bytes each, twice as fast: as far as
// words do by themselves. It returns how far that is.
func addPlain(dst []float64, words []byte, stdDev float64) int {
	for i := range dst {
		u := binary.LittleEndian.Uint64(words[8*i : 8*i+8])
		strip, step := &normal.strips[u&(layers-1)], u>>11
		if step >= strip.Inside {
			return i
		}
		x := float64(int64(step)) * strip.Unit
		dst[i] += stdDev * math.Float64frombits(math.Float64bits(x)^u>>8<<63)
	}
	return len(dst)
}

// edgeOfLayer decides the 1.5 % of draws that may lie above the curve: it returns
// a point of the tail for the base strip, else x if a random height in the layer
// is under the curve, else false. Only heights near the curve need the exponential.
func edgeOfLayer(src entropy.Words, layer uint64, x float64) (float64, bool) {
	if layer == 0 {
		for {
			beyond := -math.Log(entropy.Open01(src)) / tailStart
			if -2*math.Log(entropy.Open01(src)) > beyond*beyond {
				return tailStart + beyond, true
			}
		}
	}
	u, chord := entropy.Float64(src), &normal.chords[layer]
	if above := u - (normal.edge[layer]-x)*chord.steep; math.Abs(above) > chord.gap {
		return x, above < 0
	}
	low, high := normal.height[layer], normal.height[layer+1]
	return x, low+u*(high-low) < math.Exp(-x*x/2)
}

// AddGaussian adds an independent draw of N(0, stdDev²) to every element of dst. It takes the same
// values from src as len(dst) calls of Gaussian, so splitting a vector into pieces does not change
// the result. stdDev 0 adds nothing and draws nothing (non-private training; its Event costs +Inf).
// A negative, NaN or infinite stdDev panics. The absolute rounding error is half a unit in the last
// place of each sum, which reveals the sum's exact value: release a sum through Perturb.
func AddGaussian(src *entropy.Source, dst []float64, stdDev float64) {
	if stdDev == 0 {
		return
	}
	mustScale("standard deviation", stdDev)
	for len(dst) > 0 {
		words := src.Buffered()
		n := min(len(dst), len(words)/8)
		used := addPlain(dst[:n], words, stdDev)
		src.Discard(used)
		dst = dst[used:]
		if used < n {
			dst[0] += stdDev * Gaussian(src)
			dst = dst[1:]
		}
	}
}

// Perturb prepares a sum of floats for release: it adds noise of N(0, stdDev²) to every element and
// rounds each as a whole to the grid of that noise. A stdDev outside [2^-960, 2^960] gives an error
// and leaves dst unchanged: a product of small numbers may have become 0, and would add no noise at
// a finite price.
func Perturb(src *entropy.Source, dst []float64, stdDev float64) error {
	if err := InRange(stdDev); err != nil {
		return err
	}
	AddGaussian(src, dst, stdDev)
	OnGrid(dst, stdDev)
	return nil
}

// InRange returns the errors of Perturb before anything is opened or charged.
func InRange(stdDevs ...float64) error {
	for _, s := range stdDevs {
		if !(s >= 0x1p-960 && s <= 0x1p960) {
			return fmt.Errorf("a noise of %g is out of the range of a 64-bit float", s)
		}
	}
	return nil
}

// PerturbSymmetric is Perturb for a symmetric n×n matrix of which the upper triangle is given:
// noise of stdDev on the diagonal and of stdDev/√2 off it, which is stdDev in every direction of
// the Frobenius norm. The lower triangle becomes a copy of the upper one: two separate draws would
// average to half the variance.
func PerturbSymmetric(src *entropy.Source, a []float64, n int, stdDev float64) error {
	for j := range n {
		row := a[j*n+j : (j+1)*n]
		if err := errors.Join(Perturb(src, row[:1], stdDev), Perturb(src, row[1:], stdDev/math.Sqrt2)); err != nil {
			return err
		}
		for l := range j {
			a[j*n+l] = a[l*n+j]
		}
	}
	return nil
}

// mustScale panics unless scale is a positive, finite number.
func mustScale(name string, scale float64) {
	if !(scale > 0 && scale <= math.MaxFloat64) {
		panic(fmt.Sprintf("noise: %s %v is not positive and finite", name, scale))
	}
}
