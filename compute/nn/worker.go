package nn

import (
	"math/rand/v2"

	"pawl/compute/kernel"
	"pawl/core/gradient"
)

// op is a compiled layer: shapes and constants only, shared by all workers.
type op interface {
	// forward returns y (n×out) of x (n×in), kept in s.
	forward(c *call, s *state, x []float32) []float32
	// backward takes dy (n×out), the gradient of each example's loss at y, and
	// returns the one at x (n×in), or nil unless c wants it. It may overwrite dy
	// only where it is not recorded.
	backward(c *call, s *state, dy []float32) []float32
	// memory counts the numbers of 4 bytes that a state keeps for each example of a
	// training pass: behind the frozen prefix or in it, with or without the gradient
	// at the input.
	memory(trained, wantInput bool) int
	// write adds the op's nodes to an ONNX graph: from v to its output.
	write(w *writer, v value) value
}

// drawn is an op with parameters, which it fills from rng.
type drawn interface {
	draw(n *Net, gain float64, params []float32, rng *rand.Rand)
}

// joiner is an op that adds to its input that of the op so many places before it.
type joiner interface{ summand() int }

// unsettled is an op whose results change after the inputs have been sealed: they cannot
// be kept in place of the inputs.
type unsettled interface{ unsettled() }

// mixer is an op that mixes the examples of a batch, so that core must not clip them.
type mixer interface {
	// mixes says how, for a person.
	mixes() string
	// settle brings what it keeps in the frozen vector up to date.
	settle(n *Net)
}

// linear is an op with one linear map, which others may share.
type linear interface{ linear() affine }

// when is v if yes, else 0.
func when(yes bool, v int) int {
	if yes {
		return v
	}
	return 0
}

// call is one pass of n examples.
type call struct {
	net    *Net
	n      int
	params []float32
	// packed says that the state has packed these parameters already.
	packed bool
	// shared are the weights of all ops, packed for all workers; nil where each packs its own.
	shared []packs
	// seeds, one for each example, are nil where dropout is off.
	seeds  []uint64
	record func(gradient.Trace)
	// layer is the position of the op that runs; wantInput says whether the
	// gradient at its input has a use.
	layer     int
	wantInput bool
	// steps are those of the texts, once an embedding has read them.
	steps *steps
	// room is for products whose factors a trace makes.
	room *kernel.Room
	// from has, for each op, its input: the summands of residual.
	from [][]float32
}

// trains says whether the op's backward pass follows.
func (c *call) trains() bool { return c.record != nil && c.layer-c.net.skipped >= c.net.first }

// state is what one worker keeps for one op from forward to backward and, for
// traces, until its next call.
type state struct {
	x, y, dx []float32
	a, g     []float32
	part     []float32
	index    []int32
	lengths  []int32
	packs
	conv kernel.ConvWeights
	form []func(w, dy []float32, from int, add bool) // of each group
	// h, c, wide and sums are working memory of layers with several steps or passes.
	h, c, wide []float32
	sums       []float64
	standard   []standardizer // of each group of filters
	batch      *batchStatistics
}

// packs are the weights of one op as products take them: W, and Wᵀ for the gradient at its input.
type packs struct{ w, wT kernel.Packed }

// weights are those of the op that runs, and whether it has to pack them itself.
func (c *call) weights(s *state) (p *packs, own bool) {
	if c.shared == nil {
		return &s.packs, true
	}
	return &c.shared[c.layer-c.net.skipped], false
}

// worker is the memory of one goroutine; it grows to the largest microbatch and
// is then reused.
type worker struct {
	call   call
	states []state
	loss   []float32
	steps  steps
	from   [][]float32
	room   *kernel.Room
}

// grow returns *b with length n, its contents unspecified. The eighth of spare room
// is for lots, whose sizes are random: without it each largest lot so far would
// take all buffers anew.
func grow[T any](b *[]T, n int) []T {
	if cap(*b) < n {
		*b = make([]T, n, n+n/8)
	}
	*b = (*b)[:n]
	return *b
}
