package gradient

import (
	"math"

	"pawl/kernel"
)

// worker turns microbatches into clipped sums. It owns its buffers and one worker
// slot of the network.
type worker struct {
	t       *Training
	id      int
	sum     []float32
	inputs  []float32
	plain   []float32
	targets []float32
	seeds   []uint64
	traces  []Trace
	record  func(Trace)
	norm2   []float64 // per example
	factor  []float32 // per row of inputs
	// formed holds the gradients of one example after another, for each trace of
	// which they are formed; part is their clipped sum, kept apart from sum so that
	// no chain of float32 additions is longer than a microbatch or the number of them.
	formed, part []float32
	one          []float32 // the number 1, a row of ones at a stride of 0
}

func (k *worker) init(t *Training, id, size int) {
	n, dim := t.Microbatch*t.Multiplicity, t.Network.Inputs()
	*k = worker{
		t: t, id: id, sum: make([]float32, size), inputs: make([]float32, n*dim), targets: make([]float32, n),
		seeds: make([]uint64, n), norm2: make([]float64, t.Microbatch), factor: make([]float32, n),
		one: []float32{1},
	}
	if t.Augment != nil {
		k.plain = make([]float32, dim)
	}
	k.record = func(tr Trace) { k.traces = append(k.traces, tr) }
}

// microbatch adds the clipped gradients of the given rows to k.sum.
func (k *worker) microbatch(s *step, params []float32, rows []int32, seed uint64) {
	t, dim, m := k.t, k.t.Network.Inputs(), k.t.Multiplicity
	n := len(rows) * m
	for e, row := range rows {
		own := mix(seed, s.seeds[row])
		for c := range m {
			at := e*m + c
			dst := k.inputs[at*dim : (at+1)*dim]
			// Masks and variants follow from the step, the row's unit and the copy. The
			// position of the row would not do: it moves with the rows before it.
			k.seeds[at] = mix(own, uint64(c))
			k.targets[at] = float32(s.targets[row])
			if t.Augment == nil {
				s.view.Input(int(row), dst)
				continue
			}
			s.view.Input(int(row), k.plain)
			t.Augment(dst, k.plain, mix(^own, uint64(c)))
		}
	}
	k.traces = k.traces[:0]
	t.Network.Backprop(k.id, params, k.inputs[:n*dim], k.targets[:n], k.seeds[:n], k.record)
	k.checkTraces(n)
	if m > 1 {
		k.average(m)
	}
	if t.Clipping != Unclipped {
		k.norms(len(rows), m)
		k.factors(len(rows), m)
	}
	k.accumulate(len(rows), m)
}

// checkTraces refuses traces of n inputs that do not fill their shape, and those
// whose squared norms do not add up to that of the gradient: two of them on one
// parameter. It also refuses two that share rows of G, which would be scaled twice.
func (k *worker) checkTraces(n int) {
	for i := range k.traces {
		a := &k.traces[i]
		if len(a.A) != n*a.T*a.M || len(a.G) != n*a.T*a.N {
			panic("gradient: a trace does not have the rows of its examples")
		}
		for j := range k.traces[:i] {
			b := &k.traces[j]
			if a.Offset < b.Offset+b.size() && b.Offset < a.Offset+a.size() {
				panic("gradient: two traces of one weight: stack their rows into one trace")
			}
			if len(a.G) > 0 && len(b.G) > 0 && &a.G[0] == &b.G[0] {
				panic("gradient: two traces share their G")
			}
		}
	}
}

// average scales the gradients of an example's variants by 1/m, so that their sum
// is the mean.
func (k *worker) average(m int) {
	for _, tr := range k.traces {
		for i := range tr.G {
			tr.G[i] /= float32(m)
		}
	}
}

// forms says whether the gradients of single examples are formed, where rows is the
// number of rows of A and G that one example has in a trace. Its gradient then
// takes M·N numbers of memory, is clipped as it is, and the work is not lost: the
// clipped sum is the sum of what was formed. Else the norm comes from products of
// rows, of which there are rows·(rows+1)/2 pairs of M+N numbers. Forming costs 1 to
// 2 ns a number and a pair 0.5 to 1 ns a number, so the counts are compared as they
// are. In ns an example, for rows, M, N: 100, 25, 16: formed 2.5 thousand, pairs
// 228; 25, 144, 32: 12 and 100; 9, 288, 48: 17 and 16; 4, 1152, 128: 325 and 39.
func forms(rows int, tr *Trace) bool {
	return rows > 1 && rows*(rows+1)/2*(tr.M+tr.N) >= tr.M*tr.N
}

// norms fills norm2 with the squared norm of every example's gradient over all
// traces. Rows of one example, its variants included, are adjacent, so an example
// is one block of m·T rows of A and G.
func (k *worker) norms(examples, m int) {
	clear(k.norm2[:examples])
	need, most := 0, 0
	for i := range k.traces {
		if tr := &k.traces[i]; forms(m*tr.T, tr) {
			need, most = need+tr.size(), max(most, tr.size())
		}
	}
	if len(k.formed) < need*examples || len(k.part) < most {
		k.formed, k.part = make([]float32, need*k.t.Microbatch), make([]float32, most)
	}
	left := k.formed
	for i := range k.traces {
		tr := &k.traces[i]
		rows, size := m*tr.T, tr.size()
		form := forms(rows, tr)
		for e := range examples {
			a, g := tr.A[e*rows*tr.M:(e+1)*rows*tr.M], tr.G[e*rows*tr.N:(e+1)*rows*tr.N]
			if form {
				k.product(left[:size], a, g, tr, false)
				k.norm2[e] += dot(left[:size], left[:size])
				left = left[size:]
				continue
			}
			k.norm2[e] += pairs(a, g, rows, tr)
		}
	}
}

// product sets w, or adds to it, AᵀG of any number of rows, and behind it the
// gradient of the bias, 1ᵀG.
func (k *worker) product(w, a, g []float32, tr *Trace, add bool) {
	rows := len(g) / tr.N
	right := kernel.Dense(g, rows, tr.N)
	kernel.MatMul(kernel.Dense(w, tr.M, tr.N), kernel.Dense(a, rows, tr.M).T(), right, add)
	if tr.Bias {
		kernel.MatMul(kernel.Dense(w[tr.M*tr.N:], 1, tr.N), kernel.Matrix{Data: k.one, Rows: 1, Cols: rows}, right, add)
	}
}

const (
	// cancel is how much longer the single terms a_t g_tᵀ may be than their sum. The
	// rounding of later steps is relative to the terms: where they cancel more, the
	// example is taken to be longer than it is.
	cancel = 16
	// longest is the bound on ‖A‖², beyond which an example counts as not finite:
	// rounding of tiny numbers in G would be multiplied by it.
	longest = 1e40
)

// pairs returns ‖AᵀG‖² of one example from products of its rows,
//
//	‖AᵀG‖² = ⟨AAᵀ, GGᵀ⟩ = Σ_t,s ⟨a_t, a_s⟩⟨g_t, g_s⟩,
//
// with a column of ones in A for the bias, so +1 in each ⟨a_t, a_s⟩. For one row it
// is ‖a‖²‖g‖². The sum cancels; in float64 its error is below 1e-13·(Σ‖a_t‖‖g_t‖)²,
// and the result is at least (Σ‖a_t‖‖g_t‖/cancel)².
func pairs(a, g []float32, rows int, tr *Trace) float64 {
	bias := 0.0
	if tr.Bias {
		bias = 1
	}
	var sum, terms, square float64
	for t := range rows {
		at, gt := a[t*tr.M:(t+1)*tr.M], g[t*tr.N:(t+1)*tr.N]
		aa, gg := dot(at, at), dot(gt, gt)
		square += aa
		sum += (aa + bias) * gg
		terms += math.Sqrt((aa + bias) * gg)
		for s := range t {
			sum += 2 * (dot(at, a[s*tr.M:(s+1)*tr.M]) + bias) * dot(gt, g[s*tr.N:(s+1)*tr.N])
		}
	}
	if !(square <= longest) {
		return math.NaN()
	}
	terms /= cancel
	return max(sum, terms*terms) // NaN stays NaN
}

// dot is ⟨x, y⟩ in float64: in float32 a square of norm 0.01 over 10⁶ entries of
// 1e-5, or one entry of 1e-23, would underflow and the example pass unclipped.
func dot(x, y []float32) float64 { return kernel.Dot(x, y) }

// factors turns norms into the scale of every row of inputs. An example whose
// gradient is not finite contributes nothing, nor does one so long that its scale
// is no normal float32 and could round up.
func (k *worker) factors(examples, m int) {
	c := k.t.ClippingNorm
	for e := range examples {
		norm := math.Sqrt(k.norm2[e])
		f := 1.0
		switch {
		case k.t.Clipping == Automatic:
			f = c / (norm + 0.01*c)
		case !(norm <= c):
			f = c / norm
		}
		if !(f >= 0x1p-126) { // NaN too
			f = 0
		}
		for i := range m {
			k.factor[e*m+i] = float32(f)
		}
	}
}

// accumulate adds Σ_i f_i·A_iᵀG_i of every trace to the sum. Where gradients were
// formed it adds these; else the weights are put on G, so the sum over examples is
// one product. An example with f_i = 0 is left out or its rows are cleared, since
// 0·Inf is not 0.
func (k *worker) accumulate(examples, m int) {
	left := k.formed
	clipped := k.t.Clipping != Unclipped
	for i := range k.traces {
		tr := &k.traces[i]
		size := tr.size()
		sum := k.sum[tr.Offset : tr.Offset+size]
		if clipped && forms(m*tr.T, tr) {
			part := k.part[:size]
			clear(part)
			for e := range examples {
				if f := k.factor[e*m]; f != 0 {
					kernel.AddScaled(part, left[:size], f)
				}
				left = left[size:]
			}
			kernel.AddScaled(sum, part, 1)
			continue
		}
		if clipped {
			k.scale(tr, examples*m)
		}
		k.product(sum, tr.A, tr.G, tr, true)
	}
}

// scale puts the factors on the rows of G.
func (k *worker) scale(tr *Trace, n int) {
	height, width := tr.T*tr.M, tr.T*tr.N
	for i, f := range k.factor[:n] {
		g := tr.G[i*width : (i+1)*width]
		switch f {
		case 1:
		case 0:
			clear(g)
			clear(tr.A[i*height : (i+1)*height])
		default:
			for j := range g {
				g[j] *= f
			}
		}
	}
}

// mix spreads a seed and a number over 64 bits (SplitMix64).
func mix(seed, number uint64) uint64 {
	z := seed + 0x9e3779b97f4a7c15*(number+1)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
