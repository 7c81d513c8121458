package nn

import (
	"fmt"
	"math"
)

var _ = register(Kind{
	Name: "normalize", Help: "each example scaled to one norm", Keys: []string{"scale"}, Role: FrontEnd,
	build: func(b *builder, l Layer, _ *LayerInfo) (op, error) {
		scale, err := b.rowNorm(l)
		return &normalize{b.shape.Size(), scale}, err
	},
	unitRows: func(l Layer) bool { return l.Scale == 0 || l.Scale == 1 },
	Front:    &Front{Word: "normalize", Layers: one(Layer{Kind: "normalize"})},
})

// normalize maps x (n×d) to scale·x/‖x‖ of each example, y (n×d), rows of one norm. An
// example of zeros stays zero. It stands before the first trainable layer, so it has
// no backward pass.
type normalize struct {
	d     int
	scale float64
}

func (l *normalize) forward(c *call, s *state, x []float32) []float32 {
	y := grow(&s.y, len(x))
	copy(y, x)
	for i := 0; i < len(y); i += l.d {
		row := y[i : i+l.d]
		divide(row, 0, math.Sqrt(squares(row, 0))/l.scale)
	}
	return y
}

func (l *normalize) backward(*call, *state, []float32) []float32 { return nil }

func (l *normalize) memory(_, _ bool) int { return l.d }

// rowNorm is the norm of the rows that normalize and centre make, 1 unless given.
func (b *builder) rowNorm(l Layer) (float64, error) {
	switch {
	case l.Scale == 0:
		return 1, nil
	case l.Scale > 0 && l.Scale <= 1e6:
		return l.Scale, nil
	}
	return 0, b.fault("scale", fmt.Sprintf("scale must be a finite number above 0, got %g", l.Scale), "leave it out for rows of norm 1")
}

func (l *normalize) write(w *writer, v value) value {
	return w.made(w.Unit(w.asFlat(v), l.scale), flat)
}
