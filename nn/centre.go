package nn

import (
	"fmt"
	"math"
)

// normalize maps x (n×d) to x/‖x‖ of each example, y (n×d), rows of norm 1. An
// example of zeros stays zero. It stands before the first trainable layer, so it has
// no backward pass.
type normalize struct{ d int }

func (l *normalize) forward(c *call, s *state, x []float32) []float32 {
	y := grow(&s.y, len(x))
	copy(y, x)
	for i := 0; i < len(y); i += l.d {
		row := y[i : i+l.d]
		divide(row, 0, math.Sqrt(squares(row, 0)))
	}
	return y
}

func (l *normalize) backward(*call, *state, []float32) []float32 { return nil }

func (l *normalize) memory(_, _ bool) int { return l.d }

// centre maps x (n×d) to (x − μ)/‖x − μ‖ of each example, y (n×d), where μ is a
// vector that somebody has released: the mean of the training inputs at its own
// price. It stands before the first trainable layer, so it has no backward pass, and
// behind the frozen prefix, since μ is known only after the inputs are. Its inputs
// have norm 1, which bounds what one of them adds to a mean. An example at μ becomes
// zero. Until SetCentre, μ is zero and rows of norm 1 stay as they are.
type centre struct {
	d int
	// frozen is the place of μ in the frozen vector.
	frozen int
}

func (l *centre) mean(frozen []float32) []float32 { return frozen[l.frozen : l.frozen+l.d] }

func (l *centre) forward(c *call, s *state, x []float32) []float32 {
	mean := l.mean(c.net.frozen)
	y := grow(&s.y, len(x))
	for i := 0; i < len(x); i += l.d {
		row := y[i : i+l.d]
		square := 0.0
		for j, v := range x[i : i+l.d] {
			d := v - mean[j]
			row[j] = d
			square += float64(d) * float64(d)
		}
		divide(row, 0, math.Sqrt(square))
	}
	return y
}

func (l *centre) backward(*call, *state, []float32) []float32 { return nil }

func (l *centre) memory(_, _ bool) int { return l.d }

// Centred is the number of inputs of the net's centre layer, 0 for a net without
// one. Its mean is part of Frozen.
func (n *Net) Centred() int {
	if l := n.centre(); l != nil {
		return l.d
	}
	return 0
}

// SetCentre sets the mean that the centre layer takes off, Centred() numbers. Net
// and Rest share it.
func (n *Net) SetCentre(mean []float32) error {
	if len(mean) != n.Centred() {
		return fmt.Errorf("network: a mean of %d numbers for a net that centres %d", len(mean), n.Centred())
	}
	if l := n.centre(); l != nil {
		copy(l.mean(n.frozen), mean)
	}
	return nil
}

func (n *Net) centre() *centre {
	for _, o := range n.ops {
		if l, ok := o.(*centre); ok {
			return l
		}
	}
	return nil
}
