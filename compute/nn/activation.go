package nn

import (
	"fmt"
	"math"

	"pawl/compute/kernel"
)

// numbers registers an activation: function makes it of a layer, or says what is wrong
// with the layer.
func numbers(k Kind, function func(b *builder, l Layer) (activation, error)) bool {
	k.Role, k.overTime = Activation, true
	k.build = func(b *builder, l Layer, _ *LayerInfo) (op, error) {
		a, err := function(b, l)
		if err != nil {
			return nil, err
		}
		a.d, a.inPlace = b.shape.Size(), b.outputIsFree()
		return &a, nil
	}
	return register(k)
}

func finite(v float64) bool { return math.Abs(v) < math.MaxFloat32 }

var _ = numbers(Kind{Name: "relu", Help: "max(x, 0)", gain: 2, Reach: 1.2},
	func(*builder, Layer) (activation, error) { return relu(), nil })

var _ = numbers(Kind{Name: "bounded_relu", Help: "min(max(x, 0), bound)", Keys: []string{"bound"}, Also: []string{"brelu", "boundedrelu"},
	Standard: Layer{Bound: 2}, gain: 2, Reach: 1.2},
	func(b *builder, l Layer) (activation, error) {
		if !(l.Bound > 0) || !finite(l.Bound) {
			return activation{}, b.fault("bound", fmt.Sprintf("bound must be a finite number above 0, got %g", l.Bound), "2 to 4 are common choices")
		}
		return boundedReLU(float32(l.Bound)), nil
	})

var _ = numbers(Kind{Name: "tanh", Help: "tanh(x)", gain: 1, Reach: 0.6},
	func(*builder, Layer) (activation, error) { return hyperbolicTangent(), nil })

var _ = numbers(Kind{Name: "sigmoid", Help: "1/(1+e^-x)", gain: 1, Reach: 0.6},
	func(*builder, Layer) (activation, error) { return sigmoid(), nil })

// The standard form equals tanh.
var _ = numbers(Kind{Name: "tempered_sigmoid", Help: "scale/(1+e^(-temperature*x)) - offset", Keys: []string{"scale", "temperature", "offset"},
	Also: []string{"temperedsigmoid"}, Standard: Layer{Scale: 2, Temperature: 2, Offset: 1}, gain: 1, Reach: 0.6},
	func(b *builder, l Layer) (activation, error) {
		if !(l.Scale > 0 && l.Temperature > 0) || !finite(l.Scale) || !finite(l.Temperature) || !finite(l.Offset) {
			return activation{}, b.fault("scale", "scale and temperature must be finite numbers above 0", "2, 2 and offset 1 are tanh")
		}
		return temperedSigmoid(float32(l.Scale), float32(l.Temperature), float32(l.Offset)), nil
	})

// activation applies f to each number of x (n×d), y = f(x) (n×d). Every f here has
// a derivative that is a function of y, so x need not be kept.
type activation struct {
	d int
	// apply sets y = f(x), which may be the same memory.
	apply func(y, x []float32)
	// chain multiplies dy by f' at y.
	chain func(dy, y []float32)
	// node adds f to an ONNX graph.
	node func(w *writer, x string) string
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
func relu() activation {
	a := boundedReLU(float32(math.Inf(1)))
	a.node = as("Relu")
	return a
}

// as is an operator of ONNX that needs nothing but x.
func as(op string) func(w *writer, x string) string {
	return func(w *writer, x string) string { return w.Op(op, x) }
}

// boundedReLU is min(max(x, 0), bound), with derivative 1 on (0, bound) and 0 at
// both ends and beyond. Arous et al., IJCNN 2023: bounds 2 to 4.
func boundedReLU(bound float32) activation {
	return activation{
		apply: func(y, x []float32) { kernel.Rectify(y, x, bound) },
		chain: func(dy, y []float32) { kernel.RectifyChain(dy, y, bound) },
		node:  func(w *writer, x string) string { return w.Op("Clip", x, w.Float(0), w.Float(bound)) },
	}
}

// hyperbolicTangent is tanh(x), derivative 1 − y².
func hyperbolicTangent() activation {
	return activation{apply: kernel.Tanh, chain: kernel.TanhChain, node: as("Tanh")}
}

// sigmoid is 1/(1+e^−x), derivative y(1−y).
func sigmoid() activation {
	return activation{apply: kernel.Sigmoid, chain: kernel.SigmoidChain, node: as("Sigmoid")}
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
		node: func(w *writer, x string) string {
			s := w.Op("Sigmoid", w.Op("Mul", x, w.Float(temperature)))
			return w.Op("Sub", w.Op("Mul", s, w.Float(scale)), w.Float(offset))
		},
	}
}

func (l *activation) write(w *writer, v value) value {
	return value{l.node(w, v.name), v.order, v.shape}
}
