// Package scatter computes scattering features of small images: moduli of Morlet
// waves, and of waves of these, averaged over squares of four pixels. The transform is
// fixed; it looks at no data, so it costs no privacy.
//
// Of an image of H×W pixels each colour has 81 channels on (H/4)×(W/4) positions: the
// average, 8 orientations of scale 0, 8 of scale 1, and 8×8 of scale 1 on the moduli of
// scale 0, the first orientation outermost (Bruna and Mallat, IEEE TPAMI 2013; J = 2,
// L = 8). Models on such features under differential privacy: Tramèr and Boneh, ICLR
// 2021.
//
// Every stage is linear before its modulus, so it is one product with a matrix in which
// reflection at the borders, periodic convolution and the choice of positions are all
// contained.
package scatter

import (
	"fmt"
	"math"

	"pawl/kernel"
)

// Channels is the number of channels of one colour.
const Channels = 1 + scales*Angles + Angles*Angles

// most bounds the side of an image: matrices grow with the fourth power.
const most = 64

// Options are choices that change the features.
type Options struct {
	// Full evaluates the moduli of scale 0 at every pixel instead of every second, at
	// about four times the time.
	Full bool
}

// Transform turns images of one shape into features. It may be used by many goroutines.
type Transform struct {
	height, width, colours int
	step                   int // between moduli of scale 0: 1 or 2
	points                 int // of those moduli
	coarse                 int // points of all others
	outputs                int // positions of the features
	// lowest is pixels×outputs, first pixels×(waves of scale 0), second pixels×(waves
	// of scale 1), deeper points×(waves of scale 1); waves have all real parts and then
	// all imaginary ones. fine and mean average moduli at their points.
	lowest, first, second, deeper, fine, mean *kernel.Packed
}

// grid is a periodic plane around an image: a margin of reflected pixels on each side.
type grid struct{ height, width, rows, cols int }

const margin = stride

func (g grid) pixel(i, j int) int {
	return reflect(i-margin, g.height)*g.width + reflect(j-margin, g.width)
}

// reflect maps a place beyond the border to the one at the same distance inside.
func reflect(i, n int) int {
	if i < 0 {
		i = -i
	}
	if i >= n {
		i = 2*(n-1) - i
	}
	return i
}

// Size is the number of features of an image of height×width pixels in colours channels,
// or an error for a shape that New refuses.
func Size(height, width, colours int) (int, error) {
	for _, side := range []int{height, width} {
		if side%stride != 0 || side < 2*stride || side > most {
			return 0, fmt.Errorf("scatter: images of %d×%d pixels: sides must be multiples of %d from %d to %d", height, width, stride, 2*stride, most)
		}
	}
	if colours < 1 || colours > 16 {
		return 0, fmt.Errorf("scatter: %d colours, want 1 to 16", colours)
	}
	return colours * Channels * (height / stride) * (width / stride), nil
}

// New prepares the transform of images of height×width pixels in colours channels.
// Height and width are multiples of 4 from 8 to 64.
func New(height, width, colours int, o Options) (*Transform, error) {
	if _, err := Size(height, width, colours); err != nil {
		return nil, err
	}
	t := &Transform{height: height, width: width, colours: colours, step: 2}
	if o.Full {
		t.step = 1
	}
	g := grid{height, width, height + 2*margin, width + 2*margin}
	t.points = (g.rows / t.step) * (g.cols / t.step)
	t.coarse = (g.rows / 2) * (g.cols / 2)
	t.outputs = (height / stride) * (width / stride)

	phi := average(g.rows, g.cols)
	t.lowest = g.fromPixels([]filter{phi}, stride, margin, false)
	t.first = g.fromPixels(waves(g.rows, g.cols, 0), t.step, 0, true)
	t.second = g.fromPixels(waves(g.rows, g.cols, 1), 2, 0, true)
	t.deeper = g.fromPoints(waves(g.rows, g.cols, 1), t.step, 2, 0, true)
	t.fine = g.fromPoints([]filter{phi}, t.step, stride, margin, false)
	t.mean = g.fromPoints([]filter{phi}, 2, stride, margin, false)
	return t, nil
}

func waves(rows, cols, scale int) []filter {
	out := make([]filter, Angles)
	for a := range out {
		out[a] = morlet(rows, cols, scale, a)
	}
	return out
}

// places lists the points of every step-th row and column from start, within the image
// when start is its margin.
func (g grid) places(step, start int) [][2]int {
	var out [][2]int
	for i := start; i < g.rows-start; i += step {
		for j := start; j < g.cols-start; j += step {
			out = append(out, [2]int{i, j})
		}
	}
	return out
}

// fromPixels is the matrix that takes the pixels of an image to the responses of
// filters at places: filter after filter, real parts first where both are kept.
func (g grid) fromPixels(filters []filter, step, start int, both bool) *kernel.Packed {
	return g.matrix(g.height*g.width, g.places(1, 0), g.pixel, 1, filters, g.places(step, start), both)
}

// fromPoints is the same for values at every from-th point of the plane. Each stands
// for from² points.
func (g grid) fromPoints(filters []filter, from, step, start int, both bool) *kernel.Packed {
	columns := g.cols / from
	index := func(i, j int) int { return i/from*columns + j/from }
	return g.matrix((g.rows/from)*columns, g.places(from, 0), index, float64(from*from), filters, g.places(step, start), both)
}

func (g grid) matrix(inputs int, sources [][2]int, index func(i, j int) int, weight float64, filters []filter, places [][2]int, both bool) *kernel.Packed {
	parts := 1
	if both {
		parts = 2
	}
	cols := parts * len(filters) * len(places)
	sums := make([]float64, inputs*cols)
	for _, s := range sources {
		row := sums[index(s[0], s[1])*cols:][:cols]
		for k, f := range filters {
			for p, at := range places {
				v := f.at(at[0]-s[0], at[1]-s[1])
				row[k*len(places)+p] += weight * real(v)
				if both {
					row[(len(filters)+k)*len(places)+p] += weight * imag(v)
				}
			}
		}
	}
	single := make([]float32, len(sums))
	for i, v := range sums {
		single[i] = float32(v)
	}
	return kernel.Pack(kernel.Dense(single, inputs, cols))
}

// Inputs is the number of values of an image, Dim that of its features.
func (t *Transform) Inputs() int { return t.height * t.width * t.colours }

// Dim is colours·81·(H/4)·(W/4).
func (t *Transform) Dim() int { return t.colours * Channels * t.outputs }

// chunk is how many images of one colour pass through at once.
const chunk = 32

// Apply sets dst (n×Dim) to the features of images (n×H×W×colours, row-major, values
// as they are): colour after colour, channel after channel, position after position.
// Up to workers goroutines share the images; the result does not depend on their number.
func (t *Transform) Apply(dst, images []float32, workers int) {
	n := len(images) / t.Inputs()
	if n*t.Inputs() != len(images) || len(dst) != n*t.Dim() {
		panic(fmt.Sprintf("scatter: %d numbers to %d, want images of %d and features of %d", len(images), len(dst), t.Inputs(), t.Dim()))
	}
	parts := (n + chunk - 1) / chunk
	if parts == 0 {
		return
	}
	kernel.Parallel(max(workers, 1), parts, func(part int) {
		lo, hi := part*chunk, min((part+1)*chunk, n)
		w := newWork(t, hi-lo)
		for colour := range t.colours {
			w.colour(dst[lo*t.Dim():hi*t.Dim()], images[lo*t.Inputs():hi*t.Inputs()], colour)
		}
	})
}

// work is the memory of one chunk.
type work struct {
	t                     *Transform
	n                     int
	pixels, waves, moduli []float32
	deep, out             []float32
}

func newWork(t *Transform, n int) *work {
	wide := max(t.points, t.coarse)
	return &work{t: t, n: n,
		pixels: make([]float32, n*t.height*t.width),
		waves:  make([]float32, 2*n*Angles*max(wide, Angles*t.coarse)),
		moduli: make([]float32, n*Angles*wide),
		deep:   make([]float32, n*Angles*Angles*t.coarse),
		out:    make([]float32, n*Angles*Angles*t.outputs),
	}
}

// colour fills the channels of one colour.
func (w *work) colour(dst, images []float32, colour int) {
	t, n := w.t, w.n
	size := t.height * t.width
	for i := range w.pixels {
		w.pixels[i] = images[i*t.colours+colour]
	}
	pixels := kernel.Dense(w.pixels, n, size)
	at := colour * Channels * t.outputs
	put := func(channels int, from []float32) {
		for i := range n {
			copy(dst[i*t.Dim()+at:][:channels*t.outputs], from[i*channels*t.outputs:])
		}
		at += channels * t.outputs

	}
	low := w.out[:n*t.outputs]
	kernel.MatMulPacked(kernel.Dense(low, n, t.outputs), pixels, t.lowest, false)
	put(1, low)

	moduli := w.modulus(w.moduli, pixels, t.first, t.points)
	put(Angles, w.averaged(moduli, n*Angles, t.points, t.fine))
	fine := kernel.Dense(moduli, n*Angles, t.points)
	deep := w.modulus(w.deep, fine, t.deeper, t.coarse)

	scale1 := w.modulus(w.moduli, pixels, t.second, t.coarse)
	put(Angles, w.averaged(scale1, n*Angles, t.coarse, t.mean))
	put(Angles*Angles, w.averaged(deep, n*Angles*Angles, t.coarse, t.mean))
}

// modulus returns |waves| of rows of from: Angles rows of points for each.
func (w *work) modulus(to []float32, from kernel.Matrix, waves *kernel.Packed, points int) []float32 {
	half := Angles * points
	all := w.waves[:from.Rows*2*half]
	kernel.MatMulPacked(kernel.Dense(all, from.Rows, 2*half), from, waves, false)
	to = to[:from.Rows*half]
	for i := range from.Rows {
		re, im := all[2*i*half:(2*i+1)*half], all[(2*i+1)*half:(2*i+2)*half]
		row := to[i*half : (i+1)*half]
		im = im[:len(row)]
		re = re[:len(row)]
		for j := range row {
			row[j] = float32(math.Sqrt(float64(re[j]*re[j] + im[j]*im[j])))
		}
	}
	return to
}

func (w *work) averaged(moduli []float32, rows, points int, mean *kernel.Packed) []float32 {
	out := w.out[:rows*w.t.outputs]
	kernel.MatMulPacked(kernel.Dense(out, rows, w.t.outputs), kernel.Dense(moduli, rows, points), mean, false)
	return out
}
