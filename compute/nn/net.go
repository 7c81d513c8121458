package nn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"pawl/compute/kernel"
	"pawl/core/gradient"
)

// Net is a compiled network. Its trainable parameters live in a flat vector that
// the caller holds; frozen ones live in the net. It implements gradient.Network.
//
// Backprop, Predict and ForwardPrefix may run at the same time for different
// workers, numbered from 0; Init and SetFrozen may not run beside them.
type Net struct {
	input   Shape
	outputs int
	loss    Loss
	weights []float64 // of the classes, nil for 1
	ops     []op
	layers  []LayerInfo
	// trainable is the length of the vector of trainable parameters; frozen holds
	// the others.
	trainable int
	frozen    []float32
	// first is the first trainable layer; prefix, at most first, is the number of
	// layers whose results can be kept in place of the inputs.
	first, prefix int
	unitPrefix    bool
	// joins has, for each op, the residual ops that add its input.
	joins [][]int
	// skipped is the number of layers that a Rest has left behind.
	skipped int

	mu      sync.Mutex
	workers []*worker

	shape  sync.Once
	shared []packs // by op, those that Prepare packs
}

var _ gradient.Network = (*Net)(nil)

// LayerInfo describes one layer of a compiled net.
type LayerInfo struct {
	Kind          string
	Input, Output Shape
	// Parameters counts weights and biases; Trainable those of them that are
	// trained.
	Parameters, Trainable int
	// gain is the variance of a new weight times the number of inputs.
	gain float64
}

// Layers describes the layers in order.
func (n *Net) Layers() []LayerInfo { return slices.Clone(n.layers) }

// Parameters is the number of trainable parameters.
func (n *Net) Parameters() int { return n.trainable }

// AllParameters counts frozen parameters too.
func (n *Net) AllParameters() int { return n.trainable + len(n.frozen) }

// Inputs is the length of one example's input.
func (n *Net) Inputs() int { return n.input.Size() }

// Input is the shape of one example's input.
func (n *Net) Input() Shape { return n.input }

// Outputs is the number of scores of one example.
func (n *Net) Outputs() int { return n.outputs }

// Loss is the loss of one example.
func (n *Net) Loss() Loss { return n.loss }

// Frozen returns a copy of the parameters that are not trained, in the order of
// the layers: a part of the model that has to be kept with the trained one.
func (n *Net) Frozen() []float32 {
	n.settle()
	return slices.Clone(n.frozen)
}

// settle brings running statistics up to date.
func (n *Net) settle() {
	for _, o := range n.ops {
		if o, ok := o.(mixer); ok {
			o.settle(n)
		}
	}
}

// SetFrozen sets them, as read from a file.
func (n *Net) SetFrozen(values []float32) error {
	if len(values) != len(n.frozen) {
		return fmt.Errorf("network: %d frozen parameters given, the net has %d", len(values), len(n.frozen))
	}
	n.settle() // what was seen before is over
	copy(n.frozen, values)
	return nil
}

// MemoryPerExample is how many bytes a worker keeps for each example of a
// microbatch in Backprop, the most of it in the rows of convolutions: a microbatch
// of n takes n times that and up to an eighth more, besides what grows with the
// parameters.
func (n *Net) MemoryPerExample() int {
	numbers := n.outputs
	for i, o := range n.ops {
		numbers += o.memory(i >= n.first, i > n.first)
	}
	return 4 * numbers
}

// worker returns the memory of worker i.
func (n *Net) worker(i int) *worker {
	if i < 0 {
		panic(fmt.Sprintf("nn: worker %d", i))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.workers) <= i {
		n.workers = append(n.workers, n.newWorker())
	}
	return n.workers[i]
}

func (n *Net) newWorker() *worker {
	return &worker{states: make([]state, len(n.ops)), from: make([][]float32, len(n.ops)), room: kernel.NewRoom()}
}

// batch is the number of examples in inputs.
func (n *Net) batch(params, inputs []float32) int {
	if len(params) != n.trainable {
		panic(fmt.Sprintf("nn: %d parameters given to a net of %d", len(params), n.trainable))
	}
	d := n.Inputs()
	if len(inputs)%d != 0 {
		panic(fmt.Sprintf("nn: %d numbers are not whole examples of %s", len(inputs), n.input))
	}
	return len(inputs) / d
}

// forward runs layers lo to hi−1 on x.
func (n *Net) forward(w *worker, x []float32, lo, hi int) []float32 {
	w.call.from = w.from
	for i := lo; i < hi; i++ {
		w.call.layer = i + n.skipped
		w.call.wantInput = i > n.first
		w.from[i] = x
		seeds := w.call.seeds
		if i < n.first {
			w.call.seeds = nil // dropout is off where nothing is trained
		}
		x = n.ops[i].forward(&w.call, &w.states[i], x)
		w.call.seeds = seeds
	}
	return x
}

// PerExample says whether all layers treat examples apart; see gradient.Network.
func (n *Net) PerExample() error {
	for i, o := range n.ops {
		if m, ok := o.(mixer); ok {
			return &LayerError{Layer: i + 1 + n.skipped, Kind: n.layers[i].Kind, Reason: m.mixes(), Instead: instead(n.layers[i].Input)}
		}
	}
	return nil
}

// Backprop runs a microbatch forward and backward; see gradient.Network. Inputs is
// n×Inputs(), targets n and seeds n; n = 0 records empty traces. Traces come from
// the last layer to the first, groups of a convolution in order. It allocates
// nothing once the worker has seen a microbatch of the size. The A of a first dense
// layer is inputs itself.
//
// A target that is NaN, or no class, gives its example a gradient of zero. It
// panics when lengths do not match.
func (n *Net) Backprop(worker int, params, inputs, targets []float32, seeds []uint64, record func(gradient.Trace)) {
	n.backprop(worker, params, inputs, targets, seeds, record, nil)
}

// Prepare packs one of so many parts of the weights of dense layers, numbered from 0, for BackpropPrepared. Different
// parts may be packed side by side, and nothing beside them.
func (n *Net) Prepare(params []float32, part, parts int) {
	n.batch(params, nil)
	n.shape.Do(n.room)
	for i, o := range n.ops {
		if d, ok := o.(*denseLayer); ok {
			d.prepare(n, params, &n.shared[i], i > n.first, part, parts)
		}
	}
}

// room makes room for what Prepare packs.
func (n *Net) room() {
	n.shared = make([]packs, len(n.ops))
	for i, o := range n.ops {
		if d, ok := o.(*denseLayer); ok {
			n.shared[i].w.Shape(d.m, d.n)
			n.shared[i].wT.Shape(d.n, d.m)
		}
	}
}

// BackpropPrepared is Backprop with params as they were when all parts were prepared: the same bits for less work.
func (n *Net) BackpropPrepared(worker int, params, inputs, targets []float32, seeds []uint64, record func(gradient.Trace)) {
	n.backprop(worker, params, inputs, targets, seeds, record, n.shared)
}

func (n *Net) backprop(worker int, params, inputs, targets []float32, seeds []uint64, record func(gradient.Trace), shared []packs) {
	count := n.batch(params, inputs)
	if len(targets) != count || len(seeds) != count {
		panic(fmt.Sprintf("nn: %d examples with %d targets and %d seeds", count, len(targets), len(seeds)))
	}
	w := n.worker(worker)
	w.call = call{net: n, n: count, params: params, seeds: seeds, record: record, steps: &w.steps, room: w.room, shared: shared}
	scores := n.forward(w, inputs, 0, len(n.ops))
	dy := grow(&w.loss, len(scores))
	n.loss.Gradients(dy, scores, targets)
	n.weigh(dy, targets)
	for i := len(n.ops) - 1; i >= n.first; i-- {
		w.call.layer, w.call.wantInput = i+n.skipped, i > n.first
		dy = n.ops[i].backward(&w.call, &w.states[i], dy)
		if i == n.first {
			break
		}
		for _, j := range n.joins[i] {
			kernel.AddScaled(dy, w.states[j].dx, 1)
		}
	}
	w.call = call{}
}

// Predict returns the scores (n×Outputs()) of inputs (n×Inputs()): for a softmax
// loss the logits of the classes, for a logistic loss the log-odds of 1, else the
// value. Dropout is off. They lie in the worker's memory until its next call.
func (n *Net) Predict(worker int, params, inputs []float32) []float32 {
	w := n.worker(worker)
	w.call = call{net: n, n: n.batch(params, inputs), params: params, steps: &w.steps}
	y := n.forward(w, inputs, 0, len(n.ops))
	w.call = call{}
	return y
}

// Predictor is Predict for parameters that stay as they are while it is in use: weights are packed once, and not once a
// call. It has memory of its own and is not safe for concurrent use.
func (n *Net) Predictor(params []float32) func(inputs []float32) []float32 {
	w := n.newWorker()
	packed := false
	return func(inputs []float32) []float32 {
		w.call = call{net: n, n: n.batch(params, inputs), params: params, steps: &w.steps, packed: packed}
		y := n.forward(w, inputs, 0, len(n.ops))
		w.call, packed = call{}, true
		return y
	}
}

// FrozenPrefix is a number of layers before the first trainable one, all of them or
// those before a sequence or the inner part of a residual. What they compute for an
// example never changes and can be kept.
func (n *Net) FrozenPrefix() int { return n.prefix }

// UnitPrefix says that the frozen prefix makes rows of norm 1 at most.
func (n *Net) UnitPrefix() bool { return n.unitPrefix }

// ForwardPrefix returns what the frozen prefix makes of inputs (n×Inputs()): n
// rows of Rest().Inputs() numbers, in the worker's memory until its next call.
// Training Rest on them equals training the net on inputs.
func (n *Net) ForwardPrefix(worker int, inputs []float32) []float32 {
	d := n.Inputs()
	if len(inputs)%d != 0 {
		panic(fmt.Sprintf("nn: %d numbers are not whole examples of %s", len(inputs), n.input))
	}
	w := n.worker(worker)
	w.call = call{net: n, n: len(inputs) / d, steps: &w.steps}
	y := n.forward(w, inputs, 0, n.prefix)
	w.call = call{}
	return y
}

// Rest is the net behind the frozen prefix: the same trainable parameters, the
// same frozen ones (shared: Init of either sets both), inputs as ForwardPrefix
// makes them.
func (n *Net) Rest() *Net { return n.Behind(n.prefix) }

// Behind is the net behind its first k layers, which belong to the frozen prefix: Rest
// for all of that. It panics for another k.
func (n *Net) Behind(k int) *Net {
	if k < 0 || k > n.prefix {
		panic(fmt.Sprintf("nn: %d layers of a frozen prefix of %d", k, n.prefix))
	}
	rest := &Net{input: n.layers[k].Input, outputs: n.outputs, loss: n.loss, weights: n.weights, ops: n.ops[k:], layers: n.layers[k:],
		trainable: n.trainable, frozen: n.frozen, first: n.first - k, skipped: n.skipped + k, prefix: n.prefix - k}
	rest.link()
	return rest
}

// link finds the other summands of residual ops.
func (n *Net) link() {
	n.joins = make([][]int, len(n.ops))
	for i, o := range n.ops {
		if j, ok := o.(joiner); ok {
			n.joins[i-j.summand()] = append(n.joins[i-j.summand()], i)
		}
	}
}

// Init draws all weights from normal distributions of mean 0 and variance
// gain/inputs, with gain 2 before relu and bounded_relu, 0 in a net of one layer and
// 1 otherwise; biases are 0, that of the forget gate of lstm 1; numbers of an
// embedding have variance 1; scales are 1 and shifts 0. It returns the trainable ones
// and keeps the frozen ones in the net. Both are drawn in the order of the layers, so
// that a net starts from the same weights whatever is frozen in it.
func (n *Net) Init(rng *rand.Rand) []float32 {
	params := make([]float32, n.trainable)
	for i, o := range n.ops {
		if o, ok := o.(drawn); ok {
			o.draw(n, n.layers[i].gain, params, rng)
		}
	}
	return params
}
