package nn

import (
	"math/rand/v2"

	"pawl/compute/kernel"
)

var _ = register(overSteps("lstm", "long short-term memory over a sequence", (*builder).lstm))

func (b *builder) lstm(l Layer, info *LayerInfo) (op, error) {
	r, err := b.recurrent(l, info)
	if err != nil {
		return nil, err
	}
	f, err := b.affine(affine{t: r.length, m: r.e + r.h, n: 4 * r.h, groups: 1, part: l.Trainable, ragged: true}, 0, info)
	return &lstm{r, f}, err
}

// lstm is one matrix W ((e+h)×4h) with bias, at every step t of a sequence:
//
//	(i, f, g, o) = (σ, σ, tanh, σ)(x_t W_x + h_{t−1} W_h + b)
//	c_t = f c_{t−1} + i g,    h_t = o tanh c_t
//
// the gates in the order of PyTorch, whose two biases are one here. Its trace has a
// row (x_t, h_{t−1}) for each step.
type lstm struct {
	recurrent
	affine
}

func (l *lstm) forward(c *call, s *state, x []float32) []float32 {
	e, h, p, trains := l.e, l.h, c.steps, c.trains()
	s.w.Set(l.joined(c.params, c.net.frozen))
	y := l.outputs(c, s)
	// Rows (x_t, h_{t−1}, 1).
	wide := e + h + 1
	z, memory, cell := grow(&s.h, c.n*wide), grow(&s.wide, c.n*5*h), grow(&s.part, c.n*2*h)
	gates, g := memory[:c.n*4*h], memory[c.n*4*h:]
	cell, tanh := cell[:c.n*h], cell[c.n*h:]
	clear(z)
	clear(cell)
	if trains {
		grow(&s.a, p.rows()*(e+h))
		grow(&s.g, p.rows()*4*h)
		grow(&s.c, p.rows()*2*h)
	}
	for t := range p.last() {
		n := int(p.active[t])
		for r, example := range p.order[:n] {
			row, in := int(p.starts[example])+t, z[r*wide:(r+1)*wide]
			copy(in[:e], x[row*e:])
			in[e+h] = 1
			if trains {
				copy(s.a[row*(e+h):(row+1)*(e+h)], in)
			}
		}
		kernel.MatMulPacked(kernel.Dense(gates, n, 4*h), kernel.Dense(z, n, wide), &s.w, false)
		lstmStep(h, gates[:n*4*h], g[:n*h], cell[:n*h], tanh[:n*h])
		for r, example := range p.order[:n] {
			row, gate, state := int(p.starts[example])+t, gates[r*4*h:(r+1)*4*h], z[r*wide+e:(r+1)*wide-1]
			for j, v := range tanh[r*h : (r+1)*h] {
				state[j] = v * gate[3*h+j]
			}
			if trains {
				copy(s.g[row*4*h:], gate)
				copy(s.c[row*2*h:], cell[r*h:(r+1)*h])
				copy(s.c[row*2*h+h:], tanh[r*h:(r+1)*h])
			}
			l.emit(c, y, state, int(example), t, row)
		}
	}
	return y
}

// lstmStep turns the gates of some examples from what they are before their activations
// to after them, cell to that after the step, and tanh to its tanh. g is working memory.
// The functions run over all examples at once, since states may be a few numbers
// long; the sigmoid of g's part is not used.
func lstmStep(h int, gates, g, cell, tanh []float32) {
	for at, from := 0, 2*h; at < len(g); at, from = at+h, from+4*h {
		copy(g[at:at+h], gates[from:from+h])
	}
	kernel.Sigmoid(gates, gates)
	kernel.Tanh(g, g)
	for at := 0; at < len(g); at += h {
		i, f, k := gates[4*at:][:h], gates[4*at+h:][:h], gates[4*at+2*h:][:h]
		c := cell[at : at+h]
		for j, v := range g[at : at+h] {
			c[j] = f[j]*c[j] + i[j]*v
			k[j] = v
		}
	}
	kernel.Tanh(tanh, cell)
}

func (l *lstm) backward(c *call, s *state, dy []float32) []float32 {
	e, h, p := l.e, l.h, c.steps
	var dx []float32
	w, _ := l.group(c.params, c.net.frozen, 0)
	back := kernel.Dense(w, e+h, 4*h)
	if c.wantInput {
		dx = grow(&s.dx, p.rows()*e)
	} else {
		e, back = 0, back.RowRange(e, e+h)
	}
	s.wT.Set(back.T())
	// dz has ∂loss/∂(x_t, h_{t−1}), the first part only if it is wanted; its second is
	// ∂loss/∂h of the step before.
	wide := e + h
	dz, dGates, dCell := grow(&s.h, c.n*(l.e+h+1))[:c.n*wide], grow(&s.wide, c.n*5*h)[:c.n*4*h], grow(&s.part, c.n*2*h)[:c.n*h]
	clear(dz)
	clear(dCell)
	for t := p.last() - 1; t >= 0; t-- {
		n := int(p.active[t])
		for r, example := range p.order[:n] {
			row := int(p.starts[example]) + t
			dh := dz[r*wide+e : (r+1)*wide]
			l.receive(c, dh, dy, int(example), t, row)
			gates, before := s.g[row*4*h:(row+1)*4*h], s.c[:0]
			if t > 0 {
				before = s.c[(row-1)*2*h:][:h]
			}
			lstmBack(gates, dh, dCell[r*h:(r+1)*h], s.c[row*2*h+h:(row+1)*2*h], before)
			copy(dGates[r*4*h:], gates)
		}
		if t == 0 && dx == nil {
			break
		}
		kernel.MatMulPacked(kernel.Dense(dz, n, wide), kernel.Dense(dGates, n, 4*h), &s.wT, false)
		if dx == nil {
			continue
		}
		for r, example := range p.order[:n] {
			row := int(p.starts[example]) + t
			copy(dx[row*e:(row+1)*e], dz[r*wide:])
		}
	}
	if l.part == TrainAll {
		l.trace(c, s.a, s.g, 0, nil)
	}
	return dx
}

// lstmBack puts ∂loss/∂pre in place of the activations in gates, and ∂loss/∂c_{t−1} in
// place of ∂loss/∂c_t; tanh is that of c_t, before c_{t−1} or empty for zeros.
func lstmBack(gates, dh, dCell, tanh, before []float32) {
	h := len(dh)
	i, f, g, o := gates[:h], gates[h:2*h], gates[2*h:3*h], gates[3*h:4*h]
	dCell, tanh = dCell[:h], tanh[:h]
	if len(before) == 0 {
		for j, d := range dh {
			y, u := tanh[j], o[j]
			k := dCell[j] + d*u*(1-y*y)
			o[j] = d * y * u * (1 - u)
			a, b := i[j], g[j]
			dCell[j], f[j] = 0, 0
			i[j] = k * b * a * (1 - a)
			g[j] = k * a * (1 - b*b)
		}
		return
	}
	before = before[:h]
	for j, d := range dh {
		y, u := tanh[j], o[j]
		k := dCell[j] + d*u*(1-y*y)
		o[j] = d * y * u * (1 - u)
		a, b, v := i[j], g[j], f[j]
		dCell[j] = k * v
		f[j] = k * before[j] * v * (1 - v)
		i[j] = k * b * a * (1 - a)
		g[j] = k * a * (1 - b*b)
	}
}

func (l *lstm) memory(trained, wantInput bool) int {
	outputs := l.h
	if l.mode == "sequence" {
		outputs *= l.length
	}
	steps := when(trained, l.e+l.h+4*l.h+2*l.h) + when(wantInput, l.e)
	return l.length*steps + outputs + l.e + l.h + 1 + 5*l.h + 2*l.h
}

// draw is that of an affine map, with forget gates that start open: a bias of 1
// (Jozefowicz, Zaremba and Sutskever 2015).
func (l *lstm) draw(n *Net, gain float64, params []float32, rng *rand.Rand) {
	l.affine.draw(n, gain, params, rng)
	_, b := l.group(params, n.frozen, 0)
	for j := range l.h {
		b[l.h+j] = 1
	}
}

// maps takes the one map apart; its bias goes to the input's.
func (l *lstm) maps(params, frozen []float32) (input, state gateMap) {
	w, b := l.group(params, frozen, 0)
	at := l.e * l.n
	return gateMap{w[:at], b}, gateMap{w[at:], make([]float32, l.n)}
}

func (l *lstm) write(w *writer, v value) value {
	input, state := l.maps(w.params, w.frozen)
	return l.writeGates(w, v, "LSTM", []int{0, 3, 1, 2}, input, state, nil)
}

func (l *lstm) tensors(params, frozen []float32) []Tensor {
	return l.gateTensors(l.maps(params, frozen))
}
