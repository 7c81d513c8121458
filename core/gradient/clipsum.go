package gradient

import (
	"math"
	"slices"

	"pawl/compute/kernel"
	"pawl/core/noise"
)

// worker turns microbatches into clipped sums. It owns its buffers and one worker
// slot of the network.
type worker struct {
	t                      *Training
	id                     int
	sum                    []float32 // of this step, once a microbatch has begun it
	begun                  bool
	seeds                  []uint64
	inputs, plain, targets []float32
	traces                 []Trace
	blocks                 []block
	next                   []int32 // of each trace, the next use of its weight or −1
	rows                   func(i int) []float64
	record                 func(Trace)
	bound                  float64   // on the norm of an example's gradient, in this step
	squares                []float64 // per group of blocks, of the norm of one example's gradient
	factor                 []float32 // per example, group after group
	within                 int       // examples of this step that were not clipped
	// formed holds the gradient of one example, for each block of which it is formed;
	// part is the clipped sum of those of a microbatch, kept apart from sum so that
	// no chain of float32 additions is longer than a microbatch or the number of them.
	formed, part []float32
	products     []float64 // of a row of A, and of G, with those before it
	// sole is one squared norm, in float64: in float32 that of norm 0.01 over 10⁶ entries of 1e-5, or of one entry of
	// 1e-23, would underflow and the example pass unclipped.
	sole    [1]float64
	alone   []float64 // squared norms of examples with one row, trace after trace, and room for those of A and G
	seen    []int32   // for each token, 1 + the row of the example that has it
	one     []float32 // the number 1, a row of ones at a stride of 0
	room    *kernel.Room
	normals *noise.Normals
}

func (k *worker) init(t *Training, id, size int) {
	n, dim := t.Microbatch*t.Multiplicity, t.Network.Inputs()
	*k = worker{
		t: t, id: id, sum: make([]float32, size), inputs: make([]float32, n*dim), targets: make([]float32, n),
		seeds: make([]uint64, n), plain: make([]float32, dim), one: []float32{1}, room: kernel.NewRoom(),
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
				s.input(k.rows, int(row), dst)
				continue
			}
			s.input(k.rows, int(row), k.plain)
			t.Augment(dst, k.plain, mix(^own, uint64(c)))
		}
	}
	k.traces = k.traces[:0]
	s.backprop(k.id, params, k.inputs[:n*dim], k.targets[:n], k.seeds[:n], k.record)
	k.settle(n)
	if m > 1 {
		k.average(m)
	}
	if t.Clipping != Unclipped {
		for e := range len(rows) {
			k.example(e, m)
		}
	}
	k.finish(n)
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
func (k *worker) pairs(a, g []float32, rows int, tr *Trace) float64 {
	bias := tr.ones()
	var sum, terms, square float64
	k.products = slices.Grow(k.products[:0], 2*rows)[:2*rows]
	for t := range rows {
		aa, gg := k.products[:t+1], k.products[rows:rows+t+1]
		kernel.Dots(aa, a[t*tr.M:(t+1)*tr.M], a[:(t+1)*tr.M])
		kernel.Dots(gg, g[t*tr.N:(t+1)*tr.N], g[:(t+1)*tr.N])
		square += aa[t]
		sum += (aa[t] + bias) * gg[t]
		terms += math.Sqrt((aa[t] + bias) * gg[t])
		for s := range t {
			sum += 2 * (aa[s] + bias) * gg[s]
		}
	}
	if !(square <= longest) {
		return math.NaN()
	}
	terms /= cancel
	return max(sum, terms*terms) // NaN stays NaN
}

// measure appends to alone what pairs returns for each of n examples that have one row in a trace, and says where.
func (k *worker) measure(tr *Trace, n int) int {
	at := len(k.alone)
	k.alone = slices.Grow(k.alone, 2*n)[:at+n]
	bias, a, g := tr.ones(), k.alone[at:], k.alone[at+n:at+2*n]
	kernel.Squares(a, tr.A)
	kernel.Squares(g, tr.G)
	for i, aa := range a {
		a[i] = (aa + bias) * g[i]
		if !(aa <= longest) {
			a[i] = math.NaN()
		}
	}
	return at
}

// mix spreads a seed and a number over 64 bits (SplitMix64).
func mix(seed, number uint64) uint64 {
	z := seed + 0x9e3779b97f4a7c15*(number+1)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
