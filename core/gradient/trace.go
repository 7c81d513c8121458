package gradient

// Trace is one use of a linear map by a microbatch of n inputs. For input i it holds
// T rows of A (what the weight multiplied, T×M) and of G (the gradient of input i's
// own loss at the map's output, T×N), so that
//
//	∂loss_i/∂W = A_iᵀ G_i    (M×N)    and, with a bias,    ∂loss_i/∂b = Σ_t G_i,t
//
// Dense layers have T = 1; a convolution has one row per output position and A is its im2col; a
// recurrent layer has one row per time step. Layers return traces and never clip, sum over examples
// or draw noise.
type Trace struct {
	// Offset is the position of W (M×N, row-major) in the flat vector of trainable parameters; the
	// bias (N numbers) follows W if Bias is set.
	Offset int
	// T, M and N are positions per input, inputs and outputs of the map.
	T, M, N int
	Bias    bool
	// A is (n·T)×M and G (n·T)×N, row-major, rows of one input together. They stay
	// valid until the next call of Backprop on the same worker; core writes to A, G
	// and Index, so no two traces share a G or an Index.
	A, G []float32
	// Form, if not nil, replaces A, which is then nil: it sets w (M×N), or with add adds to it, the
	// product AᵀG of len(g)/N rows from row from on, whose G is g. So the rows of a convolution, many
	// times the size of its input, need not leave the cache. The norm of such a map is that of what
	// Form made, whatever Forms says. It has no Index and is not Diagonal.
	Form func(w, g []float32, from int, add bool)
	// Starts, if not nil, has n+1 numbers: input i has the rows Starts[i] to Starts[i+1]−1, at most T
	// of them, instead of T. The steps beyond the end of a short text then do not exist, rather than
	// being zero.
	Starts []int32
	// Index, if not nil, replaces A, which is then nil: row r of A is 1 at Index[r] in [0, M) and 0
	// elsewhere. Such a map, for example an embedding, has no Bias.
	Index []int32
	// Diagonal declares that W is diagonal, stored as N = M numbers: output j is w_j times input j,
	// and ∂loss_i/∂w_j = Σ_t A_i,tj G_i,tj. The scale of a normalization is such a map.
	Diagonal bool
	// Chain, if not nil, transforms ∂loss_i/∂W (followed by the bias), in place, into the gradient of
	// the parameters from which W was computed. It is the same linear map for all examples, and may
	// depend on params only.
	Chain func(gradient []float32)
}

// size is the number of parameters of the map.
func (t *Trace) size() int {
	size := t.M * t.N
	if t.Diagonal {
		size = t.N
	}
	if t.Bias {
		size += t.N
	}
	return size
}

// ones is what the column of ones of a bias adds to the product of two rows of A, 0 without one.
func (t *Trace) ones() float64 { return float64(t.size()/t.N - t.M) }

// span returns the rows from to to−1 that inputs lo to hi−1 have.
func (t *Trace) span(lo, hi int) (from, to int) {
	if t.Starts != nil {
		return int(t.Starts[lo]), int(t.Starts[hi])
	}
	return lo * t.T, hi * t.T
}

// check panics unless the trace has the rows of n inputs and nothing else.
func (t *Trace) check(n int) {
	if t.Starts != nil {
		bad := len(t.Starts) != n+1 || t.Starts[0] != 0
		for i := 0; i < n && !bad; i++ {
			rows := t.Starts[i+1] - t.Starts[i]
			bad = rows < 0 || int(rows) > t.T
		}
		if bad {
			panic("gradient: the starts of a trace are not those of its examples")
		}
	}
	_, rows := t.span(0, n)
	wide := t.M
	if t.Index != nil || t.Form != nil {
		wide = 0
	}
	if t.Index != nil && (len(t.Index) != rows || t.Bias || t.Diagonal || t.Form != nil) {
		panic("gradient: the index of a trace does not fit it")
	}
	for _, at := range t.Index {
		if at < 0 || int(at) >= t.M {
			panic("gradient: an index of a trace lies beyond its weight")
		}
	}
	if len(t.A) != rows*wide || len(t.G) != rows*t.N || t.Diagonal && (t.M != t.N || t.Form != nil) {
		panic("gradient: a trace does not have the rows of its examples")
	}
}

// Network is a model whose loss is a sum over examples and whose trainable
// parameters are all used through linear maps.
//
// Implementations keep one set of buffers per worker; Backprop may run
// concurrently for different workers.
type Network interface {
	// Parameters is the length of the flat vector of trainable parameters.
	Parameters() int
	// Inputs is the length of one example's input.
	Inputs() int
	// PerExample returns nil if the rows of an example in a trace are a function of params and of that
	// example's input, target and seed alone. A network with a layer that mixes examples returns an
	// error that names the layer; it can be trained only without clipping on public data.
	PerExample() error
	// Backprop runs a microbatch forward and backward: inputs is n×Inputs(), targets has n class
	// indices or values. It calls record once for each use of a trainable map, with gradients of each
	// example's own loss (not of a mean), in the same order in every call. Maps that share a weight
	// have the same Offset, M, N, Diagonal and Chain; their gradients are added before the norm is
	// computed. Traces whose parameters overlap in any other way are refused. seeds holds one number
	// per example for data-free randomness such as dropout masks.
	Backprop(worker int, params, inputs, targets []float32, seeds []uint64, record func(Trace))
}

// preparing is a Network that does once a step, for all workers, what Backprop would do for every microbatch: Prepare does one
// of so many parts of that, by params alone, and BackpropPrepared is Backprop, to the bit, once all parts were prepared.
type preparing interface {
	Prepare(params []float32, part, parts int)
	BackpropPrepared(worker int, params, inputs, targets []float32, seeds []uint64, record func(Trace))
}

// worthWaiting is the number of parameters from which a phase that the workers share saves more than their waiting for
// each other costs.
const worthWaiting = 1 << 16
