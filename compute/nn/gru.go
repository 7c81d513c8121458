package nn

import (
	"math/rand/v2"

	"pawl/compute/kernel"
	"pawl/compute/onnx"
)

var _ = register(overSteps("gru", "gated recurrent units over a sequence", (*builder).gru))

func (b *builder) gru(l Layer, info *LayerInfo) (op, error) {
	r, err := b.recurrent(l, info)
	if err != nil {
		return nil, err
	}
	x, err := b.affine(affine{t: r.length, m: r.e, n: 3 * r.h, groups: 1, part: l.Trainable, ragged: true}, 0, info)
	if err != nil {
		return nil, err
	}
	// The second matrix lies behind the first in the vector that holds both.
	first := *info
	h, err := b.affine(affine{t: r.length, m: r.h, n: 3 * r.h, groups: 1, part: l.Trainable, ragged: true}, 0, info)
	h.block, h.frozen = h.block+first.Trainable, h.frozen+first.Parameters-first.Trainable
	info.Parameters, info.Trainable = info.Parameters+first.Parameters, info.Trainable+first.Trainable
	return &gru{recurrent: r, x: x, h: h}, err
}

// gru is two matrices with biases, W_x (e×3h) and W_h (h×3h), at every step t of a
// sequence: with the parts r, z and n of p = x_t W_x + b_x and q = h_{t−1} W_h + b_h,
//
//	r = σ(p_r + q_r),    z = σ(p_z + q_z),    n = tanh(p_n + r q_n)
//	h_t = (1 − z) n + z h_{t−1}
//
// as in PyTorch. Its traces have the rows x_t and h_{t−1}.
type gru struct {
	recurrent
	x, h affine
}

func (l *gru) forward(c *call, s *state, x []float32) []float32 {
	e, h, p, trains := l.e, l.recurrent.h, c.steps, c.trains()
	rows := p.rows()
	// p of all steps at once, in the memory that becomes r, z and n.
	s.x = x
	gates := grow(&s.g, rows*3*h)
	w, bias := l.x.group(c.params, c.net.frozen, 0)
	s.w.Set(kernel.Dense(w, e, 3*h))
	kernel.MatMulBias(kernel.Dense(gates, rows, 3*h), kernel.Dense(x, rows, e), &s.w, bias)
	s.w.Set(l.h.joined(c.params, c.net.frozen))
	y := l.outputs(c, s)
	// Rows (h_{t−1}, 1).
	state, memory := grow(&s.h, c.n*(h+1)), grow(&s.wide, c.n*6*h)
	q, rz, next := memory[:c.n*3*h], memory[c.n*3*h:c.n*5*h], memory[c.n*5*h:]
	clear(state)
	for i := h; i < len(state); i += h + 1 {
		state[i] = 1
	}
	if trains {
		grow(&s.a, rows*h)
		grow(&s.c, rows*3*h)
	}
	for t := range p.last() {
		n := int(p.active[t])
		kernel.MatMulPacked(kernel.Dense(q, n, 3*h), kernel.Dense(state, n, h+1), &s.w, false)
		// The functions run over all examples at once, since states may be a few numbers
		// long.
		for r, example := range p.order[:n] {
			own, add := rz[r*2*h:(r+1)*2*h], q[r*3*h:]
			for j, v := range gates[(int(p.starts[example])+t)*3*h:][:2*h] {
				own[j] = v + add[j]
			}
		}
		kernel.Sigmoid(rz[:n*2*h], rz[:n*2*h])
		for r, example := range p.order[:n] {
			own, reset, add := next[r*h:(r+1)*h], rz[r*2*h:], q[r*3*h+2*h:]
			for j, v := range gates[(int(p.starts[example])+t)*3*h+2*h:][:h] {
				own[j] = v + reset[j]*add[j]
			}
		}
		kernel.Tanh(next[:n*h], next[:n*h])
		for r, example := range p.order[:n] {
			row, own := int(p.starts[example])+t, state[r*(h+1):][:h]
			if trains {
				copy(s.a[row*h:], own)
				copy(s.c[row*3*h:], q[r*3*h:(r+1)*3*h])
				copy(gates[row*3*h:], rz[r*2*h:(r+1)*2*h])
				copy(gates[row*3*h+2*h:], next[r*h:(r+1)*h])
			}
			z := rz[r*2*h+h:][:h]
			for j, v := range next[r*h : (r+1)*h] {
				own[j] = (1-z[j])*v + z[j]*own[j]
			}
			l.emit(c, y, own, int(example), t, row)
		}
	}
	return y
}

func (l *gru) backward(c *call, s *state, dy []float32) []float32 {
	e, h, p := l.e, l.recurrent.h, c.steps
	rows := p.rows()
	w, _ := l.h.group(c.params, c.net.frozen, 0)
	s.wT.Set(kernel.Dense(w, h, 3*h).T())
	dState, dq := grow(&s.h, c.n*(h+1))[:c.n*h], grow(&s.wide, c.n*6*h)[:c.n*3*h]
	clear(dState)
	for t := p.last() - 1; t >= 0; t-- {
		n := int(p.active[t])
		for r, example := range p.order[:n] {
			row, own := int(p.starts[example])+t, dState[r*h:(r+1)*h]
			l.receive(c, own, dy, int(example), t, row)
			gruBack(s.g[row*3*h:(row+1)*3*h], s.c[row*3*h:(row+1)*3*h], own, s.a[row*h:(row+1)*h])
			copy(dq[r*3*h:], s.c[row*3*h:(row+1)*3*h])
		}
		if t > 0 {
			kernel.MatMulPacked(kernel.Dense(dState, n, h), kernel.Dense(dq, n, 3*h), &s.wT, true)
		}
	}
	var dx []float32
	if c.wantInput {
		dx = grow(&s.dx, rows*e)
		w, _ := l.x.group(c.params, c.net.frozen, 0)
		s.wT.Set(kernel.Dense(w, e, 3*h).T())
		kernel.MatMulPacked(kernel.Dense(dx, rows, e), kernel.Dense(s.g, rows, 3*h), &s.wT, false)
	}
	if l.x.part == TrainAll {
		l.h.trace(c, s.a, s.c, 0, nil)
		l.x.trace(c, s.x, s.g, 0, nil)
	}
	return dx
}

// gruBack puts ∂loss/∂p in place of the activations, ∂loss/∂q in place of q, and in
// place of ∂loss/∂h_t the part of ∂loss/∂h_{t−1} that does not go through q.
func gruBack(p, q, dState, before []float32) {
	h := len(dState)
	r, z, n := p[:h], p[h:2*h], p[2*h:3*h]
	qr, qz, qn := q[:h], q[h:2*h], q[2*h:3*h]
	before = before[:h]
	for j, d := range dState {
		a, b, k := r[j], z[j], n[j]
		dn := d * (1 - b) * (1 - k*k)
		dz := d * (before[j] - k) * b * (1 - b)
		dr := dn * qn[j] * a * (1 - a)
		r[j], z[j], n[j] = dr, dz, dn
		qr[j], qz[j], qn[j] = dr, dz, dn*a
		dState[j] = d * b
	}
}

func (l *gru) memory(trained, wantInput bool) int {
	h := l.recurrent.h
	outputs := h
	if l.mode == "sequence" {
		outputs *= l.length
	}
	return l.length*(3*h+when(trained, 4*h)+when(wantInput, l.e)) + outputs + h + 1 + 6*h
}

func (l *gru) draw(n *Net, gain float64, params []float32, rng *rand.Rand) {
	l.x.draw(n, gain, params, rng)
	l.h.draw(n, gain, params, rng)
}

func (l *gru) maps(params, frozen []float32) (input, state gateMap) {
	input.w, input.b = l.x.group(params, frozen, 0)
	state.w, state.b = l.h.group(params, frozen, 0)
	return input, state
}

func (l *gru) write(w *writer, v value) value {
	input, state := l.maps(w.params, w.frozen)
	return l.writeGates(w, v, "GRU", []int{1, 0, 2}, input, state, onnx.Attributes{"linear_before_reset", int64(1)})
}

func (l *gru) tensors(params, frozen []float32) []Tensor {
	return l.gateTensors(l.maps(params, frozen))
}
