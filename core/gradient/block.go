package gradient

import (
	"slices"

	"pawl/compute/kernel"
)

// way is how the norm of one weight's gradient is found and the clipped gradient
// added to the sum.
type way uint8

const (
	// byRows takes the norms of all examples at once, of one row each, and puts the factor on G.
	byRows way = iota
	// byPairs takes the norm from products of rows, and puts the factor on G.
	byPairs
	// byTokens adds up the rows of G that belong to one row of W, and then has the
	// gradient's rows that are not zero.
	byTokens
	// byForming computes the gradient.
	byForming
)

// block is one weight (with its bias) and all its uses. Blocks do not overlap, so
// their squared norms add up to that of the gradient.
type block struct {
	offset, size int
	first        int32 // trace, from which next leads to the others
	way          way
	place        int // in formed and part
	norms        int // place of the first one in alone
	group        int // of blocks that are clipped together
	chain        func([]float32)
}

// settle makes blocks of the traces of n inputs and sees that they do not overlap. It
// refuses two that share rows of G, which would be scaled twice.
func (k *worker) settle(n int) {
	k.blocks, k.next, k.alone = k.blocks[:0], k.next[:0], k.alone[:0]
	for i := range k.traces {
		k.traces[i].check(n)
		for j := range k.traces[:i] {
			a, b := &k.traces[i], &k.traces[j]
			if len(a.G) > 0 && len(b.G) > 0 && &a.G[0] == &b.G[0] {
				panic("gradient: two traces share their G")
			}
		}
		k.next = append(k.next, -1)
		k.file(int32(i))
	}
	m, place := k.t.Multiplicity, 0
	k.group()
	for i := range k.blocks {
		b := &k.blocks[i]
		for j := range k.blocks[:i] {
			c := &k.blocks[j]
			if b.offset < c.offset+c.size && c.offset < b.offset+b.size {
				panic("gradient: the parameters of two traces overlap")
			}
		}
		tr := &k.traces[b.first]
		switch {
		case k.next[b.first] >= 0 || b.chain != nil || tr.Diagonal || tr.Form != nil:
			b.way = byForming
		case tr.Index != nil:
			b.way = byTokens
		case Forms(m*tr.T, tr.M, tr.N):
			b.way = byForming
		case m*tr.T != 1 || tr.Starts != nil:
			b.way = byPairs
		}
		if b.way >= byTokens {
			b.place = place
			place += b.size
		} else if b.way == byRows && k.t.Clipping != Unclipped {
			b.norms = k.measure(tr, n)
		}
	}
	k.formed, k.part = slices.Grow(k.formed[:0], place)[:place], slices.Grow(k.part[:0], place)[:place]
	clear(k.part)
}

// file puts trace i with the other uses of its weight.
func (k *worker) file(i int32) {
	tr := &k.traces[i]
	for j := range k.blocks {
		b := &k.blocks[j]
		other := &k.traces[b.first]
		if other.Offset != tr.Offset {
			continue
		}
		if other.M != tr.M || other.N != tr.N || other.Diagonal != tr.Diagonal || (other.Chain == nil) != (tr.Chain == nil) {
			panic("gradient: two uses of one weight do not have its shape")
		}
		b.size = max(b.size, tr.size())
		k.next[i], b.first = b.first, i
		return
	}
	k.blocks = append(k.blocks, block{offset: tr.Offset, size: tr.size(), first: i, chain: tr.Chain})
}

// Forms says whether the gradients of single examples are formed, where rows is the
// number of rows of A (M numbers each) and G (N each) that one example has in a trace. Its gradient then
// takes M·N numbers of memory, is clipped as it is, and the work is not lost: the
// clipped sum is the sum of what was formed. Else the norm comes from products of
// rows, of which there are rows·(rows+1)/2 pairs of M+N numbers. Forming costs 1 to
// 2 ns a number and a pair 0.5 to 1 ns a number, so the counts are compared as they
// are. In ns an example, for rows, M, N: 100, 25, 16: formed 2.5 thousand, pairs
// 228; 25, 144, 32: 12 and 100; 9, 288, 48: 17 and 16; 4, 1152, 128: 325 and 39.
func Forms(rows, m, n int) bool {
	return rows > 1 && rows*(rows+1)/2*(m+n) >= m*n
}

// example takes the norms of example e's gradient, over all blocks or over each group
// of them, and adds to part what is formed of it, times its factors. Its variants are m
// inputs, whose rows are adjacent, so it has one range of rows in each trace.
func (k *worker) example(e, m int) {
	lo, hi := e*m, (e+1)*m
	clear(k.squares)
	for i := range k.blocks {
		b := &k.blocks[i]
		tr := &k.traces[b.first]
		from, to := tr.span(lo, hi)
		switch b.way {
		case byRows:
			k.squares[b.group] += k.alone[b.norms+e]
		case byPairs:
			k.squares[b.group] += k.pairs(tr.A[from*tr.M:to*tr.M], tr.G[from*tr.N:to*tr.N], to-from, tr)
		case byTokens:
			k.squares[b.group] += k.merge(tr, from, to)
		case byForming:
			w := k.formed[b.place : b.place+b.size]
			k.form(w, b, lo, hi, false)
			kernel.Squares(k.sole[:], w)
			k.squares[b.group] += k.sole[0]
		}
	}
	// 0·Inf is not 0.
	if !k.rate(e) {
		return
	}
	for i := range k.blocks {
		b := &k.blocks[i]
		f := k.factors(b)[e]
		switch b.way {
		case byTokens:
			tr := &k.traces[b.first]
			from, to := tr.span(lo, hi)
			for r := from; r < to; r++ {
				if at := int(tr.Index[r]); at >= 0 {
					kernel.AddScaled(k.part[b.place+at*tr.N:][:tr.N], tr.G[r*tr.N:][:tr.N], f)
				}
			}
		case byForming:
			kernel.AddScaled(k.part[b.place:b.place+b.size], k.formed[b.place:b.place+b.size], f)
		}
	}
}

// form sets w to the gradient of block b from inputs lo to hi−1, or adds it: the sum over its uses, which a chain,
// never with add, transforms.
func (k *worker) form(w []float32, b *block, lo, hi int, add bool) {
	for i := b.first; i >= 0; i = k.next[i] {
		tr := &k.traces[i]
		from, to := tr.span(lo, hi)
		k.product(w, tr, from, to, add)
		add = true
	}
	if b.chain != nil {
		b.chain(w)
	}
}

// product sets w, or adds to it, AᵀG of a range of rows, and behind it the gradient
// of the bias, 1ᵀG.
func (k *worker) product(w []float32, tr *Trace, from, to int, add bool) {
	rows, size := to-from, tr.M*tr.N
	g := tr.G[from*tr.N : to*tr.N]
	if !add && (tr.Index != nil || tr.Diagonal) {
		clear(w[:tr.size()])
	}
	right := kernel.Dense(g, rows, tr.N)
	switch {
	case tr.Index != nil:
		for r, at := range tr.Index[from:to] {
			kernel.AddScaled(w[int(at)*tr.N:][:tr.N], g[r*tr.N:][:tr.N], 1)
		}
		return
	case tr.Diagonal:
		diagonal(w, tr.A[from*tr.M:to*tr.M], g, tr)
		return
	case tr.Form != nil:
		tr.Form(w[:size:size], g, from, add) // no further: other blocks are measured already
	default:
		k.room.MatMul(kernel.Dense(w, tr.M, tr.N), kernel.Dense(tr.A[from*tr.M:to*tr.M], rows, tr.M).T(), right, add)
	}
	if tr.Bias {
		k.room.MatMul(kernel.Dense(w[size:], 1, tr.N), kernel.Matrix{Data: k.one, Rows: 1, Cols: rows}, right, add)
	}
}

// diagonal adds Σ_t a_tj g_tj to w_j and, with a bias, Σ_t g_tj behind them.
func diagonal(w, a, g []float32, tr *Trace) {
	for len(g) >= tr.N && tr.N > 0 {
		x, y, scale := a[:tr.N], g[:tr.N], w[:tr.N]
		for j, v := range y {
			scale[j] += x[j] * v
		}
		if tr.Bias {
			kernel.AddScaled(w[tr.N:2*tr.N], y, 1)
		}
		a, g = a[tr.N:], g[tr.N:]
	}
}

// merge adds the rows of G of one example that have one token into the first of
// them, marks the others as empty by an index of −1, and returns the squared norm of
// what is left: these are the rows of ∂loss/∂W that are not zero.
func (k *worker) merge(tr *Trace, from, to int) float64 {
	if len(k.seen) < tr.M {
		k.seen = make([]int32, tr.M)
	}
	for r := from; r < to; r++ {
		at := tr.Index[r]
		if first := int(k.seen[at]); first > 0 {
			kernel.AddScaled(tr.G[(first-1)*tr.N:][:tr.N], tr.G[r*tr.N:][:tr.N], 1)
			tr.Index[r] = -1
			continue
		}
		k.seen[at] = int32(r) + 1
	}
	square := 0.0
	for r := from; r < to; r++ {
		if at := tr.Index[r]; at >= 0 {
			k.seen[at] = 0
			g := tr.G[r*tr.N:][:tr.N]
			kernel.Squares(k.sole[:], g)
			square += k.sole[0]
		}
	}
	return square
}

// begin says whether a microbatch adds to the sum. The first one of a step sets it, which saves clearing and reading the
// sum; parameters without a block have a sum of 0.
func (k *worker) begin() (add bool) {
	if k.begun {
		return true
	}
	k.begun = true
	covered := 0
	for i := range k.blocks {
		covered += k.blocks[i].size
	}
	if covered == len(k.sum) { // blocks do not overlap
		return false
	}
	clear(k.sum)
	return true
}

// finish adds to the sum what is formed and, of the other blocks, Σ_i f_i·A_iᵀG_i: with the factors on G it is one
// product over all n inputs. Where nothing is clipped there are no factors, and nothing is formed before.
func (k *worker) finish(n int) {
	add, clips := k.begin(), k.t.Clipping != Unclipped
	for i := range k.blocks {
		b := &k.blocks[i]
		sum, part := k.sum[b.offset:b.offset+b.size], k.part[b.place:]
		switch {
		case clips && b.way >= byTokens:
		case b.chain != nil:
			k.form(part[:b.size], b, 0, n, false)
		default:
			if clips {
				k.scale(&k.traces[b.first], k.factors(b)[:n/k.t.Multiplicity])
			}
			k.form(sum, b, 0, n, add)
			continue
		}
		if add {
			kernel.AddScaled(sum, part[:b.size], 1)
		} else {
			copy(sum, part)
		}
	}
}

// scale puts the factors on the rows of G. Those of an example with the factor 0 are
// cleared, since 0·Inf is not 0.
func (k *worker) scale(tr *Trace, factors []float32) {
	for e, f := range factors {
		from, to := tr.span(e*k.t.Multiplicity, (e+1)*k.t.Multiplicity)
		g := tr.G[from*tr.N : to*tr.N]
		if f > 0 {
			kernel.Scale(g, f)
			continue
		}
		clear(g)
		clear(tr.A[from*tr.M : to*tr.M])
	}
}
