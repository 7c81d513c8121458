package nn

import "fmt"

// Tensor is some of a layer's parameters, in the name and layout of PyTorch's modules:
// rows of a matrix are outputs, filters come before channels and stand standardized where
// they are used so, the gates of an lstm are i, f, g, o and those of a gru r, z, n.
type Tensor struct {
	Name   string
	Shape  []int
	Values []float32
}

// stored is an op with parameters.
type stored interface {
	tensors(params, frozen []float32) []Tensor
}

// Tensors are the parameters of the net by layers: layers.1.weight is of the first. A layer
// that shares those of another has none.
func (n *Net) Tensors(params []float32) []Tensor {
	n.settle()
	var all []Tensor
	for i, o := range n.ops {
		if o, ok := o.(stored); ok {
			for _, t := range o.tensors(params, n.frozen) {
				t.Name = fmt.Sprintf("layers.%d.%s", i+1+n.skipped, t.Name)
				all = append(all, t)
			}
		}
	}
	return all
}

// transposed is Wᵀ of the columns lo to hi of w (rows×columns).
func transposed(w []float32, columns, lo, hi int) []float32 {
	rows := len(w) / columns
	t := make([]float32, 0, rows*(hi-lo))
	for j := lo; j < hi; j++ {
		for i := range rows {
			t = append(t, w[i*columns+j])
		}
	}
	return t
}
