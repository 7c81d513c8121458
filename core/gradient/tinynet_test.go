package gradient

import (
	"context"
	"math"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/internal/stattest"
)

// tinyNet maps t positions of m numbers to n each by one matrix, takes tanh, and
// maps all of these to two scores: a convolution and a dense layer. With t = 1 both
// are dense. Its definition is loss, in float64; Backprop is the same by hand.
type tinyNet struct {
	t, m, n int
	bias    bool
	dropout bool                               // of the hidden numbers, from the seed
	peek    func(inputs []float32, n int)      // sees every call
	spoil   func(inputs []float32, tr []Trace) // may write to the traces
}

const tinyScores = 2

func (w *tinyNet) maps() (first, second Trace) {
	first = Trace{T: w.t, M: w.m, N: w.n, Bias: w.bias}
	second = Trace{Offset: first.size(), T: 1, M: w.t * w.n, N: tinyScores, Bias: w.bias}
	return first, second
}

func (w *tinyNet) PerExample() error { return nil }

func (w *tinyNet) Parameters() int { _, s := w.maps(); return s.Offset + s.size() }
func (w *tinyNet) Inputs() int     { return w.t * w.m }

// apply is x (rows×M) times the map's matrix plus its bias.
func apply(params []float64, tr *Trace, x []float64) []float64 {
	p := params[tr.Offset:]
	y := make([]float64, len(x)/tr.M*tr.N)
	for r := range len(x) / tr.M {
		for j := range tr.N {
			if tr.Bias {
				y[r*tr.N+j] = p[tr.M*tr.N+j]
			}
			for i := range tr.M {
				y[r*tr.N+j] += x[r*tr.M+i] * p[i*tr.N+j]
			}
		}
	}
	return y
}

func (w *tinyNet) forward(params, x []float64, seed uint64) (keep, hidden, scores []float64) {
	first, second := w.maps()
	hidden = apply(params, &first, x)
	keep = make([]float64, len(hidden))
	for i, v := range hidden {
		if keep[i] = 1; w.dropout && mix(seed, uint64(i))&1 == 1 {
			keep[i] = 0
		}
		hidden[i] = keep[i] * math.Tanh(v)
	}
	return keep, hidden, apply(params, &second, hidden)
}

// loss is ½‖scores − (y, −y)‖².
func (w *tinyNet) loss(params, x []float64, y float64, seed uint64) float64 {
	_, _, s := w.forward(params, x, seed)
	return ((s[0]-y)*(s[0]-y) + (s[1]+y)*(s[1]+y)) / 2
}

// gradient is that of loss by central differences: an error of about 1e-9.
func (w *tinyNet) gradient(params []float32, x []float32, y float64, seed uint64) []float64 {
	const h = 1e-5
	p, in, g := widen(params), widen(x), make([]float64, len(params))
	for j, v := range p {
		p[j] = v + h
		up := w.loss(p, in, y, seed)
		p[j] = v - h
		g[j] = (up - w.loss(p, in, y, seed)) / (2 * h)
		p[j] = v
	}
	return g
}

func (w *tinyNet) Backprop(_ int, params, inputs, targets []float32, seeds []uint64, record func(Trace)) {
	if w.peek != nil {
		w.peek(inputs, len(targets))
	}
	first, second := w.maps()
	p := widen(params)
	for e, y := range targets {
		x := widen(inputs[e*w.Inputs() : (e+1)*w.Inputs()])
		keep, hidden, s := w.forward(p, x, seeds[e])
		d := []float64{s[0] - float64(y), s[1] + float64(y)}
		g := make([]float64, len(hidden))
		for i, v := range hidden {
			for j := range d {
				g[i] += d[j] * p[second.Offset+i*tinyScores+j]
			}
			g[i] *= keep[i] * (1 - v*v)
		}
		first.A, first.G = append(first.A, narrow(x)...), append(first.G, narrow(g)...)
		second.A, second.G = append(second.A, narrow(hidden)...), append(second.G, narrow(d)...)
	}
	if w.spoil != nil {
		w.spoil(inputs, []Trace{first, second})
	}
	record(second)
	record(first)
}

func widen(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func narrow(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

// rawNet hands out what its inputs hold: t rows of A (m each), then t rows of G.
// A row's gradient is then whatever a test wants.
type rawNet struct {
	t, m, n int
	bias    bool
}

func (w rawNet) trace() Trace { return Trace{T: w.t, M: w.m, N: w.n, Bias: w.bias} }

func (w rawNet) PerExample() error { return nil }

func (w rawNet) Parameters() int { tr := w.trace(); return tr.size() }
func (w rawNet) Inputs() int     { return w.t * (w.m + w.n) }

func (w rawNet) Backprop(_ int, _, inputs, targets []float32, _ []uint64, record func(Trace)) {
	tr := w.trace()
	for e := range targets {
		x := inputs[e*w.Inputs() : (e+1)*w.Inputs()]
		tr.A, tr.G = append(tr.A, x[:w.t*w.m]...), append(tr.G, x[w.t*w.m:]...)
	}
	record(tr)
}

// gradient is AᵀG and the bias's in float64.
func (w rawNet) gradient(x []float32) []float64 {
	g := make([]float64, w.Parameters())
	for t := range w.t {
		a, d := x[t*w.m:(t+1)*w.m], x[w.t*w.m+t*w.n:w.t*w.m+(t+1)*w.n]
		for j, v := range d {
			for i, u := range a {
				g[i*w.n+j] += float64(u) * float64(v)
			}
			if w.bias {
				g[w.m*w.n+j] += float64(v)
			}
		}
	}
	return g
}

// imageRows seals rows of inputs whose target is the only cell that matters.
func imageRows(maxRows int, public bool, inputs [][]float32, targets []float64, hash []uint64, dim int) *sealed.Rows {
	in := sealed.Inputs{Dim: dim, Floats: []float32{}}
	cells := make([]float64, len(inputs)*columns)
	for i, x := range inputs {
		in.Floats = append(in.Floats, x...)
		cells[(i+1)*columns-1] = targets[i]
	}
	if hash == nil {
		for i := range inputs {
			hash = append(hash, mix(77, uint64(i)))
		}
	}
	return sealed.NewWithInputs("d", testSchema(maxRows, public), cells, hash, in)
}

// training takes one step on the whole data set and hands its gradient to dst.
func training(net Network, dst *[]float64) Training {
	return Training{
		Privacy:  Privacy{Scope: dp.WholeScope, ClippingNorm: 0.5, NoiseMultiplier: 2, Steps: 1, SamplingRate: 1},
		Clipping: Flat, Network: net, Target: target, ExpectedRows: 1, Microbatch: 8, Multiplicity: 1,
		Update: func(_ int, _, g []float32) {
			if dst != nil {
				*dst = widen(g)
			}
		},
	}
}

// firstSum is the clipped sum of the first step, without noise.
func firstSum(t fataler, tr Training, rows *sealed.Rows, params []float32, src *entropy.Source) []float64 {
	var g []float64
	tr.Update = func(_ int, _, v []float32) { g = widen(v) }
	if err := tr.run(context.Background(), mustOpen(t, rows), params, 0, src); err != nil {
		t.Fatal(err)
	}
	for j := range g {
		g[j] *= tr.SamplingRate * tr.ExpectedRows
	}
	return g
}

func drawFloats(t *rapid.T, n int, size float64) []float32 {
	src := entropy.Seeded(rapid.Uint64().Draw(t, "numbers"))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(size * (2*src.Float64() - 1))
	}
	return x
}

func distance(a, b []float64) float64 {
	d := make([]float64, len(a))
	for j := range a {
		d[j] = a[j] - b[j]
	}
	return stattest.Norm(d)
}
