package nn

import (
	"math"

	"pawl/compute/kernel"
)

// activation applies f to each number of x (n×d), y = f(x) (n×d). Every f here has
// a derivative that is a function of y, so x need not be kept.
type activation struct {
	d int
	// apply sets y = f(x), which may be the same memory.
	apply func(y, x []float32)
	// chain multiplies dy by f' at y.
	chain func(dy, y []float32)
	// inPlace says that nobody needs x afterwards.
	inPlace bool
}

func (l *activation) forward(c *call, s *state, x []float32) []float32 {
	y := x
	if !l.inPlace {
		y = grow(&s.y, len(x))
	}
	l.apply(y, x)
	s.x = y
	return y
}

func (l *activation) backward(c *call, s *state, dy []float32) []float32 {
	if !c.wantInput {
		return nil
	}
	l.chain(dy, s.x)
	return dy
}

func (l *activation) memory(_, _ bool) int { return when(!l.inPlace, l.d) }

// relu is max(x, 0); its derivative at 0 is 0.
func relu() activation { return boundedReLU(float32(math.Inf(1))) }

// boundedReLU is min(max(x, 0), bound), with derivative 1 on (0, bound) and 0 at
// both ends and beyond. Arous et al., IJCNN 2023: bounds 2 to 4.
func boundedReLU(bound float32) activation {
	return activation{
		apply: func(y, x []float32) { kernel.Rectify(y, x, bound) },
		chain: func(dy, y []float32) { kernel.RectifyChain(dy, y, bound) },
	}
}

// hyperbolicTangent is tanh(x), derivative 1 − y².
func hyperbolicTangent() activation {
	return activation{apply: kernel.Tanh, chain: kernel.TanhChain}
}

// sigmoid is 1/(1+e^−x), derivative y(1−y).
func sigmoid() activation {
	return activation{apply: kernel.Sigmoid, chain: kernel.SigmoidChain}
}

// temperedSigmoid is scale/(1+e^(−temperature·x)) − offset; (2, 2, 1) is tanh.
// Its derivative is temperature·u·(1 − u/scale) with u = y + offset. Papernot et
// al., arXiv:2007.14191.
func temperedSigmoid(scale, temperature, offset float32) activation {
	return activation{
		apply: func(y, x []float32) {
			for i, v := range x {
				y[i] = temperature * v
			}
			kernel.Sigmoid(y, y)
			for i, v := range y {
				y[i] = scale*v - offset
			}
		},
		chain: func(dy, y []float32) {
			for i, v := range y {
				u := (v + offset) / scale
				dy[i] *= temperature * scale * u * (1 - u)
			}
		},
	}
}

// identity hands x on: it stands for flatten too, since a row-major image is
// already the vector of its numbers.
type identity struct{}

func (identity) forward(_ *call, _ *state, x []float32) []float32   { return x }
func (identity) backward(_ *call, _ *state, dy []float32) []float32 { return dy }
func (identity) memory(_, _ bool) int                               { return 0 }
