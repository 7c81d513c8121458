package nn

import "fmt"

var _ = register(Kind{
	Name: "residual", Help: "the sum of its input and the output of an earlier layer", Keys: []string{"from"}, Also: []string{"skip", "shortcut"},
	build: (*builder).residual, overTime: true, output: fresh,
})

// residual adds to its input x that of the op back places before it.
type residual struct{ d, back int }

func (l residual) summand() int { return l.back }

func (l residual) forward(c *call, s *state, x []float32) []float32 {
	y := grow(&s.y, len(x))
	for i, v := range c.from[c.layer-c.net.skipped-l.back] {
		y[i] = x[i] + v
	}
	return y
}

// backward keeps a copy of dy for the other summand: layers in between write to dy.
func (l residual) backward(c *call, s *state, dy []float32) []float32 {
	copy(grow(&s.dx, len(dy)), dy)
	return dy
}

func (l residual) memory(trained, _ bool) int { return l.d + when(trained, l.d) }

func (b *builder) residual(l Layer, _ *LayerInfo) (op, error) {
	if l.From < 0 || l.From >= b.layer-1 {
		return nil, b.fault("from", fmt.Sprintf("from is %d, which is not an earlier layer", l.From), "give the number of an earlier layer, or 0 for the input")
	}
	from, sequence := b.net.input, false
	if l.From > 0 {
		from = b.net.layers[l.From-1].Output
		sequence = l.From < len(b.sequences) && b.sequences[l.From]
	}
	if from != b.shape || sequence != b.sequence {
		return nil, b.fault("from", fmt.Sprintf("it adds %s to %s", from, b.shape), "let the layers between keep the shape (padding: same, as many units or filters)")
	}
	return residual{d: b.shape.Size(), back: b.layer - 1 - l.From}, nil
}

func (l residual) write(w *writer, v value) value {
	other := w.outs[len(w.outs)-1-l.back]
	if other.order == v.order {
		return value{w.Op("Add", v.name, other.name), v.order, v.shape}
	}
	return w.made(w.Op("Add", w.asFlat(v), w.asFlat(other)), flat)
}
