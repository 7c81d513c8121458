package nn

import (
	"fmt"
	"math"

	"pawl/compute/kernel"
)

var _ = register(Kind{
	Name: "dense", Help: "a linear map with bias", Keys: []string{"units", "share", "trainable"}, Also: []string{"linear", "fc"},
	Role: Weights, Reach: 1, build: (*builder).dense, overTime: true, output: fresh,
	positions: func(l LayerInfo) int { return l.Output.Height },
	rows: func(l LayerInfo, reach float64) float64 {
		m := l.Input.Size()
		if l.Output.Height > 1 { // of each step of a sequence
			m = l.Input.Channels
		}
		return reach * math.Sqrt(float64(m))
	},
})

// denseLayer maps x (n×in) to y = x·W + b (n×units), W in×units; of a sequence, each
// time step.
type denseLayer struct{ affine }

// forward packs the weights for both products, unless Prepare did.
func (d *denseLayer) forward(c *call, s *state, x []float32) []float32 {
	weights, bias := d.group(c.params, c.net.frozen, 0)
	p, own := c.weights(s)
	if w := kernel.Dense(weights, d.m, d.n); own {
		if !c.packed {
			p.w.Set(w)
		}
		if c.record != nil && c.wantInput {
			p.wT.Set(w.T())
		}
	}
	s.x = x
	rows := len(x) / d.m
	y := grow(&s.y, rows*d.n)
	kernel.MatMulBias(kernel.Dense(y, rows, d.n), kernel.Dense(x, rows, d.m), &p.w, bias)
	return y
}

func (d *denseLayer) backward(c *call, s *state, dy []float32) []float32 {
	var dx []float32
	if c.wantInput {
		rows := len(dy) / d.n
		dx = grow(&s.dx, rows*d.m)
		p, _ := c.weights(s)
		kernel.MatMulPacked(kernel.Dense(dx, rows, d.m), kernel.Dense(dy, rows, d.n), &p.wT, false)
	}
	// Recorded last: core may scale what it was given.
	if d.part == TrainAll {
		d.trace(c, s.x, dy, 0, nil)
	}
	d.traceBias(c, s, dy)
	return dx
}

// prepare packs a part of the weights for all workers.
func (d *denseLayer) prepare(n *Net, params []float32, p *packs, wantInput bool, part, parts int) {
	weights, _ := d.group(params, n.frozen, 0)
	w := kernel.Dense(weights, d.m, d.n)
	p.w.SetPart(w, part, parts)
	if wantInput {
		p.wT.SetPart(w.T(), part, parts)
	}
}

func (d *denseLayer) memory(_, wantInput bool) int {
	return d.t * (d.n + when(wantInput, d.m) + when(d.part == TrainBias, 1))
}

func (b *builder) dense(l Layer, info *LayerInfo) (op, error) {
	if l.Units < 1 {
		return nil, b.fault("units", fmt.Sprintf("units must be at least 1, got %d", l.Units), "give the number of outputs of the layer")
	}
	f := affine{t: 1, m: b.shape.Size(), n: l.Units, groups: 1, part: l.Trainable}
	info.Output = Vector(l.Units)
	if b.sequence {
		f.t, f.m, f.ragged = b.shape.Height, b.shape.Channels, true
		info.Output = Shape{f.t, 1, f.n}
	}
	f, err := b.affine(f, l.Share, info)
	return &denseLayer{f}, err
}

func (d *denseLayer) write(w *writer, v value) value {
	weights, bias := d.group(w.params, w.frozen, 0)
	a, b := w.Tensor("weights", weights, d.m, d.n), w.Tensor("bias", bias, d.n)
	if v.order == inSteps {
		return w.made(w.Op("Add", w.Op("MatMul", v.name, a), b), inSteps)
	}
	return w.made(w.Op("Gemm", w.asFlat(v), a, b), flat)
}

func (d *denseLayer) tensors(params, frozen []float32) []Tensor {
	if d.shared {
		return nil
	}
	w, b := d.group(params, frozen, 0)
	return []Tensor{{"weight", []int{d.n, d.m}, transposed(w, d.n, 0, d.n)}, {"bias", []int{d.n}, b}}
}
