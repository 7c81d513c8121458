package nn

import (
	"math"
	"math/rand/v2"
	"sync"

	"pawl/compute/kernel"
)

var _ = register(Kind{
	Name: "random", Help: "random projections with a public seed", Keys: []string{"coefficients", "seed"}, Role: FrontEnd, build: (*builder).random,
	Front: &Front{Word: "random", Count: true, Layers: func(k int, _ string) []Layer {
		// Rows of one norm on both sides: the step rule counts on it. Any public seed would
		// do, and this one stays the same.
		return []Layer{{Kind: "standardize"}, {Kind: "random", Coefficients: k, Seed: 1}, {Kind: "standardize"}}
	}},
})

// random maps x (n×d) to y = x·S/√k (n×k), where the d×k entries of S are +1 or −1 by
// a fair coin whose seed is public and part of the model. It depends on no data and
// stands before the first trainable layer, so it has no backward pass.
//
// E‖y‖² = ‖x‖² over seeds, with variance at most 2‖x‖⁴/k, and likewise for distances
// between examples: Achlioptas, "Database-friendly random projections", JCSS 66 (2003),
// Sec. 4. Signs rather than normal numbers, because bits of the generator are the same
// on every machine and in every version, and a saved model holds nothing but the seed.
type random struct {
	d, k int
	seed uint64
	// signs returns S/√k, built when it is first used: most nets are only looked at.
	signs func() *kernel.Packed
}

func (b *builder) random(l Layer, info *LayerInfo) (op, error) {
	d := b.shape.Size()
	if err := b.checkCoefficients(l, "a projection to more numbers than it has adds none"); err != nil {
		return nil, err
	}
	if tooMany(d, l.Coefficients) {
		return nil, b.fault("coefficients", "the projection takes more than 1 GiB here", "use fewer coefficients, or pool the image first")
	}
	info.Output = Vector(l.Coefficients)
	return &random{d, l.Coefficients, l.Seed, sync.OnceValue(func() *kernel.Packed {
		return kernel.Pack(kernel.Dense(signs(d, l.Coefficients, l.Seed), d, l.Coefficients))
	})}, nil
}

// signs is S/√k: the bits of PCG(seed, d), lowest first, row by row; 1 is +.
func signs(d, k int, seed uint64) []float32 {
	source, s := rand.NewPCG(seed, uint64(d)), make([]float32, d*k)
	size := float32(1 / math.Sqrt(float64(k)))
	var bits uint64
	for i := range s {
		if i%64 == 0 {
			bits = source.Uint64()
		}
		s[i] = size
		if bits&1 == 0 {
			s[i] = -size
		}
		bits >>= 1
	}
	return s
}

func (l *random) forward(c *call, s *state, x []float32) []float32 {
	y := grow(&s.y, c.n*l.k)
	kernel.MatMulPacked(kernel.Dense(y, c.n, l.k), kernel.Dense(x, c.n, l.d), l.signs(), false)
	return y
}

func (l *random) backward(*call, *state, []float32) []float32 { return nil }

func (l *random) memory(_, _ bool) int { return l.k }

func (l *random) write(w *writer, v value) value {
	return w.made(w.Op("MatMul", w.asFlat(v), w.Tensor("signs", signs(l.d, l.k, l.seed), l.d, l.k)), flat)
}
