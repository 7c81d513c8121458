package nn

import (
	"fmt"
	"math"

	"pawl/compute/kernel"
)

var _ = register(Kind{
	Name: "pca", Help: "principal components without charge: public data only", Keys: []string{"coefficients"}, Role: FrontEnd, build: (*builder).pca,
	Front: &Front{Word: "pca", Count: true, Searched: true, Layers: one(Layer{Kind: "pca"})},
})

func (b *builder) pca(l Layer, info *LayerInfo) (op, error) {
	if len(b.net.ops) > 0 {
		return nil, b.fault("", "it is not the first layer", "components are fitted on the inputs, so it must be the first layer")
	}
	if err := b.checkCoefficients(l, "64 is a common choice"); err != nil {
		return nil, err
	}
	size := b.shape.Size()
	info.Output, info.Parameters = Vector(l.Coefficients), size+size*l.Coefficients
	return &pca{d: size, k: l.Coefficients, frozen: b.frozen}, nil
}

// pca maps images x (n×d) to y (n×k): (x − μ)·B, divided by the example's root mean
// square like dct's, so that its norm is √k. μ and the columns of B are the mean and the
// first principal components of training rows that somebody has looked at: published
// procedures do so without paying, which is why only a replay on public data may use it.
// It stands before the first trainable layer, so it has no backward pass.
type pca struct {
	d, k int
	// frozen is the place of μ and then B (row-major) in the frozen vector.
	frozen int
}

// values are μ and B.
func (l *pca) values(frozen []float32) (mean, basis []float32) {
	return frozen[l.frozen:][:l.d], frozen[l.frozen+l.d:][:l.d*l.k]
}

func (l *pca) forward(c *call, s *state, x []float32) []float32 {
	mean, basis := l.values(c.net.frozen)
	centred := grow(&s.dx, len(x)) // no gradient comes this way
	for i, v := range x {
		centred[i] = v - mean[i%l.d]
	}
	y := grow(&s.y, c.n*l.k)
	kernel.MatMul(kernel.Dense(y, c.n, l.k), kernel.Dense(centred, c.n, l.d), kernel.Dense(basis, l.d, l.k), false)
	for i := 0; i < len(y); i += l.k {
		row := y[i : i+l.k]
		divide(row, 0, math.Sqrt(squares(row, 0)/float64(l.k)))
	}
	return y
}

func (l *pca) backward(*call, *state, []float32) []float32 { return nil }

func (l *pca) memory(_, _ bool) int { return l.d + l.k }

// Components is the number of inputs and of principal components of the net's pca
// layer, zeros for a net without one. Its numbers are part of Frozen.
func (n *Net) Components() (inputs, components int) {
	if l := only[*pca](n); l != nil {
		return l.d, l.k
	}
	return 0, 0
}

// SetComponents sets the mean (inputs numbers) and the basis (inputs×components,
// row-major).
func (n *Net) SetComponents(mean, basis []float32) error {
	l := only[*pca](n)
	if l == nil || len(mean) != l.d || len(basis) != l.d*l.k {
		return fmt.Errorf("network: %d and %d numbers do not fit its principal components", len(mean), len(basis))
	}
	l.set(n.frozen, mean, basis)
	return nil
}

func (l *pca) set(frozen, mean, basis []float32) {
	copy(frozen[l.frozen:], mean)
	copy(frozen[l.frozen+l.d:], basis)
}

// only is the layer of its kind, of which a network has one at most; nil if it has none.
func only[L any](n *Net) (l L) {
	for _, o := range n.ops {
		if l, ok := o.(L); ok {
			return l
		}
	}
	return l
}

func (l *pca) write(w *writer, v value) value {
	mean, basis := l.values(w.frozen)
	x := w.Op("MatMul", w.Op("Sub", w.asFlat(v), w.Tensor("mean", mean, l.d)), w.Tensor("components", basis, l.d, l.k))
	return w.made(w.Unit(x, rootOf(l.k)), flat)
}

func (l *pca) tensors(_, frozen []float32) []Tensor {
	mean, basis := l.values(frozen)
	return []Tensor{{"mean", []int{l.d}, mean}, {"components", []int{l.d, l.k}, basis}}
}
