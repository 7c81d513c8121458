package nn

import (
	"fmt"
	"math"
	"sync"

	"pawl/compute/kernel"
)

var _ = register(Kind{
	Name: "dct", Help: "the lowest frequencies of an image", Keys: []string{"coefficients"}, Role: FrontEnd, build: (*builder).dct,
	Front: &Front{Word: "dct", Count: true, Searched: true, Layers: one(Layer{Kind: "dct"})},
})

// maxSide bounds the images that dct takes: it keeps a table of side² cosines.
const maxSide = 4096

// dct maps images x (n×H×W×C) to y (n×k): of the orthonormal 2-D DCT-II of each
// channel the k/C lowest frequencies, ordered by i+j and then by i, channel after
// channel; then all k numbers of an example are divided by their root mean square,
// so that its norm is √k. An example of zeros stays zero.
//
// coefficient(i,j) = Σ_{y,x} image(y,x)·c_i(y)·c_j(x), where c_0 = √(1/H) and
// c_i(y) = √(2/H)·cos(π(2y+1)i/2H), and likewise with W. It depends on no data and
// stands before the first trainable layer, so it has no backward pass.
type dct struct {
	in Shape
	k  int
	// basis returns the frequencies, built when it is first used: most
	// nets are only looked at.
	basis func() *kernel.Packed
}

func newDCT(in Shape, k int) *dct {
	return &dct{in, k, sync.OnceValue(func() *kernel.Packed { return kernel.Pack(kernel.Dense(frequencies(in, k), in.Size(), k)) })}
}

// frequencies is the transform, (H·W·C)×k.
func frequencies(in Shape, k int) []float32 {
	b := make([]float32, in.Size()*k)
	each := k / in.Channels
	rows, columns := cosines(in.Height), cosines(in.Width)
	at := 0
	for sum := 0; at < each; sum++ {
		for i := max(0, sum-in.Width+1); i <= min(sum, in.Height-1) && at < each; i++ {
			for y := range in.Height {
				for x := range in.Width {
					v := float32(rows[i*in.Height+y] * columns[(sum-i)*in.Width+x])
					for ch := range in.Channels {
						b[((y*in.Width+x)*in.Channels+ch)*k+ch*each+at] = v
					}
				}
			}
			at++
		}
	}
	return b
}

// cosines is the n×n table of c_i(y).
func cosines(n int) []float64 {
	table := make([]float64, n*n)
	for i := range n {
		for y := range n {
			table[i*n+y] = cosine(i, y, n)
		}
	}
	return table
}

// cosine is c_i(y) of a side of n pixels.
func cosine(i, y, n int) float64 {
	if i == 0 {
		return math.Sqrt(1 / float64(n))
	}
	// The angle is reduced in whole numbers: (2y+1)·i grows far beyond 2π.
	turn := (2*y + 1) * i % (4 * n)
	return math.Sqrt(2/float64(n)) * math.Cos(math.Pi*float64(turn)/float64(2*n))
}

func (l *dct) forward(c *call, s *state, x []float32) []float32 {
	y := grow(&s.y, c.n*l.k)
	kernel.MatMulPacked(kernel.Dense(y, c.n, l.k), kernel.Dense(x, c.n, l.in.Size()), l.basis(), false)
	for i := 0; i < len(y); i += l.k {
		row := y[i : i+l.k]
		divide(row, 0, math.Sqrt(squares(row, 0)/float64(l.k)))
	}
	return y
}

func (l *dct) backward(*call, *state, []float32) []float32 { return nil }

func (l *dct) memory(_, _ bool) int { return l.k }

// squares is Σ (v − mean)².
func squares(row []float32, mean float64) float64 {
	s := 0.0
	for _, v := range row {
		d := float64(v) - mean
		s += d * d
	}
	return s
}

// divide sets row to (row − mean)/by, and to 0 where by is 0.
func divide(row []float32, mean, by float64) {
	if by == 0 {
		clear(row)
		return
	}
	for i, v := range row {
		row[i] = float32((float64(v) - mean) / by)
	}
}

func (b *builder) dct(l Layer, info *LayerInfo) (op, error) {
	in := b.shape
	switch {
	case l.Coefficients < 1 || l.Coefficients%in.Channels != 0:
		return nil, b.fault("coefficients", fmt.Sprintf("%d coefficients cannot be shared by %d channels", l.Coefficients, in.Channels), "give a multiple of the number of channels")
	case l.Coefficients > in.Size():
		return nil, b.fault("coefficients", fmt.Sprintf("%d coefficients are more than the numbers of %s", l.Coefficients, in), fmt.Sprintf("use at most %d", in.Size()))
	case tooMany(in.Size(), l.Coefficients) || max(in.Height, in.Width) > maxSide:
		return nil, b.fault("coefficients", "the transform takes more than 1 GiB here", "use fewer coefficients, or pool the image first")
	}
	info.Output = Vector(l.Coefficients)
	return newDCT(in, l.Coefficients), nil
}

func (l *dct) write(w *writer, v value) value {
	return w.made(w.Unit(w.Op("MatMul", w.asFlat(v), w.Tensor("cosines", frequencies(l.in, l.k), l.in.Size(), l.k)), rootOf(l.k)), flat)
}
