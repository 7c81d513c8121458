// Package scatter computes scattering features of small images: moduli of Morlet
// waves, and of waves of these, averaged over squares of four pixels. The transform is
// fixed; it looks at no data, so it costs no privacy.
//
// Of an image of H×W pixels each colour has 81 channels on (H/4)×(W/4) positions, every
// fourth pixel from the first: the average, 8 orientations of scale 0, 8 of scale 1, and
// 8×8 of scale 1 on the moduli of scale 0, the first orientation outermost (Bruna and
// Mallat, IEEE TPAMI 2013; J = 2, L = 8). Orientation k has its wave vector at (3−k)·π/8
// from the downward axis, turning to the right. Models on such features under
// differential privacy: Tramèr and Boneh, ICLR 2021.
//
// Four pixels reflected at each border make the image a periodic plane. Scale 1 is kept
// at every second point, and so, unless Full is chosen, is scale 0.
//
// Every stage is linear before its modulus, so it is one product with a matrix in which
// periodic convolution and the choice of points are contained; symmetry cuts it to a
// quarter.
package scatter

import (
	"fmt"
	"sync"

	"pawl/compute/kernel"
)

// Channels is the number of channels of one colour.
const Channels = 1 + scales*Angles + Angles*Angles

// most bounds the side of an image: matrices grow with its fourth power.
const most = 64

// Options are choices that change the features.
type Options struct {
	// Full evaluates the moduli of scale 0 at every pixel instead of every second, at
	// about twice the time.
	Full bool
}

// Transform turns images of one shape into features. It may be used by many goroutines.
type Transform struct {
	// free is memory that goes from one chunk to the next. A pool for each call would hold
	// what it was given through two collections.
	free                   *sync.Pool
	height, width, colours int
	plane                  []int // for each point of the plane its pixel of the image
	outputs                int   // positions of the features
	first, second, deeper  *bank // scale 0 and scale 1 of the plane, scale 1 of moduli of scale 0
	// lowest, fine and coarse average the plane, moduli of scale 0 and moduli of scale 1.
	lowest, fine, coarse *kernel.Packed
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
	g := grid{height, width, height + 2*margin, width + 2*margin}
	step := 2 // between moduli of scale 0
	if o.Full {
		step = 1
	}
	phi := average(g.rows, g.cols)
	t := &Transform{
		free:   new(sync.Pool),
		height: height, width: width, colours: colours,
		outputs: (height / stride) * (width / stride),
		first:   g.newBank(0, 1, step),
		second:  g.newBank(1, 1, 2),
		deeper:  g.newBank(1, step, 2),
		lowest:  g.average(phi, 1),
		fine:    g.average(phi, step),
		coarse:  g.average(phi, 2),
	}
	for i := range g.rows {
		for j := range g.cols {
			t.plane = append(t.plane, g.pixel(i, j))
		}
	}
	return t, nil
}

// average is the matrix that takes values at every from-th point of the plane, each for
// from² points, to averages at the positions of the features.
func (g grid) average(phi filter, from int) *kernel.Packed {
	var entries []float32
	for i := 0; i < g.rows; i += from {
		for j := 0; j < g.cols; j += from {
			for p := margin; p < g.rows-margin; p += stride {
				for q := margin; q < g.cols-margin; q += stride {
					entries = append(entries, entry(float64(from*from)*real(phi.at(p-i, q-j))))
				}
			}
		}
	}
	points := (g.rows / from) * (g.cols / from)
	return kernel.Pack(kernel.Dense(entries, points, len(entries)/points))
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
	chunks := (n + chunk - 1) / chunk
	if chunks == 0 {
		return
	}
	kernel.Parallel(max(workers, 1), chunks, func(part int) {
		w, ok := t.free.Get().(*work)
		if !ok || w.images < min(chunk, n) {
			w = newWork(t, min(chunk, n))
		}
		lo, hi := part*chunk, min((part+1)*chunk, n)
		for colour := range t.colours {
			w.colour(dst[lo*t.Dim():hi*t.Dim()], images[lo*t.Inputs():hi*t.Inputs()], colour)
		}
		t.free.Put(w)
	})
}

// work is the memory of one chunk.
type work struct {
	t                       *Transform
	images                  int // that there is room for
	planes, moduli, deep    []float32
	folded, responses, mean []float32
}

func newWork(t *Transform, n int) *work {
	points := len(t.plane)
	return &work{
		t:         t,
		images:    n,
		planes:    make([]float32, n*points),
		moduli:    make([]float32, n*Angles*max(t.first.outputs(), t.second.outputs())),
		deep:      make([]float32, n*Angles*Angles*t.deeper.outputs()),
		folded:    make([]float32, max(t.first.foldBuffer(n), t.second.foldBuffer(n), t.deeper.foldBuffer(n*Angles))),
		responses: make([]float32, max(t.first.partBuffer(n), t.second.partBuffer(n), t.deeper.partBuffer(n*Angles))),
		mean:      make([]float32, n*Angles*Angles*t.outputs),
	}
}

// colour fills the channels of one colour.
func (w *work) colour(dst, images []float32, colour int) {
	t := w.t
	n := len(images) / t.Inputs()
	points := len(t.plane)
	planes := w.planes[:n*points]
	for i := range n {
		image, plane := images[i*t.Inputs():][:t.Inputs()], planes[i*points:][:points]
		for p, from := range t.plane {
			plane[p] = image[from*t.colours+colour]
		}
	}
	at := colour * Channels * t.outputs
	put := func(channels int, values []float32, average *kernel.Packed) {
		rows := n * channels
		mean := w.mean[:rows*t.outputs]
		kernel.MatMulPacked(kernel.Dense(mean, rows, t.outputs), kernel.Dense(values, rows, average.Rows()), average, false)
		for i := range n {
			copy(dst[i*t.Dim()+at:][:channels*t.outputs], mean[i*channels*t.outputs:])
		}
		at += channels * t.outputs
	}
	put(1, planes, t.lowest)

	fine := w.moduli[:n*Angles*t.first.outputs()]
	t.first.modulus(fine, planes, w.folded, w.responses)
	put(Angles, fine, t.fine)
	deep := w.deep[:n*Angles*Angles*t.deeper.outputs()]
	t.deeper.modulus(deep, fine, w.folded, w.responses)

	coarse := w.moduli[:n*Angles*t.second.outputs()]
	t.second.modulus(coarse, planes, w.folded, w.responses)
	put(Angles, coarse, t.coarse)
	put(Angles*Angles, deep, t.coarse)
}
