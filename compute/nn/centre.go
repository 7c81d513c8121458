package nn

import (
	"fmt"
	"math"
)

var _ = register(Kind{
	Name: "centre", Help: "each example minus a released mean, scaled to one norm", Keys: []string{"scale"}, Role: FrontEnd, build: (*builder).centre,
	Front: &Front{Word: "centre", Layers: one(Layer{Kind: "centre"})},
})

func (b *builder) centre(l Layer, info *LayerInfo) (op, error) {
	switch {
	case b.waits:
		return nil, b.fault("", "only one of centre and dp_pca is allowed", "leave out the other layer")
	case !b.hasUnitRows():
		return nil, b.fault("", "its inputs need a public bound: rows of norm 1", "put normalize before it")
	}
	b.waits = true
	scale, err := b.rowNorm(l)
	info.Parameters = b.shape.Size()
	return &centre{d: b.shape.Size(), scale: scale, frozen: b.frozen}, err
}

// centre maps x (n×d) to scale·(x − μ)/‖x − μ‖ of each example, y (n×d), where μ is a
// vector that somebody has released: the mean of the training inputs at its own
// price. It stands before the first trainable layer, so it has no backward pass, and
// behind the frozen prefix, since μ is known only after the inputs are. Its inputs
// have norm 1, which bounds what one of them adds to a mean. An example at μ becomes
// zero. Until SetCentre, μ is zero and rows of norm 1 stay as they are.
type centre struct {
	d     int
	scale float64
	// frozen is the place of μ in the frozen vector.
	frozen int
}

func (l *centre) mean(frozen []float32) []float32 { return frozen[l.frozen : l.frozen+l.d] }

func (l *centre) unsettled() {}

func (l *centre) forward(c *call, s *state, x []float32) []float32 {
	mean := l.mean(c.net.frozen)
	y := grow(&s.y, len(x))
	for i := 0; i < len(x); i += l.d {
		scaledDifference(y[i:i+l.d], x[i:i+l.d], mean, l.scale)
	}
	return y
}

// scaledDifference sets y to scale·(x − mean)/‖x − mean‖, or 0 where that has no direction. A
// linear model spends most of its time here: four sums do not wait for each other, and
// one division does for all.
func scaledDifference(y, x, mean []float32, scale float64) {
	y, mean = y[:len(x)], mean[:len(x)]
	var s0, s1, s2, s3 float64
	j := 0
	for ; j+4 <= len(x); j += 4 {
		d0, d1, d2, d3 := x[j]-mean[j], x[j+1]-mean[j+1], x[j+2]-mean[j+2], x[j+3]-mean[j+3]
		y[j], y[j+1], y[j+2], y[j+3] = d0, d1, d2, d3
		s0 += float64(d0) * float64(d0)
		s1 += float64(d1) * float64(d1)
		s2 += float64(d2) * float64(d2)
		s3 += float64(d3) * float64(d3)
	}
	for ; j < len(x); j++ {
		y[j] = x[j] - mean[j]
		s0 += float64(y[j]) * float64(y[j])
	}
	square := s0 + s1 + s2 + s3
	if square == 0 {
		clear(y)
		return
	}
	by := scale / math.Sqrt(square)
	for j, v := range y {
		y[j] = float32(float64(v) * by)
	}
}

func (l *centre) backward(*call, *state, []float32) []float32 { return nil }

func (l *centre) memory(_, _ bool) int { return l.d }

// Centred is the number of inputs of the net's centre layer, 0 for a net without
// one. Its mean is part of Frozen.
func (n *Net) Centred() int {
	if l := only[*centre](n); l != nil {
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
	if l := only[*centre](n); l != nil {
		copy(l.mean(n.frozen), mean)
	}
	return nil
}

func (l *centre) write(w *writer, v value) value {
	return w.made(w.Unit(w.Op("Sub", w.asFlat(v), w.Tensor("mean", l.mean(w.frozen), l.d)), l.scale), flat)
}

func (l *centre) tensors(_, frozen []float32) []Tensor {
	return []Tensor{{"mean", []int{l.d}, l.mean(frozen)}}
}
